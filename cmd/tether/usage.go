package main

import (
	"slices"
	"strings"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// asksForJSON tells whether --json is among the arguments that are not CMD's.
func asksForJSON(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// exactly wants so many arguments, and says how the command is used.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return errors.New("the arguments do not fit; usage: tether " + cmd.Use + seeHelp(cmd))
	}
}

func seeHelp(cmd *cobra.Command) string { return " (see " + cmd.CommandPath() + " --help)" }

// splitCommand parts the arguments at "--": what is to be held, and CMD. given is the
// whole command line.
func splitCommand(cmd *cobra.Command, args, given []string, what string) (held string, command []string, err error) {
	at := cmd.ArgsLenAtDash()
	switch {
	case at == 1 && len(args) > 1:
		return args[0], args[1:], nil
	case at == 1 || at < 0 && len(args) < 2:
		return "", nil, errors.New("no command is given; write it after --, as in: tether " + strings.TrimSuffix(cmd.Use, " -- CMD...") + " -- CMD")
	}
	own := args
	if at >= 0 {
		own = args[:at]
	}
	if hint := waitHint(cmd, own); hint != "" {
		return "", nil, errors.New("before -- there must be " + what + " and nothing else; " + hint)
	}
	if line, ok := withDashes(cmd.Flags(), given); ok {
		return "", nil, misplaced(line)
	}
	return "", nil, errors.New("before -- there must be " + what + " and nothing else, as in: tether " + cmd.Use)
}

// flagError makes an error of a flag one that helps. In run and lock the flag may be
// one that CMD was to get.
func flagError(cmd *cobra.Command, err error, given []string) error {
	if cmd.Annotations["runs"] != "" {
		if line, ok := withDashes(cmd.Flags(), given); ok {
			return misplaced(line)
		}
	}
	return errors.New(err.Error() + seeHelp(cmd))
}

func misplaced(line string) error {
	return errors.New("CMD goes after --, so that its flags are its own; write: tether " + line)
}

// withDashes is the command line with "--" before CMD, if that is what it lacks: what
// has to be held, and a word after it, are before any "--". Flags are the command's.
func withDashes(flags *pflag.FlagSet, given []string) (line string, ok bool) {
	words := 0
	for i := 0; i < len(given); i++ {
		switch arg := given[i]; {
		case arg == "--":
			return "", false
		case !strings.HasPrefix(arg, "-") || arg == "-":
			// The command's name, KEY or PATH, CMD.
			if words++; words < 3 {
				continue
			}
			corrected := slices.Concat(given[:i], []string{"--"}, given[i:])
			if at := slices.Index(given[i:], "--"); at == 1 {
				// "KEY CMD -- ARG": those dashes were meant to be these.
				corrected = slices.Delete(corrected, i+2, i+3)
			}
			return shellLine(corrected), true
		default:
			flag := flagOf(flags, arg)
			if flag == nil {
				return "", false
			}
			if flag.NoOptDefVal == "" && !strings.Contains(arg, "=") {
				i++ // its value
			}
		}
	}
	return "", false
}

// flagOf is the flag that an argument gives; nil: none of flags. All have long names.
func flagOf(flags *pflag.FlagSet, arg string) *pflag.Flag {
	long, ok := strings.CutPrefix(arg, "--")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(long, "=")
	return flags.Lookup(name)
}

// shellLine writes arguments so that a shell reads the same ones.
func shellLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = shellQuote(arg)
	}
	return strings.Join(quoted, " ")
}

func shellQuote(arg string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=,@%+", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !safe(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// waitHint is for "--wait 10m", where the duration is an argument of its own.
func waitHint(cmd *cobra.Command, own []string) string {
	if cmd.Flags().Lookup("wait").Value.String() != forEver {
		return ""
	}
	for _, arg := range own {
		if _, err := time.ParseDuration(arg); err == nil {
			return "did you mean --wait=" + arg + "?"
		}
	}
	return ""
}
