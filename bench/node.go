package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Node is a node process that does effect's part of the work when it is asked to.
// It is one process for the whole run, so that its code stays compiled.
type Node struct {
	Version string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startNode starts it in dir, or says why it cannot.
func startNode(dir string) (*Node, error) {
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("node is missing (version 20 or later is needed)")
	}
	text := strings.TrimSpace(string(version))
	major, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		return nil, fmt.Errorf("node %s is too old (version 20 or later is needed)", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "effect", "package.json")); err != nil {
		npm := exec.Command("npm", "ci", "--no-audit", "--no-fund")
		npm.Dir = dir
		if output, err := npm.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm ci failed: %w: %s", err, output)
		}
	}
	n := &Node{Version: text}
	n.command = exec.Command("node", "--expose-gc", "serve.mjs")
	n.command.Dir, n.command.Stderr = dir, os.Stderr
	if n.in, err = n.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := n.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.out = bufio.NewReader(out)
	return n, n.command.Start()
}

// sample is the nanoseconds a unit of the case takes, measured for about as long
// as target after it ran for as long as warm.
func (n *Node) sample(name string, target, warm time.Duration) float64 {
	question := must(json.Marshal(map[string]any{"case": name, "ms": target.Seconds() * 1e3, "warm": warm.Seconds() * 1e3}))
	must(n.in.Write(append(question, '\n')))
	line := must(n.out.ReadBytes('\n'))
	var answer struct {
		Nanoseconds float64 `json:"ns"`
		Error       string  `json:"error"`
	}
	check(json.Unmarshal(line, &answer))
	if answer.Error != "" {
		panic(answer.Error)
	}
	return answer.Nanoseconds
}

func (n *Node) stop() {
	if n != nil {
		_ = n.in.Close()
		_ = n.command.Wait()
	}
}

// sized is the name of a case that there is for several sizes.
func sized(name string, size int) string { return name + strconv.Itoa(size) }
