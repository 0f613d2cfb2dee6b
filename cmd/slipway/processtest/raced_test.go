package processtest

import (
	"debug/buildinfo"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A soak with the race detector in its tests alone would watch nothing: all that shares
// memory is in the program.
func TestTheProgramHasTheRaceDetectorOfItsTests(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(binary)
	require.NoError(t, err)
	require.Equal(t, raced, slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}))
}

func TestARaceIsSeen(t *testing.T) {
	t.Parallel()
	require.Empty(t, firstRace(`{"level":"WARN","msg":"slow"}`))
	require.Equal(t, "WARNING: DATA RACE\nWrite at 0x1\n", firstRace("{}\nWARNING: DATA RACE\nWrite at 0x1\n"))
}
