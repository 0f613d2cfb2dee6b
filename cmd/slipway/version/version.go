// Package version says which program this is: the version of the module, the commit that it
// was built from, and whether its sources had changes beyond it.
//
// Go stamps a build in a checkout with its commit. A build that cannot ask git, such as that of an
// image, sets it by -ldflags "-X github.com/slipway-qa/slipway/cmd/slipway/version.commit=...". What
// has neither says "unknown".
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// commit is set by a build that cannot ask git, at its link.
var commit string

// commitLength is how much of a commit's name is shown: enough for git to find it.
const commitLength = 12

// Short returns the module's version, or the commit that it was built from.
func Short() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if of, _ := commitOf(info, commit); of != "" && info.Main.Version == "(devel)" {
		return "devel-" + of
	}
	return info.Main.Version
}

// commitOf returns the commit that a program was built from, and whether its sources had
// changes beyond it.
func commitOf(info *debug.BuildInfo, stamped string) (name string, changed bool) {
	name = stamped
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			name = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return name[:min(commitLength, len(name))], changed
}

// versionLine is what slipway version prints.
func versionLine(info *debug.BuildInfo, stamped string) string {
	text := "slipway " + info.Main.Version
	name, changed := commitOf(info, stamped)
	switch {
	case name == "":
		name = "unknown"
	case changed:
		name += " with changes"
	}
	return fmt.Sprintf("%s (commit %s, %s, %s/%s)", text, name, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}

// Line is versionLine of this program.
func Line() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return versionLine(info, commit)
}

// Command is slipway version.
type Command struct{}

// Run prints the version.
func (Command) Run() error {
	fmt.Println(Line())
	return nil
}
