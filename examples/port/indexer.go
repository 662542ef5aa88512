package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// 1. Failures

type gone struct{ document string }

func (e *gone) Error() string { return e.document + " is gone" }
func (*gone) Tag() string     { return "Gone" }

type slow struct{ document string }

func (e *slow) Error() string { return e.document + " is slow" }
func (*slow) Tag() string     { return "Slow" }

// 2. Services

type library interface {
	read(document string) effect.Effect[string] // fails with *gone, *slow
}

type entry struct {
	document string
	words    int
	by       int64
}

type sink interface {
	append(entry) effect.Effect[effect.Unit]
	close() effect.Effect[effect.Unit]
}

var (
	libraryService = effect.NewService[library]("Library")
	journalService = effect.NewService[effect.Effect[sink]]("Journal")
)

// 3. A resource of the scope at hand

var openSink = effect.Gen(func(do *effect.Do) sink {
	open := do.Await(journalService.Get())
	return do.Await(effect.AcquireRelease(open, func(s sink, _ scope.Exit[any]) effect.Effect[effect.Unit] { return s.close() }))
})

// 4. Retries and timeouts

func read(document string) effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string {
		library := do.Await(libraryService.Get())
		return do.Await(effect.RetryWith(library.read(document), effect.RetryConfig{
			Schedule: effect.ScheduleExponential(100*time.Millisecond, 2),
			Times:    mo.Some(3),
			While:    func(err error) bool { _, is := err.(*slow); return is },
		}).Timeout(5 * time.Second))
	})
}

// 5. Work under the fence

func index(l *lease.Lease, out sink, document string) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		text := do.Await(read(document))
		words := len(strings.Fields(text))
		do.Await(l.RunFenced(func(token lease.FencingToken) effect.Effect[effect.Unit] {
			return out.append(entry{document, words, token.Generation})
		}))
	})
}

// 6. What became of each document

type report struct{ indexed, failed []string }

func (r report) note(exit lanes.ActivationExit) report {
	if _, ok := exit.(lanes.ActivationSucceeded); ok {
		return report{append(r.indexed, exit.Lane()), r.failed}
	}
	return report{r.indexed, append(r.failed, exit.Lane())}
}

// 7. The program

// The documents differ, and there is at least one.
func indexAll(documents []string) effect.Effect[report] {
	return effect.Scoped(effect.Gen(func(do *effect.Do) report {
		leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
		l := do.Await(leases.Acquire("index"))
		out := do.Await(openSink)
		reports := do.Await(effect.MakeRef(report{}))
		done := do.Await(effect.MakeDeferred[effect.Unit]())
		board := do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: 2,
			TurnTimeout:   30 * time.Second,
			Activate:      func(document string) effect.Effect[effect.Unit] { return index(l, out, document) },
			OnExit: func(exit lanes.ActivationExit) effect.Effect[effect.Unit] {
				return effect.GenUnit(func(do *effect.Do) {
					now := do.Await(reports.UpdateAndGet(func(r report) report { return r.note(exit) }))
					if len(now.indexed)+len(now.failed) == len(documents) {
						do.Await(done.Succeed(effect.Unit{}))
					}
				})
			},
		}))
		do.Await(effect.ForEachDiscard(documents, func(document string, _ int) effect.Effect[lanes.Outcome] {
			return board.Wake(document)
		}, effect.One))
		do.Await(done.Await().StopOn(l.Lost()))
		return do.Await(reports.Get())
	})).
		CatchTag(func(held *lease.Held) effect.Effect[report] {
			return effect.LogInfo(fmt.Sprintf("%d does it", held.Holder.PID)).As(report{})
		})
}

// 8. Layers, at the edge

func leaseLive(path string) effect.Layer {
	return lease.SQLiteRepository(path).ProvideMerge(platform.Live)
}
