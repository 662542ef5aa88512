package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var errInterpreter = errors.New("the interpreter that its first line names does not exist")

var errEmptyKey = errors.New("the key is empty; name what is to be held")

// job is CMD and what it runs under.
type job struct {
	output *output
	wait   waitFlag
	grace  time.Duration

	key, path string // one of them
	file      string // the database or the lock
	argv      []string
	program   string // where argv[0] was found

	family   *family // nil: CMD was not started
	began    time.Time
	progress progress
}

// command makes cmd hold what its one argument names, a WHAT, while CMD runs. given is
// the whole command line; under is CMD while it is held.
func (j *job) command(cmd *cobra.Command, what string, status *int, given []string, under func(held string) (effect.Effect[int], error)) *cobra.Command {
	cmd.Annotations = map[string]string{"runs": "CMD"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		held, argv, err := splitCommand(cmd, args, given, what)
		if err != nil {
			return err
		}
		program, err := under(held)
		if err != nil {
			return err
		}
		j.argv = argv
		*status, err = j.execute(program)
		return err
	}
	j.flags(cmd.Flags())
	return cmd
}

func (j *job) flags(flags *pflag.FlagSet) {
	flags.Var(&j.wait, "wait", "wait while somebody else holds it, at most that long if a `duration` is given (--wait=30s)")
	flags.Lookup("wait").NoOptDefVal = forEver
	j.grace = 10 * time.Second
	flags.Var((*notNegative)(&j.grace), "grace", "the time between SIGTERM and SIGKILL")
}

// execute runs the program, which runs CMD, and gives the exit status, or the negative
// number of the signal that CMD died of.
func (j *job) execute(program effect.Effect[int]) (int, error) {
	// Nothing is taken for a command that does not exist.
	found, err := exec.LookPath(j.argv[0])
	if err != nil {
		err = &cannotRun{j.argv[0], err}
		return statusOf(err), err
	}
	if keeper == nil {
		return launch()
	}
	j.program = found
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	keptSignals.listen(cancel)
	j.output.note(notice{Event: "acquiring", Key: j.key, Path: j.path})
	j.began = time.Now()
	status, err := effect.Run(ctx, j.whenAwake(j.persist(program)))
	j.progress.end(j.output)
	if err = causeOf(ctx, err); err != nil {
		return statusOf(err), explain(j.file, toWrite, err)
	}
	shown := status
	if status < 0 {
		shown = statusSignal - status
	}
	j.output.note(notice{Event: "ended", Key: j.key, Path: j.path, Status: &shown})
	return status, nil
}

// whenAwake is program, which begins anew when the tool was stopped before it had CMD
// start: a job that is stopped takes nothing.
func (j *job) whenAwake(program effect.Effect[int]) effect.Effect[int] {
	return program.CatchIf(func(err error) bool { return errors.Is(err, errAsleep) }, func(error) effect.Effect[int] {
		return effect.TryPromise(func(ctx context.Context) (effect.Unit, error) { return effect.Unit{}, keeper.awake(ctx) }).
			AndThen(effect.Suspend(func() effect.Effect[int] { return j.whenAwake(program) }))
	})
}

// run is CMD with env added to the environment. It gives the exit status when CMD
// and all that it started have ended. Interrupted, it stops them first.
func (j *job) run(env ...string) effect.Effect[int] {
	there := effect.TryPromise(func(ctx context.Context) (effect.Unit, error) {
		j.progress.end(j.output)
		return effect.Unit{}, keeper.ask(ctx)
	})
	return there.AndThen(effect.Scoped(effect.AcquireRelease(
		effect.Try(func() (*family, error) { return j.start(env) }),
		func(f *family, _ scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.Blocking(func(context.Context) (effect.Unit, error) {
				f.stop()
				keptSignals.ended()
				return effect.Unit{}, nil
			})
		},
	).FlatMap(func(f *family) effect.Effect[int] {
		return effect.Blocking(func(ctx context.Context) (int, error) { return f.wait(ctx) })
	})))
}

func (j *job) start(env []string) (*family, error) {
	if err := keptSignals.begin(); err != nil {
		return nil, err
	}
	f, err := startFamily(j.program, j.argv, append(os.Environ(), env...), j.grace)
	if err != nil {
		keptSignals.ended()
		// It may be gone since it was found. A script without its interpreter is there.
		if _, gone := os.Stat(j.program); gone == nil && errors.Is(err, fs.ErrNotExist) {
			err = errInterpreter
		}
		return nil, &cannotRun{j.argv[0], err}
	}
	j.family = f
	fmt.Fprintf(keeper.report, reportStarted, f.pid)
	keptSignals.to(f)
	return f, nil
}

// stopped is what becomes of a loss: CMD's status, if it ran.
func (j *job) stopped(lost error) effect.Effect[int] {
	if j.family == nil {
		return effect.Fail[int](lost)
	}
	return effect.Try(func() (int, error) {
		j.output.fail(lost)
		return j.family.wait(context.Background())
	})
}
