package a

import "github.com/rivus/tether/effect"

type Program = effect.Effect[effect.Unit]

func save() Program { return effect.Succeed(effect.Unit{}) }

func pair() (effect.Effect[int], error) { return effect.Succeed(1), nil }

func forgotten() {
	save()                      // want `this a.Program is never run`
	effect.Succeed(1).Timeout() // want `this effect.Effect\[int\] is never run`
	pair()                      // want `this effect.Effect\[int\] is never run`
	go save()                   // want `fork it with effect.ForkChild`
	defer save()                // want `use Ensuring`
	func() {
		save() // want `never run`
	}()
}

func stray(do *effect.Do) {
	go func() {
		do.Await(save()) // want `used by another goroutine`
	}()
	go use(do) // want `used by another goroutine`
	go func(do *effect.Do) {
		do.Await(save())
	}(nil)
}

func use(*effect.Do) {}

func fine() Program {
	effect.Run(save())
	_ = save()
	e := save()
	defer effect.Run(e)
	return e
}
