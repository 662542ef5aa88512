package platform_test

import (
	"os"
	"testing"
)

// beforeTests gives the main thread, which it runs on, to the one test that wants
// it ended.
func beforeTests(m *testing.M) {
	if os.Getenv("TETHER_PLATFORM_THREADS") != "" {
		go m.Run()
		<-mainExit
		exitThread()
	}
}
