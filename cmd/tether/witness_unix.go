//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// witness is a process in the front's group that only says which signals it got. What
// the terminal, a shell's "kill %1" or a service manager sends to the whole group
// reaches the witness, too: then CMD has it already, and must not get it twice. What
// reaches the front alone is passed on.
type witness struct {
	pid  int
	ask  *os.File
	says *bufio.Reader
	saw  map[syscall.Signal]int
}

// The witness tells a signal by its number, and answers each byte that it is sent with a 0
// after what it got until then.
const (
	// moment is how long one signal to a group takes to reach all of it.
	moment = 2 * time.Millisecond
	// settling is how long a signal takes from a process to its goroutines.
	settling = 5 * time.Millisecond
)

func startWitness(ignored signalSet) (*witness, error) {
	program, err := self()
	if err != nil {
		return nil, err
	}
	asked, answers, err := twoPipes()
	if err != nil {
		return nil, err
	}
	r := role{name: witnessRole, ignored: ignored}
	pid, err := syscall.ForkExec(program, []string{os.Args[0], "witness", "of", strconv.Itoa(os.Getpid())}, &syscall.ProcAttr{
		Env: append(os.Environ(), roleVar+"="+r.String()), Files: []uintptr{uintptr(asked.read), uintptr(answers.write), 2},
	})
	_ = unix.Close(asked.read)
	_ = unix.Close(answers.write)
	if err != nil {
		_ = unix.Close(asked.write)
		_ = unix.Close(answers.read)
		return nil, err
	}
	w := &witness{
		pid: pid, ask: os.NewFile(uintptr(asked.write), "ask"), saw: map[syscall.Signal]int{},
		says: bufio.NewReader(os.NewFile(uintptr(answers.read), "answers")),
	}
	// Its first byte says that it listens.
	if _, err := w.says.ReadByte(); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// sawToo reports whether the group got the signal that this process just did.
func (w *witness) sawToo(n syscall.Signal) (saw, alive bool) {
	time.Sleep(moment)
	if _, err := w.ask.Write([]byte{1}); err != nil {
		return false, false
	}
	for {
		b, err := w.says.ReadByte()
		switch {
		case err != nil:
			return false, false
		case b != 0:
			w.saw[syscall.Signal(b)]++
		case w.saw[n] > 0:
			w.saw[n]--
			return true, true
		default:
			return false, true
		}
	}
}

// end ends it. One that is being asked answers no more.
func (w *witness) end() {
	_ = syscall.Kill(w.pid, syscall.SIGKILL)
	reap(w.pid)
}

// bearWitness is the witness's process. It ends with the front.
func bearWitness(r role) int {
	got := make(chan os.Signal, 64)
	r.ignored.ignore()
	forwarded.minus(r.ignored).notify(got)
	_, _ = os.Stdout.Write([]byte{0})
	asked := make(chan bool)
	go func() {
		defer close(asked)
		for b := make([]byte, 1); ; asked <- true {
			if _, err := io.ReadFull(os.Stdin, b); err != nil {
				return
			}
			time.Sleep(settling)
		}
	}()
	for {
		select {
		case n := <-got:
			_, _ = os.Stdout.Write([]byte{byte(n.(syscall.Signal))})
			continue
		default:
		}
		select {
		case n := <-got:
			_, _ = os.Stdout.Write([]byte{byte(n.(syscall.Signal))})
		case _, more := <-asked:
			if !more {
				return 0
			}
			for len(got) > 0 {
				_, _ = os.Stdout.Write([]byte{byte((<-got).(syscall.Signal))})
			}
			_, _ = os.Stdout.Write([]byte{0})
		}
	}
}

// forwarded are the signals that CMD gets when they are sent to the tool: those that
// people send, and the real-time ones. What stops and continues is the kernel's.
var forwarded = func() (s signalSet) {
	for _, n := range passedOn {
		s |= setOf(int(n.(syscall.Signal)))
	}
	return s | realTime
}()

func (s signalSet) minus(other signalSet) signalSet { return s &^ other }

// notify has the signals sent to got.
func (s signalSet) notify(got chan<- os.Signal) {
	s.all(func(n int) { signal.Notify(got, syscall.Signal(n)) })
}
