package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// failure is an expected failure: a tag, equal to every other with that tag.
type failure struct{ tag string }

func (f failure) Error() string { return f.tag }
func (f failure) Tag() string   { return f.tag }

// plain is a value as JSON data; what has no form of its own is no value.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v
	case int:
		return float64(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	case mo.Option[any]:
		if x, ok := v.Get(); ok {
			return []any{"some", plain(x)}
		}
		return []any{"none"}
	case effect.Pair[any, any]:
		return []any{plain(v.First), plain(v.Second)}
	default:
		return nil
	}
}

func text(v any) string { return encode(plain(v)) }

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("vectors: %v is no JSON: %v", v, err))
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// itemText is a value as lines of the trace name it.
func itemText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text(v)
}

func tagOf(err error) any {
	var tagged interface{ Tag() string }
	if errors.As(err, &tagged) {
		return tagged.Tag()
	}
	return err.Error()
}

func messageOf(defect any) any {
	switch d := defect.(type) {
	case *effect.MissingService:
		return "Service not found"
	case Unbound:
		return d.Error()
	case error:
		return tagOf(d)
	default:
		return plain(d)
	}
}

func causeData(c *scope.Cause) []any {
	out := []any{}
	for _, r := range c.Reasons() {
		switch r := r.(type) {
		case scope.Fail:
			out = append(out, []any{"fail", tagOf(r.Err)})
		case scope.Die:
			out = append(out, []any{"die", messageOf(r.Defect)})
		case scope.Interrupt:
			out = append(out, []any{"interrupt"})
		}
	}
	return out
}

func causeText(c *scope.Cause) string { return encode(causeData(c)) }

func exitText(e scope.Exit[any]) string {
	if c := e.Cause(); c != nil {
		return encode(map[string]any{"failure": causeData(c)})
	}
	v, _ := e.Value()
	return encode(map[string]any{"success": plain(v)})
}

// exitOf is an exit as programs write it.
func exitOf(x any) scope.Exit[any] {
	list, _ := x.([]any)
	if len(list) == 0 {
		bad("%v is no exit", x)
	}
	var arg any
	if len(list) > 1 {
		arg = list[1]
	}
	switch list[0] {
	case "succeed":
		return scope.ExitSucceed(arg)
	case "fail":
		tag, _ := arg.(string)
		return scope.ExitFail[any](failure{tag})
	case "die":
		return scope.ExitDie[any](arg)
	case "interrupt":
		return scope.ExitInterrupt[any](0)
	}
	bad("%v is no exit", x)
	return scope.Exit[any]{}
}
