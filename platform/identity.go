package platform

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rivus/tether/internal/jsonstring"
)

// MaxSafeInteger is 2^53-1, the largest integer that a reader in JavaScript holds
// exactly. Numbers beyond it are refused, never rounded.
const MaxSafeInteger = 1<<53 - 1

// Identity tells one process from every other that ran or will run: a pid is
// used again, a start time with it is not, and a boot id sets both into one
// boot of one machine. Two identities are compared with ==; the clocks of two
// machines never are.
//
// The JSON is {host, bootId, pid, startTime, pidNs?, timeNs?}, which the
// TypeScript package reads and writes (it knows nothing of the last two).
type Identity struct {
	Host   string
	BootID string
	PID    int64 // from 1
	// StartTime is in the kernel's own unit: on Linux clock ticks after boot, on
	// macOS the start second as Unix milliseconds.
	StartTime int64
	// PIDNs and TimeNs are the inodes of the PID and time namespaces (Linux), or
	// 0 where they were not recorded. A pid or a start time from another
	// namespace means nothing here.
	PIDNs, TimeNs uint64
}

// Validate says why i cannot be recorded or compared, or is nil.
func (i Identity) Validate() error {
	switch {
	case i.Host == "":
		return invalidIdentity("host is empty")
	case i.BootID == "":
		return invalidIdentity("bootId is empty")
	case i.PID < 1 || i.PID > MaxSafeInteger:
		return invalidIdentity(fmt.Sprintf("pid is %d, not an integer from 1 to 2^53-1", i.PID))
	case i.StartTime < 0 || i.StartTime > MaxSafeInteger:
		return invalidIdentity(fmt.Sprintf("startTime is %d, not an integer from 0 to 2^53-1", i.StartTime))
	case i.PIDNs > MaxSafeInteger || i.TimeNs > MaxSafeInteger:
		return invalidIdentity("a namespace is beyond 2^53-1")
	}
	return nil
}

// String is for people: "pid 42 on host h". A host that does not look like one is
// quoted.
func (i Identity) String() string {
	return "pid " + strconv.FormatInt(i.PID, 10) + " on host " + plainName(i.Host)
}

// AppendJSON appends i's fields without the braces, for records that carry an
// identity inline. It does not validate.
func (i Identity) AppendJSON(b []byte) []byte {
	b = append(b, `"host":`...)
	b = jsonstring.Append(b, i.Host)
	b = append(b, `,"bootId":`...)
	b = jsonstring.Append(b, i.BootID)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, i.PID, 10)
	b = append(b, `,"startTime":`...)
	b = strconv.AppendInt(b, i.StartTime, 10)
	if i.PIDNs != 0 {
		b = append(b, `,"pidNs":`...)
		b = strconv.AppendUint(b, i.PIDNs, 10)
	}
	if i.TimeNs != 0 {
		b = append(b, `,"timeNs":`...)
		b = strconv.AppendUint(b, i.TimeNs, 10)
	}
	return b
}

// MarshalJSON implements json.Marshaler. It fails on what Validate refuses.
func (i Identity) MarshalJSON() ([]byte, error) {
	if err := i.Validate(); err != nil {
		return nil, err
	}
	return append(i.AppendJSON([]byte{'{'}), '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler. Unknown fields are ignored; a
// missing or malformed one, or a number that is no integer below 2^53, is a
// *Failure with ReasonInvalid. Names are matched exactly, as in JavaScript.
func (i *Identity) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return invalidIdentity("it is no JSON object")
	}
	var out Identity
	ok := jsonString(fields["host"], &out.Host) && jsonString(fields["bootId"], &out.BootID)
	if !ok {
		return invalidIdentity("host or bootId is no string")
	}
	if out.PID, ok = jsonInteger(fields["pid"]); !ok {
		return invalidIdentity("pid is no integer up to 2^53-1")
	}
	if out.StartTime, ok = jsonInteger(fields["startTime"]); !ok {
		return invalidIdentity("startTime is no integer up to 2^53-1")
	}
	for name, into := range map[string]*uint64{"pidNs": &out.PIDNs, "timeNs": &out.TimeNs} {
		raw, present := fields[name]
		if !present || string(raw) == "null" {
			continue
		}
		n, ok := jsonInteger(raw)
		if !ok || n < 1 {
			return invalidIdentity(name + " is no integer from 1 to 2^53-1")
		}
		*into = uint64(n)
	}
	if err := out.Validate(); err != nil {
		return err
	}
	*i = out
	return nil
}

func invalidIdentity(why string) *Failure {
	return &Failure{Op: "read identity", Reason: ReasonInvalid, Cause: fmt.Errorf("%s", why)}
}

func jsonString(raw json.RawMessage, into *string) bool {
	return len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, into) == nil
}

// jsonInteger takes a JSON number that is written as an integer; 1.0 and 1e3 are
// refused, since no writer of ours makes them and a float must not round a value.
func jsonInteger(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n > MaxSafeInteger || n < -MaxSafeInteger {
		return 0, false
	}
	return n, true
}
