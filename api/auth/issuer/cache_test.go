package issuer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	"github.com/slipway-qa/slipway/storage/oidc"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

func jsonHandler(document any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(document) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// ends makes tokens that last as long as the test's clock is moved.
var ends = object{"exp": 4_102_444_800}

func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second, third := w.Key(), issuertest.NewKey("second", "RS256"), issuertest.NewKey("third", "RS256")
	require.Empty(t, w.verify(t, w.Token(nil)))
	require.Empty(t, w.verify(t, w.Token(nil)))
	require.Equal(t, 1, w.Count(issuertest.KeysPath), "the set is kept")

	w.SetKeys(second, first)
	require.Empty(t, w.verify(t, second.Sign(w.Claims(nil), nil)), "a new key is accepted at once")
	require.Empty(t, w.verify(t, first.Sign(w.Claims(nil), nil)), "the former one as well")
	w.SetKeys(third)
	require.Empty(t, w.verify(t, third.Sign(w.Claims(nil), nil)))
	require.Equal(t, "Invalid token signature", w.verify(t, first.Sign(w.Claims(nil), nil)), "it is published no more")
	require.Equal(t, 3, w.Count(issuertest.KeysPath))

	// A key that was withdrawn ends with the time of the cache.
	fourth := issuertest.NewKey("fourth", "RS256")
	w.SetKeys(fourth)
	require.Empty(t, w.verify(t, third.Sign(w.Claims(ends), nil)))
	w.pass(24*time.Hour + time.Second)
	require.Equal(t, "Invalid token signature", w.verify(t, third.Sign(w.Claims(ends), nil)))
	require.Empty(t, w.verify(t, fourth.Sign(w.Claims(ends), nil)))
}

// Tokens with invented keys must not become requests to the issuer.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.verify(t, w.Token(nil)))
	forge := func(kid string) string { return w.Key().Sign(w.Claims(ends), map[jose.HeaderKey]any{"kid": kid}) }
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := w.cache.Verify(t.Context(), w.by, forge("invented"))
			assert.ErrorContains(t, err, "Invalid token signature")
		})
	}
	all.Wait()
	require.Equal(t, 2, w.Count(issuertest.KeysPath), "the same name: asked once")
	for i := range 50 {
		require.Equal(t, "Invalid token signature", w.verify(t, forge("invented "+strconv.Itoa(i))))
	}
	require.Equal(t, 3, w.Count(issuertest.KeysPath), "many names: two in a row")
	require.Empty(t, w.verify(t, w.Token(nil)))
	w.pass(11 * time.Second)
	for range 5 {
		require.Equal(t, "Invalid token signature", w.verify(t, forge("invented")))
	}
	require.Equal(t, 4, w.Count(issuertest.KeysPath), "then once in ten seconds")
}

func TestManyAtOnceFetchOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	release := make(chan struct{})
	w.Serve(issuertest.DiscoveryPath, func(rw http.ResponseWriter, _ *http.Request) {
		<-release
		issuertest.Discovery(rw, w.URL, w.URL+issuertest.KeysPath)
	})
	var all sync.WaitGroup
	token := w.Token(nil)
	for range 100 {
		all.Go(func() {
			_, err := w.cache.Verify(t.Context(), w.by, token)
			assert.NoError(t, err)
		})
	}
	require.Eventually(t, func() bool { return w.Count(issuertest.DiscoveryPath) == 1 }, time.Minute, time.Millisecond)
	// One who leaves takes the fetch of the others along no more than it would otherwise.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.cache.Verify(gone, w.by, token)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	all.Wait()
	require.Equal(t, 1, w.Count(issuertest.DiscoveryPath))
}

func TestOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.verify(t, w.Token(nil)))
	w.Serve(issuertest.KeysPath, status(503))

	w.pass(25 * time.Hour)
	require.Empty(t, w.verify(t, w.Token(ends)), "keys serve while the issuer is away")
	asked := w.Count(issuertest.KeysPath)
	for range 20 {
		require.Empty(t, w.verify(t, w.Token(ends)))
	}
	require.Equal(t, asked, w.Count(issuertest.KeysPath), "it is left alone for a while")
	w.pass(22 * time.Hour)
	require.Empty(t, w.verify(t, w.Token(ends)))
	w.pass(2 * time.Hour)
	refused := w.refusal(t, w.Token(ends))
	require.Equal(t, "Failed to fetch JWKS", refused.Text, "a day longer, and no more")
	require.True(t, refused.Temporary)

	w.Serve(issuertest.KeysPath, nil)
	w.pass(10 * time.Minute)
	require.Eventually(t, func() bool { return w.verify(t, w.Token(ends)) == "" }, time.Minute, 10*time.Millisecond)
}

