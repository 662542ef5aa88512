package effect_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Fresh programs of the collections do the same here and on the real effect
// package. COLLECTIONS_COUNT says how many; COLLECTIONS_SEED picks others, and
// COLLECTIONS_RECORD names a file to keep them in. It needs node and the
// packages of conformance/, and is skipped without the count.
func TestCollectionsLive(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("COLLECTIONS_COUNT"))
	if n == 0 {
		t.Skip("set COLLECTIONS_COUNT to compare fresh programs with the real effect package")
	}
	seed, _ := strconv.ParseUint(os.Getenv("COLLECTIONS_SEED"), 10, 64)
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for i := range n {
		g := programmer{rand.New(rand.NewPCG(seed, uint64(i)))}
		if err := enc.Encode(g.program()); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "testdata/collections/record.mjs")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the recorder: %v", err)
	}
	if path := os.Getenv("COLLECTIONS_RECORD"); path != "" {
		keepRecorded(t, path, out)
	}
	bad, seen := 0, 0
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); seen++ {
		var p recorded
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if diff := compareRecorded(p); diff != "" {
			if bad++; bad <= 3 {
				t.Errorf("seed %d, program %d:\n%s", seed, seen, diff)
			}
		}
	}
	t.Logf("collections: %d passed of %d", seen-bad, seen)
	if seen != n {
		t.Fatalf("%d programs came back of %d", seen, n)
	}
}

func keepRecorded(t *testing.T, path string, lines []byte) {
	t.Helper()
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := w.Write(lines); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// programmer makes programs up.
type programmer struct{ *rand.Rand }

func pick[T any](g programmer, list ...T) T { return list[g.IntN(len(list))] }

func (g programmer) program() recorded {
	var p recorded
	var op func() []any
	switch g.IntN(8) {
	case 0, 1, 2, 3:
		p.Setup = []any{[]any{"queue", "q", pick(g, "bounded", "bounded", "dropping", "sliding", "unbounded"), pick(g, 0, 0, 1, 1, 2, 3)}}
		op = g.queueOp
	case 4, 5:
		p.Setup = []any{[]any{
			"pubsub", "p", pick(g, "bounded", "bounded", "dropping", "sliding", "sliding", "unbounded"),
			pick(g, 1, 1, 2, 3, 4), pick(g, 0, 0, 1, 2, 3),
		}}
		if g.IntN(3) == 0 {
			p.Setup = append(p.Setup, []any{"publishAll", "p", g.messages()})
		}
		for _, s := range []string{"s0", "s1"} {
			p.Setup = append(p.Setup, []any{"subscribe", "p", s})
		}
		op = g.pubsubOp
	case 6:
		results := []any{}
		for range 1 + g.IntN(3) {
			results = append(results, pick(g, []any{"succeed", g.IntN(5)}, []any{"succeed", 9}, []any{"fail", "E"}, []any{"die", "d"}, []any{"interrupt"}))
		}
		ms := pick(g, any(nil), 0, 2, 5)
		if g.IntN(2) == 0 {
			p.Setup = []any{[]any{"cached", "c", pick(g, any("infinity"), 0, 3, 10), ms, results}}
		} else {
			p.Setup = []any{[]any{"cachedFor", "c", pick(g, any("infinity"), 3, 10), pick(g, 0, 2), ms, results}}
		}
		op = g.cacheOp
	default:
		p.Setup = []any{[]any{"ref", "r", "v", nil, ""}}
		op = g.refOp
	}
	for range 2 + g.IntN(4) {
		fiber := recordedFiber{Now: g.IntN(2) == 0, Ops: []any{}}
		for range 1 + g.IntN(5) {
			fiber.Ops = append(fiber.Ops, g.wrapped(op))
		}
		p.Fibers = append(p.Fibers, fiber)
	}
	return p
}

func (g programmer) wrapped(op func() []any) []any {
	switch g.IntN(16) {
	case 0:
		return []any{"timeout", pick(g, 0, 1, 3), op()}
	case 1:
		return []any{"mask", op()}
	case 2:
		return []any{"race", op(), op()}
	case 3:
		return []any{"yield"}
	case 4:
		return []any{"sleep", pick(g, 0, 1, 2, 5)}
	case 5:
		return []any{pick(g, "kill", "signal", "signal"), g.IntN(4)}
	}
	return op()
}

func (g programmer) messages() []any {
	list := []any{}
	for range g.IntN(5) {
		list = append(list, g.IntN(100))
	}
	return list
}

func (g programmer) queueOp() []any {
	switch g.IntN(20) {
	case 0, 1, 2:
		return []any{"offer", "q", g.IntN(100)}
	case 3, 4:
		return []any{pick(g, "offerAll", "offerAll", "offerAllNow"), "q", g.messages()}
	case 5, 6, 7:
		return []any{"take", "q"}
	case 8:
		return []any{"takeN", "q", g.IntN(4)}
	case 9:
		return []any{"takeBetween", "q", g.IntN(4), g.IntN(5)}
	case 10:
		return []any{"offerNow", "q", g.IntN(100)}
	case 11:
		return []any{pick(g, "fail", "fail", "fail"), "q", "F"}
	case 12:
		return []any{"failCause", "q", []any{pick(g, []any{"die", "d"}, []any{"interrupt"}), []any{"fail", "F"}}}
	case 13:
		return []any{"into", "q", pick(g, []any{"succeed", 1}, []any{"fail", "I"}, []any{"die", "i"})}
	}
	return []any{pick(g, "take", "takeAll", "takeNow", "poll", "peek", "peek", "size", "isFull", "clear", "collect", "flush",
		"shutdown", "end", "end", "interrupt", "awaitEnd"), "q"}
}

func (g programmer) pubsubOp() []any {
	s := pick(g, "s0", "s0", "s1", "s2")
	switch g.IntN(16) {
	case 0, 1, 2:
		return []any{"publish", "p", g.IntN(100)}
	case 3, 4:
		return []any{"publishAll", "p", g.messages()}
	case 5:
		return []any{"publishNow", "p", g.IntN(100)}
	case 6, 7, 8:
		return []any{"sTake", s}
	case 9:
		return []any{"sTakeUpTo", s, g.IntN(4)}
	case 10:
		return []any{"sTakeBetween", s, g.IntN(4), g.IntN(5)}
	case 11:
		return []any{"subscribe", "p", pick(g, "s1", "s2", "s2")}
	case 12:
		return []any{pick(g, "sTakeAll", "sTakeAll", "sRemaining"), s}
	case 13:
		return []any{"unsubscribe", s}
	case 14:
		return pick(g, []any{"pEnd", "p", "end"}, []any{"pShutdown", "p"}, []any{"pAwait", "p"}, []any{"sTakeAll", s})
	}
	return []any{pick(g, "pSize", "pFull", "pEmpty"), "p"}
}

func (g programmer) cacheOp() []any {
	if g.IntN(4) == 0 {
		return pick(g, []any{"invalidate", "c"}, []any{"sleep", pick(g, 1, 3, 8)})
	}
	return []any{"get", "c"}
}

func (g programmer) refOp() []any {
	switch g.IntN(6) {
	case 0, 1, 2:
		return []any{"rSet", "r", g.IntN(100), pick(g, any(nil), 0, 2), pick(g, "", "", "fail", "badRelease")}
	case 3:
		return pick(g, []any{"rClose", "r"}, []any{"rGet", "r"})
	}
	return []any{"rGet", "r"}
}
