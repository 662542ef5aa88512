package platform

import "github.com/rivus/tether/effect"

// Service is the key under which programs find their Platform.
var Service = effect.NewService[*Platform]("platform.Platform").ProvidedBy("platform.Live")

// Live provides this machine ([OS]). Nothing is read or opened before somebody
// uses it.
var Live = Service.From(effect.Sync(OS))
