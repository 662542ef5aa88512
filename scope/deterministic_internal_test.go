package scope

import (
	"slices"
	"testing"
)

// A completion from outside that arrives while tasks are ready waits for all of
// them, and for those that they make; the clock moves after it.
func TestForeignCompletionsWaitForTasks(t *testing.T) {
	d := NewDeterministic(DeterministicConfig{})
	var seen []string
	log := func(what string) { seen = append(seen, what) }
	yield := func(f *Fiber) {
		token := f.Arm()
		Dispatch(f, func() { token.Wake() })
		f.Block(token, waitTest)
	}
	d.Run(func(f *Fiber) *Cause {
		d.Clock().AfterFunc(0, func() { log("timer") })
		first, second := Foreign(d), Foreign(d)
		f.Fork(func(f *Fiber) *Cause {
			log("child")
			yield(f)
			log("child again")
			return nil
		}, ForkConfig{})
		first(func() { log("first completion") })
		second(func() { log("second completion") })
		log("main")
		yield(f)
		log("main again")
		return nil
	}, RunConfig{})
	want := []string{"main", "child", "main again", "child again", "first completion", "second completion", "timer"}
	if !slices.Equal(seen, want) {
		t.Errorf("got  %q\nwant %q", seen, want)
	}
}
