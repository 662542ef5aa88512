//go:build unix

package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable fails when this user may not write to what is at the path.
func writable(path string) error { return unix.Access(path, unix.W_OK) }

// ownerOf is for people: the mode, the owner and the group.
func ownerOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Mode().String()
	}
	owner, group := strconv.Itoa(int(of.Uid)), strconv.Itoa(int(of.Gid))
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return fmt.Sprintf("%v, of %s:%s", info.Mode(), plain(owner), plain(group))
}
