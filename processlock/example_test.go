package processlock_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

func temporary() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "tether")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "daemon.lock"), func() { _ = os.RemoveAll(dir) }
}

func ExampleAcquire() {
	path, remove := temporary()
	defer remove()
	ctx := context.Background()

	lock, err := processlock.Acquire(ctx, platform.OS(), path).Get()
	if held, ok := errors.AsType[*processlock.Held](err); ok {
		log.Fatalf("already running: %v", held)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Release()

	// Another one, of this process or of any other:
	held, ok := errors.AsType[*processlock.Held](processlock.Acquire(ctx, platform.OS(), path).Error())
	fmt.Println(ok, held.Holder.OrEmpty().PID == int64(os.Getpid()))
	// Output: true true
}

func ExampleAcquireScoped() {
	path, remove := temporary()
	defer remove()

	migrate := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		do.Await(processlock.AcquireScoped(path, processlock.Wait()))
		fmt.Println("migrating, alone")
	}))
	both := effect.AllDiscard([]effect.Effect[effect.Unit]{migrate, migrate}, effect.Unbounded)
	if _, err := effect.Run(context.Background(), both.Provide(platform.Live)); err != nil {
		log.Fatal(err)
	}
	held, err := processlock.IsHeld(context.Background(), platform.OS(), path)
	fmt.Println("held:", held, err)
	// Output:
	// migrating, alone
	// migrating, alone
	// held: false <nil>
}
