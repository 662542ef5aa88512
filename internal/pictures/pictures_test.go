package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPicturesAreUpToDate(t *testing.T) {
	for name, draw := range pictures {
		drawn := draw()
		written, err := os.ReadFile(filepath.Join("..", "..", "docs", "pictures", name))
		if err != nil || string(written) != drawn {
			t.Errorf("%s is not what the code draws; draw it anew: go run ./internal/pictures (%v)", name, err)
		}
		for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
