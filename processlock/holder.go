package processlock

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/rivus/tether/platform"
)

// Holder is the stamp that a holder leaves: who it is, when it took the lock and
// a nonce that no other acquisition has. The JSON is {host, bootId, pid,
// startTime, acquiredAt, nonce} with the optional pidNs and timeNs. One that was read
// may be of another version, which names no more than host and pid: its BootID is
// empty, and the JSON has neither bootId nor startTime.
type Holder struct {
	platform.Identity
	// AcquiredAt is wall-clock milliseconds since 1970, for people; nothing is
	// decided by it. It is 0 in a stamp that records it in another form.
	AcquiredAt int64
	Nonce      string
}

// String is for people: "pid 42 on host h".
func (h Holder) String() string { return h.Identity.String() }

// MarshalJSON implements json.Marshaler.
func (h Holder) MarshalJSON() ([]byte, error) {
	named := h.BootID == "" && h.StartTime == 0
	whole := h.Identity
	if named {
		whole.BootID = "none" // the rest must be right all the same
	}
	if err := whole.Validate(); err != nil {
		return nil, err
	}
	nonce, err := json.Marshal(h.Nonce)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, 256), '{')
	if named {
		host, err := json.Marshal(h.Host)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, `"host":`...), host...), `,"pid":`...)
		b = strconv.AppendInt(b, h.PID, 10)
	} else {
		b = h.AppendJSON(b)
	}
	b = append(b, `,"acquiredAt":`...)
	b = strconv.AppendInt(b, h.AcquiredAt, 10)
	b = append(b, `,"nonce":`...)
	b = append(b, nonce...)
	return append(b, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler. What names a process is a stamp:
// a missing nonce or an odd acquiredAt does not make its holder less alive.
func (h *Holder) UnmarshalJSON(data []byte) error {
	var out Holder
	if err := out.Identity.UnmarshalJSON(data); err != nil {
		if named, ok := nameAlone(data); ok {
			*h = named
			return nil
		}
		return err
	}
	var rest struct {
		AcquiredAt json.RawMessage `json:"acquiredAt"`
		Nonce      json.RawMessage `json:"nonce"`
	}
	if err := json.Unmarshal(data, &rest); err != nil {
		return err
	}
	out.readRest(rest.AcquiredAt, rest.Nonce)
	*h = out
	return nil
}

// readRest sets what nothing is decided by, as far as it is there.
func (h *Holder) readRest(acquiredAt, nonce json.RawMessage) {
	if ms, err := strconv.ParseFloat(string(acquiredAt), 64); err == nil && math.Abs(ms) <= platform.MaxSafeInteger {
		h.AcquiredAt = int64(ms)
	}
	if len(nonce) > 0 && nonce[0] == '"' {
		_ = json.Unmarshal(nonce, &h.Nonce)
	}
}

// maxStamp bounds what is read of a holder file. A stamp has about 200 bytes.
const maxStamp = 64 << 10

// parseStamp is the holder in the content of a file, if that is a stamp.
func parseStamp(data []byte) (Holder, bool) {
	var h Holder
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return h, false
	}
	if err := json.Unmarshal(trimmed, &h); err != nil || h.BootID == "" {
		return Holder{}, false
	}
	return h, true
}
