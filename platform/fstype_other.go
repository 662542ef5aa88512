//go:build unix && !linux && !darwin

package platform

// fileSystemType cannot tell here, and does not refuse what it cannot tell.
func fileSystemType(string) (FileSystemType, error) { return FileSystemType{Name: "unknown"}, nil }
