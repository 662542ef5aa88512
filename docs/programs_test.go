package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$")

// overlay has packages that are there for the go command only.
type overlay struct {
	t          *testing.T
	root, temp string
	replace    map[string]string
}

func newOverlay(t *testing.T) *overlay {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return &overlay{t: t, root: root, temp: t.TempDir(), replace: map[string]string{}}
}

// add adds a package of one file, and names it as the go command does.
func (o *overlay) add(name string, code []byte) string {
	o.t.Helper()
	file := filepath.Join(o.temp, name+".go")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		o.t.Fatal(err)
	}
	o.replace[filepath.Join(o.root, "docs", "programs", name, "main.go")] = file
	return "./docs/programs/" + name
}

// command is the go command on the packages as they are by now.
func (o *overlay) command(verb string, args ...string) *exec.Cmd {
	o.t.Helper()
	data, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		o.t.Fatal(err)
	}
	file := filepath.Join(o.temp, "overlay.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		o.t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{verb, "-overlay", file}, args...)...)
	cmd.Dir = o.root
	return cmd
}

// Every whole program in the README and in docs/ builds and runs, as one who
// pastes it into an empty folder finds out.
func TestProgramsInTheTexts(t *testing.T) {
	texts, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	o, packages := newOverlay(t), []string{}
	for _, text := range append(texts, "../README.md") {
		content, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range goBlock.FindAllSubmatch(content, -1) {
			name := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(text), ".md"), i+1)
			packages = append(packages, o.add(name, block[1]))
		}
	}
	if len(packages) < 3 {
		t.Fatalf("only %d programs were found", len(packages))
	}
	bin := filepath.Join(o.temp, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := o.command("build", append([]string{"-o", bin + "/"}, packages...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, pkg := range packages {
		name := filepath.Base(pkg)
		t.Run(name, func(t *testing.T) {
			run := exec.Command(filepath.Join(bin, name))
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "TMPDIR="+run.Dir)
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// A panic in a program of the README says as much as Go's own: the value, the line, and
// the stack from there on.
func TestAPanicInTheREADMEsProgram(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code := goBlock.FindSubmatch(text)[1]
	panics := bytes.Replace(code, []byte(`fmt.Println("saved by", token)`), []byte(`var m map[string]int; m[fmt.Sprint(token)]++`), 1)
	if bytes.Equal(code, panics) {
		t.Fatal("the program does not save any more")
	}
	line := 1 + bytes.Count(panics[:bytes.Index(panics, []byte("var m map"))], []byte("\n"))
	o := newOverlay(t)
	bin := filepath.Join(o.temp, "panics")
	if out, err := o.command("build", "-o", bin, o.add("panics", panics)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(bin)
	run.Dir = t.TempDir()
	out, err := run.CombinedOutput()
	if err == nil || run.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`defect: assignment to entry in nil map \(\S+main\.go:%d\)`,
		`goroutine \d+ \[running\]:\nmain\.save\S*\(.*\)\n\t\S+main\.go:%d`,
	} {
		if want := fmt.Sprintf(want, line); !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
