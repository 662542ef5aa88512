// Package grammar knows the shape of programs: which operations there are, and what each of their arguments is.
//
// An expression and its arguments look alike as data (["fail","E1"] is a program, and an exit too), so whatever takes a
// program apart needs this table: the shrinker, the counts of what the generator makes, and Check.
package grammar

import (
	"fmt"
	"strings"
)

// Kind is what an argument is.
type Kind byte

// The kinds of arguments.
const (
	Expr        Kind = 'e' // a program
	Exprs       Kind = 'E' // a list of programs
	Exit        Kind = 'x' // ["succeed",v], ["fail",tag], ["die",message], ["interrupt"]
	Schedule    Kind = 's'
	Schedules   Kind = 'S'
	Layer       Kind = 'l'
	Value       Kind = 'v' // any data
	Values      Kind = 'V' // a list of data
	Name        Kind = 'n' // a name, key, tag or message: text that shrinks to nothing else
	Names       Kind = 'N'
	Number      Kind = '#'
	Bool        Kind = '?'
	Concurrency Kind = 'c' // a number or "unbounded"
	Bound       Kind = 'b' // a number or a kind of queue
	Options     Kind = 'o'
	Foreign     Kind = 'p' // what tryPromise and callback take
)

// operations has each operation's arguments in order; after a "|" they are optional, and a "*" repeats the last one.
var operations = map[string]string{
	"succeed": "v", "fail": "n", "die": "n", "throw": "n", "interrupt": "", "never": "",
	"log": "n", "yield": "", "sleep": "#", "now": "",
	"seq": "e*", "let": "nee", "get": "n", "show": "e", "suspend": "e",
	"catch": "ee", "catchTag": "ene", "catchDefect": "ee", "catchCause": "ee", "tapCause": "ee", "exit": "e",
	"matchEffect": "eee", "matchCause": "eee",
	"flip": "e", "ignore": "e", "orDie": "e", "option": "e", "mapError": "en", "tapError": "ee", "sandboxed": "e",
	"onExit": "ee", "onError": "ee", "ensuring": "ee", "onInterrupt": "ee",
	"acquireRelease": "ee", "acquireReleaseInterruptible": "ee", "acquireUseRelease": "eee",
	"addFinalizer": "e", "scoped": "e",
	"scopeMake": "n|n", "scopeFork": "nn|n", "scopeAdd": "ne", "scopeClose": "nx", "scopeProvide": "ne", "scopeUse": "ne",
	"uninterruptible": "e", "interruptible": "e", "mask": "e", "interruptibleMask": "e", "restore": "e",
	"fork": "ne|o", "join": "n", "await": "n", "interruptFiber": "n", "interruptAll": "N", "signal": "n", "poll": "n",
	"awaitAllChildren": "e",
	"race":             "ee", "raceFirst": "ee", "raceAll": "E", "raceAllFirst": "E",
	"timeout": "#e", "timeoutOption": "#e", "timeoutOrElse": "#ee",
	"all": "E|co", "forEach": "Ve|co", "zip": "ee|?",
	"deferred": "n", "dAwait": "n", "dPoll": "n", "dDone": "nx", "dComplete": "ne", "dInto": "ne",
	"semaphore": "n#", "withPermits": "n#e", "ifAvailable": "n#e", "take": "n#", "release": "n#",
	"latch": "n?", "lOpen": "n", "lClose": "n", "lRelease": "n", "lAwait": "n", "whenOpen": "ne",
	"queue": "nb|#", "qOffer": "nv", "qTake": "n", "qTakeAll": "n", "qSize": "n", "qShutdown": "n", "qFail": "nn", "qEnd": "n",
	"retry": "e#", "repeat": "e#",
	"retrySpaced": "e##", "repeatSpaced": "e##", "retryExponential": "e##", "repeatFixed": "e##",
	"retrySchedule": "es", "repeatSchedule": "es",
	"cached": "ne", "cachedGet": "n",
	"fiberMap": "n", "fmRun": "nne|o", "fmRemove": "nn", "fmHas": "nn", "fmSize": "n", "fmClear": "n", "fmJoin": "n",
	"fmAwaitEmpty": "n",
	"fiberSet":     "n", "fsRun": "ne|o", "fsSize": "n", "fsClear": "n", "fsJoin": "n", "fsAwaitEmpty": "n",
	"fiberHandle": "n", "fhRun": "ne|o", "fhClear": "n", "fhJoin": "n", "fhAwaitEmpty": "n",
	"layer": "nne", "provideLayer": "le", "buildLayer": "ln",
	"service": "n", "provideService": "nve",
	"forever": "e", "failUntil": "en#n",
	"tryPromise": "p", "callback": "p",
	"withRef": "ve", "readRef": "",
}

