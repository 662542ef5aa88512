package main

import (
	"strings"
	"testing"
)

const text = "one\ntwo\nthree\ntwo\n"

func TestPatchesApplyExactlyOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ diff, want, failure string }{
		"a replacement":        {"@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "one\n2\nthree\ntwo\n", ""},
		"wrong numbers":        {"@@ -70,2 +70,2 @@\n one\n-two\n+2\n", "one\n2\nthree\ntwo\n", ""},
		"no numbers":           {"@@\n-three\n+3\n", "one\ntwo\n3\ntwo\n", ""},
		"a deletion":           {"@@\n-one\n", "two\nthree\ntwo\n", ""},
		"an addition":          {"@@\n three\n+more\n", "one\ntwo\nthree\nmore\ntwo\n", ""},
		"two hunks":            {"@@\n-one\n+1\n@@\n-three\n+3\n", "1\ntwo\n3\ntwo\n", ""},
		"in two places":        {"@@\n-two\n+2\n", "", "in 2 places"},
		"nowhere":              {"@@\n-four\n", "", "in 0 places"},
		"the end of a line":    {"@@\n-hree\n", "", "in 0 places"},
		"after another":        {"@@\n-one\n+1\n@@\n 1\n+and a half\n", "1\nand a half\ntwo\nthree\ntwo\n", ""},
		"nothing changes":      {"@@\n one\n", "", "changes nothing"},
		"no hunk":              {"", "", "has no hunk"},
		"a line of no kind":    {"@@\none\n", "", "begins with none"},
		"lines before a hunk":  {"-one\n@@\n-one\n", "", "outside any hunk"},
		"an empty line inside": {"@@\n one\n\n", "", "changes nothing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := parseDiff("--- a/x.go\n+++ b/x.go\n" + test.diff)
			got := ""
			if err == nil {
				got, err = files[0].apply(text)
			}
			switch {
			case test.failure == "" && err != nil:
				t.Error(err)
			case test.failure != "" && (err == nil || !strings.Contains(err.Error(), test.failure)):
				t.Errorf("the error is %v, not %q", err, test.failure)
			case got != test.want:
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDiffsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	files, err := parseDiff("--- a/x.go\n+++ b/x.go\n@@\n-one\n--- a/y.go\n+++ b/y.go\n@@\n-two\n@@\n-three\n")
	if err != nil || len(files) != 2 || files[1].file != "y.go" || len(files[1].hunks) != 2 {
		t.Errorf("got %v, %v", files, err)
	}
	if _, err := parseDiff("--- a/x.go\n+++ b/y.go\n@@\n-one\n"); err == nil {
		t.Error("a renaming passed")
	}
	if _, err := parseDiff(""); err == nil {
		t.Error("an empty diff passed")
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	const diff = "\n\n--- a/x.go\n+++ b/x.go\n@@\n-one\n"
	m, err := parseMutant("g/n", "Rule: so.\nFails: ./lease TestL1_|TestL2_"+diff)
	if err != nil || m.rule != "so." || m.fails != (check{pkg: "./lease", run: "TestL1_|TestL2_"}) {
		t.Errorf("got %+v, %v", m, err)
	}
	m, err = parseMutant("g/n", "Rule: so.\nFails: differential 7 400"+diff)
	if err != nil || m.fails.seed != 7 || m.fails.count != 400 || !m.fails.differential() {
		t.Errorf("got %+v, %v", m, err)
	}
	for _, head := range []string{
		"", "Rule: so.", "Fails: ./x Test\nRule: so.", "Rule: so.\nFails: lease Test", "Rule: so.\nFails: ./lease",
		"Rule: so.\nFails: differential 1", "Rule: so.\nFails: differential 1 x",
	} {
		if _, err := parseMutant("g/n", head+diff); err == nil || !strings.HasPrefix(err.Error(), "g/n") {
			t.Errorf("%q gave %v", head, err)
		}
	}
}
