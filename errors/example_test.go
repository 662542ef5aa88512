package errors_test

import (
	"encoding/json"
	"fmt"

	"github.com/rivus/tether/errors"
)

// QuotaExceeded is a tagged error: it has a tag, and JSON that begins with it.
type QuotaExceeded struct {
	User  string `json:"user"`
	Limit int    `json:"limit"`
}

func (e *QuotaExceeded) Error() string {
	return fmt.Sprintf("%s has used all of %d", e.User, e.Limit)
}

// Tag implements errors.Tagged.
func (*QuotaExceeded) Tag() string { return "QuotaExceeded" }

// MarshalJSON encodes the fields as they are; the type without its methods keeps
// it from calling itself.
func (e *QuotaExceeded) MarshalJSON() ([]byte, error) {
	type fields QuotaExceeded
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// Go code tells errors apart by type, logs and other languages by tag; both find
// one that is wrapped.
func ExampleTagged() {
	err := fmt.Errorf("upload: %w", &QuotaExceeded{User: "ada", Limit: 10})
	if quota, ok := errors.AsType[*QuotaExceeded](err); ok {
		line, _ := json.Marshal(quota)
		fmt.Println(string(line))
	}
	fmt.Println(errors.TagOf(err))
	fmt.Printf("%q\n", errors.TagOf(errors.New("untagged")))
	// Output:
	// {"_tag":"QuotaExceeded","user":"ada","limit":10}
	// QuotaExceeded
	// ""
}
