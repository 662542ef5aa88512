package lease

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/samber/mo"
)

// schemaVersion is the version of the record file that this package writes and
// the only one that it reads.
const schemaVersion = 1

// maxRecordJSON bounds what is read of a record file: keys may be long.
const maxRecordJSON = 16 << 20

// MarshalJSON implements json.Marshaler: {key, generation, revision, holder,
// holderId, renewedAt}. It fails on what Validate refuses.
func (r Record) MarshalJSON() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, 384+len(r.Key)), `{"key":`...)
	b = appendString(b, r.Key)
	b = append(b, `,"generation":`...)
	b = strconv.AppendInt(b, r.Generation, 10)
	b = append(b, `,"revision":`...)
	b = strconv.AppendInt(b, r.Revision, 10)
	b = append(b, `,"holder":`...)
	if h, ok := r.Holder.Get(); ok {
		b = h.appendJSON(b)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"holderId":`...)
	if id, ok := r.HolderID.Get(); ok {
		b = appendString(b, id)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"renewedAt":`...)
	b = appendNumber(b, r.RenewedAt)
	return append(b, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler. Unknown fields are ignored; names
// are matched exactly. What comes out is valid.
func (r *Record) UnmarshalJSON(data []byte) error {
	fields, ok := object(data)
	if !ok {
		return invalid("the record is no JSON object")
	}
	var out Record
	if !stringOf(fields["key"], &out.Key) {
		return invalid("the record's key is no string")
	}
	if out.Generation, ok = safeInteger(fields["generation"]); !ok {
		return invalid("the record's generation is no integer up to 2^53-1")
	}
	if out.Revision, ok = safeInteger(fields["revision"]); !ok {
		return invalid("the record's revision is no integer up to 2^53-1")
	}
	for _, name := range []string{"holder", "holderId"} {
		if _, ok := fields[name]; !ok {
			return invalid("the record has no %s", name)
		}
	}
	if raw := fields["holder"]; string(raw) != "null" {
		var h Holder
		if err := h.UnmarshalJSON(raw); err != nil {
			return err
		}
		out.Holder = mo.Some(h)
	}
	if raw := fields["holderId"]; string(raw) != "null" {
		var id string
		if !stringOf(raw, &id) {
			return invalid("the record's holderId is no string")
		}
		out.HolderID = mo.Some(id)
	}
	if err := json.Unmarshal(fields["renewedAt"], &out.RenewedAt); err != nil || string(fields["renewedAt"]) == "null" {
		return invalid("the record's renewedAt is no finite number")
	}
	if err := out.Validate(); err != nil {
		return err
	}
	*r = out
	return nil
}

// recordFile is the content of a record file.
func recordFile(r Record) ([]byte, error) {
	body, err := r.MarshalJSON()
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, len(body)+40), `{"schemaVersion":`...)
	b = strconv.AppendInt(b, schemaVersion, 10)
	b = append(b, `,"record":`...)
	return append(append(b, body...), '}'), nil
}

// parseRecordFile reads what recordFile wrote. reason is RepositoryInvalidRecord
// or RepositoryUnsupportedSchema when err is not nil.
func parseRecordFile(data []byte) (r Record, reason RepositoryReason, err error) {
	fields, ok := object(data)
	if !ok {
		return r, RepositoryInvalidRecord, invalid("it is no JSON object")
	}
	version, present := fields["schemaVersion"]
	n, ok := safeInteger(version)
	switch {
	case !present || !ok:
		return r, RepositoryInvalidRecord, invalid("its schemaVersion is no integer")
	case n != schemaVersion:
		return r, RepositoryUnsupportedSchema, invalid("its schemaVersion is %d, and this program knows %d", n, schemaVersion)
	}
	if err := r.UnmarshalJSON(fields["record"]); err != nil {
		return Record{}, RepositoryInvalidRecord, err
	}
	return r, "", nil
}

// object splits a JSON object into its members, whose names keep their case.
func object(data []byte) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &fields) != nil || fields == nil {
		return nil, false
	}
	return fields, true
}

func stringOf(raw json.RawMessage, into *string) bool {
	return len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, into) == nil
}

// appendString writes s as JSON.stringify does, without HTML escapes.
func appendString(b []byte, s string) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return append(b, bytes.TrimRight(buffer.Bytes(), "\n")...)
}

func appendNumber(b []byte, n float64) []byte {
	if n == math.Trunc(n) && math.Abs(n) < 1e15 {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return strconv.AppendFloat(b, n, 'g', -1, 64)
}
