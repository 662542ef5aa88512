package conformance

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadVectors reads all vectors of a folder: its *.json and *.json.gz, by name.
func ReadVectors(folder string) ([]Vector, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var vectors []Vector
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz") {
			some, err := readVectorFile(filepath.Join(folder, name))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			vectors = slices.Concat(vectors, some)
		}
	}
	return vectors, nil
}

func readVectorFile(name string) (vectors []Vector, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var text io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	return vectors, json.NewDecoder(text).Decode(&vectors)
}
