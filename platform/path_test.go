package platform_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rivus/tether/platform"
)

// K7: the folder of a path is where the system finds it, also behind "link/..".
func TestDirFollowsTheSystem(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "real", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "real", "sub"), filepath.Join(root, "link")); err != nil {
		t.Skip(err) // Windows without the right
	}
	got, err := platform.OS().FS.ResolveDir(platform.Dir(root + "/link/../x.lock"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.EvalSymlinks(filepath.Join(root, "real"))
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for path, dir := range map[string]string{"x": ".", "/x": "/", "a/x": "a/", "a//x": "a//", "../x": "../"} {
		if got := platform.Dir(path); got != dir {
			t.Errorf("Dir(%q) is %q, want %q", path, got, dir)
		}
	}
}

// A relative path stays where it leads after a chdir, and is not cleaned.
func TestAbsolute(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := platform.Absolute("link/../x")
	if want := filepath.Join(here, "x"); err != nil || runtime.GOOS == "windows" && got != want || runtime.GOOS != "windows" && got != here+"/link/../x" {
		t.Error(got, err)
	}
	if again, err := platform.Absolute(got); again != got || err != nil {
		t.Error(again, err)
	}
}
