package main

import (
	"context"

	"github.com/rivus/tether/effect"
)

// tether runs an effect n times in one fiber.
func tether[A any](e effect.Effect[A]) Subject {
	return inFiber(func(do *effect.Do, n int, _ Timer) {
		for range n {
			do.Await(e)
		}
	})
}

// inFiber is work in direct style on one fiber.
func inFiber(body func(do *effect.Do, n int, t Timer)) Subject {
	return Subject{Name: "tether", Open: func() (Work, func()) {
		return func(n int, t Timer) {
			must(effect.Run(context.Background(), effect.GenUnit(func(do *effect.Do) { body(do, n, t) })))
		}, nil
	}}
}

func (s Subject) counted(per int) Subject { s.Per = per; return s }

func (s Subject) goal(goal float64) Reference { return Reference{Subject: s, Goal: goal} }

// down nests to the right, and is made while it runs.
func down(i int) effect.Effect[int] {
	if i == 0 {
		return effect.Succeed(0)
	}
	return effect.Succeed(i).FlatMap(func(i int) effect.Effect[int] { return down(i - 1) })
}

func mapped(length int) effect.Effect[int] {
	e := effect.Succeed(0)
	for range length {
		e = e.Map(func(x int) int { return x + 1 })
	}
	return e
}

func sequences() Group {
	const length = 1000
	return Group{"Sequences", []Row{
		{
			Name: "gen", Work: "`Gen`, `Await` of a ready effect", Unit: "`Await`", NoAllocs: true,
			Ours:    tether(effect.Succeed(1)),
			Against: []Reference{node("genAwait", 0.25)},
		},
		{
			Name: "flatMap", Work: "`FlatMap` chain of 1,000, right-nested, lazy", Unit: "`FlatMap`",
			Ours:    tether(effect.Suspend(func() effect.Effect[int] { return down(length) })).counted(length),
			Against: []Reference{node("flatMap", 0.7)},
		},
		{
			Name: "map", Work: "`Map` chain of 1,000, built before", Unit: "`Map`",
			Ours:    tether(mapped(length)).counted(length),
			Against: []Reference{node("map", 0.3)},
		},
	}}
}
