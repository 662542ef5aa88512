//go:build !linux

package leftovers

// descriptors cannot be listed here.
func descriptors() map[string]string { return nil }
