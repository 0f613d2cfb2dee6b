package outbound

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newGuard(t *testing.T, cfg Config) *Guard {
	t.Helper()
	g, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(g.CloseIdleConnections)
	return g
}

// refusal returns the rule of err, or "".
func refusal(t *testing.T, err error) Rule {
	t.Helper()
	var forbidden *ForbiddenError
	if err == nil {
		return ""
	}
	require.ErrorAs(t, err, &forbidden)
	require.ErrorIs(t, err, ErrForbiddenAddress)
	return forbidden.Rule
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	strict := newGuard(t, Config{})
	private := newGuard(t, Config{AllowPrivate: true})
	all := newGuard(t, Config{AllowPrivate: true, AllowMetadata: true})
	for _, c := range []struct {
		addr                  string
		rule                  Rule
		whenPrivate, whenMeta bool
	}{
		{"8.8.8.8", "", true, true},
		{"1.1.1.1", "", true, true},
		{"11.0.0.0", "", true, true},
		{"100.63.255.255", "", true, true},
		{"100.128.0.0", "", true, true},
		{"172.15.255.255", "", true, true},
		{"172.32.0.0", "", true, true},
		{"198.17.255.255", "", true, true},
		{"198.20.0.0", "", true, true},
		{"223.255.255.255", "", true, true},
		{"2606:4700::1111", "", true, true},
		{"2a00:1450:4001::200e", "", true, true},
		{"64:ff9b::8.8.8.8", "", true, true},
		{"2002:808:808::1", "", true, true},

		{"127.0.0.1", RuleLoopback, true, true},
		{"127.255.255.254", RuleLoopback, true, true},
		{"::1", RuleLoopback, true, true},
		{"10.0.0.1", RulePrivate, true, true},
		{"10.255.255.255", RulePrivate, true, true},
		{"172.16.0.1", RulePrivate, true, true},
		{"172.31.255.255", RulePrivate, true, true},
		{"192.168.1.1", RulePrivate, true, true},
		{"fc00::1", RulePrivate, true, true},
		{"fd12:3456::1", RulePrivate, true, true},
		{"fec0::1", RulePrivate, true, true},
		{"100.64.0.1", RuleShared, true, true},
		{"100.127.255.255", RuleShared, true, true},

		{"169.254.169.254", RuleMetadata, false, true},
		{"169.254.170.2", RuleMetadata, false, true},
		{"fd00:ec2::254", RuleMetadata, false, true},
		{"100.100.100.200", RuleMetadata, false, true},
		{"168.63.129.16", RuleMetadata, false, true},
		{"64:ff9b::169.254.169.254", RuleMetadata, false, true},
		{"169.254.0.1", RuleLinkLocal, false, true},
		{"fe80::1", RuleLinkLocal, false, true},

		{"0.0.0.0", RuleUnspecified, false, false},
		{"0.1.2.3", RuleUnspecified, false, false},
		{"::", RuleUnspecified, false, false},
		{"224.0.0.1", RuleMulticast, false, false},
		{"239.255.255.255", RuleMulticast, false, false},
		{"ff02::1", RuleMulticast, false, false},
		{"255.255.255.255", RuleBroadcast, false, false},
		{"240.0.0.1", RuleReserved, false, false},
		{"192.0.0.8", RuleReserved, false, false},
		{"192.88.99.1", RuleReserved, false, false},
		{"192.0.2.1", RuleDocumentation, false, false},
		{"198.51.100.1", RuleDocumentation, false, false},
		{"203.0.113.1", RuleDocumentation, false, false},
		{"2001:db8::1", RuleDocumentation, false, false},
		{"3fff::1", RuleDocumentation, false, false},
		{"198.18.0.1", RuleBenchmark, false, false},
		{"198.19.255.255", RuleBenchmark, false, false},
		{"2001:2::1", RuleBenchmark, false, false},
		{"::ffff:127.0.0.1", RuleMapped, false, false},
		{"::ffff:8.8.8.8", RuleMapped, false, false},
		{"::127.0.0.1", RuleMapped, false, false},
		{"::8.8.8.8", RuleMapped, false, false},
		{"64:ff9b:1::8.8.8.8", RuleReserved, false, false},
		{"100::1", RuleReserved, false, false},
		{"5f00::1", RuleReserved, false, false},
		{"4000::1", RuleReserved, false, false},
		{"2001:10::1", RuleReserved, false, false},
		{"fe80::1%eth0", RuleZone, false, false},
		{"2606:4700::1%1", RuleZone, false, false},

		{"64:ff9b::10.0.0.1", RulePrivate, true, true},
		{"64:ff9b::127.0.0.1", RuleLoopback, true, true},
		{"2002:7f00:1::1", RuleLoopback, true, true},
		{"2002:c0a8:101::1", RulePrivate, true, true},
		{"2001:0:a00:1::f7f7:f7f7", RulePrivate, true, true},      // Teredo, server 10.0.0.1
		{"2001:0:808:808::80ff:fffe", RuleLoopback, true, true},   // Teredo, client 127.0.0.1
		{"2001:0:808:808::f7f7:f7f7", "", true, true},             // Teredo, both 8.8.8.8
		{"2a00:1450::5efe:192.168.0.1", RulePrivate, true, true},  // ISATAP
		{"2a00:1450::200:5efe:10.0.0.1", RulePrivate, true, true}, // ISATAP, global bit
		{"2a00:1450::200:5efe:9.9.9.9", "", true, true},           // ISATAP, public
		{"2002:a9fe:a9fe::1", RuleMetadata, false, true},          // 6to4 to metadata
		{"64:ff9b::255.255.255.255", RuleBroadcast, false, false}, // NAT64 to broadcast
	} {
		addr := netip.MustParseAddr(c.addr)
		require.Equal(t, c.rule, refusal(t, strict.CheckAddr(addr)), c.addr)
		require.Equal(t, c.whenPrivate, private.CheckAddr(addr) == nil, "%s, private allowed", c.addr)
		require.Equal(t, c.whenMeta, all.CheckAddr(addr) == nil, "%s, metadata allowed", c.addr)
	}
	require.Error(t, strict.CheckAddr(netip.Addr{}))
	_, err := New(Config{AllowMetadata: true})
	require.Error(t, err)
}

