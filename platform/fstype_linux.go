package platform

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fileSystemType asks the kernel for the magic number. FUSE has one for all, so
// only there the mount table is read for the subtype.
func fileSystemType(path string) (FileSystemType, error) {
	var stat unix.Statfs_t
	for {
		err := unix.Statfs(path, &stat)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return FileSystemType{}, err
		}
		break
	}
	magic := uint32(stat.Type) // the word's width differs between architectures
	if magic == unix.FUSE_SUPER_MAGIC {
		return fuseType(path), nil
	}
	if known, ok := magics[magic]; ok {
		return known, nil
	}
	return FileSystemType{Name: fmt.Sprintf("0x%x", magic)}, nil
}

var magics = map[uint32]FileSystemType{
	unix.NFS_SUPER_MAGIC:       {"nfs", true},
	unix.SMB_SUPER_MAGIC:       {"smb", true},
	unix.SMB2_SUPER_MAGIC:      {"cifs", true},
	unix.CIFS_SUPER_MAGIC:      {"cifs", true},
	unix.V9FS_MAGIC:            {"9p", true},
	unix.CEPH_SUPER_MAGIC:      {"ceph", true},
	unix.AFS_SUPER_MAGIC:       {"afs", true},
	unix.AFS_FS_MAGIC:          {"afs", true},
	unix.CODA_SUPER_MAGIC:      {"coda", true},
	unix.NCP_SUPER_MAGIC:       {"ncp", true},
	unix.OCFS2_SUPER_MAGIC:     {"ocfs2", true},
	0x01161970:                 {"gfs2", true},
	0x0bd00bd0:                 {"lustre", true},
	0x47504653:                 {"gpfs", true},
	0xaad7aaea:                 {"panfs", true},
	0x786f4256:                 {"vboxsf", true},
	0xbacbacbc:                 {"vmhgfs", true},
	unix.EXT4_SUPER_MAGIC:      {"ext4", false},
	unix.TMPFS_MAGIC:           {"tmpfs", false},
	unix.RAMFS_MAGIC:           {"ramfs", false},
	unix.XFS_SUPER_MAGIC:       {"xfs", false},
	unix.BTRFS_SUPER_MAGIC:     {"btrfs", false},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlay", false},
	unix.F2FS_SUPER_MAGIC:      {"f2fs", false},
	unix.MSDOS_SUPER_MAGIC:     {"vfat", false},
	unix.EXFAT_SUPER_MAGIC:     {"exfat", false},
	unix.PROC_SUPER_MAGIC:      {"proc", false},
	unix.SYSFS_MAGIC:           {"sysfs", false},
	0x2fc12fc1:                 {"zfs", false},
	0x5346544e:                 {"ntfs", false},
	0x7366746e:                 {"ntfs3", false},
	0xca451a4e:                 {"bcachefs", false},
}

// localFUSE are the subtypes whose storage is in this machine.
var localFUSE = map[string]bool{
	"fuse.fuse-overlayfs": true, "fuseblk": true, "fuse.ntfs-3g": true, "fuse.exfat": true,
	"fuse.gocryptfs": true, "fuse.encfs": true, "fuse.bindfs": true, "fuse.mergerfs": true,
}

// fuseType finds the mount that path is on. One that cannot be told counts as
// network storage: a refusal can be overruled, a lost lock cannot.
func fuseType(path string) FileSystemType {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return FileSystemType{Name: "fuse", Network: true}
	}
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return FileSystemType{Name: "fuse", Network: true}
	}
	defer file.Close()
	device := fmt.Sprintf("%d:%d", unix.Major(uint64(stat.Dev)), unix.Minor(uint64(stat.Dev)))
	name := "fuse"
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if found, ok := mountType(lines.Text(), device); ok {
			name = found
		}
	}
	return FileSystemType{Name: name, Network: !localFUSE[name]}
}

// mountType is the type in a line of mountinfo when the line is about device.
// Field 3 is the device; the optional fields before " - " vary in number.
func mountType(line, device string) (string, bool) {
	before, after, ok := strings.Cut(line, " - ")
	if !ok {
		return "", false
	}
	fields := strings.Fields(before)
	if len(fields) < 3 || fields[2] != device {
		return "", false
	}
	kind, _, _ := strings.Cut(after, " ")
	return kind, kind != ""
}
