package artifact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParsePlatform(t *testing.T) {
	t.Parallel()
	for _, p := range Platforms() {
		for _, name := range []string{string(p), strings.ToLower(string(p)), " " + strings.ToUpper(string(p)) + "\n"} {
			got, ok := ParsePlatform(name)
			require.True(t, ok, name)
			require.Equal(t, p, got)
		}
		require.Contains(t, PlatformRule, string(p))
	}
	got, ok := ParsePlatform(" ")
	require.True(t, ok)
	require.Empty(t, got)
	for _, name := range []string{"Amiga", "i OS", "iOS\x00", "win", "Andro\u0131d"} {
		_, ok := ParsePlatform(name)
		require.False(t, ok, name)
	}
	for p, generic := range map[Platform]bool{"": false, Android: false, IOS: false, TVOS: false, MacOS: true, Windows: true, Web: true} {
		require.Equal(t, generic, p.Generic(), p)
	}
}
