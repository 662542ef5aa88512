package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func init() {
	count = counter
	if filepath.Base(os.Args[0]) == "orphans" {
		os.Exit(orphans())
	}
}

// orphans leaves 2,000 processes. They are clones of a sleep: to start so many programs
// would take longer than to end them.
func orphans() int {
	if err := exec.Command("sh", "-c", "mkfifo $0; exec 3<>$0; i=0; while [ $i -lt 2000 ]; do (read x <&3) & i=$((i+1)); done", os.Args[0]+".fifo").Run(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("2000 are there")
	return 0
}

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
