// Command pictures draws the pictures of README and docs/ as SVG, from plain code:
//
//	go run ./internal/pictures
//
// A test sees to it that docs/pictures has what this draws.
package main

import (
	"log"
	"os"
	"path/filepath"
)

// pictures are the files and what is in them.
var pictures = map[string]func() string{
	"layers.svg":   layers,
	"takeover.svg": takeover,
}

func main() {
	for name, draw := range pictures {
		if err := os.WriteFile(filepath.Join("docs", "pictures", name), []byte(draw()), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