// An unknown key while the issuer is away is not known to be wrong.
func TestUnknownKeyInAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.verify(t, w.Token(nil)))
	w.Serve(issuertest.KeysPath, status(503))
	next := issuertest.NewKey("next", "RS256")
	for range 5 {
		refused := w.refusal(t, next.Sign(w.Claims(nil), nil))
		require.Equal(t, "Failed to fetch JWKS", refused.Text)
		require.True(t, refused.Temporary)
	}
	require.Equal(t, 2, w.Count(issuertest.KeysPath), "it is asked once for all of them")
	require.Empty(t, w.verify(t, w.Token(nil)))
}

func (w *world) refusal(t *testing.T, token string) *issuer.Refusal {
	t.Helper()
	_, err := w.cache.Verify(t.Context(), w.by, token)
	var refused *issuer.Refusal
	require.ErrorAs(t, err, &refused)
	return refused
}

// An issuer that never responds costs the first requests some seconds and later ones
// nothing, and the requests of others nothing at all.
func TestIssuerThatHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.verify(t, w.Token(nil)))
	end := make(chan struct{})
	t.Cleanup(func() { close(end) }) // before the issuer is closed
	w.Serve(issuertest.DiscoveryPath, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	})
	w.pass(25 * time.Hour)
	require.Empty(t, w.verify(t, w.Token(ends)))
	fresh := *w.by
	fresh.OrganizationID = 2
	_, err := w.cache.Verify(t.Context(), &fresh, w.Token(ends))
	require.ErrorContains(t, err, "Failed to fetch JWKS")
	asked := w.Count(issuertest.DiscoveryPath)
	for range 20 {
		require.Empty(t, w.verify(t, w.Token(ends)))
		_, err = w.cache.Verify(t.Context(), &fresh, w.Token(ends))
		require.ErrorContains(t, err, "Failed to fetch JWKS")
	}
	require.Equal(t, asked, w.Count(issuertest.DiscoveryPath), "nobody waits for another fetch")
}

// What an issuer says of itself leads nowhere that it should not.
func TestIssuersThatLie(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path    string
		handler func(w *world) http.HandlerFunc
		want    string
	}{
		"another name":      {issuertest.DiscoveryPath, discovery("https://evil.example", ""), "calls itself"},
		"a slash too many":  {issuertest.DiscoveryPath, func(w *world) http.HandlerFunc { return discovery(w.URL+"/", "")(w) }, "calls itself"},
		"metadata service":  {issuertest.DiscoveryPath, discovery("", "http://169.254.169.254/latest"), "cloud metadata service"},
		"a file":            {issuertest.DiscoveryPath, discovery("", "file:///etc/passwd"), "refused"},
		"no address":        {issuertest.DiscoveryPath, discovery("", "::"), "refused"},
		"a user":            {issuertest.DiscoveryPath, discovery("", "http://root:secret@127.0.0.1/"), "refused"},
		"another protocol":  {issuertest.DiscoveryPath, discovery("", "http://127.0.0.1:6379/"), "port of another protocol"},
		"redirect":          {issuertest.KeysPath, redirect("http://169.254.169.254/"), "cloud metadata service"},
		"redirect of first": {issuertest.DiscoveryPath, redirect("http://169.254.169.254/"), "cloud metadata service"},
		"redirects for ever": {issuertest.KeysPath,
			func(w *world) http.HandlerFunc { return redirect(w.URL + issuertest.KeysPath)(w) }, "cannot be fetched"},
		"huge":           {issuertest.KeysPath, huge, "longer than"},
		"huge discovery": {issuertest.DiscoveryPath, huge, "longer than"},
		"many keys":      {issuertest.KeysPath, manyKeys, "more than 100 keys"},
		"no keys": {issuertest.KeysPath, func(*world) http.HandlerFunc { return jsonHandler(object{"keys": []any{}}) },
			"no key that can be used"},
		"no JSON":      {issuertest.KeysPath, func(*world) http.HandlerFunc { return jsonHandler("hello") }, "no JSON object"},
		"not found":    {issuertest.DiscoveryPath, func(*world) http.HandlerFunc { return status(404) }, "status 404"},
		"server error": {issuertest.KeysPath, func(*world) http.HandlerFunc { return status(500) }, "status 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Serve(c.path, c.handler(w))
			_, err := issuer.NewClient(w.guard).Fetch(t.Context(), issuer.Source{URL: w.URL})
			var failed *issuer.FetchError
			require.ErrorAs(t, err, &failed)
			require.Contains(t, failed.Text, c.want)
			require.NotContains(t, failed.Text, "secret")
			require.Equal(t, "Failed to fetch JWKS", w.verify(t, w.Token(nil)))
		})
	}
}

