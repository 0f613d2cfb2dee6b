package token

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestGuessesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	g := NewGuesses(func() time.Time { return now })
	wait := func(address, text string) time.Duration { return g.Wait(address, text, account.DigestOf(text)) }
	for range 10 * guessesPerMinute {
		require.Zero(t, wait("192.0.2.1", "not looked up yet"))
	}
	real := "slp_local_crash_" + strings.Repeat("a", 40)
	g.Valid(account.DigestOf(real))
	for i := range guessesPerMinute {
		require.Zero(t, wait("192.0.2.1", "wrong"+strconv.Itoa(i)))
		g.Wrong("192.0.2.1", "wrong"+strconv.Itoa(i))
	}
	require.Positive(t, wait("192.0.2.1", "wrong again"))
	require.Zero(t, wait("192.0.2.2", "wrong again"), "another address")
	for range 10 * guessesPerMinute {
		require.Zero(t, wait("192.0.2.1", real), "a token that works")
	}
	require.Zero(t, wait("192.0.2.1", "slp_local_crash_"+strings.Repeat("b", 40)), "one that may be new")
	now = now.Add(time.Minute)
	require.Zero(t, wait("192.0.2.1", "wrong again"))

	for i := range MostEntries + 10 {
		g.Valid(account.DigestOf(strconv.Itoa(i)))
	}
	require.LessOrEqual(t, len(g.valid), MostEntries)
}
