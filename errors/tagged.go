package errors

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Tagged is an error that carries the name by which programs tell it apart.
// The Go type is the better key inside one program (AsType, CatchTag); the tag
// is what crosses into logs and into other languages.
type Tagged interface {
	error
	// Tag is constant for a type and never empty.
	Tag() string
}

// TagOf is the tag of the first tagged error in err's tree, or "" when there is
// none (a nil err included).
func TagOf(err error) string {
	if tagged, ok := AsType[Tagged](err); ok {
		return tagged.Tag()
	}
	return ""
}

// MarshalTagged encodes fields, which must encode as a JSON object, with "_tag"
// as its first member. Types that implement Tagged call it from MarshalJSON.
func MarshalTagged(tag string, fields any) ([]byte, error) {
	name, err := json.Marshal(tag)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	body = bytes.TrimSpace(body)
	if len(body) < 2 || body[0] != '{' {
		return nil, fmt.Errorf("errors: fields of %s encode as %.20q, not as an object", tag, body)
	}
	out := make([]byte, 0, len(body)+len(name)+9)
	out = append(out, `{"_tag":`...)
	out = append(out, name...)
	if rest := bytes.TrimSpace(body[1:]); rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}
