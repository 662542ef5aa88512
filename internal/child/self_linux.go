package child

import (
	"os"
	"os/exec"
	"slices"
)

// Self is the command that starts this binary again, with more in its environment.
// What the child writes to standard error is seen.
func Self(env ...string) *exec.Cmd { return Behind(nil, env...) }

// Behind is Self behind the command line of a wrapper, if there is one.
func Behind(wrapper []string, env ...string) *exec.Cmd {
	self := "/proc/self/exe" // also when the file was replaced meanwhile
	var failed error
	// Behind a wrapper /proc/self is the wrapper's.
	if _, err := os.Stat(self); err != nil || len(wrapper) > 0 {
		self, failed = os.Executable()
	}
	line := slices.Concat(wrapper, []string{self})
	cmd := exec.Command(line[0], line[1:]...)
	if failed != nil {
		cmd.Err = failed
	}
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return cmd
}
