package main

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuildOf(t *testing.T) {
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"nothing is known": {nil, "tether (devel)\nlibrary github.com/rivus/tether (devel)\n"},
		"a test":           {&debug.BuildInfo{}, "tether (devel)\nlibrary github.com/rivus/tether (devel)\n"},
		"installed at a version": {
			&debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}, Deps: []*debug.Module{{Path: "x", Version: "v9.0.0"}, {Path: library, Version: "v0.1.0"}}},
			"tether v0.2.0\nlibrary github.com/rivus/tether v0.1.0\n",
		},
		"built in a clone": {
			&debug.BuildInfo{
				Main: debug.Module{Version: devel}, Deps: []*debug.Module{{Path: library, Version: "v0.1.0", Replace: &debug.Module{Path: "../.."}}},
				Settings: []debug.BuildSetting{
					{Key: "vcs.revision", Value: "4f4dc54"}, {Key: "vcs.time", Value: "2026-11-30T09:36:05Z"}, {Key: "vcs.modified", Value: "true"},
				},
			},
			"tether (devel)\ncommit 4f4dc54 of 2026-11-30T09:36:05Z, modified\nlibrary github.com/rivus/tether (devel)\n",
		},
	} {
		got, found := strings.CutPrefix(buildOf(c.info).String(), c.want)
		if !found || !strings.HasPrefix(got, "lease databases of version 1\ngo1.") {
			t.Errorf("%s: %q", name, buildOf(c.info))
		}
	}
}

func TestVersion(t *testing.T) {
	for _, args := range []string{"version", "--version", "-v"} {
		if out, errOut, status := call(t, t.TempDir(), args); status != 0 || !strings.HasPrefix(out, "tether ") || errOut != "" {
			t.Errorf("%s: status %d, %q, %q", args, status, out, errOut)
		}
		var b build
		out, _, _ := call(t, t.TempDir(), args, "--json")
		if err := json.Unmarshal([]byte(out), &b); err != nil || b.Version == "" || b.LeaseDatabase != schemaVersion {
			t.Errorf("%s: %v, %q", args, err, out)
		}
	}
}
