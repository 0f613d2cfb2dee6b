package servicetest

import (
	"os"
	"path/filepath"
	"testing"
)

// NodeModules returns the folder with the npm packages of tests, among them the
// named ones. Node itself is in PATH.
func NodeModules(t testing.TB, names ...string) string {
	t.Helper()
	return NodeModulesOf(t, "npm", names...)
}

// NodeModulesOf is NodeModules for another set of packages that make deps installs.
func NodeModulesOf(t testing.TB, set string, names ...string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "slipway", set, "node_modules")
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			t.Fatalf("the npm package %s is missing; install it with: make deps (%v)", name, err)
		}
	}
	return modules
}
