package egress

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// pair returns a new certificate and its key in PEM.
func pair(t *testing.T) (certificate, key []byte) {
	t.Helper()
	made, _, err := newCertificate("client.example.com")
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// asking is a server over TLS that lets in whoever presents any certificate, and says whether
// one was presented; one that requires none asks all the same.
func asking(t *testing.T, mode tls.ClientAuthType) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "certificates: %d", len(r.TLS.PeerCertificates))
	}))
	s.TLS = &tls.Config{ClientAuth: mode, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// The certificate is presented to the one site, and to no other that asks.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	site, other := asking(t, tls.RequireAnyClientCert), asking(t, tls.RequestClientCert)
	certificate, key := pair(t)
	h, err := NewHeaders(site.URL, nil, true)
	require.NoError(t, err)
	_, foreign := pair(t)
	require.EqualError(t, h.Present(certificate, foreign), "certificate and key are no pair in PEM")
	require.Error(t, h.Present(nil, nil))
	require.NoError(t, h.Present(certificate, key))
	p, err := StartWith("", h, newGuard(t, true), nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	through, err := url.Parse("http://" + p.Addr().String())
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	status, text := body(t, client, site.URL)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "certificates: 1", text)
	_, text = body(t, client, other.URL)
	require.Equal(t, "certificates: 0", text)

	plain, err := NewHeaders("http://shop.example.com", nil, false)
	require.NoError(t, err)
	require.EqualError(t, plain.Present(certificate, key), "the site is none of https")
}