// nameServer answers A queries: each name from its list in turn, the last one
// repeated.
type nameServer struct {
	answers map[string][]string
	asked   atomic.Int64
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go s.serve(server)
		return client, nil
	}}
}

// serve speaks DNS over a stream (RFC 1035, 4.2.2), one query a connection.
func (s *nameServer) serve(conn net.Conn) {
	defer conn.Close()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	name, end := "", 12
	for query[end] != 0 {
		n := int(query[end])
		name += strings.ToLower(string(query[end+1:end+1+n])) + "."
		end += n + 1
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	reply := append([]byte{}, query[:end+5]...)
	reply[2], reply[3] = 0x81, 0x80
	binary.BigEndian.PutUint16(reply[4:], 1)
	clear(reply[6:12])
	list := s.answers[name]
	if list == nil {
		reply[3] |= 3 // no such name
	}
	if kind == 1 && len(list) > 0 {
		turn := min(int(s.asked.Add(1))-1, len(list)-1)
		for _, text := range strings.Split(list[turn], ",") {
			reply[7]++
			ip := netip.MustParseAddr(text).As4()
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			reply = append(reply, ip[:]...)
		}
	}
	binary.BigEndian.PutUint16(length[:], uint16(len(reply)))
	_, _ = conn.Write(append(length[:], reply...))
}

func TestRebinding(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(server.Close)
	names := &nameServer{answers: map[string][]string{"rebind.example.": {"8.8.8.8", "127.0.0.1"}}}
	g := newGuard(t, Config{Resolver: names.resolver()})
	link := "http://rebind.example:" + port(server.URL) + "/path"
	_, err := g.CheckURL(t.Context(), link)
	require.NoError(t, err)
	_, err = g.Client(time.Minute).Get(link)
	require.Equal(t, RuleLoopback, refusal(t, err))
	require.NotContains(t, err.Error(), "127.0.0.1", "the address found is not told")
	require.False(t, reached.Load())
	_, err = g.CheckURL(t.Context(), link)
	require.Equal(t, RuleLoopback, refusal(t, err))

	// The same through a guard that allows it: the test's resolver works.
	_, err = newGuard(t, Config{Resolver: names.resolver(), AllowPrivate: true}).Client(time.Minute).Get(link)
	require.NoError(t, err)
	require.True(t, reached.Load())
}

func port(link string) string {
	u, _ := url.Parse(link)
	return u.Port()
}

func TestEveryResolvedAddressCounts(t *testing.T) {
	t.Parallel()
	names := &nameServer{answers: map[string][]string{"mixed.example.": {"8.8.8.8,10.0.0.1"}, "good.example.": {"8.8.8.8"}}}
	g := newGuard(t, Config{Resolver: names.resolver()})
	_, err := g.CheckURL(t.Context(), "https://mixed.example/")
	require.Equal(t, RulePrivate, refusal(t, err))
	_, err = g.CheckURL(t.Context(), "https://good.example/")
	require.NoError(t, err)
	_, err = g.CheckURL(t.Context(), "https://none.example/")
	require.ErrorIs(t, err, ErrUnresolved)
	_, err = g.Client(time.Minute).Get("https://none.example/")
	var lookup *net.DNSError
	require.ErrorAs(t, err, &lookup)
	require.True(t, lookup.IsNotFound)
	require.Empty(t, lookup.Server)
}

func TestClientRefusesLoopback(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, err := newGuard(t, Config{}).Client(time.Minute).Get(server.URL)
	require.Equal(t, RuleLoopback, refusal(t, err))
	_, err = newGuard(t, Config{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.Equal(t, RuleLoopback, refusal(t, err))
	_, err = newGuard(t, Config{AllowPrivate: true}).DialContext(t.Context(), "udp", server.Listener.Addr().String())
	require.Equal(t, RuleNetwork, refusal(t, err))
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	secure := httptest.NewTLSServer(http.RedirectHandler(server.URL, http.StatusFound))
	t.Cleanup(secure.Close)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "arrived") })
	mux.Handle("/metadata", http.RedirectHandler("http://169.254.169.254/latest", http.StatusFound))
	mux.Handle("/file", http.RedirectHandler("file:///etc/passwd", http.StatusFound))
	mux.Handle("/user", http.RedirectHandler("http://user@example.com/", http.StatusFound))
	mux.Handle("/port", http.RedirectHandler("http://127.0.0.1:22/", http.StatusFound))
	mux.Handle("/number", http.RedirectHandler("http://2130706433/", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/3", http.RedirectHandler("/2", http.StatusFound))
	mux.Handle("/2", http.RedirectHandler("/1", http.StatusFound))
	mux.Handle("/1", http.RedirectHandler("/0", http.StatusFound))
	mux.Handle("/4", http.RedirectHandler("/3", http.StatusFound))

	g := newGuard(t, Config{AllowPrivate: true})
	client := g.Client(time.Minute)
	for path, rule := range map[string]Rule{
		"/metadata": RuleMetadata, "/file": RuleScheme, "/user": RuleUser, "/port": RulePort, "/number": RuleSpelling,
	} {
		_, err := client.Get(server.URL + path)
		require.Equal(t, rule, refusal(t, err), path)
	}
	response, err := client.Get(server.URL + "/3")
	require.NoError(t, err)
	content, err := ReadBody(response.Body, 100)
	require.NoError(t, err)
	require.Equal(t, "arrived", string(content))
	for _, path := range []string{"/4", "/loop"} {
		_, err = client.Get(server.URL + path)
		require.ErrorContains(t, err, "more than 3 redirects")
	}
	via := []*http.Request{httptest.NewRequest(http.MethodGet, "https://a.example/", nil)}
	require.Equal(t, RuleDowngrade, refusal(t, checkRedirect(httptest.NewRequest(http.MethodGet, "http://a.example/", nil), via)))
}

// TestRedirectToLoopback starts at an address that is allowed: a public name,
// led to the test's server by a dialer that stands in for the network.
func TestRedirectToLoopback(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(inner.Close)
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outer.Close)
	g := newGuard(t, Config{})
	g.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == "public.example:80" {
			return (&net.Dialer{}).DialContext(ctx, network, outer.Listener.Addr().String())
		}
		return g.DialContext(ctx, network, address)
	}
	_, err := g.Client(time.Minute).Post("http://public.example/", "text/plain", strings.NewReader("x"))
	require.Equal(t, RuleLoopback, refusal(t, err))
	require.False(t, reached.Load())
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	g := newGuard(t, Config{AllowPrivate: true})
	require.Nil(t, g.transport.Proxy)
	response, err := g.Client(time.Minute).Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

func TestReadBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want string
		err  error
	}{{"", "", nil}, {"1234", "1234", nil}, {"12345", "12345", nil}, {"123456", "12345", ErrTooLarge}} {
		got, err := ReadBody(io.NopCloser(strings.NewReader(c.body)), 5)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.want, string(got))
	}
}
