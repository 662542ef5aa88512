package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/spf13/cobra"
)

// execute runs the command line and gives the exit status.
func execute(args []string) int {
	o := &output{out: os.Stdout, err: os.Stderr}
	status := 0
	root := &cobra.Command{
		Use:   "tether",
		Short: "Hold a lease or a lock while a command runs; see who holds what",
		Long: `tether holds a lease or a process lock while a command runs, stops the command
when the lease is lost, and never lets it outlive the tool. It shares its files
with programs that use the Go module github.com/rivus/tether or the TypeScript
package @rivus/agent-kit-collab.`,
		Example: `  tether run --lease leases.db nightly -- ./report.sh
  tether lock /tmp/deploy.lock --wait -- make deploy
  tether ls leases.db
  tether show leases.db nightly --json
  tether watch leases.db`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().BoolVar(&o.json, "json", false, "write JSON: the answer to stdout, what happens meanwhile to stderr, a line each")
	root.AddCommand(runCommand(o, &status), lockCommand(o, &status), lsCommand(o), showCommand(o), watchCommand(o))
	root.SetArgs(args)
	// The commands that run others have env's statuses, so that CMD's can be told
	// from the tool's.
	chosen, err := root.ExecuteC()
	if err == nil {
		return status
	}
	// What fails before all flags are parsed is told as was asked, too.
	o.json = o.json || asksForJSON(args)
	o.fail(err)
	if chosen.Annotations["runs"] == "" {
		return 1
	}
	if status != 0 {
		return status
	}
	return statusTrouble
}

// asksForJSON tells whether --json is among the arguments that are not CMD's.
func asksForJSON(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// splitCommand parts the arguments at "--": what is to be held, and CMD.
func splitCommand(cmd *cobra.Command, args []string, what string) (held string, command []string, err error) {
	at := cmd.ArgsLenAtDash()
	if at < 0 || at == len(args) {
		return "", nil, errors.New("no command is given; write it after --, as in: tether " + strings.TrimSuffix(cmd.Use, " -- CMD...") + " -- CMD")
	}
	if at != 1 {
		return "", nil, errors.New("before -- there must be " + what + " and nothing else" + waitHint(cmd, args[:at]))
	}
	return args[0], args[at:], nil
}

// waitHint is for "--wait 10m", where the duration is an argument of its own.
func waitHint(cmd *cobra.Command, own []string) string {
	if cmd.Flags().Lookup("wait").Value.String() != forEver {
		return ""
	}
	for _, arg := range own {
		if _, err := time.ParseDuration(arg); err == nil {
			return "; did you mean --wait=" + arg + "?"
		}
	}
	return ""
}
