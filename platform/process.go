package platform

// Process is what the module needs to know about processes. Every failure is a
// *Failure. The methods may be called from any goroutine.
type Process interface {
	// PID is the own process id. It cannot fail and costs a system call.
	PID() int64

	// Self is the own identity. Host, boot and start time are read at the first
	// call that succeeds and kept for the life of the platform. Windows has none:
	// ReasonUnsupported.
	Self() (Identity, error)

	// Identify reads, afresh, who pid is now. Without a failure, runs is false as
	// proof that no such process runs: the kernel knows none, or it is a zombie
	// without another thread. Whatever hinders the look is a failure.
	Identify(pid int64) (id Identity, runs bool, err error)
}
