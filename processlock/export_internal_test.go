package processlock

// InProcessLines is how many lines exist, for leak checks in external tests.
func InProcessLines() int {
	inProcess.mu.Lock()
	defer inProcess.mu.Unlock()
	return len(inProcess.lines)
}
