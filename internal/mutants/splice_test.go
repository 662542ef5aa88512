package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every shape of function that a branch must call.
const shapes = `package main

import "fmt"

type box[A any] struct{ v A }

type named interface{ name() string }

func (b *box[A]) get(_ int, more ...A) (v A, ok bool) { return b.v, true }

func (box[A]) name() string { return "base" }

func pair[A, B any](a A, b B) string { return fmt.Sprint(a, b) }

func say(string, int) { fmt.Print("base ") }

func down(n int) int {
	if n == 0 {
		return 0
	}
	return down(n-1) + 1
}

func main() {
	b := &box[string]{"base"}
	v, _ := b.get(1, "x", "y")
	fmt.Print(v, " ", named(b).name(), " ", pair(1, "a"), " ")
	say("x", 1)
	fmt.Println(down(3))
}
`

func TestSplicedProgramsRunTheActiveMutant(t *testing.T) {
	t.Parallel()
	replace := func(old, new string) string {
		if strings.Count(shapes, old) != 1 {
			t.Fatalf("%q is not there once", old)
		}
		return strings.Replace(shapes, old, new, 1)
	}
	variants := []variant{
		{"g/get", replace("return b.v, true", "v = more[1]; return")},
		{"g/name", replace(`string { return "base" }`, `string { return "mutant" }`)},
		{"g/pair", replace("fmt.Sprint(a, b)", "fmt.Sprint(b, a)")},
		{"g/say", strings.Replace(replace(`fmt.Print("base ")`, `os.Stdout.WriteString("mutant ")`), `import "fmt"`, "import (\n\"fmt\"\n\"os\"\n)", 1)},
		{"g/down", replace("down(n-1) + 1", "down(n-1) + 2")},
		{"g/down-too", replace("down(n-1) + 1", "down(n-1) + 5")},
	}
	text, err := splice(shapes, variants)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": text, "b.go": activeFile("main"), "go.mod": "module m\n\ngo 1.27.0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "program")
	build.Dir = dir
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, text)
	}
	for mutant, want := range map[string]string{
		"":           "base base 1a base 3",
		"g/get":      "y base 1a base 3",
		"g/name":     "base mutant 1a base 3",
		"g/pair":     "base base a1 base 3",
		"g/say":      "base base 1a mutant 3",
		"g/down":     "base base 1a base 6",
		"g/down-too": "base base 1a base 15",
	} {
		program := exec.Command(filepath.Join(dir, "program"))
		program.Env = append(os.Environ(), activeEnv+"="+mutant)
		got, err := program.Output()
		if err != nil || strings.Join(strings.Fields(string(got)), " ") != want {
			t.Errorf("%q gave %q, %v; want %q", mutant, got, err, want)
		}
	}
}

func TestWhatCannotBeSpliced(t *testing.T) {
	t.Parallel()
	const base = "package p\n\nvar x = 1\n\nfunc f(a int) int { return a }\n"
	for name, text := range map[string]string{
		"a variable":  strings.Replace(base, "x = 1", "x = 2", 1),
		"a signature": strings.Replace(base, "a int", "a uint", 1),
		"a function":  base + "func g() {}\n",
		"nonsense":    "package",
	} {
		if _, err := splice(base, []variant{{"g/m", text}}); err == nil || !strings.Contains(err.Error(), "g/m") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
