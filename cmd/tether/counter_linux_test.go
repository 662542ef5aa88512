package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func init() { count = counter }

// counter counts the signals that it gets, the first one and what comes soon after it,
// and ends with status 5. It tells its pid first.
func counter() int {
	got := make(chan os.Signal, 16)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1)
	fmt.Println("counter", os.Getpid())
	<-got
	n := 1
	for soon := time.After(300 * time.Millisecond); ; {
		select {
		case <-got:
			n++
		case <-soon:
			fmt.Println("counted", n)
			return 5
		}
	}
}
