//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The tests run this binary again as the server.
const childEnv = "TETHER_EXAMPLE_SERVER"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Args = []string{os.Args[0], "-leases", path}
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a server and its log.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	log *bufio.Scanner
}

func start(t *testing.T, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &process{t, cmd, bufio.NewScanner(out)}
}

// says waits for a line of the log that has the text and gives what comes after it.
func (p *process) says(text string) string {
	p.t.Helper()
	for p.log.Scan() {
		if _, after, ok := strings.Cut(p.log.Text(), text); ok {
			return after
		}
	}
	p.t.Fatalf("it never said %q", text)
	return ""
}

func (p *process) ready() (url string) { return "http" + p.says("ready on http") }

func call(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

// The first one answers all that it took when it is told to end, then the second one
// has its turn, and when that is killed the third.
func TestServer(t *testing.T) {
	path := t.TempDir() + "/leases.db"
	first := start(t, path)
	url := first.ready()
	second := start(t, path)
	const messages = 12
	for i := range messages {
		if code, text := call(t, "POST", fmt.Sprintf("%s/rooms/%d", url, i%5), fmt.Sprint("hello ", i)); code != http.StatusAccepted {
			t.Errorf("%d: %s", code, text)
		}
	}
	if code, text := call(t, "GET", url+"/status", ""); code != http.StatusOK || !strings.Contains(text, `"running":4`) {
		t.Errorf("%d: %s", code, text)
	}
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	first.says(fmt.Sprint(messages, " answers"))
	first.says("ended: <nil>")
	if err := first.cmd.Wait(); err != nil {
		t.Error(err)
	}
	url = second.ready()
	call(t, "POST", url+"/rooms/a", "hello")
	for {
		if _, text := call(t, "GET", url+"/rooms/a", ""); text == "HELLO" {
			break
		}
	}
	third := start(t, path)
	if err := second.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	third.says("takeover=dead")
	third.ready()
	// One that waits for the lease can be ended, too.
	fourth := start(t, path)
	fourth.says("waiting for the lease")
	if err := fourth.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	fourth.says(`ended: lease "rooms": `)
	if err := fourth.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
