package effect

// replayBuffer keeps the last messages for those who subscribe later. A nil one
// keeps none.
type replayBuffer[A any] struct {
	capacity int
	last     ring[replayed[A]]
	// published counts all messages, slid those that a sliding log dropped, of
	// which slides are the last.
	published, slid int
	slides          ring[replayed[A]]
}

type replayed[A any] struct {
	value  A
	number int
}

func makeReplayBuffer[A any](capacity int) *replayBuffer[A] {
	if capacity <= 0 {
		return nil
	}
	return &replayBuffer[A]{capacity: capacity}
}

func (b *replayBuffer[A]) offer[_ onUse](v A) (number int) {
	if b == nil {
		return 0
	}
	number = b.published
	b.published++
	if b.last.len() == b.capacity {
		b.last.drop()
	}
	b.last.push(replayed[A]{v, number})
	return number
}

func (b *replayBuffer[A]) slide[_ onUse](v A, number int) {
	if b == nil {
		return
	}
	if b.slides.len() == b.capacity {
		b.slides.drop()
	}
	b.slides.push(replayed[A]{v, number})
	b.slid++
}

// window is what a new subscriber is promised.
func (b *replayBuffer[A]) window[_ onUse]() (w replayWindow[A]) {
	if b == nil {
		return w
	}
	w.buffer, w.slid, w.newest = b, b.slid, -1
	for i := range b.last.len() {
		r := b.last.at(i)
		w.values.push(r.value)
		w.newest = r.number
	}
	return w
}

// replayWindow is what a subscriber gets before what is published after it
// subscribed. When messages that it has not read slide out of the log, they move
// into the window, and push its oldest out.
type replayWindow[A any] struct {
	buffer *replayBuffer[A]
	values ring[A]
	slid   int
	newest int
}

func (w *replayWindow[A]) len[_ onUse]() int { return w.values.len() }

// take takes the oldest value, which there must be.
func (w *replayWindow[A]) take[_ onUse]() A {
	b := w.buffer
	for i := max(0, b.slides.len()-(b.slid-w.slid)); i < b.slides.len(); i++ {
		if e := b.slides.at(i); e.number > w.newest {
			w.values.drop()
			w.values.push(e.value)
			w.newest = e.number
		}
	}
	w.slid = b.slid
	return w.values.pop()
}

func (w *replayWindow[A]) takeN[_ onUse](n int) []A {
	out := make([]A, 0, n)
	for range n {
		out = append(out, w.take())
	}
	return out
}
