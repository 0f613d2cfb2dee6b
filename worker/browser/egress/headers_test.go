package egress

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tenant answers with the headers that it was sent.
var tenant = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s|%s|%s", r.Header.Get("X-Tenant"), r.Header.Get("Authorization"), r.Host)
})

// proxied returns a client of a proxy that sends headers to a site.
func proxied(t *testing.T, upstream, site string, insecure bool) *http.Client {
	t.Helper()
	h, err := NewHeaders(site, []Header{{"x-tenant", "shop"}, {"authorization", "Bearer s3cret"}}, insecure)
	require.NoError(t, err)
	p, err := StartWith(upstream, h, newGuard(t, true), nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	through, err := url.Parse("http://" + p.Addr().String())
	require.NoError(t, err)
	// As a browser does that knows the proxy by its key.
	transport := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func body(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	r.Header.Set("X-Tenant", "the page's own")
	answer, err := c.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	plain, other := httptest.NewServer(tenant), httptest.NewServer(tenant)
	secure, secureOther := httptest.NewTLSServer(tenant), httptest.NewTLSServer(tenant)
	for _, s := range []*httptest.Server{plain, other, secure, secureOther} {
		t.Cleanup(s.Close)
	}
	tunnel := "http://ada:pass@" + httpTunnel(t)
	for name, c := range map[string]struct {
		upstream, site string
		to             map[string]string // what the servers are sent
	}{
		"http": {"", plain.URL + "/some/path?q", map[string]string{plain.URL: "shop|Bearer s3cret|", other.URL: "the page's own||",
			secure.URL: "the page's own||", strings.Replace(plain.URL, "127.0.0.1", "localhost", 1): "the page's own||"}},
		"https": {"", secure.URL, map[string]string{secure.URL + "/a": "shop|Bearer s3cret|",
			secureOther.URL: "the page's own||", plain.URL: "the page's own||"}},
		"https behind a tunnel": {tunnel, secure.URL, map[string]string{secure.URL: "shop|Bearer s3cret|", other.URL: "the page's own||"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := proxied(t, c.upstream, c.site, true)
			for address, want := range c.to {
				u, err := url.Parse(address)
				require.NoError(t, err)
				status, text := body(t, client, address)
				require.Equal(t, http.StatusOK, status, address)
				require.Equal(t, want+u.Host, text, address)
			}
		})
	}
}

// The proxy checks what the browser cannot: the certificate of the site.
func TestHeadersToAnUntrustedSite(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(tenant)
	t.Cleanup(secure.Close)
	status, text := body(t, proxied(t, "", secure.URL, false), secure.URL)
	require.Equal(t, http.StatusBadGateway, status)
	require.Contains(t, text, "certificate of the server is not trusted")
}

// A connection that was opened carries requests to the site alone, whatever host they name.
func TestHeadersOfAnotherHost(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(tenant)
	t.Cleanup(secure.Close)
	client := proxied(t, "", secure.URL, true)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, secure.URL, nil)
	require.NoError(t, err)
	r.Host = "other.example.com"
	answer, err := client.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusMisdirectedRequest, answer.StatusCode)
}

// A connection that changes its protocol, as those of WebSockets do, goes on until it ends.
func TestHeadersOfAnUpgrade(t *testing.T) {
	t.Parallel()
	echo := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(both, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n%s\n", r.Header.Get("X-Tenant"))
		_ = both.Flush()
		line, _ := both.ReadString('\n')
		_, _ = io.WriteString(conn, "echo "+line)
	}))
	t.Cleanup(echo.Close)
	client := proxied(t, "", echo.URL, true)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, echo.URL, nil)
	require.NoError(t, err)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	answer, err := client.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	stream := answer.Body.(io.ReadWriteCloser)
	defer stream.Close()
	_, err = io.WriteString(stream, "hello\n")
	require.NoError(t, err)
	text, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.Equal(t, "shop\necho hello\n", string(text))
}

func TestSiteOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://Shop.Example.com/a": "https://shop.example.com:443", "http://shop.example.com:80": "http://shop.example.com:80",
		"https://bücher.example": "https://xn--bcher-kva.example:443", "http://[::1]:8080/": "http://[::1]:8080",
		"https://user:pass@shop.example.com:8443/": "https://shop.example.com:8443",
		"ftp://shop.example.com":                   "", "shop.example.com": "", "https://": "", "https://a b/": "",
		"https://exa_mple..com": "", "": "",
	} {
		got, _, _, _, err := SiteOf(address)
		require.Equal(t, want, got, address)
		require.Equal(t, want == "", err != nil, address)
	}
}

func FuzzSiteOf(f *testing.F) {
	for _, seed := range []string{"https://shop.example.com", "http://[::1]:1", "https://ü.example:443/?#", "http://user@host:99999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		origin, _, authority, _, err := SiteOf(address)
		if err != nil {
			return
		}
		again, _, same, _, err := SiteOf(origin)
		if err != nil || again != origin || same != authority {
			t.Fatalf("%q is %q, and that is %q: %v", address, origin, again, err)
		}
	})
}
