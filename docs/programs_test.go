package docs_test

import (
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

// Every whole program in the README and in docs/ builds and runs, as one who
// pastes it into an empty folder finds out.
func TestProgramsInTheTexts(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	replace, packages := map[string]string{}, []string{}
	for _, text := range append(texts, "../README.md") {
		content, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range goBlock.FindAllSubmatch(content, -1) {
			name := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(text), ".md"), i+1)
			file := filepath.Join(temp, name+".go")
			if err := os.WriteFile(file, block[1], 0o600); err != nil {
				t.Fatal(err)
			}
			// The folder is there for the compiler only.
			replace[filepath.Join(root, "docs", "programs", name, "main.go")] = file
			packages = append(packages, "./docs/programs/"+name)
		}
	}
	if len(packages) < 3 {
		t.Fatalf("only %d programs were found", len(packages))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile, bin := filepath.Join(temp, "overlay.json"), filepath.Join(temp, "bin")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", append([]string{"build", "-overlay", overlayFile, "-o", bin + "/"}, packages...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
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
