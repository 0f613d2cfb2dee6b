package link

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"https://qa.example.com/sub", "https://qa.example.com/sub/"} {
		l := New(base)
		require.Equal(t, "https://qa.example.com/sub/install/my.app", l.Page("my.app"))
		require.Equal(t, "https://qa.example.com/sub/install/a%2Fb%3Fc", l.Page("a/b?c"), "a name never leads elsewhere")
		require.Equal(t, "https://qa.example.com/sub/install/tok/icon", l.Icon("tok"))
		require.Equal(t, "https://qa.example.com/sub/install/tok/download", l.Download("tok"))
		require.Equal(t, "https://qa.example.com/sub/install/tok/manifest.plist?ticket=a%26b", l.Manifest("tok", "a&b"))
		require.Equal(t, "https://qa.example.com/sub/session/slp_link_x", l.SignIn("slp_link_x"))
		require.Equal(t, "https://qa.example.com/sub/invite/slp_inv_7_x%2Fy", l.Invite("slp_inv_7_x/y"))
		require.Equal(t, "https://qa.example.com/sub/api/v3/builds/7/symbols/download", l.Symbols(7))
	}
}
