package platform

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainName is a name that somebody else wrote, as a message may show it: as it is
// when it looks like one, else quoted, so that it neither moves a terminal's cursor
// nor makes a line of its own, and not longer than a message should be.
func plainName(name string) string {
	const most = 255 // of a host's name, which has no spaces either
	odd := name == "" || len(name) > most || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return r == ' ' || r == '"' || !strconv.IsPrint(r)
	})
	if odd {
		return quoteShort(name, most)
	}
	return name
}

// quoteShort quotes at most that many bytes of text.
func quoteShort(text string, most int) string {
	if len(text) > most {
		return strconv.Quote(text[:most]) + "... (" + strconv.Itoa(len(text)) + " bytes)"
	}
	return strconv.Quote(text)
}

// plainText is a message that may have names of others inside: what cannot be printed
// is escaped, what is too long cut.
func plainText(text string) string {
	const most = 1000
	more := ""
	if len(text) > most {
		text, more = text[:most], "... ("+strconv.Itoa(len(text))+" bytes)"
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			b.WriteRune(r)
		} else {
			quoted := strconv.Quote(text[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String() + more
}
