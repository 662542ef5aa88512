// Takeover shows a lease changing hands between real processes.
//
// The program starts itself three more times as workers, which compete for one
// lease and append to one log, each line under the fence and with its token. The
// parent kills the holder twice (kill -9), stops one holder until another has
// taken over (SIGSTOP), lets it go on (SIGCONT), and prints what happens. In the
// end it checks that the tokens in the log never go back, and exits with 1 if
// they do, or if anything else is not as it should be.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		os.Exit(work(os.Args[2], os.Args[3]))
	}
	if err := direct(); err != nil {
		fmt.Fprintln(os.Stderr, "takeover:", err)
		os.Exit(1)
	}
}
