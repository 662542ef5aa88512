//go:build !linux

package lease

import "errors"

const canWatchFiles = false

var errNoWatch = errors.New("files cannot be watched here")

// watchFileOnce is for Linux alone yet: elsewhere other processes' releases are
// found by the next poll.
func watchFileOnce(string, func()) (stop func(), err error) { return nil, errNoWatch }
