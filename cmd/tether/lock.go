package main

import (
	"slices"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/spf13/cobra"
)

func lockCommand(o *output, status *int, given []string) *cobra.Command {
	var (
		file  bool
		check time.Duration
		job   = job{output: o}
	)
	cmd := &cobra.Command{
		Use:   "lock PATH -- CMD...",
		Short: "Hold a process lock while CMD runs",
		Long: `lock takes the process lock at PATH, runs CMD, and gives the lock back when CMD
and whatever it started have ended. The kernel frees it when the tool dies.

The lock is lost when somebody removes or replaces PATH: CMD is stopped then, as
with run. TETHER_LOCK is PATH.

` + runStatuses,
		Example: `  tether lock /var/lock/deploy.lock -- make deploy
  tether lock /tmp/sync.lock --wait=30s -- rsync -a src/ dst/`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&file, "file", false, "a lock file in place of a SQLite database; all who use PATH must agree")
	check = time.Second
	flags.Var((*positive)(&check), "check", "how often to look whether PATH was replaced")
	return job.command(cmd, "PATH", status, given, func(path string) (effect.Effect[int], error) {
		var options []processlock.Option
		if file {
			options = append(options, processlock.WithoutSQLite())
		}
		job.path, job.file = path, path
		return job.underLock(check, options), nil
	})
}

// underLock is CMD under the process lock at the job's path.
func (j *job) underLock(check time.Duration, options []processlock.Option) effect.Effect[int] {
	return effect.Scoped(effect.Gen(func(do *effect.Do) int {
		lock := do.Await(await(j,
			processlock.AcquireScoped(j.path, options...), processlock.AcquireScoped(j.path, slices.Concat(options, []processlock.Option{processlock.Wait()})...)))
		j.output.note(notice{Event: "acquired", Path: j.path})
		return do.Await(j.run("TETHER_LOCK=" + j.path).StopOn(replaced(lock, check)))
	})).
		CatchTag(func(lost *processlock.Failure) effect.Effect[int] { return j.stopped(lost) }).
		Provide(platform.Live)
}

// replaced fails when the lock is not the one that its path leads to any more.
func replaced(lock *processlock.Lock, every time.Duration) effect.Effect[effect.Nothing] {
	return effect.Gen(func(do *effect.Do) (never effect.Nothing) {
		for {
			do.Await(effect.Sleep(every))
			if same := do.Try(lock.Verify()); !same {
				do.Fail(&processlock.Failure{
					Path: lock.Path(), Reason: processlock.ReasonReplaced,
					Message: lock.Path() + " was removed or replaced while it was held: another process may hold it now",
				})
			}
		}
	})
}
