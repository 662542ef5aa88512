package platform_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivus/tether/platform"
)

// P6: a temporary file is a sibling of its target, and is recognized by its name.
func TestP6_TemporaryNames(t *testing.T) {
	separator := string(filepath.Separator)
	seen := map[string]bool{}
	for _, target := range []string{"l", separator + "l", "a" + separator + "l", "a" + separator + ".." + separator + strings.Repeat("x", 255)} {
		dir := strings.TrimRight(platform.Dir(target), separator)
		for range 100 {
			path := platform.TemporaryBeside(target)
			name, beside := strings.CutPrefix(path, dir+separator)
			if !beside || !platform.IsTemporary(name) || seen[name] {
				t.Fatal(target, path)
			}
			seen[name] = true
		}
	}
	for name, want := range map[string]bool{
		".tether-0123456789abcdef.tmp":                   true,
		".tether-0123456789abcdef0123456789abcdef.tmp":   true,
		".tether-0123456789abcde.tmp":                    false,
		".tether-0123456789abcdef0.tmp":                  false,
		".tether-0123456789abcdeF.tmp":                   false,
		".tether-0123456789abcdeg.tmp":                   false,
		".tether-0123456789a-cdef.tmp":                   false,
		".tether-oldnotes.tmp":                           false,
		".tether-.tmp":                                   false,
		".tether-.tmp.tmp":                               false,
		".tether-":                                       false,
		"tether-0123456789abcdef.tmp":                    false,
		".tether-0123456789abcdef.tm":                    false,
		".tether-0123456789abcdef.tmp.tmp":               false,
		"a" + separator + ".tether-0123456789abcdef.tmp": false,
		".tether-0123456789abcdef.tmp" + separator:       false,
		"": false,
	} {
		if got := platform.IsTemporary(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
