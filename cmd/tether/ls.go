package main

import (
	"github.com/rivus/tether/platform"
	"github.com/spf13/cobra"
)

func lsCommand(o *output) *cobra.Command {
	var of page
	cmd := &cobra.Command{
		Use:   "ls DB",
		Short: "List the leases in a database",
		Long: `ls lists every key that was ever leased in DB, in the order of their bytes.
LIVENESS is the judgement of the holder's process as seen from here and now: alive,
dead (the next to ask takes over), or unknown (another host or namespace: only its
TTL ends it).

--prefix lists the keys that begin so, --limit at most so many, and --after those
behind a key: the last of one page begins the next. A terminal shows the beginning
of a long key; a pipe gets all of it, and so does --json.

` + lookStatuses,
		Example: `  tether ls leases.db
  tether ls leases.db --prefix nightly/ --limit 50
  tether ls leases.db --json | jq '.[] | select(.liveness == "dead").key'`,
		Args:              exactly(1),
		ValidArgsFunction: completeFile,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := database{platform.OS(), args[0]}.entries(of)
			switch {
			case err != nil:
				return err
			case o.json:
				return o.value(append([]entry{}, all...)) // none is [], not null
			default:
				width, _ := screenSize()
				return table(o.out, all, width)
			}
		},
	}
	of.flags(cmd)
	cmd.Flags().StringVar(&of.after, "after", "", "list the keys behind this `KEY`")
	cmd.Flags().Var((*natural)(&of.limit), "limit", "list at most `N` keys (all)")
	return cmd
}

// flags are those of who reads more than one key.
func (of *page) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&of.prefix, "prefix", "", "only the keys that begin with this `TEXT`")
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
