package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/leftovers"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

func TestMain(m *testing.M) { leftovers.Verify(m) }

// ledger is a sink that remembers.
type ledger struct {
	entries []entry
	closed  int
}

func (l *ledger) append(e entry) effect.Effect[effect.Unit] {
	return effect.SyncUnit(func() { l.entries = append(l.entries, e) })
}

func (l *ledger) close() effect.Effect[effect.Unit] { return effect.SyncUnit(func() { l.closed++ }) }

// sluggish is slow for the first times that each document is read.
type sluggish struct {
	shelf
	times int
	tried map[string]int
}

func (s *sluggish) read(document string) effect.Effect[string] {
	return effect.Suspend(func() effect.Effect[string] {
		if s.tried[document]++; s.tried[document] <= s.times {
			return effect.Fail[string](&slow{document})
		}
		return s.shelf.read(document)
	})
}

// run runs the program on virtual time.
func run(t *testing.T, books library, out *ledger, documents ...string) (report, time.Duration) {
	t.Helper()
	opened := effect.Sync(func() sink { return out })
	o := effect.RunDeterministic(indexAll(documents).
		Provide(libraryService.Of(books)).
		Provide(journalService.Of(opened)).
		Provide(lease.MemoryRepository().ProvideMerge(platform.Live)), effect.DeterministicConfig{})
	exit, ended := o.Exit.Get()
	result, ok := exit.Value()
	if !ended || !ok {
		t.Fatalf("%v", o)
	}
	slices.Sort(result.indexed)
	slices.Sort(result.failed)
	return result, o.Now
}

func TestEveryDocumentIsReported(t *testing.T) {
	out := new(ledger)
	got, _ := run(t, shelf{"a": "one two", "c": "three"}, out, "a", "b", "c")
	if !slices.Equal(got.indexed, []string{"a", "c"}) || !slices.Equal(got.failed, []string{"b"}) {
		t.Errorf("%+v", got)
	}
	if len(out.entries) != 2 || out.entries[0] != (entry{"a", 2, 1}) || out.closed != 1 {
		t.Errorf("%+v", out)
	}
}

// Slow readers are tried again after 100, 200 and 400 ms, and no more.
func TestSlowReadsAreRetried(t *testing.T) {
	books := &sluggish{shelf{"a": "one"}, 3, map[string]int{}}
	if got, took := run(t, books, new(ledger), "a"); len(got.indexed) != 1 || took != 700*time.Millisecond {
		t.Errorf("%+v after %v", got, took)
	}
	books = &sluggish{shelf{"a": "one"}, 4, map[string]int{}}
	if got, _ := run(t, books, new(ledger), "a"); len(got.failed) != 1 || books.tried["a"] != 4 {
		t.Errorf("%+v after %d tries", got, books.tried["a"])
	}
}

// README.md shows every piece of both files as it is, in order.
func TestWalkThrough(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, file := range map[string]string{"ts": "indexer.ts", "go": "indexer.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, code2, _ := strings.Cut(string(code), "\n// 1.")
		var shown strings.Builder
		for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			shown.WriteString(block[1])
		}
		squeeze := func(s string) string { return regexp.MustCompile(`\n+`).ReplaceAllString(strings.TrimSpace(s), "\n") }
		if want, got := squeeze("// 1."+code2), squeeze(shown.String()); want != got {
			t.Errorf("README.md does not show %s as it is", file)
		}
	}
}
