package platform

import (
	"testing"
	"time"
)

// F41: what tells the shift of a time namespace, and what is refused.
func TestF41_ParseShift(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"monotonic           0         0\nboottime            0         0\n": 0,
		"monotonic  100000   5\nboottime  -7  0\n":                           100000*time.Second + 5,
		"boottime  9  0\nmonotonic   -86400         1\n":                     -24*time.Hour + 1,
		"": -1, "monotonic\n": -1, "monotonic 1\n": -1, "monotonic 1 x\n": -1, "monotonic 99999999999999 0\n": -1, "boottime 0 0\n": -1,
	} {
		got, err := parseShift([]byte(text))
		if (want == -1) != (err != nil) || err == nil && got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
