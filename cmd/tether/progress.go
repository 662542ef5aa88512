package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress tells whom the job waits for: once in JSON, and to people who sit before it,
// with the time that has passed. A log has no use for it.
type progress struct {
	mu    sync.Mutex
	began bool
	shown bool          // a line is there that is to be cleared
	stop  chan struct{} // nil: no line is kept up
}

// begin is called for each try that failed, and tells of the first.
func (p *progress) begin(j *job, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began {
		return
	}
	p.began = true
	j.output.waiting(notice{Event: "waiting", Key: j.key, Path: j.path}, explain(j.file, toWrite, why), j.wait)
	if j.output.json || !term.IsTerminal(int(os.Stderr.Fd())) || os.Getenv("TERM") == "dumb" {
		return
	}
	p.stop = make(chan struct{})
	go p.keep(j, p.stop)
}

// keep keeps the line up while the job is in the terminal's foreground.
func (p *progress) keep(j *job, stop <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		if p.stop != nil && inForeground() {
			p.shown = true
			fmt.Fprintf(j.output.err, "\r\x1b[Kwaited %v", time.Since(j.began).Truncate(time.Second))
		}
		p.mu.Unlock()
	}
}

// end clears the line: what follows is CMD's.
func (p *progress) end(o *output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop == nil {
		return
	}
	close(p.stop)
	p.stop = nil
	if p.shown && inForeground() {
		fmt.Fprint(o.err, "\r\x1b[K")
	}
}
