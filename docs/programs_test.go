package docs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// program is a whole program of a text. A comment before its block says what is
// special about it:
//
//	<!-- is FILE -->          it is that file, but for the comment at its beginning
//	<!-- in FOLDER -->        it is built in the module of that folder
//	<!-- ends by SIGTERM -->  it runs until then; it says "ready" before
//
// or several of these, with commas. One without a main function is a test.
type program struct {
	name, code   string
	is, in       string
	untilSIGTERM bool
}

var programBlock = regexp.MustCompile("(?ms)(?:^<!-- ([^\n]*) -->\n)?^```go\n(package main\n.*?)^```$")

// programsOf are the programs of a text.
func programsOf(t *testing.T, text string) (programs []program) {
	t.Helper()
	content, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range programBlock.FindAllSubmatch(content, -1) {
		p := program{
			name: fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(text), ".md"), i+1),
			code: string(block[2]),
		}
		for part := range strings.SplitSeq(string(block[1]), ", ") {
			verb, what, _ := strings.Cut(part, " ")
			switch verb {
			case "is":
				p.is = what
			case "in":
				p.in = what
			case "ends":
				p.untilSIGTERM = true
			}
		}
		programs = append(programs, p)
	}
	return programs
}

func (p program) isTest() bool { return !strings.Contains(p.code, "\nfunc main() {") }

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
func (o *overlay) add(name string, code []byte) string { return o.addIn("docs", name, "main.go", code) }

// addIn is add in a folder of the repository, with the file's name.
func (o *overlay) addIn(folder, name, base string, code []byte) string {
	o.t.Helper()
	file := filepath.Join(o.temp, name+".go")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		o.t.Fatal(err)
	}
	o.replace[filepath.Join(o.root, folder, "programs", name, base)] = file
	return "./" + filepath.Join(folder, "programs", name)
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
// pastes it into an empty folder finds out, and every whole test passes.
func TestProgramsInTheTexts(t *testing.T) {
	texts, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	o, inModules := newOverlay(t), map[string][]string{}
	var programs []program
	var tests []string // packages
	for _, text := range append(texts, "../README.md") {
		for _, p := range programsOf(t, text) {
			if p.is != "" {
				file, err := os.ReadFile(p.is)
				if _, code, _ := strings.Cut(string(file), "\npackage main\n"); err != nil || "package main\n"+code != p.code {
					t.Errorf("%s: a program is not %s, as it says (%v)", text, p.is, err)
				}
			}
			switch {
			case p.isTest():
				tests = append(tests, o.addIn("docs", p.name, "main_test.go", []byte(p.code)))
				continue
			case p.in != "":
				folder := strings.TrimPrefix(p.in, "../")
				pkg := o.addIn(folder, p.name, "main.go", []byte(p.code))
				inModules[folder] = append(inModules[folder], strings.Replace(pkg, "./"+folder, ".", 1))
			default:
				inModules[""] = append(inModules[""], o.add(p.name, []byte(p.code)))
			}
			programs = append(programs, p)
		}
	}
	if len(programs) < 10 || len(tests) < 2 {
		t.Fatalf("only %d programs and %d tests were found", len(programs), len(tests))
	}
	bin := filepath.Join(o.temp, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, packages := range inModules {
		build := o.command("build", append([]string{"-o", bin + "/"}, packages...)...)
		build.Dir = filepath.Join(o.root, folder)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	// Not run by the go command, which would do that in folders that are not there.
	if out, err := o.command("test", append([]string{"-vet=off", "-c", "-o", bin + "/"}, tests...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, pkg := range tests {
		programs = append(programs, program{name: filepath.Base(pkg) + ".test"})
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) { p.run(t, filepath.Join(bin, p.name)) })
	}
}

// run runs the program to its end, which must be a good one.
func (p program) run(t *testing.T, path string) {
	run := exec.Command(path)
	run.Dir = t.TempDir()
	run.Env = append(os.Environ(), "TMPDIR="+run.Dir)
	if !p.untilSIGTERM {
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	log, err := run.StderrPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer run.Process.Kill()
	var said strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "ready") {
			_ = run.Process.Signal(syscall.SIGTERM)
		}
	}
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
}

// A panic in a program of the README says as much as Go's own: the value, the line, and
// the stack from there on.
func TestAPanicInTheREADMEsProgram(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	for _, block := range goBlock.FindAllSubmatch(text, -1) {
		if bytes.Contains(block[1], []byte("effect.Scoped(")) && bytes.Contains(block[1], []byte("package main")) {
			code = block[1]
			break
		}
	}
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
