package authoring_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/seal"
)

func TestTunnels(t *testing.T) {
	t.Parallel()
	w := open(t)
	rivalAdmin := w.Rival.Member.Writer
	rivalAdmin.Admin = true
	for _, row := range []struct{ name, address, kind, host string }{
		{"office", "http://proxy.example.com:3128", "http", "proxy.example.com:3128"},
		{"50% ü", "https://ops:s3cr%65t@proxy.example.com:443", "http", "proxy.example.com:443"},
		{"v6", "socks5://[2001:db8::1]:1080", "socks5", "[2001:db8::1]:1080"},
		{"v4", "socks5://ops:s3cret@192.0.2.7:1080", "socks5", "192.0.2.7:1080"},
	} {
		made, err := w.Tunnel(w.Org.Owner.Writer, row.name, row.address)
		require.NoError(t, err, row.address)
		require.Equal(t, []any{row.name, row.kind, row.host, w.Org.Owner.UUID}, []any{made.Name, made.Kind, made.Host, made.CreatorUUID})
		got, err := authoring.TunnelByName(fixture.Context(t), w.DB, w.Org.ID, row.name)
		require.NoError(t, err)
		require.Equal(t, made, got)
		address, err := authoring.TunnelURL(fixture.Context(t), w.DB, fixture.SealKey, w.Org.ID, row.name)
		require.NoError(t, err)
		require.Equal(t, strings.Replace(row.address, "%65", "e", 1), address)
		_, err = authoring.TunnelURL(fixture.Context(t), w.DB, seal.Ring{bytes.Repeat([]byte("l"), 32)}, w.Org.ID, row.name)
		require.ErrorIs(t, err, seal.ErrUnseal)
	}
	require.Zero(t, w.Count(`select count(*) from tunnels where position('s3cret'::bytea in sealed) > 0`))
	require.Zero(t, w.Count(`select count(*) from audit_events where detail::text || subject like '%s3cr%'`))
	_, err := w.Tunnel(w.Org.Owner.Writer, "office", "http://other.example.com:1")
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = w.Tunnel(rivalAdmin, "office", "http://other.example.com:1")
	require.NoError(t, err, "another organization has names of its own")
	_, err = w.Tunnel(w.Org.Member.Writer, "mine", "http://other.example.com:1")
	require.ErrorIs(t, err, authoring.ErrForbidden)

	for _, row := range []struct {
		search string
		p      storage.Page
		want   []string
		total  int
	}{
		{"", storage.Page{Limit: 10}, []string{"50% ü", "office", "v4", "v6"}, 4},
		{"", storage.Page{Offset: 3, Limit: 10}, []string{"v6"}, 4},
		{"", storage.Page{}, nil, 4},
		{"V", storage.Page{Limit: 1}, []string{"v4"}, 2},
		{"0%", storage.Page{Limit: 10}, []string{"50% ü"}, 1},
		{"\x00", storage.Page{Limit: 10}, nil, 0},
	} {
		list, total, err := authoring.Tunnels(fixture.Context(t), w.DB, w.Org.ID, row.search, row.p)
		require.NoError(t, err)
		var names []string
		for _, tunnel := range list {
			names = append(names, tunnel.Name)
		}
		require.Equal(t, row.want, names, "%+v", row)
		require.Equal(t, row.total, total)
	}

	remove := func(by account.Writer, name string) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error { return authoring.DeleteTunnel(ctx, tx, by, name) })
	}
	require.ErrorIs(t, remove(w.Org.Member.Writer, "v4"), authoring.ErrForbidden)
	require.ErrorIs(t, remove(rivalAdmin, "v4"), storage.ErrNotFound)
	require.NoError(t, remove(w.Org.Owner.Writer, "v4"))
	for _, name := range []string{"v4", "", "\x00"} {
		require.ErrorIs(t, remove(w.Org.Owner.Writer, name), storage.ErrNotFound)
		_, err = authoring.TunnelByName(fixture.Context(t), w.DB, w.Org.ID, name)
		require.ErrorIs(t, err, storage.ErrNotFound)
		_, err = authoring.TunnelURL(fixture.Context(t), w.DB, fixture.SealKey, w.Org.ID, name)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	require.Equal(t, []int{5, 1}, []int{w.Audited(account.TunnelCreated), w.Audited(account.TunnelDeleted)})
}

func TestCreateTunnelRefuses(t *testing.T) {
	t.Parallel()
	w := open(t)
	for _, name := range []string{"", strings.Repeat("x", 101), "a/b", `a\b`, ".", "..", " a", "a\n", "a\xff", "\x00"} {
		_, err := w.Tunnel(w.Org.Owner.Writer, name, "http://proxy.example.com:3128")
		require.Equal(t, "name", fixture.InvalidField(t, err), "%q", name)
	}
	for _, address := range []string{
		"", "proxy:3128", "//proxy:3128", "http:proxy:3128", "ftp://proxy:21", "socks4://proxy:1080", "socks5h://proxy:1080",
		"http://sesame@:3128", "http://proxy", "http://proxy:", "http://proxy:0", "http://proxy:65536", "http://proxy:http",
		"http://proxy:3128/", "http://proxy:3128/x", "http://proxy:3128?", "http://proxy:3128?x=1", "http://proxy:3128#", "http://proxy:3128#x",
		"http://:sesame@proxy:3128", "http://a%00:sesame@proxy:3128", "http://a:sesame%0d%0a@proxy:3128", "http://a:%ff@proxy:3128",
		"http://pro xy:3128", "http://proxy:3128\n", "http://pr;oxy:3128", "http://-proxy:3128", "http://[fe80::1%25eth0]:3128",
		"http://%41:3128",
		"http://proxy:+80", "http://\xff:1", "http://" + strings.Repeat("x", 2048) + ":1", "http://" + strings.Repeat("x", 260) + ":1",
	} {
		_, err := w.Tunnel(w.Org.Owner.Writer, "t", address)
		require.Equal(t, "address", fixture.InvalidField(t, err), "%q", address)
		require.NotContains(t, err.Error(), "sesame")
	}
	require.Zero(t, w.Count(`select count(*) from tunnels`))
}

func FuzzParseTunnel(f *testing.F) {
	for _, seed := range []string{"http://a:1", "socks5://u:p@[::1]:1080", "https://%41@h:443", "http://h:1/#?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, kind, err := authoring.ParseTunnel(address)
		if err != nil {
			return
		}
		require.Contains(t, []string{authoring.TunnelHTTP, authoring.TunnelSOCKS5}, kind)
		again, kindAgain, err := authoring.ParseTunnel(u.String())
		require.NoError(t, err, "what is stored is read the same way")
		require.Equal(t, kind, kindAgain)
		require.Equal(t, u.Host, again.Host)
		require.Equal(t, u.User.String(), again.User.String())
	})
}
