package main

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/spf13/cobra"
)

func runCommand(o *output, status *int, given []string) *cobra.Command {
	var (
		db     string
		config lease.Config
		job    = job{output: o}
	)
	cmd := &cobra.Command{
		Use:   "run --lease DB KEY -- CMD...",
		Short: "Hold a lease while CMD runs",
		Long: `run takes the lease of KEY in the SQLite database DB, runs CMD, renews the lease
meanwhile and releases it when CMD and whatever it started have ended.

CMD gets the fencing token in TETHER_TOKEN (a number that grows with each
acquisition of the key) and the key in TETHER_KEY. It runs under the key's fence:
it never runs beside another holder's command, even if that lost its lease and is
slow to stop. A resource that lives elsewhere should refuse smaller tokens.

When the lease is lost CMD's process group gets SIGTERM, and what is left after
the grace period SIGKILL. Signals that the tool gets go to the group.

` + runStatuses,
		Example: `  # one host job at a time; give up when it runs already
  tether run --lease /var/lib/jobs/leases.db nightly -- ./report.sh

  # wait at most ten minutes, and take over 30 s after a silent holder stalled
  tether run --lease leases.db --wait=10m --ttl 30s index -- ./reindex --all

  # the token in a conditional write
  tether run --lease leases.db publish -- sh -c 'curl -H "If-Token: $TETHER_TOKEN" ...'`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completeKeys(db, begun)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&db, "lease", "", "the SQLite `DB` with the leases; it is created in an existing folder")
	config.TTL = time.Minute
	flags.Var((*leaseTime)(&config.TTL), "ttl", "how long a silent holder is left alone, at least "+leastTTL.String())
	flags.Var((*notNegative)(&config.Heartbeat), "heartbeat", "the pause between renewals, at most half of --ttl (a quarter of it)")
	_ = cmd.MarkFlagRequired("lease")
	_ = cmd.MarkFlagFilename("lease")
	return job.command(cmd, "KEY", status, given, func(key string) (effect.Effect[int], error) {
		switch {
		case key == "":
			return effect.Effect[int]{}, errEmptyKey
		case db == "":
			return effect.Effect[int]{}, errors.New("--lease is empty; it needs the path of a database")
		}
		if config.Heartbeat == 0 {
			config.Heartbeat = config.TTL / 4
		}
		if config.Heartbeat > config.TTL/2 {
			return effect.Effect[int]{}, errors.New("--heartbeat is " + config.Heartbeat.String() + " and must be at most half of --ttl, which is " +
				config.TTL.String() + ", so that one failed renewal does not lose the lease")
		}
		job.key, job.file = key, db
		return job.underLease(db, config), nil
	})
}

// underLease is CMD under the lease of the job's key.
func (j *job) underLease(db string, config lease.Config) effect.Effect[int] {
	return effect.Scoped(effect.Gen(func(do *effect.Do) int {
		leases := do.Await(lease.MakeManager(config))
		held := do.Await(await(j, leases.Acquire(j.key), leases.Acquire(j.key, lease.Wait())))
		var begun atomic.Bool
		return do.Await(held.RunFenced(func(token lease.FencingToken) effect.Effect[int] {
			if begun.Swap(true) {
				return effect.Fail[int](errAlreadyLate)
			}
			j.output.note(notice{Event: "acquired", Key: token.Key, Token: token.Generation})
			return j.run("TETHER_KEY="+token.Key, "TETHER_TOKEN="+strconv.FormatInt(token.Generation, 10))
		}).StopOn(j.tooLate(&begun)))
	})).
		// What ends CMD is told; its status is what it made of that.
		CatchTag(func(lost *lease.Lost) effect.Effect[int] { return j.stopped(lost) }).
		Provide(j.location(db).ProvideMerge(platform.Live))
}

// location is the repository that --lease names. It is the one place where that is
// decided.
func (j *job) location(db string) effect.Layer {
	return lease.SQLiteRepository(db)
}
