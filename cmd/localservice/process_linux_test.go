package localservice

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessStart(t *testing.T) {
	t.Parallel()
	start, running := processStart(os.Getpid())
	require.True(t, running)
	require.NotZero(t, start)

	zombie := exec.Command("true")
	require.NoError(t, zombie.Start())
	eventually(t, "a zombie counts as dead", func() bool { return !isRunning(zombie.Process.Pid) })
	again, running := processStart(zombie.Process.Pid)
	require.False(t, running)
	require.GreaterOrEqual(t, again, start, "it is still there")
	require.NoError(t, zombie.Wait())
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	rest := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"
	for name, comm := range map[string]string{"plain": "redis", "spaces": "a b", "parentheses": "a) Z 1 (b"} {
		state, start, ok := parseStat([]byte("77 (" + comm + ")" + rest))
		require.True(t, ok, name)
		require.Equal(t, byte('S'), state, name)
		require.EqualValues(t, 4242, start, name)
	}
	for _, bad := range []string{"", "77", "77 (x)", "77 (x) S 1 2", "77 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -1 20"} {
		_, _, ok := parseStat([]byte(bad))
		require.False(t, ok, bad)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("77 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if state, _, ok := parseStat(data); ok {
			require.NotContains(t, " \t\n", string(state))
		}
	})
}
