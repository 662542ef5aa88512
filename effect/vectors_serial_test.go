package effect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/vectors"
	"github.com/rivus/tether/scope"
)

// Every recorded program gives the same trace and exit on the serial runtime, by the
// live clock, which stands still while anything runs.
func TestVectorsOnTheSerialRuntime(t *testing.T) {
	logger := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // programs have defects that nobody observes
	defer slog.SetDefault(logger)
	passed, total, shown := 0, 0, 0
	for _, path := range vectorFiles(t) {
		for _, v := range readVectors(t, path) {
			total++
			got, err := runSerialVector(t, v.Program)
			got.Now = v.Expect.Now // the live clock goes on when the program has ended
			diff := ""
			if err != nil {
				diff = "  " + err.Error() + "\n"
			} else {
				diff = vectors.Diff(v.Expect, got)
			}
			if diff == "" {
				passed++
			} else if shown++; shown <= 10 {
				program, _ := json.Marshal(v.Program)
				t.Errorf("%s (%s)\n%s  program %s", v.Name, filepath.Base(path), diff, program)
			}
		}
	}
	fmt.Printf("serial vectors: %d passed of %d\n", passed, total)
	if passed != total {
		t.Fatalf("serial vectors: %d passed of %d", passed, total)
	}
}

// runSerialVector runs a program until nothing is left that a timer or a fiber could
// bring about.
func runSerialVector(t *testing.T, program any) (r vectors.Result, err error) {
	synctest.Test(t, func(t *testing.T) {
		rt := scope.NewSerial(scope.OnClock(scope.NewLiveClock()))
		var trace []string // only fibers of rt append, and this test when all wait
		main, _, failure := vectors.Compile(program, func(l vectors.Line) { trace = append(trace, l.Text) }, effect.YieldNow())
		if err = failure; err != nil {
			return
		}
		exit := `"pending"`
		var value any
		rt.Go(new(scope.Fiber), func(f *scope.Fiber) (c *scope.Cause) {
			value, c = effect.RunOn(f, main)
			return c
		}, scope.RunConfig{Started: func(f *scope.Fiber) {
			f.Observe(scope.NewObserver(func(f *scope.Fiber) {
				c, _ := f.Exited()
				exit = vectors.ExitText(scope.NewExit(value, c))
				trace = append(trace, "#done")
			}))
		}})
		time.Sleep(365 * 24 * time.Hour)
		synctest.Wait()
		r = vectors.Result{Trace: append([]string{}, trace...), Exit: json.RawMessage(exit)}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		rt.Close(ctx)
	})
	return r, err
}
