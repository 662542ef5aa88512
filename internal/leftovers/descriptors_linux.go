package leftovers

import "os"

// descriptors are the open ones and what they lead to.
func descriptors() map[string]string {
	const dir = "/proc/self/fd/"
	open := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		return open
	}
	for _, e := range list {
		// The one that the list was read by is closed already.
		if file, err := os.Readlink(dir + e.Name()); err == nil {
			open[e.Name()] = file
		}
	}
	return open
}
