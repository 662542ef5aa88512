//go:build !unix

package main

import (
	"os"
	"time"

	"github.com/rivus/tether/effect"
)

// readerGone: here only a write tells.
func readerGone(*os.File) effect.Effect[effect.Nothing] { return effect.Never[effect.Nothing]() }

var started = time.Now()

func computed() time.Duration { return time.Since(started) }
