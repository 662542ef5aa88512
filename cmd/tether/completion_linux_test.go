package main

import (
	"os"
	"os/exec"
	"testing"
)

// Each shell completes a KEY from the database when Tab is typed.
func TestCompletionInLiveShells(t *testing.T) {
	for shell, setup := range map[string]struct {
		args  []string
		setup string
		needs string // a file
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, "source /usr/share/bash-completion/bash_completion; source <(tether completion bash)", "/usr/share/bash-completion/bash_completion"},
		"zsh":  {[]string{"-f", "-i"}, "autoload -U compinit; compinit -u -D; source <(tether completion zsh)", ""},
		"fish": {[]string{"--no-config", "-i"}, "tether completion fish | source", ""},
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(err)
			}
			if _, err := os.Stat(setup.needs); setup.needs != "" && err != nil {
				t.Skip(err)
			}
			home := ourselves.home(t)
			for _, key := range []string{"nightly-report", "weekly"} {
				call(t, home, "run", "--lease", "l.db", key, "--", "true")
			}
			p := inTerminal(t, ourselves, home, []string{"PATH=" + home + ":" + os.Getenv("PATH"), "HOME=" + home, "TERM=vt100"}, shell, setup.args...)
			p.types(setup.setup + "; echo u''p\r")
			p.sees(`up\r?\n`)
			p.types("tether show l.db nig\t")
			p.sees("htly-report")
			p.types("\r")
			p.sees("generation +1")
			p.types("tether run --lease l.db we\t")
			p.sees("ekly")
			p.types("\x15tether ls l.db --pre\t")
			p.sees("fix")
		})
	}
}
