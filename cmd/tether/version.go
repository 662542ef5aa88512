package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// library is the module whose formats and rules the tool has.
const library = "github.com/rivus/tether"

// build is what this program was made from.
type build struct {
	// Version is the tool's module version; "(devel)" when it was built from
	// something that has none.
	Version string `json:"version"`
	// Commit and CommitTime are known when the go command built it in a clone.
	Commit     string `json:"commit,omitempty"`
	CommitTime string `json:"commitTime,omitempty"`
	// Modified: the clone had changes that were not committed.
	Modified bool `json:"modified,omitempty"`
	// Library is the version of the module with the leases and locks.
	Library string `json:"library"`
	// LeaseDatabase is the user_version of the databases that it reads and writes.
	LeaseDatabase int    `json:"leaseDatabase"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

const devel = "(devel)"

// buildOf reads what the go command left in the program; nil: nothing.
func buildOf(info *debug.BuildInfo) build {
	b := build{
		Version: devel, Library: devel, LeaseDatabase: schemaVersion,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, m := range info.Deps {
		// One that is replaced by a folder is whatever that folder has.
		if m.Path == library && m.Replace == nil && m.Version != "" {
			b.Library = m.Version
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.CommitTime = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is for people; the second word is the version.
func (b build) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "tether %s\n", b.Version)
	if b.Commit != "" {
		fmt.Fprintf(&text, "commit %s", b.Commit)
		if b.CommitTime != "" {
			fmt.Fprintf(&text, " of %s", b.CommitTime)
		}
		if b.Modified {
			text.WriteString(", modified")
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "library %s %s\n", library, b.Library)
	fmt.Fprintf(&text, "lease databases of version %d\n", b.LeaseDatabase)
	fmt.Fprintf(&text, "%s %s\n", b.Go, b.Platform)
	return text.String()
}

// versionText is what --version and version print.
func versionText(asJSON bool) string {
	info, _ := debug.ReadBuildInfo()
	b := buildOf(info)
	if !asJSON {
		return b.String()
	}
	data, err := json.Marshal(b)
	if err != nil {
		return b.String()
	}
	return string(data) + "\n"
}

func versionCommand(o *output) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Tell the version, the commit it was built from, and the format of databases that it knows",
		Example: `  tether version
  tether version --json | jq -r .commit`,
		Args:              exactly(0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(o.out, versionText(o.json))
			return err
		},
	}
}
