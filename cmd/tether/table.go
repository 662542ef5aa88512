package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// table writes entries for people. Keys are quoted when they could upset a terminal.
func table(out io.Writer, entries []entry) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tSTATE\tHOLDER\tLIVENESS\tGENERATION\tAGE")
	for _, e := range entries {
		if e.State == invalid {
			fmt.Fprintf(w, "%s\t%s\t-\t-\t-\t-\n", plain(e.Key), e.State)
			continue
		}
		liveness := e.Liveness
		if liveness == "" {
			liveness = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", plain(e.Key), e.State, plain(e.holder()), liveness, e.Generation, e.age())
	}
	return w.Flush()
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
