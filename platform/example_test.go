package platform_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/rivus/tether/platform"
)

// The ports of this machine. A failure has a reason that a switch can use.
func ExampleOS() {
	dir, err := os.MkdirTemp("", "tether")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fs, path := platform.OS().FS, filepath.Join(dir, "state.json")

	_, err = fs.ReadFile(path, 1<<20)
	fmt.Println(platform.IsNotFound(err), platform.ReasonOf(err))

	if err := fs.WriteAtomic(path, []byte(`{"jobs":3}`)); err != nil {
		log.Fatal(err)
	}
	data, err := fs.ReadFile(path, 1<<20)
	fmt.Println(string(data), err)

	_, err = fs.ReadFile(path, 4) // bytes
	fmt.Println(platform.ReasonOf(err))
	// Output:
	// true not-found
	// {"jobs":3} <nil>
	// too-large
}

// Does the process still run that a record names? Only proof makes it dead.
func ExampleJudge() {
	self := platform.Identity{Host: "alpha", BootID: "b2", PID: 100, StartTime: 5000}
	running := map[int64]platform.Identity{
		42: {Host: "alpha", BootID: "b2", PID: 42, StartTime: 1000},
	}
	lookup := func(pid int64) (platform.Identity, bool, error) {
		process, ok := running[pid]
		return process, ok, nil
	}
	for _, c := range []struct {
		what   string
		holder platform.Identity
	}{
		{"it runs", platform.Identity{Host: "alpha", BootID: "b2", PID: 42, StartTime: 1000}},
		{"its pid is another process's by now", platform.Identity{Host: "alpha", BootID: "b2", PID: 42, StartTime: 700}},
		{"no such pid", platform.Identity{Host: "alpha", BootID: "b2", PID: 43, StartTime: 900}},
		{"before the last boot", platform.Identity{Host: "alpha", BootID: "b1", PID: 42, StartTime: 1000}},
		{"on another machine", platform.Identity{Host: "beta", BootID: "b9", PID: 42, StartTime: 1000}},
	} {
		fmt.Printf("%s: %v\n", c.what, platform.Judge(self, c.holder, lookup))
	}
	// Output:
	// it runs: alive
	// its pid is another process's by now: dead
	// no such pid: dead
	// before the last boot: dead
	// on another machine: unknown
}

// An identity is recorded as JSON and judged later, by whoever reads it.
func ExampleJudgeHolder() {
	process := platform.OS().Process
	self, err := process.Self()
	if err != nil {
		log.Fatal(err)
	}
	record, err := self.MarshalJSON()
	if err != nil {
		log.Fatal(err)
	}

	var holder platform.Identity
	if err := holder.UnmarshalJSON(record); err != nil {
		log.Fatal(err)
	}
	fmt.Println(platform.JudgeHolder(process, holder))

	holder.StartTime-- // who had the pid before
	fmt.Println(platform.JudgeHolder(process, holder))
	// Output:
	// alive <nil>
	// dead <nil>
}

// A statement is bound, stepped until there are no more rows, and reset.
func ExampleSQLite() {
	dir, err := os.MkdirTemp("", "tether")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	conn, err := platform.OS().SQLite.Open(filepath.Join(dir, "jobs.db"), platform.OpenOrCreate)
	check(err)
	defer conn.Close()
	check(conn.Exec(`CREATE TABLE job (name TEXT, runs INTEGER); INSERT INTO job VALUES ('backup', 3), ('report', 1)`))

	query, err := conn.Prepare(`SELECT name, runs FROM job WHERE runs >= ? ORDER BY name`)
	check(err)
	defer query.Close()
	for _, least := range []int64{1, 2} {
		check(query.BindInt64(1, least))
		for {
			row, err := query.Step()
			check(err)
			if !row {
				break
			}
			fmt.Println(least, query.ColumnText(0), query.ColumnInt64(1))
		}
		check(query.Reset())
	}
	// Output:
	// 1 backup 3
	// 1 report 1
	// 2 backup 3
}
