package lease

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/rivus/tether/platform"
)

// Holder is the process that holds a lease, as the record names it, and for how
// long it may stay silent. Two are compared with ==.
//
// The JSON is the identity's own, {host, bootId, pid, startTime, pidNs?,
// timeNs?}, with ttlMs beside it; the TypeScript package knows nothing of the
// optional ones and leaves them alone.
type Holder struct {
	platform.Identity
	// TTL is the holder's own. 0: it did not record one. It is recorded in whole
	// milliseconds, rounded up.
	TTL time.Duration
}

// String is for people: "pid 42 on host h".
func (h Holder) String() string { return h.Identity.String() }

// MarshalJSON implements json.Marshaler. It fails on an invalid identity.
func (h Holder) MarshalJSON() ([]byte, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	return h.appendJSON(make([]byte, 0, 192)), nil
}

func (h Holder) appendJSON(b []byte) []byte {
	b = h.AppendJSON(append(b, '{'))
	if h.TTL > 0 {
		b = append(b, `,"ttlMs":`...)
		b = strconv.AppendInt(b, milliseconds(h.TTL), 10)
	}
	return append(b, '}')
}

// milliseconds rounds up: nobody may take over too soon.
func milliseconds(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// maxHolderJSON bounds what is read of a holder; one has about 200 bytes.
const maxHolderJSON = 64 << 10

// UnmarshalJSON implements json.Unmarshaler. Unknown fields are ignored. Numbers
// must be integers up to 2^53-1, exactly; nothing is rounded.
func (h *Holder) UnmarshalJSON(data []byte) error {
	if len(data) > maxHolderJSON {
		return invalid("the holder has %d bytes, more than any holder needs", len(data))
	}
	var out Holder
	if err := out.Identity.UnmarshalJSON(data); err != nil {
		return invalid("holder: %v", err)
	}
	// A map, since struct fields would match in any case of letters.
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(data, &rest); err != nil {
		return invalid("the holder is no JSON object")
	}
	if raw, ok := rest["ttlMs"]; ok && string(raw) != "null" {
		ms, ok := safeInteger(raw)
		if !ok || ms < 1 {
			return invalid("the holder's ttlMs is no integer from 1 to 2^53-1")
		}
		out.TTL = time.Duration(math.MaxInt64)
		if ms <= int64(out.TTL/time.Millisecond) {
			out.TTL = time.Duration(ms) * time.Millisecond
		}
	}
	*h = out
	return nil
}

// safeInteger takes a JSON number that is written as an integer and that a
// reader in JavaScript holds exactly.
func safeInteger(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && -platform.MaxSafeInteger <= n && n <= platform.MaxSafeInteger
}
