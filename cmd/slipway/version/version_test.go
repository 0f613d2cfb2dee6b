package version

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionLine(t *testing.T) {
	t.Parallel()
	of := func(settings ...debug.BuildSetting) string {
		return versionLine(&debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Version: "v1.2.3"}, Settings: settings}, "feed")
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	require.Contains(t, of(revision), "slipway v1.2.3 (commit 0123456789ab, go1, ")
	require.Contains(t, of(revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "(commit 0123456789ab with changes, ")
	require.Contains(t, of(), "(commit feed, ")
	require.Contains(t, versionLine(&debug.BuildInfo{}, ""), "(commit unknown, ")
}
