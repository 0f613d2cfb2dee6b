package issuer_test

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	"github.com/slipway-qa/slipway/storage/oidc"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")); code == 0 && err != nil {
		os.Stderr.WriteString(err.Error())
		code = 1
	}
	os.Exit(code)
}

type object = map[string]any

// world is an issuer, a configuration that trusts it, and a cache.
type world struct {
	*issuertest.Issuer
	by    *oidc.Configuration
	cache *issuer.Cache
	guard *outbound.Guard
	now   atomic.Int64 // nanoseconds since 1970
}

// pass moves the clock.
func (w *world) pass(d time.Duration) { w.now.Add(int64(d)) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Issuer: issuertest.New()}
	w.now.Store(time.Now().UnixNano())
	var err error
	w.guard, err = outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	t.Cleanup(func() { w.guard.CloseIdleConnections(); w.Close() })
	w.cache = issuer.NewCache(issuer.Config{Client: issuer.NewClient(w.guard), Now: func() time.Time { return time.Unix(0, w.now.Load()) }})
	settings := oidc.NewSettings().Settings
	settings.IssuerURL, settings.Audience = w.URL, "slipway"
	w.by = &oidc.Configuration{OrganizationID: 1, Settings: settings}
	return w
}

// verify returns the text of the refusal, "" for a token that is accepted.
func (w *world) verify(t *testing.T, token string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	_, err := w.cache.Verify(ctx, w.by, token)
	if err == nil {
		return ""
	}
	var refused *issuer.Refusal
	require.ErrorAs(t, err, &refused)
	require.NotContains(t, err.Error(), token)
	return refused.Text
}

func TestClaims(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		change object
		by     func(*oidc.Configuration)
		want   string
	}{
		"as it should be":     {},
		"other issuer":        {change: object{"iss": "https://evil.example"}, want: "Invalid issuer"},
		"issuer with a slash": {change: object{"iss": "ISSUER/"}, want: "Invalid issuer"},
		"no issuer":           {change: object{"iss": nil}, want: "Invalid issuer"},
		"issuer is a number":  {change: object{"iss": 1}, want: "Invalid token: iss must be a text"},
		"expected issuer": {change: object{"iss": "http://fs/trust"},
			by: func(o *oidc.Configuration) { o.ExpectedIssuer = "http://fs/trust" }},
		"not the expected issuer": {by: func(o *oidc.Configuration) { o.ExpectedIssuer = "http://fs/trust" }, want: "Invalid issuer"},
		"other audience":          {change: object{"aud": "other"}, want: "Invalid audience"},
		"no audience":             {change: object{"aud": nil}, want: "Invalid audience"},
		"one of the audiences":    {change: object{"aud": []string{"other", "slipway"}}},
		"a part of the audience":  {change: object{"aud": "slip"}, want: "Invalid audience"},
		"audience not checked":    {change: object{"aud": "other"}, by: func(o *oidc.Configuration) { o.Audience = "" }},
		"expired":                 {change: object{"exp": now - 3600}, want: "Token has expired"},
		"expired within the skew": {change: object{"exp": now - 30}},
		"expired, no skew": {change: object{"exp": now - 30}, by: func(o *oidc.Configuration) { o.ClockSkewSeconds = 0 },
			want: "Token has expired"},
		"no end":                 {change: object{"exp": nil}, want: "Invalid token: it has no exp"},
		"end is a text":          {change: object{"exp": "tomorrow"}, want: "Invalid token: exp must be a number of seconds"},
		"end without end":        {change: object{"exp": 1e18}, want: "Invalid token: exp must be a number of seconds"},
		"end is negative":        {change: object{"exp": -5}, want: "Invalid token: exp must be a number of seconds"},
		"end with a fraction":    {change: object{"exp": float64(now) + 10.5}},
		"not yet valid":          {change: object{"nbf": now + 600}, want: "Token is not valid yet"},
		"from the future":        {change: object{"iat": now + 600}, want: "Token is not valid yet"},
		"nearly valid":           {change: object{"nbf": now + 30, "iat": now + 30}},
		"scope":                  {change: object{"scope": "read builds:write"}, by: scopes("builds:write", "admin")},
		"scope as scp":           {change: object{"scp": []string{"builds:write"}}, by: scopes("builds:write")},
		"other scope":            {change: object{"scope": "builds:writer read"}, by: scopes("builds:write"), want: "Missing required scope"},
		"no scope":               {by: scopes("builds:write"), want: "Missing required scope"},
		"claim":                  {by: claims("repository", "acme/app")},
		"claim by pattern":       {by: claims("ref", "refs/tags/*", "refs/heads/ma*")},
		"claim by inner pattern": {by: claims("sub", "repo:acme/*:ref:*/main")},
		"other claim":            {by: claims("repository", "acme/ap", "acme/app2"), want: "Missing required claim: repository"},
		"claim of another case":  {by: claims("repository", "Acme/App"), want: "Missing required claim: repository"},
		"no such claim":          {by: claims("environment", "*"), want: "Missing required claim: environment"},
		"claim of a list":        {change: object{"groups": []any{"a", "ci"}}, by: claims("groups", "ci")},
		"claim is a number":      {change: object{"repository_id": 123456789012}, by: claims("repository_id", "123456789012")},
		"claim is true":          {change: object{"protected": true}, by: claims("protected", "true")},
		"claim is an object": {change: object{"repository": object{"name": "acme/app"}}, by: claims("repository", "*"),
			want: "Missing required claim: repository"},
		"claim is nested in arrays": {change: object{"repository": []any{[]any{"acme/app"}}}, by: claims("repository", "*"),
			want: "Missing required claim: repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			change := maps.Clone(c.change)
			if change["iss"] == "ISSUER/" {
				change["iss"] = w.URL + "/"
			}
			if c.by != nil {
				c.by(w.by)
			}
			require.Equal(t, c.want, w.verify(t, w.Token(change)))
		})
	}
}

