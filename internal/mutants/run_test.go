package main

import "testing"

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const vectors = `--- FAIL: TestVectors (0.56s)
    vectors_test.go:74: layer: fresh is apart (curated.json.gz)
          exit: want 1
    vectors_test.go:74: adversarial/7 (adversarial.json.gz)
    vectors_test.go:80: vectors: 1420 passed of 1422
FAIL
`
	tests := map[string]struct {
		passed       bool
		output, want string
	}{
		"passed":      {true, "PASS\n", "nothing failed"},
		"vectors":     {false, "vectors: 1420 passed of 1422\n" + vectors, "layer: fresh is apart and 1 more"},
		"one test":    {false, "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\nFAIL\n", "TestA"},
		"two tests":   {false, "--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n", "TestA and 1 more"},
		"a panic":     {false, "panic: oh\n\ngoroutine 1\n", "a crash"},
		"a hang":      {false, "panic: test timed out after 1s\n", "no end"},
		"no verdict":  {false, "exec format error\n", "error"},
		"no such one": {true, "testing: warning: no tests to run\nPASS\n", "error"},
	}
	for name, test := range tests {
		o, err := judge(test.passed, test.output)
		got := o.String()
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, test.want)
		}
	}
}

func TestFreshProgramsAreCountedApart(t *testing.T) {
	t.Parallel()
	recorded := outcome{failed: true, first: "r", others: 1, passed: 8, total: 10}
	both := outcome{failed: true, first: "f", others: 4, passed: 25, total: 30}
	if got := both.without(recorded); !got.failed || got.others != 2 {
		t.Errorf("got %+v", got)
	}
	if got := (outcome{failed: true, others: 1, passed: 28, total: 30}).without(recorded); got.failed {
		t.Errorf("got %+v", got)
	}
}
