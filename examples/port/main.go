// Command port is a worked port: indexer.ts and its Go twin, indexer.go, piece by
// piece. README.md walks through them.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/rivus/tether/effect"
)

// shelf is a library in memory.
type shelf map[string]string

func (s shelf) read(document string) effect.Effect[string] {
	return effect.Suspend(func() effect.Effect[string] {
		text, ok := s[document]
		if !ok {
			return effect.Fail[string](&gone{document})
		}
		return effect.Succeed(text)
	})
}

// printed is a sink that prints.
type printed struct{}

func (printed) append(e entry) effect.Effect[effect.Unit] {
	return effect.SyncUnit(func() { fmt.Printf("%s has %d words (generation %d)\n", e.document, e.words, e.by) })
}
func (printed) close() effect.Effect[effect.Unit] { return effect.Void() }

func main() {
	dir, err := os.MkdirTemp("", "tether-port")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	books := shelf{"emma": "handsome, clever, and rich", "persuasion": "half agony, half hope"}
	program := indexAll([]string{"emma", "lost", "persuasion"}).
		Provide(libraryService.Of(books)).
		Provide(journalService.Of(effect.Succeed[sink](printed{}))).
		Provide(leaseLive(filepath.Join(dir, "leases.db")))
	result, err := effect.Run(context.Background(), program)
	if err != nil {
		log.Fatalf("%+v", err) // a panic comes with its stack
	}
	slices.Sort(result.indexed)
	fmt.Println("indexed", result.indexed, "failed", result.failed)
}
