package processlock

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rivus/tether/platform"
)

// kind is what the content of a lock file or a holder file is.
type kind uint8

const (
	// foreign: no process lock wrote it.
	foreign kind = iota
	// odd: an object that some version may have written, which names nobody.
	odd
	// begun: nothing, zeros, or the beginning of a stamp, as one leaves it who creates
	// first and stamps second, or a power cut.
	begun
	// named: a stamp of another version, which tells host and pid, but not enough to
	// judge whether that process still runs.
	named
	// stamped: a stamp.
	stamped
)

// contentOf tells what data is, and whom it names when it is stamped or named.
func contentOf(data []byte) (kind, Holder) {
	if h, ok := parseStamp(data); ok {
		return stamped, h
	}
	var fields map[string]json.RawMessage
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' && json.Unmarshal(trimmed, &fields) == nil {
		if h, ok := nameIn(fields); ok {
			return named, h
		}
		for _, name := range members {
			if _, ok := fields[name]; ok {
				return odd, Holder{}
			}
		}
		return foreign, Holder{}
	}
	if beginsStamp(bytes.TrimRight(data, "\x00")) {
		return begun, Holder{}
	}
	return foreign, Holder{}
}

// members are those of a stamp.
var members = []string{"host", "bootId", "pid", "startTime", "pidNs", "timeNs", "acquiredAt", "nonce"}

// nameIn is the host and the pid of an object that has them.
func nameIn(fields map[string]json.RawMessage) (h Holder, ok bool) {
	if raw := fields["host"]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &h.Host) != nil || h.Host == "" {
		return Holder{}, false
	}
	pid, err := strconv.ParseInt(string(fields["pid"]), 10, 64)
	if err != nil || pid < 1 || pid > platform.MaxSafeInteger {
		return Holder{}, false
	}
	h.PID = pid
	h.readRest(fields["acquiredAt"], fields["nonce"])
	return h, true
}

// nameAlone is the stamp of another version that has neither bootId nor startTime.
func nameAlone(data []byte) (Holder, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields["bootId"] != nil || fields["startTime"] != nil {
		return Holder{}, false
	}
	return nameIn(fields)
}

// beginsStamp reports whether data is the beginning of an object, of which no more is
// there, whose first member is one of a stamp's, as far as it can be seen.
func beginsStamp(data []byte) bool {
	if len(data) == 0 {
		return true
	}
	if data[0] != '{' {
		return false
	}
	first := strings.TrimLeft(string(data[1:min(len(data), 64)]), " \t\r\n")
	if first != "" {
		name, quoted := strings.CutPrefix(first, `"`)
		name, _, closed := strings.Cut(name, `"`)
		if !quoted || !slices.ContainsFunc(members, func(m string) bool {
			return m == name || !closed && strings.HasPrefix(m, name)
		}) {
			return false
		}
	}
	for tokens := json.NewDecoder(bytes.NewReader(data)); ; {
		// The whole of an object was looked at before: an end is too early.
		if _, err := tokens.Token(); err != nil {
			return err == io.EOF || err == io.ErrUnexpectedEOF
		}
	}
}
