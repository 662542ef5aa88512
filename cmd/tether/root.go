package main

import (
	"os"
	"strings"

	"github.com/rivus/tether/errors"
	"github.com/spf13/cobra"
)

// execute runs the command line and gives the exit status.
func execute(args []string) int {
	o := &output{out: os.Stdout, err: os.Stderr}
	status := 0
	// What is answered before all flags are parsed is told as was asked, too.
	asJSON := asksForJSON(args)
	setLogs(&output{err: os.Stderr, json: asJSON})
	root := &cobra.Command{
		Use:   "tether",
		Short: "Hold a lease or a lock while a command runs; see who holds what",
		Long: `tether holds a lease or a process lock while a command runs, stops the command
when the lease is lost, and never lets it outlive the tool. It shares its files
with programs that use the Go module github.com/rivus/tether or the TypeScript
package @rivus/agent-kit-collab.

Exit status: run and lock end with CMD's, see their help. All others: 0; 1 when
show finds no such key, or doctor a reason why a lease cannot be had; 2 when the tool failed; 141 when nobody reads its output.`,
		Example: `  tether run --lease leases.db nightly -- ./report.sh
  tether lock /tmp/deploy.lock --wait -- make deploy
  tether ls leases.db
  tether show leases.db nightly --json
  tether watch leases.db
  tether doctor leases.db nightly`,
		Version:       versionText(asJSON),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err, args) })
	root.PersistentFlags().BoolVar(&o.json, "json", false, "write JSON: the answer to stdout, what happens meanwhile to stderr, a line each")
	root.AddCommand(runCommand(o, &status, args), lockCommand(o, &status, args), lsCommand(o), showCommand(o), watchCommand(o), doctorCommand(o), versionCommand(o))
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd(args...)
	nameAShell(root)
	root.SetArgs(args)
	chosen, err := root.ExecuteC()
	if err == nil {
		return status
	}
	if lacks := chosen.ValidateRequiredFlags(); lacks != nil && lacks.Error() == err.Error() {
		err = errLeaseMissing
	}
	if chosen.Annotations["runs"] == "" {
		status = statusOfLook(err)
	} else if status == 0 {
		status = statusTrouble
	}
	by, stopped := errors.AsType[*signalled](err)
	if stopped {
		status = -int(by.signal) // the front dies of it, and the shell says so
	}
	if status != statusNoReader && !errors.Is(err, errNotToBeHad) && !errors.Is(err, errFrontGone) && (!stopped || o.json) {
		// o may still be in use: a watch does not wait for its last look.
		told := &output{out: o.out, err: o.err, json: o.json || asJSON}
		told.fail(err)
	}
	return status
}

// errLeaseMissing is of the one flag that is required.
var errLeaseMissing = errors.New("--lease DB is missing: the database with the leases, which is made in a folder that exists (see tether run --help)")

// helpCommand is cobra's, but that asking for what there is not fails.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, sub := range root.Commands() {
				if len(args) == 0 && sub.IsAvailableCommand() {
					names = append(names, sub.Name()+"\t"+sub.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			about, left, err := root.Find(args)
			if err == nil && len(left) > 0 {
				err = errors.New("there is no command " + strings.Join(args, " "))
			}
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// nameAShell has completion without a shell, or for an unknown one, fail: its help is
// nothing that a shell should source.
func nameAShell(root *cobra.Command) {
	completion, _, err := root.Find([]string{"completion"})
	if err != nil || completion == root {
		return
	}
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, _ []string) error {
		return errors.New("name a shell: tether completion bash, fish, powershell or zsh" + seeHelp(cmd))
	}
}
