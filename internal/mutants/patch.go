package main

import (
	"errors"
	"fmt"
	"strings"
)

// filePatch is what a mutant changes in one file.
type filePatch struct {
	// file is the path in the module, with slashes.
	file  string
	hunks []hunk
}

// hunk replaces lines; both sides end with a newline unless they are empty.
type hunk struct{ before, after string }

// parseDiff reads a unified diff of existing files.
func parseDiff(text string) ([]filePatch, error) {
	var files []filePatch
	for n, line := range strings.SplitAfter(text, "\n") {
		line, ended := strings.CutSuffix(line, "\n")
		var at *filePatch
		if len(files) > 0 {
			at = &files[len(files)-1]
		}
		switch {
		case line == "" && !ended:
		case strings.HasPrefix(line, "--- "):
			files = append(files, filePatch{file: strings.TrimPrefix(line[4:], "a/")})
		case strings.HasPrefix(line, "+++ ") && at != nil && len(at.hunks) == 0:
			if name := strings.TrimPrefix(line[4:], "b/"); name != at.file {
				return nil, fmt.Errorf("line %d: %s becomes %s", n+1, at.file, name)
			}
		case strings.HasPrefix(line, "@@") && at != nil:
			at.hunks = append(at.hunks, hunk{})
		case at == nil || len(at.hunks) == 0:
			return nil, fmt.Errorf("line %d is outside any hunk: %q", n+1, line)
		default:
			h := &at.hunks[len(at.hunks)-1]
			mark, rest := byte(' '), ""
			if line != "" {
				mark, rest = line[0], line[1:]
			}
			if !strings.ContainsRune(" -+", rune(mark)) {
				return nil, fmt.Errorf("line %d begins with none of space, - and +: %q", n+1, line)
			}
			if mark != '+' {
				h.before += rest + "\n"
			}
			if mark != '-' {
				h.after += rest + "\n"
			}
		}
	}
	for _, f := range files {
		for _, h := range f.hunks {
			if h.before == h.after {
				return nil, fmt.Errorf("a hunk of %s changes nothing", f.file)
			}
		}
		if len(f.hunks) == 0 {
			return nil, fmt.Errorf("%s has no hunk", f.file)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no diff")
	}
	return files, nil
}

// apply is text with every hunk applied. The lines of each must occur exactly
// once in what the ones before have made.
func (p filePatch) apply(text string) (string, error) {
	// Hunks match whole lines.
	text = "\n" + text
	for i, h := range p.hunks {
		if n := strings.Count(text, "\n"+h.before); n != 1 {
			return "", fmt.Errorf("hunk %d applies to %s in %d places, not in one:\n%s", i+1, p.file, n, h.before)
		}
		text = strings.Replace(text, "\n"+h.before, "\n"+h.after, 1)
	}
	return text[1:], nil
}
