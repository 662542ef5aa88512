package errors_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rivus/tether/errors"
)

type refused struct {
	Key string `json:"key"`
}

func (r *refused) Error() string { return "refused " + r.Key }
func (r *refused) Tag() string   { return "Refused" }

func (r *refused) MarshalJSON() ([]byte, error) {
	type fields refused
	return errors.MarshalTagged(r.Tag(), (*fields)(r))
}

type bare struct{}

func (bare) Error() string { return "bare" }
func (bare) Tag() string   { return `Odd"Tag` }

func (b bare) MarshalJSON() ([]byte, error) { return errors.MarshalTagged(b.Tag(), struct{}{}) }

func TestTagOf(t *testing.T) {
	r := &refused{Key: "a"}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"nil", nil, ""},
		{"untagged", errors.New("x"), ""},
		{"itself", r, "Refused"},
		{"wrapped", fmt.Errorf("while: %w", r), "Refused"},
		{"joined", errors.Join(errors.New("x"), r), "Refused"},
		{"first wins", errors.Join(bare{}, r), `Odd"Tag`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := errors.TagOf(c.err); got != c.want {
				t.Fatalf("TagOf = %q, want %q", got, c.want)
			}
		})
	}
}

func TestMarshalTagged(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{&refused{Key: `q"`}, `{"_tag":"Refused","key":"q\""}`},
		{bare{}, `{"_tag":"Odd\"Tag"}`},
	} {
		got, err := json.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Fatalf("got %s, %v; want %s", got, err, c.want)
		}
	}
	if _, err := errors.MarshalTagged("T", []int{1}); err == nil {
		t.Fatal("an array was accepted as fields")
	}
}
