package processlock

import (
	"sync"
	"time"

	"github.com/rivus/tether/platform"
)

// sightings are since when this process has seen the files without a stamp that it
// met. A file's own time may be any: its clock was wrong, or somebody set it.
type sightings struct {
	mu sync.Mutex
	at map[spot]sighting
}

// spot is a path of one platform.
type spot struct {
	platform *platform.Platform
	path     string
}

type sighting struct {
	file  platform.FileInfo
	since time.Duration // of the platform's monotonic clock
}

var seen = sightings{at: make(map[spot]sighting)}

// maxSightings bounds the memory of a process that looks at ever new paths. What is
// forgotten is seen for the first time again.
const maxSightings = 1024

// look answers for how long the file at path has been seen as it is now.
func (s *sightings) look(p *platform.Platform, path string, file platform.FileInfo) time.Duration {
	now := p.Clock.Monotonic()
	s.mu.Lock()
	defer s.mu.Unlock()
	at := spot{p, path}
	if last, ok := s.at[at]; ok && same(last.file, file) {
		return now - last.since
	}
	if len(s.at) >= maxSightings {
		clear(s.at)
	}
	s.at[at] = sighting{file, now}
	return 0
}

// forget is for a path where nothing is without a stamp.
func (s *sightings) forget(p *platform.Platform, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, spot{p, path})
}

func same(a, b platform.FileInfo) bool {
	return a.Device == b.Device && a.Inode == b.Inode && a.Size == b.Size && a.ModTime.Equal(b.ModTime)
}
