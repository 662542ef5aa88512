package platform_test

import (
	"context"
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

// fullDisk is a file system that has no room for anything new.
type fullDisk struct{ platform.FS }

func (fullDisk) WriteAtomic(path string, _ []byte) error {
	return &platform.Failure{Op: "write file", Path: path, Reason: platform.ReasonNoSpace}
}

// save keeps the settings or, when there is no room, goes on without.
func save(settings string) effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string {
		machine := do.Await(platform.Service.Get())
		err := machine.FS.WriteAtomic("/etc/my-app/settings", []byte(settings))
		if failure, ok := errors.AsType[*platform.Failure](err); ok && failure.Reason == platform.ReasonNoSpace {
			return "not saved: the disk is full"
		}
		do.Check(err)
		return "saved"
	})
}

// A test replaces the port that it is about.
func ExamplePlatform() {
	simulated := &platform.Platform{FS: fullDisk{platform.OS().FS}, Clock: platform.OS().Clock}
	fmt.Println(effect.Run(context.Background(), save("dark").ProvideService(platform.Service, simulated)))
	// Output: not saved: the disk is full <nil>
}
