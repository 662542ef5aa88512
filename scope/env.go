package scope

import "context"

// Key identifies a service. Two keys are the same only when they are the same
// pointer; the name is for messages.
type Key struct {
	Name string
	// Remedy is what provides it, for messages; "" when nobody said.
	Remedy string
	// Default, when not nil, makes the key a reference: reading it without a
	// value gives Default's result.
	Default func() any
}

// Env is a fiber's services: an immutable list, newest first. A nil Env has
// none. Adding costs one allocation, reading one step per newer entry.
type Env struct {
	next  *Env
	key   *Key
	value any
	// scope is the nearest scope at or below this entry, since every
	// acquisition asks for it.
	scope *Scope
	size  int
}

var (
	scopeKey   = &Key{Name: "Scope"}
	contextKey = &Key{Name: "context.Context"}
)

// With is env and one more entry.
func (env *Env) With(key *Key, value any) *Env {
	out := &Env{next: env, key: key, value: value, size: env.Len() + 1}
	if env != nil {
		out.scope = env.scope
	}
	if key == scopeKey {
		out.scope = value.(*Scope)
	}
	return out
}

// WithScope is env with s as the scope at hand.
func (env *Env) WithScope(s *Scope) *Env {
	return &Env{next: env, key: scopeKey, scope: s, size: env.Len() + 1}
}

// WithContext is env with ctx as the context.Context whose values Go code that
// fibers call can see.
func (env *Env) WithContext(ctx context.Context) *Env { return env.With(contextKey, ctx) }

// Context is the context given by WithContext, or context.Background().
func (env *Env) Context() context.Context {
	if v, ok := env.Lookup(contextKey); ok {
		return v.(context.Context)
	}
	return context.Background()
}

// Scope is the scope at hand, or nil.
func (env *Env) Scope() *Scope {
	if env == nil {
		return nil
	}
	return env.scope
}

// Len is the number of entries, hidden ones included.
func (env *Env) Len() int {
	if env == nil {
		return 0
	}
	return env.size
}

// Lookup is the newest value for key.
func (env *Env) Lookup(key *Key) (any, bool) {
	for e := env; e != nil; e = e.next {
		if e.key == key {
			if key == scopeKey {
				return e.scope, true
			}
			return e.value, true
		}
	}
	return nil, false
}

// Merge is env with every entry of over on top of it.
func (env *Env) Merge(over *Env) *Env {
	if env == nil || env == over {
		return over
	}
	if over == nil {
		return env
	}
	// The common case: over was made from env (a release runs where its
	// acquisition's services are an extension of the closing fiber's).
	for e := over; e != nil && e.size >= env.size; e = e.next {
		if e == env {
			return over
		}
	}
	return env.put(over)
}

func (env *Env) put(over *Env) *Env {
	// An entry that env ends with already hides nothing, so stop there.
	seen := make(map[*Key]struct{}, over.Len())
	var entries []*Env
	for e := over; e != nil; e = e.next {
		if _, dup := seen[e.key]; !dup {
			seen[e.key] = struct{}{}
			entries = append(entries, e)
		}
	}
	out := env
	for i := len(entries) - 1; i >= 0; i-- {
		if e := entries[i]; e.key == scopeKey {
			out = out.WithScope(e.scope)
		} else {
			out = out.With(e.key, e.value)
		}
	}
	return out
}
