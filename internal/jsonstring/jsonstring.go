// Package jsonstring writes a string as JSON.stringify does, for files that programs of
// both languages write and compare.
//
// encoding/json escapes more than it must: the line separators U+2028 and U+2029, and
// what replaces bytes that are no UTF-8.
package jsonstring

import "unicode/utf8"

// Append appends s in quotes to b. Bytes that are no UTF-8 become U+FFFD.
func Append(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	from := 0 // what is not appended yet
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(b, s[from:i]...)
				b = utf8.AppendRune(b, r)
				from = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = append(append(b, s[from:i]...), '\\')
			switch c {
			case '"', '\\':
				b = append(b, c)
			case '\b':
				b = append(b, 'b')
			case '\f':
				b = append(b, 'f')
			case '\n':
				b = append(b, 'n')
			case '\r':
				b = append(b, 'r')
			case '\t':
				b = append(b, 't')
			default:
				b = append(b, 'u', '0', '0', digits[c>>4], digits[c&15])
			}
			from = i + 1
		}
		i++
	}
	return append(append(b, s[from:]...), '"')
}