func scopes(names ...string) func(*oidc.Configuration) {
	return func(o *oidc.Configuration) { o.RequiredScopes = names }
}

func claims(name string, patterns ...string) func(*oidc.Configuration) {
	return func(o *oidc.Configuration) { o.RequiredClaims = map[string][]string{name: patterns} }
}

// part encodes one part of a token.
func part(v any) string {
	text, _ := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(text)
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, curve := issuertest.NewKey("first", "RS256"), issuertest.NewKey("curve", "ES256")
	w.SetKeys(w.Key(), curve)
	good := w.Token(nil)
	payload := strings.Split(good, ".")[1]
	// The published key as the secret of HS256: who checks the algorithm by the key alone
	// accepts it.
	public := w.Key().Public()
	secret, err := public.MarshalJSON()
	require.NoError(t, err)
	symmetric, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret},
		&jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"kid": "first"}})
	require.NoError(t, err)
	claims, err := json.Marshal(w.Claims(nil))
	require.NoError(t, err)
	signed, err := symmetric.Sign(claims)
	require.NoError(t, err)
	forged, err := signed.CompactSerialize()
	require.NoError(t, err)
	embedded := other.Public()
	unpublished := issuertest.NewKey("unpublished", "ES256")
	for name, c := range map[string]struct{ token, want string }{
		"alg none": {part(object{"alg": "none"}) + "." + payload + ".", "Unsupported algorithm"},
		"alg None, signed": {part(object{"alg": "None", "kid": "first"}) + "." + payload + "." + strings.Split(good, ".")[2],
			"Unsupported algorithm"},
		"no alg":               {part(object{"kid": "first"}) + "." + payload + ".", "Unsupported algorithm"},
		"HS256, public key":    {forged, "Unsupported algorithm"},
		"not allowed":          {curve.Sign(w.Claims(nil), nil), "Unsupported algorithm"},
		"other key, same name": {other.Sign(w.Claims(nil), nil), "Invalid token signature"},
		"key in the header":    {other.Sign(w.Claims(nil), map[jose.HeaderKey]any{"jwk": &embedded}), "Invalid token signature"},
		"address in the header": {other.Sign(w.Claims(nil), map[jose.HeaderKey]any{"jku": "https://evil.example/keys"}),
			"Invalid token signature"},
		"changed": {strings.Replace(good, payload, part(w.Claims(object{"sub": "repo:evil/app"})), 1), "Invalid token signature"},
		"no signature": {strings.TrimRight(good[:strings.LastIndex(good, ".")+1], "."),
			"Invalid token: it is no signed JSON Web Token"},
		"empty signature": {good[:strings.LastIndex(good, ".")+1], "Invalid token signature"},
		"name of a file":  {other.Sign(w.Claims(nil), map[jose.HeaderKey]any{"kid": "../../etc/passwd"}), "Invalid token signature"},
		"long name": {other.Sign(w.Claims(nil), map[jose.HeaderKey]any{"kid": strings.Repeat("k", 600)}),
			"Invalid token: its header asks for what is not supported"},
		"critical": {part(object{"alg": "RS256", "kid": "first", "crit": []string{"b64"}, "b64": false}) +
			"." + payload + ".AAAA", "Invalid token: its header asks for what is not supported"},
		"no token":          {"hello", "Invalid token: it is no signed JSON Web Token"},
		"encrypted":         {good + ".x.y", "Invalid token: it is no signed JSON Web Token"},
		"header is no JSON": {"eyJ.." + payload, "Invalid token: its header cannot be read"},
		"two algorithms": {base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","alg":"none"}`)) + "." +
			payload + ".", "Invalid token: its header cannot be read"},
		"a claim twice": {w.Key().SignText([]byte(`{"iss":"`+w.URL+`","aud":"slipway","aud":"x","exp":99999999999}`),
			nil), "Invalid token: its claims cannot be read"},
		"claims are a list":       {w.Key().SignText([]byte(`[1]`), nil), "Invalid token: its claims cannot be read"},
		"claims are null":         {w.Key().SignText([]byte(`null`), nil), "Invalid token: its claims cannot be read"},
		"a number without bounds": {w.Key().SignText([]byte(`{"exp":1e999}`), nil), "Invalid token: its claims cannot be read"},
		"deep": {w.Key().SignText([]byte(`{"iss":"`+w.URL+`","exp":99999999999,"aud":`+
			strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`), nil), "Invalid audience"},
		"long":         {w.Token(object{"x": strings.Repeat("y", issuer.MaxToken)}), "Invalid token: it is longer than 16384 bytes"},
		"one megabyte": {strings.Repeat("e", 1<<20), "Invalid token: it is longer than 16384 bytes"},
		"good":         {good, ""},
		"good again":   {good, ""},
	} {
		require.Equal(t, c.want, w.verify(t, c.token), name)
	}
	w.by.AllowedAlgorithms = []string{"ES256", "RS512"}
	require.Equal(t, "Unsupported algorithm", w.verify(t, good))
	require.Empty(t, w.verify(t, curve.Sign(w.Claims(nil), nil)))
	require.Equal(t, "Invalid token signature", w.verify(t, unpublished.Sign(w.Claims(nil), map[jose.HeaderKey]any{"kid": "curve"})))
	// A key that is published for one algorithm signs with another.
	as := &issuertest.Key{ID: "first", Algorithm: "RS512", Private: w.Key().Private}
	require.Equal(t, "Invalid token signature", w.verify(t, as.Sign(w.Claims(nil), nil)))
	// A configuration in the database that allows what it must not is none that verifies.
	w.by.AllowedAlgorithms = []string{"HS256", "none"}
	require.Equal(t, "Unsupported algorithm", w.verify(t, forged))
}

// Keys that no issuer should have are not used, whatever their names.
func TestKeysThatAreNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wrongCurve := issuertest.NewKey("p384", "ES384")
	encryption := w.Key().Public()
	encryption.Use = "enc"
	set := object{"keys": []any{
		object{"kty": "oct", "k": "c2VjcmV0", "kid": "first"},
		object{"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "small"},
		object{"kty": "EC", "crv": "P-256", "x": "AQAB", "y": "AQAB", "kid": "off the curve"},
		object{"kty": "RSA", "n": 5, "e": "AQAB"}, 7, "text", nil, object{}, wrongCurve.Public(), encryption,
	}}
	w.Serve(issuertest.KeysPath, jsonHandler(set))
	require.Equal(t, "Failed to fetch JWKS", w.verify(t, w.Token(nil)), "no key of them is for a signature")
	_, err := issuer.NewClient(w.guard).Fetch(t.Context(), issuer.Source{URL: w.URL})
	require.ErrorContains(t, err, "no key that can be used")
	// The set of an issuer that publishes its private key serves as well.
	private := w.Key().Private.(*rsa.PrivateKey)
	w = newWorld(t)
	w.Serve(issuertest.KeysPath, jsonHandler(object{"keys": []any{jose.JSONWebKey{Key: private, KeyID: "first"}, wrongCurve.Public()}}))
	key := &issuertest.Key{ID: "first", Algorithm: "RS256", Private: private}
	require.Empty(t, w.verify(t, key.Sign(w.Claims(nil), nil)))
	w.by.AllowedAlgorithms = []string{"ES256"}
	forged := part(object{"alg": "ES256", "kid": "p384"}) + "." + strings.Join(strings.Split(wrongCurve.Sign(w.Claims(nil), nil),
		".")[1:], ".")
	require.Equal(t, "Invalid token signature", w.verify(t, forged))
}

// A token without the name of a key is tried with all that are for its algorithm.
func TestTokenWithoutKid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unnamed := map[jose.HeaderKey]any{"kid": nil}
	first, second := w.Key(), issuertest.NewKey("second", "RS256")
	require.Empty(t, w.verify(t, first.Sign(w.Claims(nil), unnamed)))
	w.SetKeys(first, second)
	require.Empty(t, w.verify(t, second.Sign(w.Claims(nil), unnamed)), "the key is new")
	require.Empty(t, w.verify(t, first.Sign(w.Claims(nil), unnamed)))
	require.Equal(t, "Invalid token signature", w.verify(t, issuertest.NewKey("third", "RS256").Sign(w.Claims(nil), unnamed)))
}

func TestLooksLike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.True(t, issuer.LooksLike(w.Token(nil)))
	for _, text := range []string{"", "eyJ", "slp_local_tok_abc", "a.b.c"} {
		require.False(t, issuer.LooksLike(text), text)
	}
}

func TestShownClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, err := w.cache.Verify(t.Context(), w.by, w.Token(object{"sub": "a\nb\x00\u202e" + strings.Repeat("é", 500),
		"run_id": 5, "secret": "x"}))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(got.Label(), "oidc:a_b__é"), got.Label())
	require.LessOrEqual(t, len([]rune(got.Label())), 210)
	require.Equal(t, "acme/app", got.Shown()["repository"])
	require.Equal(t, "5", got.Shown()["run_id"])
	require.NotContains(t, got.Shown(), "secret")
	got, err = w.cache.Verify(t.Context(), w.by, w.Token(object{"sub": nil}))
	require.NoError(t, err)
	require.Equal(t, "oidc", got.Label())
}
