package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answerTimeout is how long a single program may take the oracle. Its step limit ends endless programs long before.
const answerTimeout = time.Minute

// OracleDir finds the directory that holds the oracle: the working directory, one above it, or a conformance/ in one of
// these.
func OracleDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{dir, filepath.Join(dir, "conformance")} {
			if _, err := os.Stat(filepath.Join(candidate, "oracle", "serve.mjs")); err == nil {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no oracle/serve.mjs in %s or above", start)
		}
	}
}

// Unavailable says why this machine cannot run the oracle, in one line, or "" if it can.
func Unavailable() string {
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "node is missing (version 20 or later is needed)"
	}
	text := strings.TrimSpace(string(version))
	major, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		return fmt.Sprintf("node %s is too old (version 20 or later is needed)", text)
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "npm is missing"
	}
	return ""
}

// Install makes sure that the pinned effect package lies in dir/node_modules; npm is asked only if it does not.
func Install(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "effect", "package.json")); err == nil {
		return nil
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	npm.Dir = dir
	if output, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, output)
	}
	return nil
}

// Oracle runs programs on the real effect package, in one node process. Concurrent runs are pipelined: each writes its
// program at once, and the answers come back in the order of the questions.
type Oracle struct {
	command *exec.Cmd
	stdin   io.WriteCloser

	// mu guards the pair of writing a program and joining the queue: the two orders must be the same, since an answer has
	// no name.
	mu sync.Mutex
	// waiting is closed for good, under mu, by whoever sets broken.
	waiting chan chan<- answer
	broken  error

	read sync.WaitGroup
}

type answer struct {
	Result
	Error string `json:"error"`
	err   error
}

// StartOracle starts the oracle of a directory (OracleDir). Limit is the number of steps after which a program counts as
// endless; 0 means the oracle's default.
func StartOracle(dir string, limit int) (*Oracle, error) {
	args := []string{filepath.Join("oracle", "serve.mjs")}
	if limit > 0 {
		args = append(args, strconv.Itoa(limit))
	}
	command := exec.Command("node", args...)
	command.Dir = dir
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	oracle := &Oracle{
		command: command,
		stdin:   stdin,
		// The bound is what keeps a fast generator from filling the pipe's memory.
		waiting: make(chan chan<- answer, 256),
	}
	oracle.read.Go(func() { oracle.readAnswers(stdout) })
	return oracle, nil
}

// Run runs one program. It panics if the program is not made of JSON data.
func (o *Oracle) Run(program any) (Result, error) {
	line := Encode(program) + "\n"
	reply := make(chan answer, 1)
	if err := o.ask(line, reply); err != nil {
		return Result{}, err
	}
	timeout := time.NewTimer(answerTimeout)
	defer timeout.Stop()
	select {
	case got := <-reply:
		return got.result()
	case <-timeout.C:
		// The reader sees the end of the process and fails all that wait.
		_ = o.command.Process.Kill()
		return Result{}, fmt.Errorf("oracle: no answer within %v for %s", answerTimeout, strings.TrimSpace(line))
	}
}

func (o *Oracle) ask(line string, reply chan<- answer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		return o.broken
	}
	if _, err := io.WriteString(o.stdin, line); err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	o.waiting <- reply
	return nil
}

func (o *Oracle) readAnswers(stdout io.Reader) {
	lines := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			o.fail(fmt.Errorf("oracle: ended: %w", err))
			return
		}
		var got answer
		if err := json.Unmarshal(line, &got); err != nil {
			got.err = fmt.Errorf("oracle: %w in %q", err, line)
		}
		(<-o.waiting) <- got
	}
}

// fail ends the oracle: whoever waits gets err, and so does whoever comes later.
func (o *Oracle) fail(err error) {
	// An asker that holds the lock may be blocked on a full queue, so the queue is drained before the lock is taken.
	for {
		select {
		case reply := <-o.waiting:
			reply <- answer{err: err}
			continue
		default:
		}
		if o.mu.TryLock() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	defer o.mu.Unlock()
	if o.broken == nil {
		o.broken = err
	}
	for len(o.waiting) > 0 {
		(<-o.waiting) <- answer{err: err}
	}
}

func (a answer) result() (Result, error) {
	switch {
	case a.err != nil:
		return Result{}, a.err
	case a.Error == ErrStepLimit.Error():
		return Result{}, ErrStepLimit
	case a.Error != "":
		return Result{}, fmt.Errorf("%w: %s", ErrProgram, a.Error)
	}
	return a.Result, nil
}

// Close lets the oracle finish what it was given and waits for its end.
func (o *Oracle) Close() error {
	closed := errors.New("oracle: closed")
	o.mu.Lock()
	if o.broken == nil {
		o.broken = closed
	}
	o.mu.Unlock()
	err := o.stdin.Close()
	o.read.Wait()
	return errors.Join(err, o.command.Wait())
}
