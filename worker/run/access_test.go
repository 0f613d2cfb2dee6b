package run

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
)

// pemPair returns a certificate of a client and its key.
func pemPair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(7), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// A site that asks for a certificate, a user and a password lets the browser of a test in;
// another one gets neither.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play, w.handler.Trouble = pool, nil, nil, proxy.Trouble
	var mu sync.Mutex
	var elsewhere []string // what another site was sent
	other := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		elsewhere = append(elsewhere, fmt.Sprintf("%q", r.Header.Get("Authorization")))
	}))
	t.Cleanup(other.Close)
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		if user, password, ok := r.BasicAuth(); !ok || user != "ann" || password != "correct horse" {
			rw.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(rw, `<!doctype html><h1>Hello</h1><p id=sent>%s</p><img src=%q onerror='document.body.append(
			Object.assign(document.createElement("b"), {textContent: "asked"}))'>`, r.Header.Get("Authorization"), other.URL)
	}))
	site.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	site.StartTLS()
	t.Cleanup(site.Close)
	certificate, key := pemPair(t)
	w.variable("password", "correct horse", true)
	w.variable("key", key, true)
	w.variable("certificate", certificate, false)
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome", "acceptInsecureCerts": true}}
	access := capability.Access{BasicAuth: &capability.BasicAuth{User: "ann", Password: "{{password}}"},
		ClientCertificate: &capability.ClientCertificate{Certificate: "{{certificate}}", Key: "{{key}}"}}
	play := func(access capability.Access, text string) (store.Job, *store.Run) {
		var c *authoring.Case
		w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
			c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "in",
				Settings: capability.RunSettings{TestURL: site.URL, RunTargets: []capability.Target{target}, Access: access},
				Revision: authoring.Revision{Steps: []step.Step{textIs("s1", "b", "asked"), textIs("s2", "#sent", text)}}})
			return err
		})
		run := w.newRun(c, store.NewRun{}, target.Capabilities)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		return w.read(run).Jobs[0], run
	}
	job, run := play(access, "Basic YW5uOmNvcnJlY3QgaG9yc2U=")
	require.Equal(t, store.Passed, job.Status, "%s: %s", job.ErrorCode, job.Error)
	mu.Lock()
	require.NotEmpty(t, elsewhere)
	for _, sent := range elsewhere {
		require.Equal(t, `""`, sent)
	}
	mu.Unlock()
	require.NotContains(t, w.everywhere(run), "correct horse")

	job, run = play(access, "nothing") // the message quotes the header, without the password
	require.Equal(t, store.CodeAssertionFailed, job.ErrorCode)
	require.NotContains(t, w.everywhere(run), "YW5uOmNvcnJlY3QgaG9yc2U")

	job, _ = play(capability.Access{BasicAuth: access.BasicAuth}, "nothing")
	require.NotEqual(t, store.Passed, job.Status)
	require.NotEqual(t, store.CodeAssertionFailed, job.ErrorCode, "the site refuses who has no certificate")
	job, _ = play(capability.Access{ClientCertificate: access.ClientCertificate}, "nothing")
	require.NotEqual(t, store.Passed, job.Status)

	wrong := capability.Access{ClientCertificate: &capability.ClientCertificate{Certificate: "{{certificate}}", Key: "{{password}}"}}
	job, _ = play(wrong, "nothing")
	require.Equal(t, store.CodeEnvironment, job.ErrorCode)
	require.Equal(t, "runSettings.clientCertificate: certificate and key are no pair in PEM", job.Error)
	job, _ = play(capability.Access{BasicAuth: &capability.BasicAuth{User: "ann", Password: "{{unknown}}"}}, "nothing")
	require.Equal(t, store.CodeVariable, job.ErrorCode)
}
