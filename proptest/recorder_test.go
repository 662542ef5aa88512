package proptest_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/proptest"
)

// recorder stands in for a testing.TB whose test is expected to fail.
type recorder struct {
	name     string
	mu       sync.Mutex
	text     strings.Builder
	failed   bool
	cleanups []func()
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(text + "\n")
}

func (r *recorder) Helper()                      {}
func (r *recorder) Name() string                 { return r.name }
func (r *recorder) Log(args ...any)              { r.note(fmt.Sprint(args...)) }
func (r *recorder) Logf(f string, args ...any)   { r.note(fmt.Sprintf(f, args...)) }
func (r *recorder) Error(args ...any)            { r.Log(args...); r.Fail() }
func (r *recorder) Errorf(f string, args ...any) { r.Logf(f, args...); r.Fail() }
func (r *recorder) Fatal(args ...any)            { r.Log(args...); r.FailNow() }
func (r *recorder) Fatalf(f string, args ...any) { r.Logf(f, args...); r.FailNow() }
func (r *recorder) Skip(args ...any)             { r.SkipNow() }
func (r *recorder) Skipf(string, ...any)         { r.SkipNow() }
func (r *recorder) SkipNow()                     { runtime.Goexit() }
func (r *recorder) FailNow()                     { r.Fail(); runtime.Goexit() }
func (r *recorder) Cleanup(f func())             { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// failing runs a test that must fail, and gives its report. The time that it took is logged, not judged:
// machines are busy.
func failing(t *testing.T, test func(t proptest.TB)) string {
	t.Helper()
	// Its failures are not for the next run, and it has its usual chances however
	// few the others are given.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.checks": "500"} {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = flag.Set(name, before) }()
	}
	r := &recorder{name: t.Name()}
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(r.cleanups) - 1; i >= 0; i-- {
				r.cleanups[i]()
			}
		}()
		test(r)
	}()
	<-done
	report := r.text.String()
	if !r.failed {
		t.Fatalf("it passes\n%s", report)
	}
	t.Logf("caught in %v", time.Since(began))
	return report
}

// mentions tells whether the report has every one of the words.
func mentions(t *testing.T, report string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(report, word) {
			t.Errorf("the report does not mention %q:\n%s", word, report)
			return
		}
	}
	t.Logf("\n%s", report)
}
