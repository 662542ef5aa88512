package vectors_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rivus/tether/internal/vectors"
)

// Any JSON is a program, which runs to its end or is given up, twice alike, or
// is refused as none.
func FuzzProgram(f *testing.F) {
	for _, program := range []string{
		`["seq",["log","a"],["fork","f",["sleep",5]],["interruptFiber","f"],["await","f"]]`,
		`["scoped",["acquireRelease",["succeed",1],["fail","E1"]]]`,
		`["all",[["yield"],["die","x"],["never"]],2]`,
		`["forever",["yield"]]`,
		`["seq"]`,
		`["retry",["fail","E1"],-1]`,
		`["queue","q",1e300]`,
		`{"a":[null,true]}`,
	} {
		f.Add([]byte(program))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var program any
		if json.Unmarshal(text, &program) != nil {
			return
		}
		first, err := vectors.Run(program)
		again, errAgain := vectors.Run(program)
		if err != nil {
			var none *vectors.ProgramError
			if !errors.As(err, &none) && !errors.Is(err, vectors.ErrEndless) {
				t.Fatalf("%v", err)
			}
			if errAgain == nil {
				t.Fatalf("first %v, then nothing", err)
			}
			return
		}
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(again)
		if errAgain != nil || string(a) != string(b) {
			t.Fatalf("first %s, then %s %v", a, b, errAgain)
		}
	})
}
