package jsonstring_test

import (
	"encoding/json"
	"testing"

	"github.com/rivus/tether/internal/jsonstring"
	"pgregory.net/rapid"
)

// As node 20's JSON.stringify writes them, but for the last, which no string of
// JavaScript's is.
func TestAppend(t *testing.T) {
	for in, want := range map[string]string{
		"":                           `""`,
		"plain":                      `"plain"`,
		`q"b\s/`:                     `"q\"b\\s/"`,
		"\b\f\n\r\t":                 `"\b\f\n\r\t"`,
		"\x00\x01\x1f\x7f":           "\"\\u0000\\u0001\\u001f\x7f\"",
		"<a href='&'>":               `"<a href='&'>"`,
		"é😀\u2028\u2029\ufeff\ufffd": "\"é😀\u2028\u2029\ufeff\ufffd\"",
		"a\xffb\xc3":                 "\"a\ufffdb\ufffd\"",
	} {
		if got := string(jsonstring.Append([]byte("x"), in)); got != "x"+want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestAppendIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		var got string
		if err := json.Unmarshal(jsonstring.Append(nil, in), &got); err != nil || got != string([]rune(in)) {
			t.Fatalf("%q is %q, %v", in, got, err)
		}
	})
}
