package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rivus/tether/conformance/generate"
	"github.com/rivus/tether/conformance/shrink"
)

// Comparison says what Compare does.
type Comparison struct {
	// Oracle is the side that is right by definition, Subject the one under test.
	Oracle, Subject Runner
	// Seed and Count name the programs: the indices 0 to Count-1 of the seed, tame and adversarial by turns.
	Seed  uint64
	Count int
	// Workers is how many programs are in work at once; 0 means four for each processor, since the oracle's process is
	// one processor's worth, and questions to it should queue.
	Workers int
	// MaxDifferences ends the comparison early; 0 means ten.
	MaxDifferences int
}

// Summary is what a comparison found.
type Summary struct {
	// Same counts the programs with equal results, Skipped those without an end and those
	// that do what no Go program can (ErrStepLimit, ErrLeft).
	Same, Skipped int
	// Pending counts, among the same, those whose main fiber never ended.
	Pending int
	// Differences are in the order of their indices, and shrunk.
	Differences []Difference
}

// A Difference is a program that the two sides disagree about.
type Difference struct {
	Kind        generate.Kind
	Seed, Index uint64
	// Program is the one that was generated, Minimal what shrinking left of it.
	Program, Minimal any
	// Want and Got are what the two sides do with Minimal; Failure is set instead of Got where the subject gave no result.
	Want, Got Result
	Failure   error
}

// KindOf is the kind of the program with an index.
func KindOf(index uint64) generate.Kind {
	kinds := generate.Kinds()
	return kinds[index%uint64(len(kinds))]
}

// Compare runs programs on both sides. An error means that the oracle failed or the generator made no program, so that
// nothing is known.
func Compare(c Comparison) (Summary, error) {
	c.MaxDifferences = cmp.Or(max(c.MaxDifferences, 0), 10)
	c.Workers = cmp.Or(max(c.Workers, 0), 4*runtime.GOMAXPROCS(0))
	var (
		mu      sync.Mutex
		summary Summary
		failure error
	)
	each(c.Count, c.Workers, func(i int) {
		mu.Lock()
		enough := failure != nil || len(summary.Differences) >= c.MaxDifferences
		mu.Unlock()
		if enough {
			return
		}
		index := uint64(i)
		difference := Difference{Kind: KindOf(index), Seed: c.Seed, Index: index}
		difference.Program = generate.Program(difference.Kind, c.Seed, index)
		verdict, err := c.judge(difference.Program)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failure = cmp.Or(failure, fmt.Errorf("%s: %w", difference.Name(), err))
		case verdict.endless:
			summary.Skipped++
		case verdict.same:
			summary.Same++
			if string(verdict.want.Exit) == Pending {
				summary.Pending++
			}
		default:
			summary.Differences = append(summary.Differences, difference)
		}
	})
	if failure != nil {
		return summary, failure
	}
	slices.SortFunc(summary.Differences, func(a, b Difference) int { return cmp.Compare(a.Index, b.Index) })
	// The workers may have found more than asked for, and each costs a thousand runs to shrink.
	summary.Differences = summary.Differences[:min(len(summary.Differences), c.MaxDifferences)]
	for i := range summary.Differences {
		if err := c.minimize(&summary.Differences[i]); err != nil {
			return summary, err
		}
	}
	return summary, nil
}

// verdict is what is known of one program.
type verdict struct {
	endless, same bool
	want, got     Result
	failure       error
}

func (c Comparison) judge(program any) (verdict, error) {
	want, err := c.Oracle.Run(program)
	if errors.Is(err, ErrStepLimit) || errors.Is(err, ErrLeft) {
		return verdict{endless: true}, nil
	}
	if err != nil {
		return verdict{}, err
	}
	got, err := runSubject(c.Subject, program)
	return verdict{same: err == nil && want.Equal(got), want: want, got: got, failure: err}, nil
}

func (c Comparison) minimize(difference *Difference) error {
	differs := func(program any) bool {
		verdict, err := c.judge(program)
		return err == nil && !verdict.endless && !verdict.same
	}
	difference.Minimal, _ = shrink.Minimize(difference.Program, 0, differs)
	verdict, err := c.judge(difference.Minimal)
	difference.Want, difference.Got, difference.Failure = verdict.want, verdict.got, verdict.failure
	return err
}

// subjectTimeout is how long the subject may take for one program. It should have a step limit of its own.
const subjectTimeout = 30 * time.Second

// runSubject turns whatever the subject does into a result or an error, so that one bad program does not end the
// comparison. A run that does not return is abandoned, its goroutine too: nothing could end it.
func runSubject(subject Runner, program any) (Result, error) {
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		returned := false
		defer func() {
			if returned {
				return
			}
			// A panic, or a Goexit, which has no value.
			done <- outcome{err: fmt.Errorf("panic: %v\n%s", recover(), debug.Stack())}
		}()
		result, err := subject.Run(program)
		returned = true
		done <- outcome{result, err}
	}()
	timeout := time.NewTimer(subjectTimeout)
	defer timeout.Stop()
	select {
	case got := <-done:
		return got.result, got.err
	case <-timeout.C:
		return Result{}, fmt.Errorf("no result within %v", subjectTimeout)
	}
}

// Name is the program's name, as Record gives it.
func (d Difference) Name() string { return fmt.Sprintf("%s/%d/%d", d.Kind, d.Seed, d.Index) }

// String is the report: how to get the program again, what shrinking left of it, and how the two traces differ.
func (d Difference) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s differs\n", d.Name())
	fmt.Fprintf(&text, "  again:   go run ./cmd/program -kind %s -seed %d -index %d\n", d.Kind, d.Seed, d.Index)
	fmt.Fprintf(&text, "  minimal: %s\n", Encode(d.Minimal))
	if d.Failure != nil {
		fmt.Fprintf(&text, "  the subject gave no result: %v\n  effect:\n%s", d.Failure, Diff(d.Want, d.Want))
		return text.String()
	}
	fmt.Fprintf(&text, "  - effect, + subject:\n%s", Diff(d.Want, d.Got))
	return text.String()
}

func (s Summary) String() string {
	return fmt.Sprintf("%d the same (%d of them pending), %d without an end or beyond Go, %d different",
		s.Same, s.Pending, s.Skipped, len(s.Differences))
}
