// Package conformance compares this module with the real effect@4.1.0, live.
//
// It is a module of its own, so that nobody who uses tether downloads what only this comparison needs.
//
//	seed --generate--> program --+--> Oracle (node, effect@4.1.0) --+--> Compare --same--> next program
//	                             +--> the other Runner -------------+       |
//	                                                                        +--different--> shrink, report
//
// A program is data: what encoding/json makes of an expression of FORMAT.md (nil, bool, float64, string, []any,
// map[string]any). A Runner turns it into a Result. Two runners conform if they give equal results for every program.
//
// # Failure rules
//
// A program that never ends is no difference: the oracle counts steps and answers ErrStepLimit, and the pair is skipped and
// counted; so is one that leaves the world (ErrLeft). An oracle that dies or does not answer fails every run that is in flight, and all later ones: nothing is retried,
// since a comparison that quietly lost programs would look like one that passed.
//
// # What it does not promise
//
// Effect makes a fiber yield after 2,048 operations. How many operations a combinator counts is a detail of its source, so
// the oracle runs with that yield switched off, and such programs are compared without it.
package conformance
