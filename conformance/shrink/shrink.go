// Package shrink reduces a program that shows a difference to a small one that still does.
//
// It is greedy: it tries changes in a fixed order, each of which makes the program smaller, and keeps those after which the
// difference is still there, until none is left that helps. So it ends, and gives the same for the same program and
// predicate. What it gives is minimal for these changes, not in general.
package shrink

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rivus/tether/conformance/grammar"
)

// Limit is a bound on how often Minimize asks, enough for the generator's programs.
const Limit = 4000

// Minimize gives the smallest program that it finds for which differs is true, and how many it asked about. Differs is
// true of the program itself; it is asked at most limit times (Limit if that is 0). It is never asked about a program that
// has a restore outside of a mask, nor twice about the same.
func Minimize(program any, limit int, differs func(program any) bool) (minimal any, asked int) {
	if limit <= 0 {
		limit = Limit
	}
	s := &shrinker{best: program, size: measure(program), limit: limit, differs: differs, seen: map[string]bool{}}
	for s.pass() && s.asked < s.limit {
	}
	return s.best, s.asked
}

type shrinker struct {
	best    any
	size    size
	limit   int
	asked   int
	differs func(any) bool
	seen    map[string]bool
}

// size orders programs: fewer expressions first, then less text. Every step makes it less, which is why shrinking ends.
type size struct {
	expressions int
	text        string
}

func (s size) compare(other size) int {
	return cmp.Or(
		cmp.Compare(s.expressions, other.expressions),
		cmp.Compare(len(s.text), len(other.text)),
		strings.Compare(s.text, other.text))
}

// nothing is the expression that counts for none: what an unneeded one is replaced by.
func nothing() any { return []any{"succeed", nil} }

func isNothing(expression []any) bool {
	return len(expression) == 2 && expression[0] == "succeed" && expression[1] == nil
}

func measure(program any) size {
	text, err := json.Marshal(program)
	if err != nil {
		panic("shrink: program is not JSON: " + err.Error())
	}
	n := 0
	grammar.Walk(program, func(expression []any) {
		if !isNothing(expression) {
			n++
		}
	})
	return size{n, string(text)}
}

// pass goes once over the whole program; it reports whether anything was kept.
func (s *shrinker) pass() bool {
	changed := false
	// A path stays good when the subtree at it is replaced, so the walk goes on from the same place after each success:
	// starting over would cost a program's length for every step.
	for path := (path{}); path != nil; {
		if s.at(path) {
			changed = true
		} else {
			path = s.next(path)
		}
		if s.asked >= s.limit {
			break
		}
	}
	return changed
}

// at tries the changes at one place; it reports whether one was kept.
func (s *shrinker) at(path path) bool {
	kind, node, ok := s.find(path)
	if !ok {
		return false
	}
	for _, smaller := range changes(kind, node) {
		if s.try(replace(s.best, path, smaller)) {
			return true
		}
		if s.asked >= s.limit {
			return false
		}
	}
	return false
}

func (s *shrinker) try(candidate any) bool {
	size := measure(candidate)
	if size.compare(s.size) >= 0 || s.seen[size.text] || grammar.Check(candidate) != nil {
		return false
	}
	s.seen[size.text] = true
	s.asked++
	if !s.differs(candidate) {
		return false
	}
	s.best, s.size = candidate, size
	return true
}

// path leads from the root to a place by indices; in an options object, by its single place, "cancel".
type path []int

func (s *shrinker) find(path path) (grammar.Kind, any, bool) {
	kind, node := grammar.Expr, s.best
	for _, index := range path {
		children := childrenOf(kind, node)
		if index >= len(children) {
			return 0, nil, false
		}
		kind, node = children[index].kind, children[index].node
	}
	return kind, node, true
}

// next is the place after path, outermost first; nil after the last.
func (s *shrinker) next(at path) path {
	kind, node, ok := s.find(at)
	if ok && len(childrenOf(kind, node)) > 0 {
		return append(slices.Clone(at), 0)
	}
	for len(at) > 0 {
		last := len(at) - 1
		sibling := append(slices.Clone(at[:last]), at[last]+1)
		if _, _, ok := s.find(sibling); ok {
			return sibling
		}
		at = at[:last]
	}
	return nil
}

type child struct {
	kind grammar.Kind
	node any
	// set gives the parent with another child in this place.
	set func(any) any
}

func childrenOf(kind grammar.Kind, node any) []child {
	if kind == grammar.Foreign {
		options, ok := node.(map[string]any)
		if !ok || options["cancel"] == nil {
			return nil
		}
		return []child{{grammar.Expr, options["cancel"], func(changed any) any {
			copied := maps.Clone(options)
			copied["cancel"] = changed
			return copied
		}}}
	}
	list, ok := node.([]any)
	if !ok {
		return nil
	}
	at := func(i int) func(any) any {
		return func(changed any) any {
			copied := slices.Clone(list)
			copied[i] = changed
			return copied
		}
	}
	var children []child
	if element := grammar.Element(kind); element != 0 {
		for i, each := range list {
			children = append(children, child{element, each, at(i)})
		}
		return children
	}
	for i, argument := range grammar.Arguments(kind, node) {
		children = append(children, child{argument, list[i+1], at(i + 1)})
	}
	return children
}

