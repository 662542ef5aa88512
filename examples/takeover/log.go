package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// The log is the resource: each line is the token of its writer. It keeps its
// last token in itself, so that the check and the write are about one thing; the
// fence sees to it that no two writers are at it.

// lastToken is the token of the last line.
func lastToken(path string) (mo.Option[lease.FencingToken], error) {
	tokens, err := readLog(path)
	if err != nil || len(tokens) == 0 {
		return mo.None[lease.FencingToken](), err
	}
	return mo.Some(tokens[len(tokens)-1]), nil
}

func appendToken(path string, token lease.FencingToken) error {
	last, err := lastToken(path)
	if err != nil {
		return err
	}
	if _, err := lease.CheckFence(last, token).Get(); err != nil {
		return err
	}
	line, err := json.Marshal(token)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

func readLog(path string) ([]lease.FencingToken, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tokens []lease.FencingToken
	for line := range bytes.Lines(data) {
		var token lease.FencingToken
		if err := json.Unmarshal(line, &token); err != nil {
			return nil, fmt.Errorf("the log has a broken line: %q", line)
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}
