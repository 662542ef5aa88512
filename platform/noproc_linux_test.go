package platform_test

import (
	"strings"
	"testing"

	"github.com/rivus/tether/internal/alone"
	"github.com/rivus/tether/platform"
)

// F51: without /proc it is /proc that is missing, and no file of the caller's.
func TestF51_WithoutProc(t *testing.T) {
	if !alone.WithMounts(t) {
		return
	}
	alone.Memory(t, "/proc")
	_, err := platform.OS().Process.Self()
	if platform.ReasonOf(err) != platform.ReasonUnsupported || platform.IsNotFound(err) ||
		!strings.Contains(err.Error(), "/proc") || !strings.Contains(err.Error(), "mount it") {
		t.Fatal(err)
	}
}
