package effect_test

import (
	"context"
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Database and Mailer are what the program needs of the world.
type (
	Database interface{ Email(user string) string }
	Mailer   interface{ Send(to, text string) }
)

// A key for each, by which the program finds it.
var (
	DatabaseKey = effect.NewService[Database]("Database")
	MailerKey   = effect.NewService[Mailer]("Mailer")
)

type inMemory map[string]string

func (m inMemory) Email(user string) string { return m[user] }

type printer struct{ from string }

func (p printer) Send(to, text string) { fmt.Printf("from %s to %s: %s\n", p.from, to, text) }

// database is opened when something needs it, and closed after the program.
var database = DatabaseKey.From(effect.AcquireRelease(
	effect.Sync(func() Database {
		fmt.Println("database opened")
		return inMemory{"ada": "ada@example.org", "admin": "admin@example.org"}
	}),
	func(Database, scope.Exit[any]) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { fmt.Println("database closed") })
	},
))

// mailer is built from the database.
var mailer = MailerKey.From(DatabaseKey.Get().Map(func(db Database) Mailer { return printer{db.Email("admin")} }))

// welcome knows its services by their keys alone.
func welcome(user string) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		to := do.Await(DatabaseKey.Get()).Email(user)
		do.Await(MailerKey.Get()).Send(to, "welcome")
	})
}

// Layers build the services of a program, each once, and release them after it.
// A test provides others. What nobody provides is a defect that names it.
func ExampleLayer() {
	ctx := context.Background()
	effect.RunExit(ctx, welcome("ada").Provide(mailer.ProvideMerge(database)))

	test := DatabaseKey.Of(inMemory{"ada": "test@localhost"})
	effect.RunExit(ctx, welcome("ada").Provide(MailerKey.Of(printer{"a test"}), test))

	_, err := effect.Run(ctx, welcome("ada").Provide(test))
	missing, ok := errors.AsType[*effect.MissingService](err)
	fmt.Println(ok, missing.Service)
	// Output:
	// database opened
	// from admin@example.org to ada@example.org: welcome
	// database closed
	// from a test to test@localhost: welcome
	// true Mailer
}
