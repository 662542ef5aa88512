// Server answers what is said in chat rooms, over HTTP: one turn of a room at a time,
// four rooms at once, in one process at a time. SIGTERM or Ctrl-C ends it: it takes no
// more requests, answers what it took, and frees the lease.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "the address to listen on")
	path := flag.String("leases", "server-leases.db", "the database of the leases")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *path, *address)
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
	log.Print("ended: ", err)
}

func run(ctx context.Context, path, address string) error {
	repository := lease.NewSQLiteRepository(platform.OS(), path)
	defer repository.Close()
	// Now, and not when the other process ends at 3 AM.
	if err := repository.Check(ctx); err != nil {
		return err
	}
	leases, err := lease.NewManager(platform.OS(), repository, lease.Config{
		TTL: 30 * time.Second, Heartbeat: 5 * time.Second, Observer: lease.SlogObserver(slog.Default()),
	})
	if err != nil {
		return err
	}
	log.Print("waiting for the lease")
	// A second process waits here until the first one ends, or dies. The context that
	// serve gets ends with ctx, and when the lease is lost.
	return leases.Hold(ctx, "rooms", func(ctx context.Context, _ lease.FencingToken) error {
		return serve(ctx, address)
	}, lease.Wait())
}

func serve(ctx context.Context, address string) error {
	r := &rooms{inbox: map[string][]string{}, answers: map[string][]string{}}
	var err error
	r.turns, err = lanes.NewRunner(lanes.RunnerConfig{MaxConcurrent: 4, TurnTimeout: time.Minute, Activate: r.turn})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: r.handler(), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Printf("ready on http://%s", listener.Addr())
	select {
	case err := <-failed:
		return errors.Join(err, r.turns.Close(ctx))
	case <-ctx.Done():
	}
	// What runs has this long to end. Requests first, since they wake rooms.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	err = errors.Join(server.Shutdown(grace), r.turns.Drain(grace))
	log.Printf("%d answers", r.count())
	return err
}

// rooms is what was said in each room and not answered yet, and the answers.
type rooms struct {
	turns *lanes.Runner

	mu             sync.Mutex
	inbox, answers map[string][]string
}

func (r *rooms) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, answers := range r.answers {
		n += len(answers)
	}
	return n
}

func (r *rooms) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /rooms/{room}", func(w http.ResponseWriter, req *http.Request) {
		said, err := io.ReadAll(io.LimitReader(req.Body, 4096))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		room := req.PathValue("room")
		// First into the inbox: the turn that the wake leads to must find it.
		r.mu.Lock()
		r.inbox[room] = append(r.inbox[room], string(said))
		r.mu.Unlock()
		outcome, err := r.turns.Wake(room)
		if err != nil { // *lanes.Closed: it ends
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(w, outcome) // started, queued or coalesced
	})
	mux.HandleFunc("GET /rooms/{room}", func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		fmt.Fprintln(w, strings.Join(r.answers[req.PathValue("room")], "\n"))
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(r.turns.Status())
	})
	return mux
}

// turn answers all that is in the room's inbox. What comes meanwhile is answered here,
// too, or by the turn that its wake leads to.
func (r *rooms) turn(ctx context.Context, room string) error {
	for {
		r.mu.Lock()
		if len(r.inbox[room]) == 0 {
			delete(r.inbox, room)
			r.mu.Unlock()
			return nil
		}
		said := r.inbox[room][0]
		r.mu.Unlock()
		answer, err := think(ctx, said)
		if err != nil {
			return err // what was said stays in the inbox
		}
		r.mu.Lock()
		r.inbox[room] = r.inbox[room][1:]
		r.answers[room] = append(r.answers[room], answer)
		r.mu.Unlock()
	}
}

// think takes its time, and heeds ctx, which ends when the turn is stopped.
func think(ctx context.Context, said string) (string, error) {
	select {
	case <-time.After(50 * time.Millisecond):
		return strings.ToUpper(said), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
