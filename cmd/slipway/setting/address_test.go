package setting

import (
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rule for private addresses over listener, public address and setting. A listener
// on this machine behind a proxy is the advised set-up: it must not open the networks.
func TestAddressRule(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, test := range []struct {
		listen, public, domain string
		setting                *bool
		want                   bool
		reason                 string
	}{
		{listen: "127.0.0.1:8080", want: true, reason: "only this machine"},
		{listen: "[::1]:8080", want: true, reason: "only this machine"},
		{listen: "[::ffff:127.0.0.1]:8080", want: true, reason: "only this machine"},
		{listen: "0.0.0.0:8080", reason: "SLIPWAY_LISTEN"},
		{listen: "[::]:8080", reason: "SLIPWAY_LISTEN"},
		{listen: "192.168.1.5:8080", reason: "SLIPWAY_LISTEN"},
		{listen: "192.168.1.5:8080", public: "http://127.0.0.1:8080", reason: "SLIPWAY_LISTEN"},
		{listen: "127.0.0.1:8080", public: "http://127.0.0.1:8080", want: true, reason: "only this machine"},
		{listen: "127.0.0.1:8080", public: "http://LocalHost:8080/", want: true, reason: "only this machine"},
		{listen: "127.0.0.1:8080", public: "https://qa.localhost", want: true, reason: "only this machine"},
		{listen: "127.0.0.1:8080", public: "http://[::1]:8080", want: true, reason: "only this machine"},
		{listen: "127.0.0.1:8080", public: "https://qa.example.com", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "https://localhost.example.com", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "https://127.0.0.1.nip.io", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "http://localhost@qa.example.com", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "https://10.0.0.4", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "http://0.0.0.0:8080", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "127.0.0.1:8080", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", public: "http://%zz", reason: "SLIPWAY_PUBLIC_URL"},
		{listen: "127.0.0.1:8080", domain: "qa.example.com", reason: "SLIPWAY_BASE_DOMAIN"},
		{listen: "127.0.0.1:8080", domain: "localhost", want: true, reason: "only this machine"},
		{listen: "127.0.0.1:8080", public: "https://qa.example.com", setting: &yes, want: true, reason: "SLIPWAY_ALLOW_PRIVATE_ADDRESSES"},
		{listen: "0.0.0.0:8080", setting: &yes, want: true, reason: "SLIPWAY_ALLOW_PRIVATE_ADDRESSES"},
		{listen: "127.0.0.1:8080", setting: &no, reason: "SLIPWAY_ALLOW_PRIVATE_ADDRESSES"},
		{reason: "is not set"},
		{public: "http://127.0.0.1:8080", reason: "is not set"},
		{setting: &yes, want: true, reason: "SLIPWAY_ALLOW_PRIVATE_ADDRESSES"},
	} {
		set := &Settings{PublicURL: test.public, BaseDomain: test.domain, AllowPrivateAddresses: test.setting}
		var listen net.Addr
		if test.listen != "" {
			addr, err := net.ResolveTCPAddr("tcp", test.listen)
			require.NoError(t, err)
			listen = addr
		}
		rule := set.StartAddresses(listen, slog.New(slog.DiscardHandler))
		require.Equal(t, test.want, rule.allow, "%+v", test)
		require.Equal(t, test.want, set.AllowPrivate(), "%+v", test)
		require.Contains(t, rule.String(), test.reason, "%+v", test)
	}
}