func replace(root any, at path, with any) any {
	return replaceIn(grammar.Expr, root, at, with)
}

func replaceIn(kind grammar.Kind, node any, at path, with any) any {
	if len(at) == 0 {
		return with
	}
	child := childrenOf(kind, node)[at[0]]
	return child.set(replaceIn(child.kind, child.node, at[1:], with))
}

// changes gives what a node may be replaced by, most daring first. Not all are smaller; try sees to that.
func changes(kind grammar.Kind, node any) []any {
	switch kind {
	case grammar.Expr:
		return expressionChanges(node)
	case grammar.Schedule:
		return append([]any{[]any{"recurs", 1.0}}, parts(kind, node)...)
	case grammar.Layer:
		return parts(kind, node)
	case grammar.Exprs, grammar.Schedules, grammar.Values, grammar.Names:
		return dropped(node, 0)
	case grammar.Exit:
		return []any{[]any{"succeed", nil}, []any{"fail", "E1"}, []any{"interrupt"}}
	case grammar.Value:
		return []any{nil, 1.0}
	case grammar.Number, grammar.Concurrency, grammar.Bound:
		return numbers(node)
	case grammar.Options, grammar.Foreign:
		return withoutKeys(node)
	default:
		return nil
	}
}

func expressionChanges(node any) []any {
	list, ok := node.([]any)
	if !ok || len(list) == 0 {
		return nil
	}
	made := []any{nothing()}
	made = append(made, parts(grammar.Expr, node)...)
	// What matters of a large part is often only that it fails, or takes a while.
	made = append(made, []any{"fail", "E1"}, []any{"interrupt"}, []any{"yield"}, []any{"sleep", 5.0}, []any{"never"}, []any{"log", "x"})
	if list[0] == "seq" {
		made = append(made, dropped(node, 1)...)
	} else if required := grammar.Required(grammar.Expr, node); len(list)-1 > required {
		// An optional argument less.
		made = append(made, slices.Clone(list[:len(list)-1]))
	}
	return append(made, simpler(list)...)
}

// simpler has an operation that does less than this one, for the same arguments.
func simpler(list []any) []any {
	instead := func(name string) []any {
		copied := slices.Clone(list)
		copied[0] = name
		return []any{copied}
	}
	switch list[0] {
	case "retrySpaced", "retryExponential":
		return []any{[]any{"retry", list[1], list[2]}}
	case "repeatSpaced", "repeatFixed":
		return []any{[]any{"repeat", list[1], list[2]}}
	case "acquireReleaseInterruptible":
		return instead("acquireRelease")
	case "raceAllFirst":
		return instead("raceAll")
	case "interruptibleMask":
		return instead("mask")
	case "interruptFiber":
		return instead("signal")
	case "interruptAll":
		if names, ok := list[1].([]any); ok && len(names) == 1 {
			return []any{[]any{"signal", names[0]}}
		}
	}
	return nil
}

// parts are the nodes of the same kind directly inside a node.
func parts(kind grammar.Kind, node any) []any {
	var made []any
	for _, child := range childrenOf(kind, node) {
		switch {
		case child.kind == kind:
			made = append(made, child.node)
		case grammar.Element(child.kind) == kind, child.kind == grammar.Foreign && kind == grammar.Expr:
			for _, element := range childrenOf(child.kind, child.node) {
				made = append(made, element.node)
			}
		}
	}
	return made
}

// dropped gives a list without halves, quarters... and single elements; the first `keep` stay.
func dropped(node any, keep int) []any {
	list, ok := node.([]any)
	if !ok {
		return nil
	}
	var made []any
	n := len(list) - keep
	for width := n / 2; width >= 1; width /= 2 {
		// From the end: what comes late depends on what comes early.
		for end := len(list); end-width >= keep; end -= width {
			made = append(made, slices.Delete(slices.Clone(list), end-width, end))
		}
	}
	return made
}

func numbers(node any) []any {
	n, ok := node.(float64)
	if !ok {
		return []any{1.0, "unbounded"}
	}
	return []any{0.0, 1.0, float64(int(n / 2))}
}

func withoutKeys(node any) []any {
	options, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	var made []any
	for _, key := range slices.Sorted(maps.Keys(options)) {
		copied := maps.Clone(options)
		switch key {
		case "name", "result":
			continue
		case "ms":
			copied[key] = 0.0
			if _, promised := options["signal"]; !promised {
				// A callback without a time never resumes.
				without := maps.Clone(options)
				delete(without, key)
				made = append(made, without)
			}
		default:
			delete(copied, key)
		}
		made = append(made, copied)
	}
	return made
}
