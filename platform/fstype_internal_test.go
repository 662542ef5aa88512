//go:build linux

package platform

import "testing"

// White-box: no test machine has these mounts.
func TestR8_MountTypes(t *testing.T) {
	for line, want := range map[string]string{
		"36 35 0:44 / /mnt/x rw,noatime shared:1 master:2 - fuse.sshfs host:/dir rw,user_id=0": "fuse.sshfs",
		"36 35 0:44 / /mnt/x rw - fuseblk /dev/sda1 rw":                                        "fuseblk",
		"36 35 0:45 / /mnt/x rw - ext4 /dev/sda1 rw":                                           "",
		"36 35 0:44":  "",
		"":            "",
		"36 35 - x y": "",
	} {
		if got, ok := mountType(line, "0:44"); got != want && ok {
			t.Errorf("%q: %q", line, got)
		}
	}
	for magic, name := range map[uint32]string{0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "cifs", 0x01021997: "9p", 0x517b: "smb"} {
		if got := magics[magic]; got.Name != name || !got.Network {
			t.Errorf("%x: %+v", magic, got)
		}
	}
}
