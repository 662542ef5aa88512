package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// variant is a file as a mutant would have it.
type variant struct{ mutant, text string }

// activeEnv names the mutant that is active in a program that has several, and
// activeVar is the variable, in each package, that holds it.
const (
	activeEnv = "TETHER_MUTANT"
	activeVar = "mutantActive"
)

// activeFile declares activeVar in a package.
func activeFile(pkg string) string {
	return fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", pkg, activeVar, activeEnv)
}

// splice puts the variants of a file into it. A function that a variant changes
// is there twice, the changed one under another name, and the one of the old name
// begins with a branch to it. Two files that differ in anything else than the
// bodies of functions and the imports cannot be spliced.
func splice(original string, variants []variant) (string, error) {
	base, err := parseSource(original)
	if err != nil {
		return "", err
	}
	branches := map[string]string{}
	var added, imports []string
	for _, v := range variants {
		file, err := parseSource(v.text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", v.mutant, err)
		}
		changed, err := base.changed(file)
		if err != nil {
			return "", fmt.Errorf("%s: %w", v.mutant, err)
		}
		for _, key := range changed {
			f := file.funcs[key]
			renamed := f.Name.Name + "_" + identifier(v.mutant)
			added = append(added, file.slice(f.Pos(), f.Name.Pos())+renamed+file.slice(f.Name.End(), f.End()))
			branches[key] += branch(v.mutant, base.funcs[key], renamed)
		}
		for _, spec := range file.imports() {
			if !slices.Contains(base.imports(), spec) && !slices.Contains(imports, spec) {
				imports = append(imports, spec)
			}
		}
	}
	var edits []edit
	for key, code := range branches {
		f := base.funcs[key]
		edits = append(edits, base.nameParameters(f)...)
		edits = append(edits, base.insert(f.Body.Lbrace+1, "\n"+code))
	}
	for _, spec := range imports {
		edits = append(edits, base.insert(base.file.Name.End(), "\nimport "+spec+"\n"))
	}
	return applyEdits(original, edits) + "\n" + strings.Join(added, "\n\n") + "\n", nil
}

// identifier makes a mutant's name a part of a Go name.
func identifier(mutant string) string {
	return strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(mutant)
}

// branch is code that hands a call of f over to the function called renamed.
func branch(mutant string, f *ast.FuncDecl, renamed string) string {
	call := renamed
	if f.Recv != nil {
		call = parameterName(f.Recv.List[0], 0, "self", 0) + "." + renamed
	}
	if f.Type.TypeParams != nil {
		var names []string
		for _, field := range f.Type.TypeParams.List {
			for _, name := range field.Names {
				if name.Name != "_" { // stands last, and is inferred
					names = append(names, name.Name)
				}
			}
		}
		if len(names) > 0 {
			call += "[" + strings.Join(names, ", ") + "]"
		}
	}
	var arguments []string
	for _, field := range f.Type.Params.List {
		for i := range max(1, len(field.Names)) {
			name := parameterName(field, i, "arg", len(arguments))
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			arguments = append(arguments, name)
		}
	}
	call += "(" + strings.Join(arguments, ", ") + ")"
	if f.Type.Results != nil {
		call = "return " + call
	} else {
		call += "; return"
	}
	return fmt.Sprintf("\tif %s == %q { %s }\n", activeVar, mutant, call)
}

// parameterName is the name of a parameter, which nameParameters gives to one
// without.
func parameterName(field *ast.Field, i int, prefix string, number int) string {
	if i < len(field.Names) && field.Names[i].Name != "_" {
		return field.Names[i].Name
	}
	return "mutant" + prefix + strconv.Itoa(number)
}

// source is a parsed file.
type source struct {
	text  string
	file  *ast.File
	set   *token.FileSet
	funcs map[string]*ast.FuncDecl
	// rest is every other declaration but the imports.
	rest []string
}

func parseSource(text string) (*source, error) { return parseSourceIn(token.NewFileSet(), text) }

func parseSourceIn(set *token.FileSet, text string) (*source, error) {
	s := &source{text: text, set: set, funcs: map[string]*ast.FuncDecl{}}
	var err error
	if s.file, err = parser.ParseFile(s.set, "", text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, decl := range s.file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			key := d.Name.Name
			if d.Recv != nil {
				key = s.slice(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()) + "." + key
			}
			s.funcs[key] = d
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				s.rest = append(s.rest, s.slice(d.Pos(), d.End()))
			}
		}
	}
	return s, nil
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

func (s *source) slice(from, to token.Pos) string { return s.text[s.offset(from):s.offset(to)] }

func (s *source) imports() []string {
	var specs []string
	for _, spec := range s.file.Imports {
		specs = append(specs, s.slice(spec.Pos(), spec.End()))
	}
	return specs
}

// changed is the functions whose bodies differ in other.
func (s *source) changed(other *source) ([]string, error) {
	if !slices.Equal(s.rest, other.rest) || len(s.funcs) != len(other.funcs) {
		return nil, errors.New("a mutant may change the bodies of functions and the imports, nothing else")
	}
	var keys []string
	for key, f := range s.funcs {
		g := other.funcs[key]
		if g == nil || f.Body == nil || g.Body == nil || s.slice(f.Pos(), f.Body.Lbrace) != other.slice(g.Pos(), g.Body.Lbrace) {
			return nil, fmt.Errorf("%s is declared otherwise", key)
		}
		if s.slice(f.Pos(), f.End()) != other.slice(g.Pos(), g.End()) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// edit replaces the text from one offset to another.
type edit struct {
	from, to int
	text     string
}

func (s *source) insert(at token.Pos, text string) edit {
	return edit{s.offset(at), s.offset(at), text}
}

// nameParameters names the receiver and the parameters that have no names.
func (s *source) nameParameters(f *ast.FuncDecl) []edit {
	var edits []edit
	name := func(field *ast.Field, prefix string, number int) {
		if len(field.Names) == 0 {
			edits = append(edits, s.insert(field.Type.Pos(), parameterName(field, 0, prefix, number)+" "))
		}
		for i, each := range field.Names {
			if each.Name == "_" {
				edits = append(edits, edit{s.offset(each.Pos()), s.offset(each.End()), parameterName(field, i, prefix, number+i)})
			}
		}
	}
	if f.Recv != nil {
		name(f.Recv.List[0], "self", 0)
	}
	number := 0
	for _, field := range f.Type.Params.List {
		name(field, "arg", number)
		number += max(1, len(field.Names))
	}
	return edits
}

func applyEdits(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text
}
