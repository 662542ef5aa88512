package platform_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/platform"
)

const uptimeEnv = "TETHER_PLATFORM_UPTIME"

func uptime(t *testing.T) time.Duration {
	t.Helper()
	d, err := platform.OS().Process.(platform.SharedClock).Uptime()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// F41: processes share the clock, also those of another time namespace.
func TestF41_UptimeIsTheMachines(t *testing.T) {
	if os.Getenv(uptimeEnv) != "" {
		fmt.Printf("uptime %d\n", uptime(t))
		return
	}
	for name, wrap := range map[string][]string{
		"another process": nil, "another time namespace": {"unshare", "-T", "--monotonic", "100000", "--boottime", "-7"},
	} {
		t.Run(name, func(t *testing.T) {
			if wrap != nil && exec.Command(wrap[0], append(wrap[1:], "true")...).Run() != nil {
				t.Skip("this user may make no time namespace here, or unshare knows none")
			}
			args := append(append([]string{}, wrap...), os.Args[0], "-test.run", "^TestF41_UptimeIsTheMachines$", "-test.count=1")
			before := uptime(t)
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Env = append(os.Environ(), uptimeEnv+"=1")
			out, err := cmd.CombinedOutput()
			after := uptime(t)
			var there int64
			_, text, _ := strings.Cut(string(out), "uptime ")
			if _, scanned := fmt.Sscan(text, &there); err != nil || scanned != nil {
				t.Fatalf("%v, %v: %s", err, scanned, out)
			}
			if at := time.Duration(there); at < before || at > after {
				t.Errorf("there it was %v, between %v and %v", at, before, after)
			}
		})
	}
}

// F41: whose file it is.
func TestF41_Owner(t *testing.T) {
	path := t.TempDir() + "/file"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owners := []int64{platform.OS().Process.(platform.SharedClock).User()}
	if os.Geteuid() == 0 {
		owners = append(owners, 12345)
	}
	for _, owner := range owners {
		if err := os.Chown(path, int(owner), -1); err != nil {
			t.Fatal(err)
		}
		if info, _, err := platform.OS().FS.Stat(path); err != nil || info.Owner != owner {
			t.Errorf("%+v, %v; want the owner %d", info, err, owner)
		}
	}
}
