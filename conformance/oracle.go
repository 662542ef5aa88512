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

// ErrUnavailable says that this machine cannot run the oracle; the text says why.
var ErrUnavailable = errors.New("the oracle cannot run here")

// OpenOracle starts the oracle of this repository, with PrepareOracle before. The caller closes it.
func OpenOracle() (*Oracle, error) {
	dir, err := PrepareOracle()
	if err != nil {
		return nil, err
	}
	return StartOracle(dir, 0)
}

// PrepareOracle finds the directory that holds the oracle, in the working directory or above it, and makes sure that the
// effect package is installed there: npm downloads it if it is not. It fails with ErrUnavailable without a node and npm
// that will do. A process prepares once; later calls give the same answer.
func PrepareOracle() (dir string, err error) { return prepared() }

// prepared is once, because two installations at the same time would disturb each other.
var prepared = sync.OnceValues(func() (string, error) {
	if reason := unavailable(); reason != "" {
		return "", fmt.Errorf("%w: %s", ErrUnavailable, reason)
	}
	dir, err := oracleDir()
	if err != nil {
		return "", err
	}
	return dir, install(dir)
})

// oracleDir finds the directory that holds the oracle: the working directory, one above it, or a conformance/ in one of
// these.
func oracleDir() (string, error) {
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

// unavailable says why this machine cannot run the oracle, in one line, or "" if it can.
func unavailable() string {
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

// install makes sure that the pinned effect package lies in dir/node_modules; npm is asked only if it does not.
func install(dir string) error {
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

// Oracle runs programs on the real effect package, in one node process. Concurrent runs are pipelined: a program is written
// while others are still in work, and the answers come back in the order of the questions.
//
// Its goroutines are a writer and a reader. The writer may block on a busy process, which may itself block on an unread
// answer: so the two share no lock.
type Oracle struct {
	command *exec.Cmd
	asked   chan question
	// waiting has one place for each program that was written and not answered, in that order.
	waiting   chan chan<- answer
	closing   chan struct{}
	closeOnce sync.Once
	// done is closed when the process has ended; err says why and is set before.
	done chan struct{}
	err  error
}

type question struct {
	line  string
	reply chan<- answer
}

type answer struct {
	Measured
	Error string `json:"error"`
	err   error
}

// Measured is a result with what it took.
type Measured struct {
	Result
	// Steps is the number of steps of all fibers.
	Steps int `json:"steps"`
	// Longest is the most steps that a fiber made between two parks. Above AutomaticYield, Effect would have made it yield.
	Longest int `json:"longest"`
}

// AutomaticYield is the number of operations after which Effect makes a fiber yield, unless that is switched off.
const AutomaticYield = 2048

// StartOracle starts the oracle of a directory (PrepareOracle). Limit is the number of steps after which a program counts as
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
		asked:   make(chan question),
		waiting: make(chan chan<- answer, 256),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go oracle.write(stdin)
	go oracle.read(stdout)
	return oracle, nil
}

// Run runs one program. It panics if the program is not made of JSON data.
func (o *Oracle) Run(program any) (Result, error) {
	measured, err := o.Measure(program)
	return measured.Result, err
}

// Measure runs one program and tells what it took.
func (o *Oracle) Measure(program any) (Measured, error) {
	line := Encode(program)
	reply := make(chan answer, 1)
	select {
	case o.asked <- question{line: line + "\n", reply: reply}:
	case <-o.closing:
		return Measured{}, errClosed
	case <-o.done:
		return Measured{}, o.err
	}
	timeout := time.NewTimer(answerTimeout)
	defer timeout.Stop()
	select {
	case got := <-reply:
		return got.result()
	case <-o.done:
		// The last answers arrive together with the end.
		select {
		case got := <-reply:
			return got.result()
		default:
			return Measured{}, o.err
		}
	case <-timeout.C:
		// The reader sees the end of the process, so all that wait behind this program fail too.
		_ = o.command.Process.Kill()
		return Measured{}, fmt.Errorf("oracle: no answer within %v for %s", answerTimeout, line)
	}
}

func (o *Oracle) write(stdin io.WriteCloser) {
	defer func() { _ = stdin.Close() }()
	for {
		select {
		case next := <-o.asked:
			select {
			case o.waiting <- next.reply:
			case <-o.done:
				return
			}
			// An error here means that the process is gone; the reader reports it.
			if _, err := io.WriteString(stdin, next.line); err != nil {
				return
			}
		case <-o.closing:
			return
		case <-o.done:
			return
		}
	}
}

func (o *Oracle) read(stdout io.Reader) {
	defer close(o.done)
	lines := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			o.err = errors.Join(errEnded, o.command.Wait())
			return
		}
		var got answer
		if err := json.Unmarshal(line, &got); err != nil {
			got.err = fmt.Errorf("oracle: %w in %q", err, line)
		}
		(<-o.waiting) <- got
	}
}

var (
	errClosed = errors.New("oracle: closed")
	errEnded  = errors.New("oracle: the process has ended")
)

// Close lets the oracle finish what it was given and waits for its end. Closing twice is fine.
func (o *Oracle) Close() error {
	o.closeOnce.Do(func() { close(o.closing) })
	<-o.done
	if _, failed := errors.AsType[*exec.ExitError](o.err); failed {
		return o.err
	}
	return nil
}

func (a answer) result() (Measured, error) {
	switch {
	case a.err != nil:
		return Measured{}, a.err
	case a.Error == ErrStepLimit.Error():
		return Measured{}, ErrStepLimit
	case a.Error == ErrLeft.Error():
		return Measured{}, ErrLeft
	case a.Error != "":
		return Measured{}, fmt.Errorf("%w: %s", ErrProgram, a.Error)
	}
	return a.Measured, nil
}
