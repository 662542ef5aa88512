package effect_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivus/tether/internal/vectors"
)

// readVectors reads one file of vectors, gzipped or not.
func readVectors(t *testing.T, path string) []vectors.Vector {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var list []vectors.Vector
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return list
}

func vectorFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/vectors/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in testdata: %v", err)
	}
	if folder := os.Getenv("EFFECT_VECTORS"); folder != "" {
		for _, pattern := range []string{"*.json", "*.json.gz"} {
			more, _ := filepath.Glob(filepath.Join(folder, pattern))
			if len(more) == 0 && pattern == "*.json" {
				t.Logf("EFFECT_VECTORS: no %s in %s", pattern, folder)
			}
			files = append(files, more...)
		}
	}
	slices.Sort(files)
	return files
}

// Every recorded program gives the same trace, exit and time as on
// effect@4.1.0. EFFECT_VECTORS names a folder with more files of them.
func TestVectors(t *testing.T) {
	passed, total, shown := 0, 0, 0
	for _, path := range vectorFiles(t) {
		for _, v := range readVectors(t, path) {
			total++
			got, err := runVector(v.Program)
			diff := ""
			if err != nil {
				diff = "  " + err.Error() + "\n"
			} else {
				diff = vectors.Diff(v.Expect, got)
			}
			if diff == "" {
				passed++
			} else if shown++; shown <= 10 {
				program, _ := json.Marshal(v.Program)
				t.Errorf("%s (%s)\n%s  program %s", v.Name, filepath.Base(path), diff, program)
			}
		}
	}
	fmt.Printf("vectors: %d passed of %d\n", passed, total)
	if passed != total {
		t.Fatalf("vectors: %d passed of %d", passed, total)
	}
}

func runVector(program any) (r vectors.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("panic outside the program: %v", p))
		}
	}()
	return vectors.Run(program)
}
