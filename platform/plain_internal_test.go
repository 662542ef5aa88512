package platform

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivus/tether/errors"
)

// odd are texts that a terminal, a log or a reader would take for something else.
var odd = []string{
	"\x1b[2J", "a\nb", "a\rb", "\u009b31m", "\u202egpj", "\x7f", "\x00", "a\tb", `a"b`, "\xff", "\u2028", strings.Repeat("x", 100_000), " ", "",
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) })
}

// F50: names that others wrote, wherever they are shown.
func TestF50_NamesOfOthers(t *testing.T) {
	for _, text := range odd {
		for where, shown := range map[string]string{
			"a host":  Identity{Host: text, PID: 1}.String(),
			"a path":  (&Failure{Op: "read", Path: text, Reason: ReasonIO}).Error(),
			"a cause": (&Failure{Op: "read", Path: "p", Reason: ReasonIO, Cause: errors.New("malformed schema (" + text + ")")}).Error(),
		} {
			if !printable(shown) {
				t.Errorf("%s %.20q is shown as it is: %.60q", where, text, shown)
			}
			if len(shown) > 2000 {
				t.Errorf("%s: %d bytes", where, len(shown))
			}
		}
		host := Identity{Host: text, PID: 1}.String()
		if quoted := strings.Contains(host, `host "`); !quoted {
			t.Errorf("%q is not quoted: %s", text, host)
		}
	}
	if got := (Identity{Host: "build-7.example.org", PID: 42}).String(); got != "pid 42 on host build-7.example.org" {
		t.Error(got)
	}
	if got := (Identity{Host: "größe", PID: 42}).String(); got != "pid 42 on host größe" {
		t.Error(got)
	}
}
