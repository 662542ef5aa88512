package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/spf13/cobra"
)

// finding is what the doctor says of one thing.
type finding struct {
	About string `json:"about"`
	// Verdict is ok; note, for what one should know; or trouble, for what keeps the lease from
	// being taken.
	Verdict outcome `json:"verdict"`
	Says    string  `json:"says"`
}

type outcome string

const (
	fine    outcome = "ok"
	noted   outcome = "note"
	trouble outcome = "trouble"
)

// errNotToBeHad says that the lease cannot be taken now. The findings say why.
var errNotToBeHad = errors.New("the lease cannot be taken now")

const doctorStatuses = `Exit status: 0 when a run would get the lease now; 1 when it would not; 2 when the
tool was called wrongly; 141 when nobody reads its output any more.`

func doctorCommand(o *output) *cobra.Command {
	ttl := time.Minute
	cmd := &cobra.Command{
		Use:   "doctor DB KEY",
		Short: "Tell why a lease cannot be had: who holds it, what will free it, what is wrong with the files",
		Long: `doctor looks at everything that a run of KEY needs: the file and its folder, their
modes and file system, SQLite's own files, the record, its holder's process as it is
judged from here (host, boot, namespaces, pid, start time), and the key's fence. It
says what will free the lease, and when. It takes nothing and writes nothing.

` + doctorStatuses,
		Example: `  tether doctor leases.db nightly
  tether doctor leases.db nightly --json | jq '.[] | select(.verdict == "trouble")'`,
		Args: exactly(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return nil, cobra.ShellCompDirectiveDefault
			case 1:
				return completeKeys(args[0], begun)
			default:
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] == "" {
				return errEmptyKey
			}
			d := &doctor{db: database{platform.OS(), args[0]}, key: args[1], ttl: ttl}
			d.examine(cmd.Context())
			if err := d.write(o); err != nil {
				return err
			}
			for _, f := range d.found {
				if f.Verdict == trouble {
					return errNotToBeHad
				}
			}
			return nil
		},
	}
	cmd.Flags().Var((*leaseTime)(&ttl), "ttl", "the --ttl of the run that is asked about")
	return cmd
}

// doctor examines one lease.
type doctor struct {
	db    database
	key   string
	ttl   time.Duration
	found []finding
}

func (d *doctor) say(about string, v outcome, form string, args ...any) {
	d.found = append(d.found, finding{about, v, fmt.Sprintf(form, args...)})
}

func (d *doctor) write(o *output) error {
	if o.json {
		return o.value(d.found)
	}
	var text strings.Builder
	for _, f := range d.found {
		fmt.Fprintf(&text, "%-8s %-12s %s\n", f.Verdict, f.About, f.Says)
	}
	_, err := io.WriteString(o.out, text.String())
	return err
}

func (d *doctor) examine(ctx context.Context) {
	if !d.files() {
		return
	}
	e, err := d.db.entry(d.key)
	if _, none := errors.AsType[*noSuchKey](err); none {
		d.say("record", fine, "there is none: nobody ever held it, and the first to ask gets it")
	} else if err != nil {
		d.say("database", trouble, "%v", err)
		return
	} else {
		d.say("database", fine, "a lease database of version %d", schemaVersion)
		d.record(e)
	}
	d.fence(ctx)
}

// record says who holds the lease and what will free it.
func (d *doctor) record(e entry) {
	switch {
	case e.State == invalid:
		d.say("record", trouble, "what is stored is no record: %s; another program wrote it, and it is left as it is", plain(e.Problem))
		return
	case e.State == free:
		d.say("record", fine, "free since it was released %s ago, generation %d; the next to ask gets it", e.age(), e.Generation)
		return
	}
	d.say("record", noted, "held by %s, generation %d, renewed %s ago by two wall clocks", plain(e.holder()), e.Generation, e.age())
	verdict := d.judge(e.Holder.Identity)
	ttl := max(d.ttl, e.Holder.TTL)
	switch verdict {
	case platform.Dead:
		d.say("freed", fine, "at once: its holder is dead, and the next to ask takes over")
	case platform.Alive:
		d.say("freed", trouble, "when its holder releases it or ends; or by one that waits and sees it unrenewed for %v (it may be stopped: kill -CONT %d)", ttl, e.Holder.PID)
	default:
		d.say("freed", trouble, "when its holder releases it; or by one that waits and sees it unrenewed for %v, since from here nobody can tell whether it lives", ttl)
	}
}

// judge says how the holder is judged, as platform.Judge does it, step by step.
func (d *doctor) judge(holder platform.Identity) platform.Liveness {
	process := d.db.platform.Process
	verdict, err := platform.JudgeHolder(process, holder)
	if err != nil {
		d.say("holder", trouble, "cannot be judged, since this process cannot tell who it is itself: %v", err)
		return platform.Unknown
	}
	self, _ := process.Self()
	var why string
	switch {
	case self.Host != holder.Host:
		why = fmt.Sprintf("it is on host %s, and this is %s", plain(holder.Host), plain(self.Host))
	case verdict == platform.Dead && self.BootID != holder.BootID:
		why = "this host was booted again since"
	case verdict == platform.Unknown && self.PIDNs != 0 && holder.PIDNs != 0 && self.PIDNs != holder.PIDNs:
		why = fmt.Sprintf("same host, but its pid counts in another PID namespace (%d, here %d), as in another container", holder.PIDNs, self.PIDNs)
	case verdict == platform.Unknown && self.TimeNs != 0 && holder.TimeNs != 0 && self.TimeNs != holder.TimeNs:
		why = fmt.Sprintf("same host, but its start time counts in another time namespace (%d, here %d)", holder.TimeNs, self.TimeNs)
	default:
		now, runs, err := process.Identify(holder.PID)
		switch {
		case err != nil:
			why = fmt.Sprintf("same host and boot, but pid %d cannot be looked at: %v", holder.PID, err)
		case !runs:
			why = fmt.Sprintf("same host and boot, and no process has pid %d", holder.PID)
		case now.StartTime != holder.StartTime:
			why = fmt.Sprintf("same host and boot, and pid %d is another process now: it started at %d, the holder at %d", holder.PID, now.StartTime, holder.StartTime)
		default:
			why = fmt.Sprintf("same host, boot, namespaces, pid %d and start time %d", holder.PID, holder.StartTime)
		}
	}
	d.say("holder", noted, "%v: %s", verdict, why)
	return verdict
}

// fence says whether a command of the key still runs, of whoever.
func (d *doctor) fence(ctx context.Context) {
	path := d.db.path + "." + nameOf(d.key) + ".fence"
	held, err := processlock.IsHeld(ctx, d.db.platform, path)
	switch {
	case err != nil:
		d.say("fence", trouble, "%v", err)
	case !held:
		d.say("fence", fine, "free: no command of the key runs")
	default:
		by := ""
		var holder processlock.Holder
		if data, err := os.ReadFile(path + ".holder"); err == nil && holder.UnmarshalJSON(data) == nil {
			by = " by " + plain(holder.String())
		}
		d.say("fence", trouble, "%s is held%s: a command of the key runs, or has not ended since its lease was lost; it is free when that process ends", plain(filepath.Base(path)), by)
	}
}
