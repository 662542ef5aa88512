package main

// Group is a section of the table.
type Group struct {
	Title string
	Rows  []Row
}

// Row is one piece of work, done by Tether and by what people would use instead.
type Row struct {
	// Name is short, for -run and for go test -bench.
	Name string
	// Work is what is done, and Unit what of it is counted, for readers.
	Work, Unit string
	Ours       Subject
	Against    []Reference
	// NoAllocs is the goal that Ours allocates nothing.
	NoAllocs bool
	// Floor says what a ratio above its goal consists of, once that is understood.
	Floor string
}

// Reference is what Ours is held against.
type Reference struct {
	Subject
	// Goal is what ours / reference shall not exceed; 0 is none.
	Goal float64
	// Absolute is that Goal is a quantity of ours, not a ratio.
	Absolute bool
}

// Subject is one way to do a row's work. It has one of Open, Node and Measure.
type Subject struct {
	Name string
	// Open prepares the work; close, when not nil, takes away what it made.
	Open func() (work Work, close func())
	// Per is how many units one iteration of the work does; 0 is 1.
	Per int
	// Node is the name of a case in node/cases.mjs, which counts units itself.
	Node string
	// Measure gives a quantity in bytes, for rows about memory.
	Measure func() float64
}

// Work does n iterations. The timer runs when it is called; stopping it leaves out
// what is no part of the work.
type Work func(n int, t Timer)

// Timer is the part of *testing.B that a Work may use.
type Timer interface {
	StartTimer()
	StopTimer()
}

func (s Subject) per() float64 { return float64(max(1, s.Per)) }

// repeat makes a subject of what is done once in an iteration.
func repeat(name string, once func()) Subject {
	return Subject{Name: name, Open: func() (Work, func()) {
		return func(n int, _ Timer) {
			for range n {
				once()
			}
		}, nil
	}}
}

// node is effect's subject.
func node(name string, goal float64) Reference {
	return Reference{Subject: Subject{Name: "effect", Node: name}, Goal: goal}
}

// check stops the program: a benchmark that does not do its work measures nothing.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[A any](v A, err error) A {
	check(err)
	return v
}

func assert(ok bool, what string) {
	if !ok {
		panic("not so: " + what)
	}
}
