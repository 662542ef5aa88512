package main

import (
	"github.com/rivus/tether/platform"
	"github.com/spf13/cobra"
)

func lsCommand(o *output) *cobra.Command {
	return &cobra.Command{
		Use:   "ls DB",
		Short: "List the leases in a database",
		Long: `ls lists every key that was ever leased in DB. LIVENESS is the judgement of the
holder's process as seen from here and now: alive, dead (the next to ask takes
over), or unknown (another host or namespace: only its TTL ends it).

` + lookStatuses,
		Example: `  tether ls leases.db
  tether ls leases.db --json | jq '.[] | select(.liveness == "dead").key'`,
		Args:              exactly(1),
		ValidArgsFunction: completeFile,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := database{platform.OS(), args[0]}.entries()
			switch {
			case err != nil:
				return err
			case o.json:
				return o.value(append([]entry{}, all...)) // none is [], not null
			default:
				return table(o.out, all)
			}
		},
	}
}

func showCommand(o *output) *cobra.Command {
	return &cobra.Command{
		Use:   "show DB KEY",
		Short: "Show one lease: its holder, its liveness, generation and age",
		Long: `show tells what DB knows of KEY: its state (held, free or, when what is stored is no
record, invalid), who holds it and whether that process is alive as seen from
here and now, the token's number (generation), and when the holder last renewed.

Exit status: 0, whatever the state; 1 when DB has no such key; 2 when the tool
failed, or was called wrongly; 141 when nobody reads its output any more.`,
		Example: `  tether show leases.db nightly
  tether show leases.db nightly --json | jq -r .holder.pid
  test "$(tether show leases.db nightly --json | jq -r .state)" = free && echo idle`,
		Args: exactly(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return nil, cobra.ShellCompDirectiveDefault
			case 1:
				return completeKeys(args[0], begun)
			default:
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := database{platform.OS(), args[0]}.entry(args[1])
			switch {
			case err != nil:
				return err
			case o.json:
				return o.value(found)
			default:
				return details(o.out, found)
			}
		},
	}
}

// completeFile has the shell complete one path.
func completeFile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}
