package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	at := func(key string, generation int64) entry { return entry{Key: key, State: held, Generation: generation} }
	renewed := func(e entry) entry {
		e.Revision, e.AgeMs = 99, 5
		return e
	}
	for name, c := range map[string]struct{ before, now, changed []entry }{
		"nothing":     {},
		"at first":    {now: []entry{at("a", 1), at("b", 1)}, changed: []entry{at("a", 1), at("b", 1)}},
		"renewed":     {before: []entry{at("a", 1)}, now: []entry{renewed(at("a", 1))}},
		"taken over":  {before: []entry{at("a", 1), at("b", 3)}, now: []entry{at("a", 1), at("b", 4)}, changed: []entry{at("b", 4)}},
		"a key comes": {before: []entry{at("b", 1)}, now: []entry{at("a", 1), at("b", 1), at("c", 1)}, changed: []entry{at("a", 1), at("c", 1)}},
		"one goes":    {before: []entry{at("a", 1), at("b", 1)}, now: []entry{at("b", 1)}, changed: []entry{{Key: "a", State: gone}}},
		"all go":      {before: []entry{at("a", 1)}, changed: []entry{{Key: "a", State: gone}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.changed, changes(c.before, c.now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"task:42": "task:42", "grün 1": "grün 1", "a\x1b[2Jb": `"a\x1b[2Jb"`, "a\nb": `"a\nb"`, "\xff": "\"\\xff\"",
	} {
		if got := plain(text); !strings.EqualFold(got, want) {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestWaitFlag(t *testing.T) {
	for text, want := range map[string]string{"forever": "forever", "30s": "30s", "0": ""} {
		var w waitFlag
		if err := w.Set(text); err != nil || w.String() != want {
			t.Errorf("%s: %q, %v", text, w.String(), err)
		}
	}
	for _, text := range []string{"soon", "-5s", ""} {
		if new(waitFlag).Set(text) == nil {
			t.Errorf("%q is no time to wait", text)
		}
	}
}

func TestFit(t *testing.T) {
	const lines = "one\ntwö and more\nthree\n"
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{0, 0, lines},
		{80, 4, lines},
		{5, 0, "one\ntwö a\nthree\n"},
		{80, 3, "one\n... 2 more\n"},
		{80, 2, "... 3 more\n"},
		{80, 1, lines}, // no place for anything
	} {
		if got := string(fit([]byte(lines), c.width, c.height, 0)); got != c.want {
			t.Errorf("%d × %d: %q", c.width, c.height, got)
		}
	}
	if got := string(fit([]byte(lines), 80, 3, 7)); got != "one\n... 9 more\n" {
		t.Errorf("%q", got)
	}
	if got := fit(nil, 80, 24, 0); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
