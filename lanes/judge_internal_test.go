package lanes

import (
	"errors"
	"reflect"
	"testing"

	"github.com/rivus/tether/scope"
)

// TestN10_Judge goes through what the body ended with, whether and by whom it
// was stopped before that, and what the closing of its scope came to.
func TestN10_Judge(t *testing.T) {
	var (
		boom = scope.Fail{Err: errors.New("boom")}
		bug  = scope.Die{Defect: "bug"}
		mess = scope.Die{Defect: "mess"}
		stop = scope.Interrupt{By: 7}
		own  = scope.Interrupt{By: 9}
		late = scope.Interrupt{By: 8}
	)
	cause := scope.CauseFromReasons
	ok := ActivationSucceeded{"k"}
	failed := func(rs ...scope.Reason) ActivationExit { return ActivationFailed{"k", cause(rs...)} }
	for _, r := range []StopReason{StopCancel, StopClose, StopTimeout} {
		stopped := ActivationInterrupted{"k", r}
		for _, c := range []struct {
			name       string
			body       *scope.Cause
			stop       StopReason
			closing    *scope.Cause
			exit       ActivationExit
			unreported *scope.Cause
		}{
			{"success", nil, notStopped, nil, ok, nil},
			{"success, closing failed", nil, notStopped, cause(mess), failed(mess), nil},
			{"success, stopped while closing", nil, notStopped, cause(late), ok, nil},
			{"success, stopped while closing, which died", nil, notStopped, cause(late, mess), failed(mess), nil},
			{"success, the stop did not reach it", nil, r, nil, ok, nil},
			{"success, the stop did not reach it, closing died", nil, r, cause(mess, stop), failed(mess), nil},
			{"failure", cause(boom), notStopped, nil, failed(boom), nil},
			{"failure, stopped while closing", cause(boom), notStopped, cause(late), failed(boom), nil},
			{"failure, closing died", cause(boom), notStopped, cause(mess), failed(scope.Die{Defect: boom.Err}, mess), nil},
			{"failure, the stop did not reach it", cause(boom), r, nil, failed(boom), nil},
			{"defect", cause(bug), notStopped, nil, failed(bug), nil},
			{"defect, the stop did not reach it", cause(bug), r, nil, failed(bug), nil},
			{"own interruption", cause(own), notStopped, nil, failed(own), nil},
			{"own interruption, stopped while closing", cause(own), notStopped, cause(late), failed(own), nil},
			{"own interruption, the stop did not reach it", cause(own), r, nil, failed(own), nil},
			{"own interruption and the stop", cause(own, stop), r, nil, stopped, nil},
			{"stopped", cause(stop), r, nil, stopped, nil},
			{"stopped, with a failure", cause(boom, stop), r, nil, stopped, nil},
			{"stopped, again while closing", cause(stop), r, cause(late), stopped, nil},
			{"stopped, closing died", cause(stop), r, cause(mess), stopped, cause(mess)},
			{"stopped, a finalizer of its own died", cause(stop, bug), r, nil, failed(bug), nil},
			{"stopped, both", cause(stop, bug), r, cause(mess, late), failed(bug), cause(mess)},
		} {
			exit, unreported := ending{key: "k", body: c.body, stop: c.stop, by: 7, closing: c.closing}.judge()
			if !reflect.DeepEqual(exit, c.exit) || !reflect.DeepEqual(unreported, c.unreported) {
				t.Errorf("%v, %s: got %+v, %v; want %+v, %v", r, c.name, exit, unreported, c.exit, c.unreported)
			}
		}
	}
}
