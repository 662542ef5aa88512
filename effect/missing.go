package effect

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/rivus/tether/scope"
)

// MissingService is the defect of a program that asks for a service, or for a scope,
// which nobody provided. Its text names what provides it, and the place.
type MissingService struct {
	Service string
	// Remedy is what provides it; see [Service.ProvidedBy].
	Remedy string
	// InLayer tells that a layer asked for it while it was built.
	InLayer bool
	// At is the first line of the program's own that led to it, as FILE:LINE, or "".
	At string
}

func (m *MissingService) Error() string {
	var b strings.Builder
	b.WriteString("service " + m.Service + " is missing")
	if m.At != "" {
		b.WriteString(" at " + m.At)
	}
	switch {
	case m.Service == missingScope.Name:
		b.WriteString("; wrap the effect that needs it in " + m.Remedy)
	case m.Remedy != "":
		b.WriteString("; provide " + m.Remedy)
	default:
		b.WriteString("; provide it with a layer, ProvideService or ProvideScope around the effect that needs it")
	}
	if m.InLayer {
		b.WriteString("; a layer asked for it: of two layers the one that needs the other comes first, as in needs.ProvideMerge(provides)")
	}
	return b.String()
}

// Tag implements errors.Tagged.
func (*MissingService) Tag() string { return "MissingService" }

// missingScope stands for the scope at hand, which is no service.
var missingScope = &scope.Key{Name: "Scope", Remedy: "effect.Scoped"}

//go:noinline
func missingService(f *scope.Fiber, key *scope.Key) *scope.Cause {
	_, inLayer := building.Find(f.Env())
	return scope.CauseDie(&MissingService{Service: key.Name, Remedy: key.Remedy, InLayer: inLayer, At: askedAt()})
}

// askedAt is the nearest line that is not of this module's library.
func askedAt() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		fr, more := frames.Next()
		switch pkg, _, _ := strings.Cut(fr.Function, "."); {
		case pkg == "", pkg == "runtime", pkg == "iter", ofTheLibrary(fr.Function):
		default:
			return fr.File + ":" + strconv.Itoa(fr.Line)
		}
		if !more {
			return ""
		}
	}
}

func ofTheLibrary(function string) bool {
	rest, ok := strings.CutPrefix(function, "github.com/rivus/tether/")
	if !ok {
		return false
	}
	pkg, _, _ := strings.Cut(rest, ".")
	switch pkg {
	case "scope", "effect", "platform", "processlock", "lease", "lanes":
		return true
	}
	return false
}
