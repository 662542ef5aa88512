package lease

import (
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/scope"
)

// releaseHub passes the news of releases on inside one process. Its zero value
// is ready; without watchers it costs a mutex.
type releaseHub struct {
	mu       sync.Mutex
	watchers map[string]*list.List[func()] // no list is empty
}

// watch has changed called until the scope at hand closes.
func (h *releaseHub) watch(key string, changed func()) effect.Effect[effect.Unit] {
	return effect.AcquireRelease(
		effect.Sync(func() *list.Node[func()] {
			node := &list.Node[func()]{Value: changed}
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.watchers == nil {
				h.watchers = make(map[string]*list.List[func()])
			}
			l := h.watchers[key]
			if l == nil {
				l = &list.List[func()]{}
				h.watchers[key] = l
			}
			l.Push(node)
			return node
		}),
		func(node *list.Node[func()], _ scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				if l := h.watchers[key]; l.Remove(node) && l.Len() == 0 {
					delete(h.watchers, key)
				}
			})
		}).AsUnit()
}

// tell calls the key's watchers. The caller holds no lock.
func (h *releaseHub) tell(key string) {
	h.mu.Lock()
	var watchers []func()
	if l := h.watchers[key]; l != nil {
		watchers = l.Values()
	}
	h.mu.Unlock()
	for _, changed := range watchers {
		changed()
	}
}
