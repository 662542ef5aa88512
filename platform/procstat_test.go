package platform_test

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rivus/tether/platform"
)

// statLine is a line as the kernel makes it.
func statLine(pid int64, name string, state byte, start int64) string {
	fields := []string{string(state)}
	for f := 4; f <= 52; f++ {
		if f == 22 {
			fields = append(fields, strconv.FormatInt(start, 10))
		} else {
			fields = append(fields, strconv.Itoa(-f))
		}
	}
	return strconv.FormatInt(pid, 10) + " (" + name + ") " + strings.Join(fields, " ") + "\n"
}

func TestP1_ParseProcStat(t *testing.T) {
	for _, name := range []string{"sh", "a b", ") R 1 2 (", "))))", "((", "", " ", "1 (x) S 1", "a\nb", "\xff"} {
		got, err := platform.ParseProcStat([]byte(statLine(42, name, 'S', 12345)))
		if want := (platform.ProcStat{PID: 42, State: 'S', StartTime: 12345}); err != nil || got != want {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
}

// F15: a malformed line is a failure.
func TestF15_MalformedStat(t *testing.T) {
	good := statLine(42, "x", 'S', 12345)
	for _, line := range []string{
		"", "\n", "42", "42 ", "42 (x", "42 x) S", "(x) S 1", " (x) S 1", "42 (x)", "42 (x) ", "42 (x) SS 1",
		strings.Replace(good, "12345", "1x", 1), strings.Replace(good, "12345", "", 1),
		strings.Replace(good, "12345", "-5", 1), strings.Replace(good, "12345", "9007199254740992", 1),
		strings.Replace(good, "42", "x", 1), strings.Replace(good, "42", "0", 1), strings.Replace(good, "42 ", "42", 1),
		good[:strings.Index(good, "12345")], strings.Repeat("\x00", 100),
	} {
		if got, err := platform.ParseProcStat([]byte(line)); platform.ReasonOf(err) != platform.ReasonInvalid {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}

func TestP1_ParseProcStatAnyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := platform.ProcStat{
			PID:       rapid.Int64Range(1, 1<<22).Draw(t, "pid"),
			State:     rapid.SampledFrom([]byte("RSDZTtXxKWPI")).Draw(t, "state"),
			StartTime: rapid.Int64Range(0, platform.MaxSafeInteger).Draw(t, "start"),
		}
		line := statLine(want.PID, rapid.String().Draw(t, "name"), want.State, want.StartTime)
		if got, err := platform.ParseProcStat([]byte(line)); err != nil || got != want {
			t.Fatalf("%q: %+v, %v", line, got, err)
		}
	})
}

func FuzzParseProcStat(f *testing.F) {
	f.Add([]byte(statLine(42, ") (", 'Z', 12345)))
	f.Fuzz(func(t *testing.T, line []byte) {
		stat, err := platform.ParseProcStat(line)
		if err == nil && (stat.PID < 1 || stat.StartTime < 0 || stat.StartTime > platform.MaxSafeInteger) {
			t.Fatalf("%+v", stat)
		}
	})
}
