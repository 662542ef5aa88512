package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
)

// child is a worker's process, as its parent sees it.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	alive bool
}

// start starts a worker and has what it says heard.
func (d *director) start(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "worker", name, d.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c := &child{cmd: cmd, in: in, alive: true}
	d.workers[name] = c
	d.readers.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				m = message{Worker: name, What: malformed, Text: lines.Text()}
			}
			d.heard <- m
		}
		text := ""
		if err := cmd.Wait(); err != nil {
			text = err.Error()
		}
		d.heard <- message{Worker: name, PID: cmd.Process.Pid, What: gone, Text: text}
	})
	return nil
}

func (c *child) tell(command string) error {
	_, err := io.WriteString(c.in, command+"\n")
	return err
}

func (c *child) finish() { _ = c.in.Close() }

func (c *child) kill() {
	c.alive = false
	_ = c.cmd.Process.Kill()
}

// killAll leaves no process behind, whatever happened.
func (d *director) killAll() {
	for _, c := range d.workers {
		c.kill()
	}
	go func() {
		d.readers.Wait()
		close(d.heard)
	}()
	for range d.heard {
		// The play is over: what they still say is nothing to it.
	}
}
