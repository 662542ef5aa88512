package effect_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/rivus/tether/effect"
)

// A reference is a service with a default. Another value counts for the effect
// that it is provided to.
func ExampleNewReference() {
	retries := effect.NewReference("Retries", func() int { return 3 })
	show := retries.Get().FlatMap(func(n int) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { fmt.Println(n, "retries") })
	})
	program := show.AndThen(show.ProvideService(retries, 10)).AndThen(show)
	effect.RunExit(context.Background(), program)
	// Output:
	// 3 retries
	// 10 retries
	// 3 retries
}

// Records go to the Logger at hand, with what the program knows about itself.
func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	order := effect.Log("paid", "cents", 1250).AnnotateLogs("order", 42)
	program := order.AndThen(effect.LogError("no stock", "item", "tea")).ProvideService(effect.Logger, logger)
	effect.RunExit(context.Background(), program)
	// Output:
	// level=INFO msg=paid fiber=1 cents=1250 order=42
	// level=ERROR msg="no stock" fiber=1 item=tea
}
