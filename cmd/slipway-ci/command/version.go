package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker: -X github.com/slipway-qa/slipway/cmd/slipway-ci/command.version=1.2.3.
var version string

// number is the version, or the commit that the program was built from.
func number() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// Version is what --version prints: 1.2.3 (linux/amd64, go1.26.0).
func Version() string {
	return fmt.Sprintf("%s (%s/%s, %s)", number(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
