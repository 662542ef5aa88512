//go:build unix

package platform

import "syscall"

func errnoReason(errno syscall.Errno) Reason {
	switch errno {
	case syscall.ENOENT:
		return ReasonNotFound
	case syscall.EACCES, syscall.EPERM:
		return ReasonPermission
	case syscall.EROFS:
		return ReasonReadOnly
	case syscall.ENOSPC, syscall.EDQUOT:
		return ReasonNoSpace
	case syscall.EMFILE, syscall.ENFILE:
		return ReasonTooManyFiles
	case syscall.ENAMETOOLONG:
		return ReasonNameTooLong
	case syscall.ENOTDIR:
		return ReasonNotDirectory
	case syscall.EISDIR:
		return ReasonIsDirectory
	case syscall.ELOOP:
		return ReasonSymlink
	case syscall.ENXIO:
		return ReasonNotRegular // open of a socket, or of a FIFO that nobody reads
	case syscall.EINVAL:
		return ReasonInvalid
	case syscall.ENOSYS, syscall.EOPNOTSUPP:
		return ReasonUnsupported
	}
	return ""
}
