package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Columns are as wide as what is in them, up to a bound: one long key must not move all
// others.
const (
	widest = 40
	gap    = "  "
)

var headings = []string{"KEY", "STATE", "HOLDER", "LIVENESS", "GENERATION", "AGE"}

// table writes entries for people. Keys are quoted when they could upset a terminal.
// A width cuts off what is wider, at the key first; 0 cuts nothing.
func table(out io.Writer, entries []entry, width int) error {
	lines := make([][]string, 0, len(entries)+1)
	lines = append(lines, headings)
	for _, e := range entries {
		lines = append(lines, e.cells())
	}
	widths := make([]int, len(headings))
	for _, line := range lines {
		for i, cell := range line {
			if n := utf8.RuneCountInString(cell); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
	}
	var text strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			if width > 0 && i == 0 {
				cell = cut(cell, max(widths[0], len(headings[0])))
			}
			text.WriteString(cell)
			if i == len(line)-1 {
				break
			}
			text.WriteString(strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))))
			text.WriteString(gap)
		}
		text.WriteByte('\n')
		if text.Len() > 1<<16 {
			if _, err := io.WriteString(out, text.String()); err != nil {
				return err
			}
			text.Reset()
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// cut is text of at most that many runes, and says that some are missing.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

func (e entry) cells() []string {
	if e.State == invalid {
		return []string{plain(e.Key), string(e.State), "-", "-", "-", "-"}
	}
	liveness := e.Liveness
	if liveness == "" {
		liveness = "-"
	}
	return []string{plain(e.Key), string(e.State), plain(e.holder()), liveness, strconv.FormatInt(e.Generation, 10), e.age()}
}

// details writes one entry for people.
func details(out io.Writer, e entry) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name string, value any) { fmt.Fprintf(w, "%s\t%v\n", name, value) }
	line("key", plain(e.Key))
	line("state", e.State)
	if e.State == invalid {
		line("problem", plain(e.Problem))
		return w.Flush()
	}
	if e.Holder != nil {
		line("holder", plain(e.holder()))
		line("liveness", e.Liveness)
		line("acquisition", plain(e.HolderID))
		if e.Holder.TTL > 0 {
			line("ttl", e.Holder.TTL)
		}
	}
	line("generation", e.Generation)
	line("revision", e.Revision)
	if e.RenewedAtMs != 0 {
		line("age", fmt.Sprintf("%s (written %d ms after 1970, which is no date)", e.age(), e.RenewedAtMs))
		return w.Flush()
	}
	line("age", fmt.Sprintf("%s (written %s)", e.age(), e.RenewedAt.Format("2006-01-02 15:04:05Z")))
	return w.Flush()
}

// plain is text that is printed as it is, or quoted: what others stored must not
// move a cursor.
func plain(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
