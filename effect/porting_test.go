package effect_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// portingRow is one line of a table in docs/porting.md.
type portingRow struct{ module, name, cell string }

var (
	portingHeading = regexp.MustCompile(`^### (\w+)$`)
	portingCode    = regexp.MustCompile("`([^`]*)`")
	portingBegins  = regexp.MustCompile("^`(effect|scope|errors)\\.[A-Z]")
	portingGoName  = regexp.MustCompile(`^(effect|scope|errors)\.[A-Z]\w*(\.[A-Z]\w*)?$`)
)

// portingRows reads the tables: one for each module of effect, under a heading
// with its name.
func portingRows(t *testing.T) []portingRow {
	t.Helper()
	text, err := os.ReadFile("../docs/porting.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []portingRow
	module := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			module = ""
			if m := portingHeading.FindStringSubmatch(line); m != nil {
				module = m[1]
			}
		}
		if module == "" || !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 2 {
			t.Fatalf("not two cells: %s", line)
		}
		rows = append(rows, portingRow{module, strings.Trim(cells[0], " `"), strings.TrimSpace(cells[1])})
	}
	return rows
}

// The tables have every export of effect@4.1.0's modules, each once, and
// nothing else. testdata/exports.mjs made the list.
func TestPortingTableIsComplete(t *testing.T) {
	text, err := os.ReadFile("testdata/exports-4.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Modules map[string]struct{ Values, Types []string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for module, exports := range list.Modules {
		for _, name := range append(exports.Values, exports.Types...) {
			missing[module+"."+name] = true
		}
	}
	if len(list.Modules) != 19 || len(missing) < 500 {
		t.Fatalf("the list has %d modules, %d exports", len(list.Modules), len(missing))
	}
	for _, row := range portingRows(t) {
		name := row.module + "." + row.name
		if !missing[name] {
			t.Errorf("%s is in the table twice, or is no export", name)
		}
		delete(missing, name)
	}
	for name := range missing {
		t.Errorf("%s is not in the table", name)
	}
}

// Every cell has Go names, all of which exist, or says why there is none.
func TestPortingTableNamesExist(t *testing.T) {
	declared := map[string]bool{}
	for _, pkg := range []string{"effect", "scope", "errors"} {
		declaredNames(t, pkg, declared)
	}
	for _, row := range portingRows(t) {
		where := row.module + "." + row.name + ": " + row.cell
		why, isNone := strings.CutPrefix(row.cell, "none: ")
		switch {
		case isNone && strings.TrimSpace(why) == "":
			t.Errorf("no reason: %s", where)
		case !isNone && !portingBegins.MatchString(row.cell):
			t.Errorf("neither begins with a Go name nor with \"none: \": %s", where)
		}
		for _, code := range portingCode.FindAllStringSubmatch(row.cell, -1) {
			if portingGoName.MatchString(code[1]) && !declared[code[1]] {
				t.Errorf("%s does not exist: %s", code[1], where)
			}
		}
	}
}

// declaredNames adds pkg.Name and pkg.Type.Method for all that the package
// exports; fields and methods of interfaces are not among them.
func declaredNames(t *testing.T, pkg string, names map[string]bool) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir("../"+pkg, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				names[pkg+"."+receiver(decl)+decl.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[pkg+"."+spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names[pkg+"."+name.Name] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// receiver is the receiver's type and a dot, or nothing for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	at := fn.Recv.List[0].Type
	for {
		switch e := at.(type) {
		case *ast.StarExpr:
			at = e.X
		case *ast.IndexExpr:
			at = e.X
		case *ast.IndexListExpr:
			at = e.X
		case *ast.Ident:
			return e.Name + "."
		default:
			return "?."
		}
	}
}
