package doctor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAgesOfServers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for major, want := range map[int]string{0: "", 12: "no corrections any more", 13: "since 2025-11-13", 14: "since 2026-11-12",
		15: "", 18: "", 19: ""} {
		if want == "" {
			require.Empty(t, postgresAge(major, now), major)
			continue
		}
		require.Contains(t, postgresAge(major, now), want)
	}
	require.Contains(t, postgresAge(15, now.AddDate(0, 10, 0)), "last corrections on 2027-11-11")
	for version, old := range map[string]bool{"": false, "6.2.14": true, "Redis server v=7.0.15 sha=0": true, "7.2.4": false, "8.0.0": false} {
		require.Equal(t, old, redisAge(version) != "", version)
	}
	require.Empty(t, browserAge("Chromium 156.0.1 built on Debian", "ChromeDriver 156.0.8078.79 (a)"))
	require.Empty(t, browserAge("", "ChromeDriver 156.0"))
	require.Contains(t, browserAge("Chromium 157.0.1", "ChromeDriver 156.0"), "version 157 does not fit chromedriver 156")
}