var schedules = map[string]string{
	"recurs": "#", "spaced": "#", "fixed": "#", "windowed": "#", "exponential": "#|#", "fibonacci": "#", "duration": "#",
	"during": "#", "once": "", "max": "S", "min": "S", "concat": "ss",
}

var layers = map[string]string{
	"l": "n", "merge": "ll", "provide": "ll", "provideMerge": "ll", "fresh": "l", "catch": "ll", "orDie": "l",
}

// Operations gives the names of all operations, in no order.
func Operations() []string {
	names := make([]string, 0, len(operations))
	for name := range operations {
		names = append(names, name)
	}
	return names
}

// Arguments gives the kinds of a node's arguments, as many as it has. Node is an Expr, a Schedule or a Layer, as kind says;
// of another kind, or malformed, it has none.
func Arguments(kind Kind, node any) []Kind {
	list, ok := node.([]any)
	if !ok || len(list) == 0 {
		return nil
	}
	name, _ := list[0].(string)
	text, known := table(kind)[name]
	if !known {
		return nil
	}
	text = strings.Replace(text, "|", "", 1)
	kinds := make([]Kind, 0, len(list)-1)
	for i := range list[1:] {
		switch {
		case strings.HasSuffix(text, "*"):
			kinds = append(kinds, Kind(text[0]))
		case i < len(text):
			kinds = append(kinds, Kind(text[i]))
		default:
			return kinds
		}
	}
	return kinds
}

// Required gives how many arguments a node cannot do without.
func Required(kind Kind, node any) int {
	list, ok := node.([]any)
	if !ok || len(list) == 0 {
		return 0
	}
	name, _ := list[0].(string)
	required, _, _ := strings.Cut(table(kind)[name], "|")
	if strings.HasSuffix(required, "*") {
		return 0
	}
	return len(required)
}

func table(kind Kind) map[string]string {
	switch kind {
	case Expr:
		return operations
	case Schedule:
		return schedules
	case Layer:
		return layers
	default:
		return nil
	}
}

// Element gives the kind of a list's elements, or 0 if kind is no list of nodes.
func Element(kind Kind) Kind {
	switch kind {
	case Exprs:
		return Expr
	case Schedules:
		return Schedule
	default:
		return 0
	}
}

// Walk calls visit for the program and each program inside it, outermost first.
func Walk(program any, visit func(expression []any)) {
	walk(Expr, program, visit)
}

func walk(kind Kind, node any, visit func([]any)) {
	list, ok := node.([]any)
	if kind == Foreign {
		if options, isMap := node.(map[string]any); isMap && options["cancel"] != nil {
			walk(Expr, options["cancel"], visit)
		}
		return
	}
	if !ok {
		return
	}
	if element := Element(kind); element != 0 {
		for _, each := range list {
			walk(element, each, visit)
		}
		return
	}
	if kind == Expr {
		visit(list)
	}
	for i, argument := range Arguments(kind, node) {
		walk(argument, list[i+1], visit)
	}
}

// Check reports what is wrong with a program: an unknown operation, missing arguments, or a restore outside of every mask,
// which no program means to have.
func Check(program any) error {
	return check(Expr, program, false)
}

func check(kind Kind, node any, masked bool) error {
	switch kind {
	case Foreign:
		options, ok := node.(map[string]any)
		if !ok {
			return fmt.Errorf("options are missing: %v", node)
		}
		if cancel, has := options["cancel"]; has {
			return check(Expr, cancel, masked)
		}
		return nil
	case Exprs, Schedules:
		list, ok := node.([]any)
		if !ok {
			return fmt.Errorf("not a list: %v", node)
		}
		for _, each := range list {
			if err := check(Element(kind), each, masked); err != nil {
				return err
			}
		}
		return nil
	case Expr, Schedule, Layer:
	default:
		return nil
	}
	list, ok := node.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("not an expression: %v", node)
	}
	name, _ := list[0].(string)
	if _, known := table(kind)[name]; !known {
		return fmt.Errorf("unknown: %v", list[0])
	}
	kinds := Arguments(kind, node)
	if len(list)-1 < Required(kind, node) || len(list)-1 > len(kinds) {
		return fmt.Errorf("%s: %d arguments", name, len(list)-1)
	}
	if kind == Expr {
		switch name {
		case "restore":
			if !masked {
				return fmt.Errorf("restore outside of a mask")
			}
		case "mask", "interruptibleMask":
			masked = true
		}
	}
	for i, argument := range kinds {
		if err := check(argument, list[i+1], masked); err != nil {
			return err
		}
	}
	return nil
}
