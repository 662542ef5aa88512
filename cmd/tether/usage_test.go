package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestWithDashes(t *testing.T) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	flags.String("lease", "", "")
	flags.Bool("json", false, "")
	flags.String("wait", "", "")
	flags.Lookup("wait").NoOptDefVal = forEver
	for given, want := range map[string]string{
		"run --lease DB KEY ls -l":           "run --lease DB KEY -- ls -l",
		"run --lease=DB KEY ls --lease":      "run --lease=DB KEY -- ls --lease",
		"--json run --wait --lease DB K ls":  "--json run --wait --lease DB K -- ls",
		"run KEY sh -c a;b":                  "run KEY -- sh -c 'a;b'",
		"run KEY sh -c it's":                 `run KEY -- sh -c 'it'\''s'`,
		"run KEY ls -- -l":                   "run KEY -- ls -l",
		"run KEY rm -f -- x":                 "run KEY -- rm -f -- x",
		"run --lease DB KEY -- ls -l":        "",
		"run --lease DB KEY":                 "",
		"run --lease DB --bogus KEY -- true": "",
		"run --bogus KEY ls":                 "", // it may have a value
		"run -x KEY ls":                      "",
		"run --lease":                        "",
	} {
		got, ok := withDashes(flags, strings.Split(given, " "))
		if got != want || ok != (want != "") {
			t.Errorf("%q becomes %q", given, got)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for arg, want := range map[string]string{
		"": "''", "a.b/c-d_e=f": "a.b/c-d_e=f", "a b": "'a b'", "$x": "'$x'", "'": `''\'''`, "*": "'*'", "~": "'~'", "é": "'é'",
	} {
		if got := shellQuote(arg); got != want {
			t.Errorf("%q is %s", arg, got)
		}
	}
}

// Without "--" CMD's flags are the tool's, or nobody's.
func TestDashesAreMissing(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][2]string{
		{"run --lease l.db k ls -l", "write: tether run --lease l.db k -- ls -l"},
		{"run --lease l.db k ls --bogus", "write: tether run --lease l.db k -- ls --bogus"},
		{"run --lease l.db k ls --wait", "write: tether run --lease l.db k -- ls --wait"},
		{"run --lease l.db k timeout --grace 5 ls", "write: tether run --lease l.db k -- timeout --grace 5 ls"},
		{"run --lease l.db k ls", "write: tether run --lease l.db k -- ls"},
		{"lock l ls -l", "write: tether lock l -- ls -l"},
		{"lock l", "as in: tether lock PATH -- CMD"},
		{"run --lease l.db -- k ls", "as in: tether run --lease DB KEY -- CMD..."},
		{"run --lease l.db --bogus k -- ls", "see tether run --help"},
	} {
		_, errOut, status := call(t, dir, strings.Fields(c[0])...)
		if status != statusTrouble || !strings.Contains(errOut, c[1]) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: status %d, %q", c[0], status, errOut)
		}
	}
}