func discovery(name, keys string) func(*world) http.HandlerFunc {
	return func(w *world) http.HandlerFunc {
		if name == "" {
			name = w.URL
		}
		return func(rw http.ResponseWriter, _ *http.Request) { issuertest.Discovery(rw, name, keys) }
	}
}

func redirect(to string) func(*world) http.HandlerFunc {
	return func(*world) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, to, http.StatusFound) }
	}
}

func huge(*world) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`{"keys":["` + strings.Repeat("x", 1<<20) + `"]}`))
	}
}

func manyKeys(w *world) http.HandlerFunc {
	keys := make([]any, 101)
	for i := range keys {
		keys[i] = w.Key().Public()
	}
	return jsonHandler(object{"keys": keys})
}

// Without leave to reach private addresses, no issuer is on this machine, and none is
// asked without TLS.
func TestPrivateIssuer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	strict, err := outbound.New(outbound.Config{})
	require.NoError(t, err)
	for _, address := range []string{w.URL, strings.Replace(w.URL, "http://", "https://", 1), "http://8.8.8.8", "https://localhost"} {
		_, err := issuer.NewClient(strict).Fetch(t.Context(), issuer.Source{URL: address})
		var failed *issuer.FetchError
		require.ErrorAs(t, err, &failed, address)
		require.Contains(t, failed.Text, "refused", address)
	}
	require.Zero(t, w.Count(issuertest.DiscoveryPath))
}

// Organizations share nothing, and one that changes its issuer begins anew.
func TestOrganizationsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.verify(t, w.Token(nil)))
	second := issuertest.New()
	t.Cleanup(second.Close)
	other := *w.by
	other.OrganizationID, other.IssuerURL = 2, second.URL
	_, err := w.cache.Verify(t.Context(), &other, w.Token(nil))
	require.ErrorContains(t, err, "Invalid issuer")
	_, err = w.cache.Verify(t.Context(), &other, w.Key().Sign(second.Claims(nil), nil))
	require.ErrorContains(t, err, "Invalid token signature")
	_, err = w.cache.Verify(t.Context(), &other, second.Token(nil))
	require.NoError(t, err)
	moved := *w.by
	moved.Settings = oidc.NewSettings().Settings
	moved.IssuerURL = second.URL
	_, err = w.cache.Verify(t.Context(), &moved, second.Token(nil))
	require.NoError(t, err)
	_, err = w.cache.Verify(t.Context(), &moved, w.Key().Sign(second.Claims(nil), nil))
	require.ErrorContains(t, err, "Invalid token signature", "the former issuer's keys are gone")
}

// An organization that changes its issuer again and again has one fetch at a time.
func TestOneFetchForEachOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	release := make(chan struct{})
	w.Serve(issuertest.DiscoveryPath, func(rw http.ResponseWriter, _ *http.Request) {
		<-release
		issuertest.Discovery(rw, w.URL, w.URL+issuertest.KeysPath)
	})
	var first sync.WaitGroup
	token := w.Token(nil)
	first.Go(func() { _, _ = w.cache.Verify(t.Context(), w.by, token) })
	require.Eventually(t, func() bool { return w.Count(issuertest.DiscoveryPath) == 1 }, time.Minute, time.Millisecond)
	for i := range 5 {
		changed := *w.by
		changed.IssuerURL, changed.ExpectedIssuer = w.URL+"/"+strconv.Itoa(i), w.URL
		_, err := w.cache.Verify(t.Context(), &changed, token)
		require.ErrorContains(t, err, "Failed to fetch JWKS")
	}
	close(release)
	first.Wait()
	require.Equal(t, 1, w.Count(issuertest.DiscoveryPath))
	require.Empty(t, w.verify(t, token))
}
