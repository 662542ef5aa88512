package main

import (
	"bytes"
	"fmt"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

// screenSize is the size of the terminal that stdout is, or 0 and 0.
func screenSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// fit cuts lines to a screen: what is wider is cut off, and of those below its end only
// the number is told. A size of 0 is unknown, and cuts nothing. The last line of a screen
// stays empty: a newline there would scroll it.
// below is how many there are beside the lines.
func fit(lines []byte, width, height, below int) []byte {
	all := bytes.SplitAfter(lines, []byte("\n"))
	if last := len(all) - 1; len(all[last]) == 0 {
		all = all[:last]
	}
	var out bytes.Buffer
	for i, line := range all {
		if height > 0 && i == height-2 && len(all)+below > height-1 {
			fmt.Fprintf(&out, "... %d more\n", len(all)+below-i)
			break
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if width > 0 && utf8.RuneCount(line) > width {
			line = []byte(string([]rune(string(line))[:width]))
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes()
}
