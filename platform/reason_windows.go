package platform

import (
	"syscall"

	"golang.org/x/sys/windows"
)

func errnoReason(errno syscall.Errno) Reason {
	switch errno {
	case windows.ERROR_FILE_NOT_FOUND, windows.ERROR_PATH_NOT_FOUND:
		return ReasonNotFound
	case windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION:
		return ReasonPermission
	case windows.ERROR_WRITE_PROTECT:
		return ReasonReadOnly
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL:
		return ReasonNoSpace
	case windows.ERROR_TOO_MANY_OPEN_FILES:
		return ReasonTooManyFiles
	case windows.ERROR_FILENAME_EXCED_RANGE:
		return ReasonNameTooLong
	case windows.ERROR_DIRECTORY:
		return ReasonNotDirectory
	case windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_FUNCTION:
		return ReasonUnsupported
	case windows.ERROR_INVALID_NAME, windows.ERROR_INVALID_PARAMETER:
		return ReasonInvalid
	}
	return ""
}
