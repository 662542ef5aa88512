package platform

import (
	"strconv"
	"strings"

	"github.com/rivus/tether/errors"
)

// Failure is the one error that the ports of this package return. Its message
// names the operation, what it was about, the reason and, where there is one,
// the way out. Unwrap gives what the system answered.
type Failure struct {
	Op     string // such as "read file", "open database", "identify process"
	Path   string // the path it was about, or ""
	PID    int64  // the process it was about, or 0
	Reason Reason
	Code   int // SQLite's extended result code, or 0
	Cause  error
}

var _ errors.Tagged = (*Failure)(nil)

// Tag implements errors.Tagged: "PlatformFailure".
func (f *Failure) Tag() string { return "PlatformFailure" }

// Unwrap is the system's own error, or nil.
func (f *Failure) Unwrap() error { return f.Cause }

// Error names the operation, its object, the reason and the way out.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(f.Op)
	if f.Path != "" {
		b.WriteString(" ")
		b.WriteString(quotePath(f.Path))
	}
	if f.PID != 0 {
		b.WriteString(" ")
		b.WriteString(strconv.FormatInt(f.PID, 10))
	}
	b.WriteString(": ")
	b.WriteString(string(f.Reason))
	if f.Cause != nil {
		b.WriteString(" (")
		b.WriteString(plainText(f.Cause.Error()))
		b.WriteString(")")
	}
	if advice := f.Reason.advice(); advice != "" {
		b.WriteString(": ")
		b.WriteString(advice)
	}
	return b.String()
}

// MarshalJSON implements json.Marshaler: {"_tag":"PlatformFailure", "op", "path",
// "pid", "reason", "code", "message"}, the empty ones left out.
func (f *Failure) MarshalJSON() ([]byte, error) {
	return errors.MarshalTagged(f.Tag(), struct {
		Op      string `json:"op"`
		Path    string `json:"path,omitempty"`
		PID     int64  `json:"pid,omitempty"`
		Reason  Reason `json:"reason"`
		Code    int    `json:"code,omitempty"`
		Message string `json:"message"`
	}{f.Op, f.Path, f.PID, f.Reason, f.Code, f.Error()})
}

// ReasonOf is the reason of the first Failure in err's tree, or "" when there is
// none.
func ReasonOf(err error) Reason {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Reason
	}
	return ""
}

// IsBusy reports whether err is SQLite's answer that another connection has the
// database locked (result code SQLITE_BUSY, whatever its extension). It is the
// only failure that a retry alone may cure.
func IsBusy(err error) bool { return ReasonOf(err) == ReasonBusy }

// IsNotFound reports whether err says that nothing is at the path.
func IsNotFound(err error) bool { return ReasonOf(err) == ReasonNotFound }

// quotePath keeps a message readable when the path is absurdly long.
func quotePath(path string) string { return quoteShort(path, 300) }

func fileFailure(op, path string, err error) *Failure {
	return &Failure{Op: op, Path: path, Reason: reasonOf(err), Cause: bareCause(err)}
}

// bareCause drops the *fs.PathError around an errno: the Failure has the path
// and the operation already, and saying both twice hides the reason.
func bareCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
