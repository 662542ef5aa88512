package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// step is what one user does on the page.
type step struct {
	user    string
	refused bool
	script  string
}

// stepsOf are those of the shell blocks of a page, in order.
func stepsOf(t *testing.T, page string) (steps []step) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			if user, ok := strings.CutPrefix(line, "# as "); ok {
				user, rest, _ := strings.Cut(strings.TrimSpace(user), ",")
				steps = append(steps, step{user: user, refused: strings.Contains(rest, "refused")})
				continue
			}
			steps[len(steps)-1].script += line
		}
	}
	return steps
}

// What docs/sharing.md says to type does what it says.
func TestSharingPage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("being several users needs root")
	}
	page, err := os.ReadFile("../../docs/sharing.md")
	if err != nil {
		t.Fatal(err)
	}
	const ann, bob, team = 65531, 65532, 65533
	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	if err := errors.Join(os.Chmod(filepath.Dir(root), 0o755), os.Mkdir(bin, 0o755)); err != nil {
		t.Fatal(err)
	}
	// A copy: the folder of this program is closed to others.
	copyProgram(t, filepath.Join(bin, "tether"))
	users := map[string]*syscall.Credential{
		"root": {},
		"ann":  {Uid: ann, Gid: ann, Groups: []uint32{team}},
		"bob":  {Uid: bob, Gid: bob, Groups: []uint32{team}},
	}
	steps := stepsOf(t, string(page))
	if len(steps) < 10 {
		t.Fatal("the page has few steps: ", len(steps))
	}
	for _, s := range steps {
		cmd := exec.Command("/bin/sh", "-e", "-c", s.script)
		cmd.Dir = "/"
		cmd.Env = append(
			os.Environ(), toolVar+"=1", "PATH="+bin+":"+os.Getenv("PATH"), "HOME=/", "TMPDIR=/tmp",
			"DIR="+filepath.Join(root, "shared"), "GROUP="+strconv.Itoa(team), "ANN="+strconv.Itoa(ann),
		)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: users[s.user]}
		out, err := cmd.CombinedOutput()
		if s.refused {
			if cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "may not write") && !strings.Contains(string(out), "permission") {
				t.Fatalf("as %s, who should be refused: %v\n%s%s", s.user, err, s.script, out)
			}
			continue
		}
		if err != nil {
			t.Fatalf("as %s: %v\n%s%s", s.user, err, s.script, out)
		}
		if want := "uid=" + strconv.Itoa(int(users[s.user].Uid)); strings.Count(string(out), want) != strings.Count(s.script, "-- id") {
			t.Fatalf("as %s, of %s:\n%s%s", s.user, want, s.script, out)
		}
	}
	// Nothing that was made along the way is everybody's to write.
	err = filepath.WalkDir(filepath.Join(root, "shared"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && d.Type().IsRegular() && info.Mode()&0o002 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(file, from)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
