package scope

import (
	"encoding/json"
	"fmt"
)

// Exit is how an effect ended: with a value or with a cause. Its zero value is
// the success of A's zero value.
type Exit[A any] struct {
	value A
	cause *Cause
}

// ExitSucceed is the exit with a value.
func ExitSucceed[A any](value A) Exit[A] { return Exit[A]{value: value} }

// ExitFail is the exit with one expected failure.
func ExitFail[A any](err error) Exit[A] { return Exit[A]{cause: CauseFail(err)} }

// ExitDie is the exit with one defect.
func ExitDie[A any](defect any) Exit[A] { return Exit[A]{cause: CauseDie(defect)} }

// ExitInterrupt is the exit with one interruption.
func ExitInterrupt[A any](by FiberID) Exit[A] { return Exit[A]{cause: CauseInterrupt(by)} }

// ExitFailCause is the exit with a cause. A nil cause would be a success
// without a value, so it panics.
func ExitFailCause[A any](cause *Cause) Exit[A] {
	if cause == nil {
		panic("scope: ExitFailCause of a nil cause")
	}
	return Exit[A]{cause: cause}
}

// NewExit is the exit with the cause, or with the value when the cause is nil.
func NewExit[A any](value A, cause *Cause) Exit[A] {
	if cause != nil {
		return Exit[A]{cause: cause}
	}
	return Exit[A]{value: value}
}

// IsSuccess tells whether there is a value.
func (e Exit[A]) IsSuccess[_ onUse]() bool { return e.cause == nil }

// IsFailure tells whether there is a cause.
func (e Exit[A]) IsFailure[_ onUse]() bool { return e.cause != nil }

// Value is the value, or A's zero value and false.
func (e Exit[A]) Value[_ onUse]() (A, bool) { return e.value, e.cause == nil }

// Cause is the cause, or nil for a success.
func (e Exit[A]) Cause[_ onUse]() *Cause { return e.cause }

// Get is the exit as a Go pair; see Cause.Err for which error it gives.
func (e Exit[A]) Get[_ onUse]() (A, error) { return e.value, e.cause.Err() }

// Err is Get's error.
func (e Exit[A]) Err[_ onUse]() error { return e.cause.Err() }

// Any is the exit without its type.
func (e Exit[A]) Any[_ onUse]() Exit[any] {
	if e.cause != nil {
		return Exit[any]{cause: e.cause}
	}
	return Exit[any]{value: e.value}
}

// String is for people.
func (e Exit[A]) String() string {
	if e.cause != nil {
		return "Failure(" + e.cause.String() + ")"
	}
	return fmt.Sprintf("Success(%v)", e.value)
}

// MarshalJSON writes {"_tag":"Success","value":V} or
// {"_tag":"Failure","cause":{"_id":"Cause","reasons":[...]}}.
func (e Exit[A]) MarshalJSON() ([]byte, error) {
	if e.cause != nil {
		return json.Marshal(struct {
			Tag   string `json:"_tag"`
			Cause *Cause `json:"cause"`
		}{"Failure", e.cause})
	}
	return json.Marshal(struct {
		Tag   string `json:"_tag"`
		Value A      `json:"value"`
	}{"Success", e.value})
}

// MarshalJSON writes {"_id":"Cause","reasons":[...]}, each reason with its
// "_tag". Errors that encode themselves keep their form, others are their text.
func (c *Cause) MarshalJSON() ([]byte, error) {
	type reason struct {
		Tag     string   `json:"_tag"`
		Error   any      `json:"error,omitempty"`
		Defect  any      `json:"defect,omitempty"`
		FiberID *FiberID `json:"fiberId,omitempty"`
	}
	list := make([]reason, 0, len(c.Reasons()))
	for _, r := range c.Reasons() {
		switch r := r.(type) {
		case Fail:
			list = append(list, reason{Tag: "Fail", Error: jsonable(r.Err)})
		case Die:
			list = append(list, reason{Tag: "Die", Defect: jsonable(r.Defect)})
		case Interrupt:
			list = append(list, reason{Tag: "Interrupt", FiberID: &r.By})
		}
	}
	return json.Marshal(struct {
		ID      string   `json:"_id"`
		Reasons []reason `json:"reasons"`
	}{"Cause", list})
}

func jsonable(v any) any {
	if m, ok := v.(json.Marshaler); ok {
		return m
	}
	if err, ok := v.(error); ok {
		return err.Error()
	}
	return fmt.Sprint(v)
}
