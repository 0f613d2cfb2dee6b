package up

import (
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestNoSandboxWarning(t *testing.T) {
	t.Parallel()
	without := []string{"--disable-gpu", "--no-sandbox"}
	require.Contains(t, noSandboxWarning(without, "https://qa.example.com"), "--no-sandbox")
	for _, public := range []string{"", "http://127.0.0.1:8080", "http://localhost:8080"} {
		require.Empty(t, noSandboxWarning(without, public))
	}
	require.Empty(t, noSandboxWarning([]string{"--disable-gpu"}, "https://qa.example.com"))
}

func TestWelcome(t *testing.T) {
	t.Parallel()
	boot := &account.Bootstrap{BaseURL: "http://127.0.0.1:9"}
	boot.Owner.APIKey, boot.Crash.Token = "sesame-key", "sesame-token"
	s := started{boot: boot, dir: t.TempDir(), link: "http://127.0.0.1:9/console/open/abc", took: 1500 * time.Millisecond,
		addresses: (&setting.Settings{}).StartAddresses(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, slog.New(slog.DiscardHandler))}
	for name, text := range map[string]string{"short": s.short(), "long": s.long()} {
		require.Contains(t, text, s.link, name)
		require.Contains(t, text, "once, within 15 minutes", name)
		require.NotContains(t, text, "sesame", name)
	}
	require.Less(t, strings.Count(s.short(), "\n"), 18, "a person sees it at once")
	require.True(t, slices.ContainsFunc(strings.Split(s.short(), "\n"),
		func(line string) bool { return strings.Contains(line, "/console/tests/generate") }))
	s.link = "http://127.0.0.1:9/console"
	require.NotContains(t, s.short(), "once,")
}
