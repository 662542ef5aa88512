package scope

// iteration is what the rules of Each know of one: how far it is, how many of its
// parts run, and how it ends. It is a value; its methods are the transitions, which
// look at nothing else. The shells (each_serial.go, each_parallel.go) ask them and do
// what they answer.
//
// Parts are started in rounds: one begins with the iteration, others begin when parts
// end. How a round ended says what the end of one of its parts leads to.
//
//	         an exit known at once,
//	         or a part under the limit
//	             .----.
//	             v    |
//	round --> duty make ---- a part, and no more may run --> paused: the end of
//	             |                                            each of its parts
//	             | no item is left, or over                   begins a round
//	             v
//	            done: the end of the last part that runs ends the iteration
//
// On a serial runtime a part that is started runs inside its start, and may end, or
// have another one end, there. So rounds begin inside of rounds, and what a start led
// to is taken in when the iteration may be elsewhere already, or over.
type iteration struct {
	items, limit int
	// at is the item that is made next, made how many have been.
	at, made int
	running  int

	// over: nothing more is started, and cause is how the iteration ends. An exit that
	// is known, or becomes known inside its start, overwrites both, as in TypeScript.
	over  bool
	cause *Cause // only when over
	// done: a round came to its end.
	done bool
	// woken: the fiber that waits has been told to go on.
	woken bool
}

// duty is what an iteration asks for.
type duty uint8

const (
	// dutyNone: the next end of a part decides.
	dutyNone duty = iota
	// dutyMake: item at is to be made, and started.
	dutyMake
	// dutyInterrupt: what runs is to be interrupted.
	dutyInterrupt
	// dutyRound: another round begins.
	dutyRound
	// dutyEnd: nothing runs any more, and the fiber goes on with cause.
	dutyEnd
)

// next is what a round does next. It is over unless that is dutyMake.
func (it iteration) next() (iteration, duty) {
	if !it.over && it.at < it.items {
		return it, dutyMake
	}
	it.done = true
	switch {
	case it.running == 0:
		return it, dutyEnd
	case it.over:
		return it, dutyInterrupt
	default:
		return it, dutyNone
	}
}

// make counts an item that is made, and gives its number.
func (it iteration) make() (_ iteration, start int) {
	it.made++
	return it, it.made - 1
}

// settle takes in the exit of an item that had it when it was made, or after its
// start. It stands over whatever was known before.
func (it iteration) settle(c *Cause) iteration {
	it.over, it.cause = c != nil, c
	if c == nil {
		it.at++
	}
	return it
}

// park takes in a part that runs after its start. paused reports whether the round is over.
func (it iteration) park() (_ iteration, paused bool) {
	it.running++
	it.at++
	return it, it.running >= it.limit
}

// end takes in that a part that ran has ended with c: dutyInterrupt when it is the
// first to fail.
func (it iteration) end(c *Cause) (iteration, duty) {
	it.running--
	if it.over {
		if rest := c.WithoutInterrupts(); rest != nil {
			it.cause = CombineFinalizer(it.cause, rest)
		}
		return it, dutyNone
	}
	if c == nil {
		return it, dutyNone
	}
	it.over, it.cause, it.done = true, c, true
	return it, dutyInterrupt
}

// after is what follows end, by how the round of the part that ended was over.
func (it iteration) after(paused bool) duty {
	switch {
	case paused:
		return dutyRound
	case it.done && it.running == 0:
		return dutyEnd
	default:
		return dutyNone
	}
}

// stop ends the iteration without a failure of its own: its fiber was interrupted.
func (it iteration) stop() iteration {
	it.over = true
	return it
}

// die ends the iteration with the defect of the function that makes the items.
func (it iteration) die(c *Cause) iteration {
	it.over, it.cause, it.done = true, c, true
	return it
}

// afterDefect is how the iteration ends when its function ended with the defect c, and
// the parts have ended: by what is known then, if that was not overwritten.
func (it iteration) afterDefect(c *Cause) *Cause {
	if it.over {
		return it.cause
	}
	return c
}

// wake reports whether the fiber that waits is to be woken: only the first time.
func (it iteration) wake() (_ iteration, first bool) {
	first = !it.woken
	it.woken = true
	return it, first
}
