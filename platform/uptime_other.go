//go:build !linux && !darwin

package platform

import "time"

// User implements SharedClock.
func (p *osProcess) User() int64 { return -1 }

// Uptime implements SharedClock: without an identity of boots there is none.
func (p *osProcess) Uptime() (time.Duration, error) {
	return 0, processFailure("read the uptime for process", p.PID(), noIdentity())
}
