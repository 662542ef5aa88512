package conformance

import (
	"fmt"
	"strings"
)

// Diff shows two results side by side as one list: "-" marks what only want has, "+" what only got has.
func Diff(want, got Result) string {
	var text strings.Builder
	for _, line := range diffLines(want.Trace, got.Trace) {
		fmt.Fprintf(&text, "  %s\n", line)
	}
	line := func(name, want, got string) {
		if want == got {
			fmt.Fprintf(&text, "    %s %s\n", name, want)
			return
		}
		fmt.Fprintf(&text, "  - %s %s\n  + %s %s\n", name, want, name, got)
	}
	line("exit", string(want.Exit), string(got.Exit))
	line("now", fmt.Sprint(want.Now), fmt.Sprint(got.Now))
	return text.String()
}

// diffLines aligns two lists by their longest common subsequence. Traces are short, so the quadratic table does.
func diffLines(want, got []string) []string {
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []string
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			lines = append(lines, "  "+want[i])
			i++
			j++
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+want[i])
			i++
		default:
			lines = append(lines, "+ "+got[j])
			j++
		}
	}
	return lines
}
