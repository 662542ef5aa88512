package lease

import (
	"encoding/json"
	"strconv"

	"github.com/rivus/tether/internal/jsonstring"
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
	b = jsonstring.Append(b, r.Key)
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
		b = jsonstring.Append(b, id)
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
	// As JavaScript compares: whatever is not the number is another version.
	var version float64
	if raw := fields["schemaVersion"]; json.Unmarshal(raw, &version) != nil || version != schemaVersion {
		return r, RepositoryUnsupportedSchema, invalid("its schemaVersion is %.40q, and this program knows %d", raw, schemaVersion)
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

func appendNumber(b []byte, n float64) []byte {
	text, _ := json.Marshal(n) // a finite number always encodes, and as in JavaScript
	return append(b, text...)
}
