package platform

import "golang.org/x/sys/unix"

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
	return FileSystemType{
		Name: unix.ByteSliceToString(stat.Fstypename[:]),
		// The kernel itself says whether the storage is in this machine.
		Network: stat.Flags&unix.MNT_LOCAL == 0,
	}, nil
}
