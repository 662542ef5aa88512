package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Machine is what was measured on.
type Machine struct {
	OS, CPU    string
	Cores      int
	Go, Node   string
	FileSystem string
	// Load is how many processors others kept busy in the second before the run. The
	// load average of the last minute would count what has just built this program.
	Load    float64
	Modules []Module
}

// Module is a reference, or the driver, with its version.
type Module struct{ Path, Version string }

// compared are the modules that the rows are about.
var compared = []string{
	"github.com/gofrs/flock", "github.com/sourcegraph/conc", "golang.org/x/sync", "k8s.io/client-go", "modernc.org/sqlite",
}

func machine(s *Session, load float64) Machine {
	m := Machine{
		OS: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpu(), Cores: runtime.GOMAXPROCS(0),
		Go: runtime.Version(), FileSystem: fileSystem(diskDir), Load: load,
	}
	if s.Node != nil {
		m.Node = s.Node.Version
		m.Modules = append(m.Modules, Module{"effect", effectVersion()})
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			for _, path := range compared {
				if dep.Path == path {
					m.Modules = append(m.Modules, Module{dep.Path, dep.Version})
				}
			}
		}
	}
	return m
}

// Busy is that others used the machine: node, whose compiler and collector want a core
// beside its own, suffers most, so that its ratios look too good.
func (m Machine) Busy() bool { return m.Load > float64(m.Cores)/4 }

// loadOfOthers is 0 where it is not known.
func loadOfOthers() float64 {
	before, idle := ticks()
	time.Sleep(time.Second)
	after, idleAfter := ticks()
	if after == before {
		return 0
	}
	return (1 - float64(idleAfter-idle)/float64(after-before)) * float64(runtime.NumCPU())
}

// ticks are those of all processors since the start of the machine, and those of
// which they had nothing to do.
func ticks() (all, idle int64) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(strings.TrimPrefix(line, "cpu ")) {
		n, _ := strconv.ParseInt(field, 10, 64)
		// user nice system idle iowait irq softirq steal; guests are in user.
		if i < 8 {
			all += n
		}
		if i == 3 || i == 4 {
			idle += n
		}
	}
	return all, idle
}

func effectVersion() string {
	var installed struct {
		Version string `json:"version"`
	}
	check(json.Unmarshal(must(os.ReadFile(filepath.Join("node", "node_modules", "effect", "package.json"))), &installed))
	return installed.Version
}

func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}

// fileSystem is the type of the one that dir is on, by the longest mount point.
func fileSystem(dir string) string {
	if dir == "" {
		dir = os.TempDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "unknown"
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "unknown"
	}
	kind, longest := "unknown", 0
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		point := strings.TrimSuffix(fields[1], "/") + "/"
		if strings.HasPrefix(dir+"/", point) && len(point) >= longest {
			kind, longest = fields[2], len(point)
		}
	}
	return kind
}
