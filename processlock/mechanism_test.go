package processlock_test

import (
	"encoding/json"
	"testing"

	"github.com/rivus/tether/processlock"
)

// F54: in JSON a mechanism has the name that TypeScript gives it.
func TestF54_MechanismJSON(t *testing.T) {
	type line struct {
		Mechanism processlock.Mechanism `json:"mechanism"`
	}
	for m, want := range map[processlock.Mechanism]string{
		processlock.SQLite: `{"mechanism":"sqlite"}`, processlock.LockFile: `{"mechanism":"file"}`,
	} {
		got, err := json.Marshal(line{m})
		if err != nil || string(got) != want {
			t.Errorf("%v is %s, %v; want %s", m, got, err, want)
		}
		back := line{processlock.SQLite + processlock.LockFile - m}
		if err := json.Unmarshal(got, &back); err != nil || back.Mechanism != m {
			t.Errorf("%s is read as %v, %v", got, back.Mechanism, err)
		}
	}
	for _, text := range []string{`{"mechanism":"lock-file"}`, `{"mechanism":0}`, `{"mechanism":""}`} {
		if err := json.Unmarshal([]byte(text), &line{}); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}
