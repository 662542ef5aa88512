package vectors

import "github.com/rivus/tether/effect"

var _ = register(map[string]operation{
	"cached":    func(a args) E { return bindTo(a.in, a.str(0), effect.Cached(a.of(1))) },
	"cachedGet": func(a args) E { return with(a.in, a.str(0), func(e E) E { return e }) },
})
