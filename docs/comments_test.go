package docs_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// public are the packages that users import.
var public = []string{"errors", "scope", "effect", "platform", "processlock", "lease", "lanes", "proptest", "oteltether"}

// Every exported name has a doc comment, of its own or of its group, and every
// package one in doc.go.
func TestEveryExportedNameHasAComment(t *testing.T) {
	for _, pkg := range public {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pkg, err)
		}
		overview := false
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			overview = overview || tree.Doc != nil && filepath.Base(file) == "doc.go"
			for _, name := range uncommented(tree) {
				t.Errorf("%s: %s has no doc comment", set.Position(name.Pos()), name.Name)
			}
			for _, name := range misnamed(tree) {
				t.Errorf("%s: the doc comment of %s begins with another name", set.Position(name.Pos()), name.Name)
			}
		}
		if !overview {
			t.Errorf("%s has no overview in its doc.go", pkg)
		}
	}
}

// misnamed are the exported functions and types of a file whose doc comments do not
// begin with their names: what was renamed, or moved away from under its comment.
func misnamed(tree *ast.File) (names []*ast.Ident) {
	check := func(name *ast.Ident, d *ast.CommentGroup) {
		if d == nil || !name.IsExported() {
			return
		}
		words := strings.Fields(d.Text())
		for len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && strings.TrimRight(words[0], ",:'s") != strings.TrimRight(name.Name, "s") {
			names = append(names, name)
		}
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiverOf(d)) {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && len(d.Specs) == 1 {
				check(spec.Name, d.Doc)
			}
		}
	}
	return names
}

// uncommented are the exported names of a file without a doc comment.
func uncommented(tree *ast.File) (names []*ast.Ident) {
	check := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		for _, d := range docs {
			if d != nil && len(new(comment.Parser).Parse(d.Text()).Content) > 0 {
				return
			}
		}
		if name.IsExported() {
			names = append(names, name)
		}
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			// What Error and String are for is known.
			known := d.Recv != nil && (d.Name.Name == "Error" || d.Name.Name == "String")
			if !known && (d.Recv == nil || ast.IsExported(receiverOf(d))) {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					check(spec.Name, spec.Doc, d.Doc)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						check(name, spec.Doc, spec.Comment, d.Doc)
					}
				}
			}
		}
	}
	return names
}

// receiverOf is the name of a method's type.
func receiverOf(d *ast.FuncDecl) string {
	at := d.Recv.List[0].Type
	for {
		switch t := at.(type) {
		case *ast.StarExpr:
			at = t.X
		case *ast.IndexExpr:
			at = t.X
		case *ast.IndexListExpr:
			at = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// Every block of Go in the texts is compiled by some test: whole programs by
// TestProgramsInTheTexts, those of testing.md by TestSnippets, those of porting.md by
// TestFragmentsOfPorting, those of examples/port by its own test. A fragment anywhere else would be checked by nobody.
func TestEveryBlockOfGoIsCompiled(t *testing.T) {
	for _, text := range everyText(t) {
		switch text {
		case "../docs/testing.md", "../docs/porting.md", "../examples/port/README.md":
			continue
		}
		content, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?ms)^[ \t]*```go\n(.*?)```").FindAllSubmatch(content, -1) {
			if !strings.HasPrefix(string(block[1]), "package main\n") {
				t.Errorf("%s has a fragment that nothing compiles; make it a program:\n%s", text, block[1])
			}
		}
	}
}

// The fragments of porting.md compile, each as a function's body, with the
// declarations that its first comment has.
func TestFragmentsOfPorting(t *testing.T) {
	text, err := os.ReadFile("porting.md")
	if err != nil {
		t.Fatal(err)
	}
	preamble := regexp.MustCompile("(?s)<!-- go\n(.*?)-->").FindSubmatch(text)
	fragments := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
	if preamble == nil || len(fragments) < 5 {
		t.Fatalf("%d fragments", len(fragments))
	}
	var code strings.Builder
	code.Write(preamble[1])
	for _, f := range fragments {
		code.WriteString("\nfunc _() {\n" + string(f[1]) + "}\n")
	}
	o := newOverlay(t)
	pkg := o.add("porting", []byte(code.String()))
	if out, err := o.command("build", pkg).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What a text links to is there.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, text := range everyText(t) {
		content, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		content = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`").ReplaceAll(content, nil)
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllSubmatch(content, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(text), string(link[1]))); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// everyText is every text of the repository, seen from here.
func everyText(t *testing.T) (texts []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || path != ".." && entry.Name()[0] == '.') {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".md" {
			texts = append(texts, path)
		}
		return err
	})
	if err != nil || len(texts) < 10 {
		t.Fatal(err, texts)
	}
	return texts
}
