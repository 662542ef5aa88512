package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutated is the files of the module at root with m's patch applied, by path.
func (m mutant) mutated(root string) (map[string]string, error) {
	if m.texts != nil {
		return m.texts, nil
	}
	files := map[string]string{}
	for _, p := range m.files {
		text, err := os.ReadFile(filepath.Join(root, p.file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if files[p.file], err = p.apply(string(text)); err != nil {
			return nil, fmt.Errorf("%s does not apply: %w", m.name, err)
		}
	}
	return files, nil
}

// together is the files that have all the mutants in them, by path.
func together(root string, list []mutant) (map[string]string, error) {
	variants := map[string][]variant{}
	for _, m := range list {
		files, err := m.mutated(root)
		if err != nil {
			return nil, err
		}
		for path, text := range files {
			variants[path] = append(variants[path], variant{m.name, text})
		}
	}
	out := map[string]string{}
	for path, some := range variants {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		if out[path], err = splice(string(text), some); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		dir, _ := filepath.Split(path)
		out[dir+"mutant_active.go"] = activeFile(parsed.Name.Name)
	}
	return out, nil
}

// writeOverlay writes files and the JSON that makes the go command use them in
// place of the module's, all into dir. It answers the JSON's path.
func writeOverlay(root, dir string, files map[string]string) (string, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		to := filepath.Join(dir, strings.ReplaceAll(path, "/", "__"))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, path)] = to
	}
	text, err := json.MarshalIndent(overlay, "", "\t")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}

// packages is the packages that the mutants change.
func packages(list []mutant) []string {
	found := map[string]bool{}
	for _, m := range list {
		for _, p := range m.files {
			found["./"+filepath.ToSlash(filepath.Dir(p.file))] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
