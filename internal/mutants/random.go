package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// randomPackages are those whose logic random mutants change, with the packages whose
// tests must notice, the nearest first.
var randomPackages = []struct {
	path  string
	tests []string
}{
	{"./scope", []string{"./scope", "./effect", "./lanes", "./proptest"}},
	{"./effect", []string{"./effect", "./internal/vectors", "./lanes", "./proptest"}},
	{"./lanes", []string{"./lanes", "./proptest"}},
	{"./lease", []string{"./lease", "./proptest"}},
	{"./processlock", []string{"./processlock", "./lease", "./proptest"}},
}

// random is a generated mutant, and the packages whose tests may notice it.
type random struct {
	mutant mutant
	tests  []string
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// generate makes count random mutants of the module at root. Each compiles by itself.
func generate(root string, count int, seed uint64) ([]random, error) {
	packages, err := listPackages(root)
	if err != nil {
		return nil, err
	}
	var pool []candidate
	for _, p := range randomPackages {
		found := packages["github.com/rivus/tether"+strings.TrimPrefix(p.path, ".")]
		if found == nil {
			return nil, fmt.Errorf("the go command does not list %s", p.path)
		}
		unit, err := loadUnit(found, packages)
		if err != nil {
			return nil, err
		}
		for _, name := range found.GoFiles {
			for _, s := range sites(unit.files[name], unit.info) {
				pool = append(pool, candidate{unit, name, s, p.tests})
			}
		}
	}
	numbers := rand.New(rand.NewPCG(seed, 0))
	numbers.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	var out []random
	for _, c := range pool {
		if len(out) == count {
			break
		}
		if m, ok := c.mutant(root); ok {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b random) int { return strings.Compare(a.mutant.name, b.mutant.name) })
	return out, nil
}

// unit is a package that is parsed and checked.
type unit struct {
	listed *listed
	set    *token.FileSet
	files  map[string]*source
	info   *types.Info
	open   func(path string) (io.ReadCloser, error)
}

type candidate struct {
	unit  *unit
	file  string
	site  site
	tests []string
}

func (c candidate) mutant(root string) (random, bool) {
	s := c.unit.files[c.file]
	text := applyEdits(s.text, []edit{c.site.edit})
	if c.unit.check(c.file, text, nil) != nil {
		return random{}, false
	}
	path, err := filepath.Rel(root, filepath.Join(c.unit.listed.Dir, c.file))
	if err != nil {
		return random{}, false
	}
	path = filepath.ToSlash(path)
	name := fmt.Sprintf("random/%s/line-%d-at-%d", path, c.site.line, c.site.from)
	m := mutant{name: name, rule: c.site.kind + ": " + c.site.what, texts: map[string]string{path: text}}
	return random{m, c.tests}, true
}

func listPackages(root string) (map[string]*listed, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, p := range randomPackages {
		args = append(args, p.path)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := map[string]*listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		switch err := decoder.Decode(p); err {
		case nil:
			all[p.ImportPath] = p
		case io.EOF:
			return all, nil
		default:
			return nil, err
		}
	}
}

func loadUnit(p *listed, all map[string]*listed) (*unit, error) {
	u := &unit{listed: p, set: token.NewFileSet(), files: map[string]*source{}, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	u.open = exports(all)
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		if u.files[name], err = parseSourceIn(u.set, string(text)); err != nil {
			return nil, err
		}
	}
	return u, u.check("", "", u.info)
}

// exports opens what the compiler wrote of a package for those that import it.
func exports(all map[string]*listed) func(path string) (io.ReadCloser, error) {
	return func(path string) (io.ReadCloser, error) {
		if all[path] == nil {
			return nil, fmt.Errorf("no package %s", path)
		}
		return os.Open(all[path].Export)
	}
}

// check reports how the package's types fit with another text for one of its files.
func (u *unit) check(file, text string, info *types.Info) error {
	var files []*ast.File
	for _, name := range u.listed.GoFiles {
		s := u.files[name]
		if name == file {
			var err error
			if s, err = parseSourceIn(u.set, text); err != nil {
				return err
			}
		}
		files = append(files, s.file)
	}
	config := types.Config{Importer: importer.ForCompiler(u.set, "gc", u.open), GoVersion: "go1.27"}
	_, err := config.Check(u.listed.ImportPath, u.set, files, info)
	return err
}
