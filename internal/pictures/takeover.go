package main

// takeover is a holder that is stopped, the other that takes its key over, and what
// becomes of the first one's late write.
func takeover() string {
	const (
		width, height = 860, 330
		a, b, r       = 70, 150, 236 // the middle of each line
		tall          = 34
		began         = 110 // of the time axis
		stopped       = 300
		tookOver      = 520
		resumed       = 640
		ends          = 830
	)
	c := newCanvas(width, height, "A holds the lease and is stopped. B sees the record unchanged for a TTL and takes the key over. "+
		"A resumes, learns that its lease is lost, and its late write is refused.")
	c.text("name", 8, a+5, "process A")
	c.text("name", 8, b+5, "process B")
	c.text("name", 8, r+5, "resource")

	bar := func(class string, from, to, y int, text string) {
		c.rect(class, from, y-tall/2, to-from, tall)
		c.center("", (from+to)/2, y+5, text)
	}
	bar("one", began, stopped, a, "holds generation 1")
	bar("off", stopped, resumed, a, "stopped: SIGSTOP, a debugger, swapping")
	bar("box", resumed, ends-20, a, "Lost: work is stopped")
	for x := began + 45; x < stopped; x += 45 {
		c.line("line", x, a+tall/2, x, a+tall/2+9)
	}
	c.text("small", began, a-tall/2-8, "renews at each heartbeat")
	c.text("small", resumed-30, a-tall/2-8, "resumes")

	c.line("wait", 220, b, tookOver, b)
	c.dot("bad", 220, b)
	c.text("small", 185, b-14, "asks: Held")
	bar("two", tookOver, ends-20, b, "holds generation 2")
	c.text("small", tookOver, b-tall/2-8, "takes over")
	c.arrow(stopped-10, b+17, tookOver, b+17)
	c.arrow(tookOver, b+17, stopped-10, b+17)
	c.center("small", (stopped-10+tookOver)/2, b+34, "unchanged for a TTL, by B's clock")

	write := func(x int, class, text string) {
		c.dot(class, x, r)
		c.center("small", x, r-12, text)
	}
	write(170, "good", "token 1: accepted")
	write(575, "good", "token 2: accepted")
	write(725, "bad", "token 1: refused, 1 < 2")
	c.arrow(began, height-30, ends, height-30)
	c.text("small", ends-30, height-12, "time")
	c.text("small", began, height-12, "Had A been killed instead, B would have taken over at its next try: its death can be proved.")
	return c.svg()
}
