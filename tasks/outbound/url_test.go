package outbound

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	names := &nameServer{answers: map[string][]string{"hook.example.": {"8.8.8.8"}, "xn--bcher-kva.example.": {"8.8.8.8"}}}
	g := newGuard(t, Config{Resolver: names.resolver()})
	lenient := newGuard(t, Config{Resolver: names.resolver(), AllowPrivate: true})
	for _, c := range []struct {
		raw         string
		rule        Rule // "": accepted, unless invalid
		invalid     bool
		whenPrivate bool
	}{
		{raw: "https://hook.example", whenPrivate: true},
		{raw: "https://hook.example:8443/a?b=c#d", whenPrivate: true},
		{raw: "HTTPS://HOOK.example./", whenPrivate: true},
		{raw: "http://8.8.8.8/", whenPrivate: true},
		{raw: "http://[2606:4700::1111]:8080/", whenPrivate: true},
		{raw: "http://xn--bcher-kva.example/", whenPrivate: true},

		{raw: "http://127.0.0.1/", rule: RuleLoopback, whenPrivate: true},
		{raw: "http://127.0.0.1:8080/", rule: RuleLoopback, whenPrivate: true},
		{raw: "http://[::1]/", rule: RuleLoopback, whenPrivate: true},
		{raw: "http://192.168.0.1/", rule: RulePrivate, whenPrivate: true},
		{raw: "http://169.254.169.254/latest/meta-data", rule: RuleMetadata},
		{raw: "http://[fd00:ec2::254]/", rule: RuleMetadata},
		{raw: "http://[::ffff:127.0.0.1]/", rule: RuleMapped},
		{raw: "http://[::ffff:7f00:1]/", rule: RuleMapped},
		{raw: "http://[fe80::1%25eth0]/", rule: RuleZone},
		{raw: "http://[64:ff9b::a9fe:a9fe]/", rule: RuleMetadata},

		{raw: "http://2130706433/", rule: RuleSpelling},
		{raw: "http://0x7f000001/", rule: RuleSpelling},
		{raw: "http://0X7F.1/", rule: RuleSpelling},
		{raw: "http://0177.0.0.1/", rule: RuleSpelling},
		{raw: "http://127.1/", rule: RuleSpelling},
		{raw: "http://127.0.0.0x1/", rule: RuleSpelling},
		{raw: "http://127.0.0.1./", rule: RuleSpelling},
		{raw: "http://0/", rule: RuleSpelling},
		{raw: "http://0x/", rule: RuleSpelling},
		{raw: "http://example.0x/", rule: RuleSpelling},
		{raw: "http://./", rule: RuleSpelling},
		{raw: "http://a../", rule: RuleSpelling},
		{raw: "http://127.0.0.1%2eexample/", rule: RuleSpelling, invalid: true},
		{raw: "http://１２７.0.0.1/", rule: RuleSpelling},
		{raw: "http://127。0。0。1/", rule: RuleSpelling},
		{raw: "http://bücher.example/", rule: RuleSpelling},

		{raw: "ftp://hook.example/", rule: RuleScheme},
		{raw: "file:///etc/passwd", rule: RuleScheme},
		{raw: "javascript:alert(1)", rule: RuleScheme},
		{raw: "//hook.example/", rule: RuleScheme},
		{raw: "hook.example", rule: RuleScheme},
		{raw: "http://user:secret@hook.example/", rule: RuleUser},
		{raw: "http://@hook.example/", rule: RuleUser},
		{raw: "http://hook.example:22/", rule: RulePort},
		{raw: "http://hook.example:25/", rule: RulePort},
		{raw: "http://hook.example:6379/", rule: RulePort},
		{raw: "http://hook.example:0/", rule: RulePort},

		{raw: "", rule: RuleScheme},
		{raw: "http://", invalid: true},
		{raw: "http:hook.example", invalid: true},
		{raw: "http://hook.example:99999/", invalid: true},
		{raw: "http://hook.example:8o/", invalid: true},
		{raw: "http://hook.example/ x", invalid: true},
		{raw: "http://hook.example\\@127.0.0.1/", invalid: true},
		{raw: "http://hook.example/\r\nX: y", invalid: true},
		{raw: "http://[::1", invalid: true},
		{raw: "http://user:secret%zz@h/", invalid: true},
		{raw: "http://" + strings.Repeat("a", 255) + "/", invalid: true},
		{raw: "http://hook.example/" + strings.Repeat("a", maxURL), invalid: true},
	} {
		u, err := g.CheckURL(t.Context(), c.raw)
		switch {
		case c.invalid && errors.Is(err, ErrInvalidURL):
			require.NotContains(t, err.Error(), "secret")
		case c.rule != "" || c.invalid:
			require.Error(t, err, c.raw)
			require.Equal(t, c.rule, refusal(t, err), c.raw)
			require.NotContains(t, err.Error(), "secret")
		default:
			require.NoError(t, err, c.raw)
			require.NotNil(t, u)
		}
		if err != nil {
			require.Nil(t, u)
		}
		_, err = lenient.CheckURL(t.Context(), c.raw)
		require.Equal(t, c.whenPrivate, err == nil, "%s, private allowed: %v", c.raw, err)
	}
	_, err := g.CheckURL(t.Context(), "http://localhost:3000/")
	require.Equal(t, RuleLoopback, refusal(t, err))
	_, err = g.CheckURL(t.Context(), "http://app.localhost/")
	require.Equal(t, RuleLoopback, refusal(t, err))
}

// FuzzCheckURL: no panic, and an accepted literal is one that passes.
func FuzzCheckURL(f *testing.F) {
	for _, raw := range []string{
		"http://127.0.0.1/", "http://2130706433/", "http://[::1]:80/", "http://[fe80::1%25a]/", "https://a.b:1/c?d#e",
		"http://0x7f.1/", "http://a@b/", "http:a", "http://[::ffff:1.2.3.4]/", "http://１/", "", "%", "http://%31/",
	} {
		f.Add(raw)
	}
	refuse := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network in this test")
	}}
	g, err := New(Config{Resolver: refuse})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.CheckURL(t.Context(), raw)
		if err != nil {
			if !errors.Is(err, ErrInvalidURL) && !errors.Is(err, ErrForbiddenAddress) && !errors.Is(err, ErrUnresolved) {
				t.Fatalf("%q: untyped error %v", raw, err)
			}
			return
		}
		addr, err := netip.ParseAddr(u.Hostname())
		if err != nil || classify(addr) != "" {
			t.Fatalf("%q was accepted", raw)
		}
	})
}
