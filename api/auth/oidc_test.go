package auth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/oidc"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// oidcWorld is an organization that trusts an issuer.
type oidcWorld struct {
	*world
	*issuertest.Issuer
	key string // of the configuration
}

func newOIDCWorld(t *testing.T) *oidcWorld {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	w := &oidcWorld{Issuer: issuertest.New(), world: newWorld(t, func(c *auth.Config) { c.Guard = guard })}
	t.Cleanup(w.Close)
	w.save(t, func(c *oidc.Change) { c.IssuerURL, c.Audience = w.URL, "slipway" })
	return w
}

// save changes the configuration, or creates it.
func (w *oidcWorld) save(t *testing.T, change func(*oidc.Change)) *oidc.Configuration {
	t.Helper()
	var saved *oidc.Configuration
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		o, secret, err := oidc.Save(ctx, tx, account.CLI(), w.keys, w.boot.Organization.ID, func(c *oidc.Change) error {
			change(c)
			return nil
		})
		if secret != nil {
			w.key = secret.Text
		}
		saved = o
		return err
	})
	return saved
}

func withOIDC(key, token string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("X-OIDC-Config-Key", key)
		r.Header.Set("Authorization", "Bearer "+token)
	}
}

func all(prepare ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		for _, p := range prepare {
			p(r)
		}
	}
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	for _, of := range []interfaceOf{v3, legacy, authoring} {
		rec, caller := w.ask(t, of, auth.UploadBuilds, withOIDC(w.key, w.Token(nil)))
		require.NotNil(t, caller, rec.Body)
		require.Equal(t, w.boot.Organization.ID, caller.OrganizationID)
		require.True(t, caller.Service)
		require.Equal(t, account.Member, caller.Role)
		require.NotZero(t, caller.UserID)
		require.Zero(t, caller.KeyID)
		require.Equal(t, "oidc:repo:acme/app:ref:refs/heads/main", caller.Label())
		require.Len(t, caller.Teams, 1, "every team")
		require.Equal(t, []int64{w.boot.Team.ID}, caller.Writer(account.Actor{}).Teams)
	}
	// A token is good for as many requests as a job makes.
	token := w.Token(nil)
	for range 3 {
		_, caller := w.ask(t, v3, auth.ReadBuilds, withOIDC(w.key, token))
		require.NotNil(t, caller)
	}
	// What takes an admin is refused until the service account is one.
	rec, caller := w.ask(t, v3, auth.ManageGroups, withOIDC(w.key, token))
	require.Nil(t, caller)
	require.Equal(t, 403, rec.Code)
	w.save(t, func(c *oidc.Change) { c.Role = account.Admin })
	_, caller = w.ask(t, v3, auth.ManageGroups, withOIDC(w.key, token))
	require.NotNil(t, caller)
	// Its block refuses all.
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return account.BlockUser(ctx, tx, account.CLI(), w.boot.Organization.ID, caller.UserID)
	})
	rec, caller = w.ask(t, v3, auth.ReadBuilds, withOIDC(w.key, token))
	require.Nil(t, caller)
	require.Equal(t, 403, rec.Code)
}

func TestOIDCRefusals(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	_, api, access := w.member(t, "dev@example.com")
	token := w.Token(nil)
	invented := "oidc_" + strings.Repeat("0", 48)
	for name, c := range map[string]struct {
		prepare func(*http.Request)
		want    string
	}{
		"no header":             {withBearer(token), "X-OIDC-Config-Key header required"},
		"invented key":          {withOIDC(invented, token), "Invalid config key"},
		"empty key":             {withOIDC("", token), "Invalid config key"},
		"API key as config key": {withOIDC(api, token), "Invalid config key"},
		"two config keys": {all(withOIDC(w.key, token), func(r *http.Request) { r.Header.Add("X-OIDC-Config-Key", w.key) }),
			"Invalid config key"},
		"long key": {withOIDC(strings.Repeat("o", 1<<20), token), "Invalid config key"},
		"no token": {func(r *http.Request) { r.Header.Set("X-OIDC-Config-Key", w.key) },
			"Authorization header with a Bearer token required"},
		"expired":        {withOIDC(w.key, w.Token(map[string]any{"exp": 1000})), "Token has expired"},
		"wrong audience": {withOIDC(w.key, w.Token(map[string]any{"aud": "x"})), "Invalid audience"},
		// No other way in beside it.
		"with an API key":  {all(withOIDC(invented, token), withKey(api)), "Invalid config key"},
		"API key as token": {withOIDC(w.key, api), "Invalid token: "},
		"Basic": {func(r *http.Request) {
			r.Header.Set("X-OIDC-Config-Key", w.key)
			r.SetBasicAuth("dev@example.com", api)
		}, "Authorization header with a Bearer token required"},
		"an API key in the form": {all(withOIDC(w.key, "x"), withForm(url.Values{"api_key": {api}})), "Invalid token: "},
		"header with another case": {func(r *http.Request) {
			r.Header.Set("x-oidc-config-key", invented)
			r.Header.Set("X-API-Key",
				api)
		}, "Invalid config key"},
	} {
		for _, of := range []interfaceOf{v3, legacy, authoring} {
			rec, caller := w.ask(t, of, auth.ReadProjects, c.prepare)
			require.Nil(t, caller, name)
			require.Equal(t, 401, rec.Code, name)
			require.Contains(t, rec.Body.String(), c.want, name)
			var body map[string]any
			require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &body))
			switch of {
			case legacy:
				require.EqualValues(t, 5, body["code"])
			case authoring:
				require.Equal(t, "UNAUTHORIZED", body["error"].(map[string]any)["code"])
			}
		}
	}
	rec, caller := w.ask(t, authoring, auth.ReadTests, all(withBasic("dev", access),
		func(r *http.Request) { r.Header.Set("X-OIDC-Config-Key", w.key) }))
	require.Nil(t, caller, "an access key beside it is not looked at")
	require.Equal(t, 401, rec.Code)

	w.save(t, func(c *oidc.Change) { c.Enabled = false })
	rec, _ = w.ask(t, v3, auth.ReadProjects, withOIDC(w.key, token))
	require.Equal(t, 401, rec.Code)
	require.Contains(t, rec.Body.String(), "OIDC not enabled for this organization")
	w.save(t, func(c *oidc.Change) { c.Enabled = true })
	w.SetKeys(issuertest.NewKey("first", "RS256"))
	rec, _ = w.ask(t, v3, auth.ReadProjects, withOIDC(w.key, w.Token(nil)))
	require.Contains(t, rec.Body.String(), "Invalid token signature")
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return oidc.Delete(ctx, tx, account.CLI(), w.boot.Organization.ID)
	})
	rec, _ = w.ask(t, v3, auth.ReadProjects, withOIDC(w.key, token))
	require.Contains(t, rec.Body.String(), "Invalid config key")
}

// While the issuer is away, the answer says that it is not the token's fault.
func TestOIDCIssuerAway(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	w.Serve(issuertest.DiscoveryPath, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(502) })
	rec, caller := w.ask(t, v3, auth.ReadProjects, withOIDC(w.key, w.Token(nil)))
	require.Nil(t, caller)
	require.Equal(t, 503, rec.Code)
	require.JSONEq(t, `{"error":"Failed to fetch JWKS"}`, rec.Body.String())
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
	second := newOIDCWorld(t)
	second.Serve(issuertest.DiscoveryPath, func(rw http.ResponseWriter, _ *http.Request) {
		issuertest.Discovery(rw, second.URL, "http://169.254.169.254/")
	})
	rec, _ = second.ask(t, v3, auth.ReadProjects, withOIDC(second.key, second.Token(nil)))
	require.Equal(t, 401, rec.Code, "one that lies stays as it is")
	require.Contains(t, rec.Body.String(), "Failed to fetch JWKS")
}

func TestOIDCOnly(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	u, api, access := w.member(t, "dev@example.com")
	bearer, _, err := account.IssueBearer(t.Context(), w.db, w.keys, w.boot.Organization.ID, u.ID, time.Now())
	require.NoError(t, err)
	ownBearer, _, err := account.IssueBearer(t.Context(), w.db, w.keys, w.boot.Organization.ID, w.ownerID(t), time.Now())
	require.NoError(t, err)
	owner := w.boot.Owner.APIKey
	ways := map[string]func(*http.Request){"key": withKey(api), "Basic": withBasic("dev@example.com", api), "token": withBearer(bearer.Text),
		"owner": withKey(owner), "form": withForm(url.Values{"api_key": {api}})}
	for name, prepare := range ways {
		_, caller := w.ask(t, v3, auth.ReadProjects, prepare)
		require.NotNil(t, caller, name)
	}
	w.save(t, func(c *oidc.Change) { c.Mode = oidc.Only })
	for name, prepare := range ways {
		rec, caller := w.ask(t, v3, auth.ReadProjects, prepare)
		require.Nil(t, caller, name)
		require.Equal(t, 401, rec.Code, name)
		require.Contains(t, rec.Body.String(), "OIDC tokens only", name)
	}
	rec, caller := w.ask(t, legacy, auth.ReadProjects, withBasic("dev@example.com", api))
	require.Nil(t, caller)
	require.Equal(t, 401, rec.Code)
	_, caller = w.ask(t, legacy, auth.ReadProjects, withOIDC(w.key, w.Token(nil)))
	require.NotNil(t, caller)
	for name, prepare := range map[string]func(*http.Request){"key": withKey(api), "token": withBearer(bearer.Text), "owner": withKey(owner)} {
		rec, caller := w.ask(t, authoring, auth.ReadTests, prepare)
		require.Nil(t, caller, name)
		require.Equal(t, 401, rec.Code, name)
		require.Contains(t, rec.Body.String(), "OIDC tokens only", name)
	}
	_, caller = w.ask(t, authoring, auth.RunTests, withOIDC(w.key, w.Token(nil)))
	require.NotNil(t, caller)
	require.True(t, caller.Service)

	// An owner's key keeps the configuration, so that a mistake locks nobody out; nobody
	// else's does, and no token.
	_, caller = w.ask(t, v3, auth.ManageOIDC, withKey(owner))
	require.NotNil(t, caller)
	_, caller = w.ask(t, v3, auth.ManageOIDC, withBasic(w.boot.Owner.Email, owner))
	require.NotNil(t, caller)
	for name, prepare := range map[string]func(*http.Request){"member": withKey(api), "owner's token": withBearer(ownBearer.Text)} {
		rec, caller = w.ask(t, v3, auth.ManageOIDC, prepare)
		require.Nil(t, caller, name)
		require.Equal(t, 401, rec.Code, name)
	}
	// Operators and access keys are not concerned.
	_, caller = w.ask(t, v3, auth.ReadQueues, withBasic(w.boot.Operator.Username, w.boot.Operator.Password))
	require.NotNil(t, caller)
	_, caller = w.ask(t, authoring, auth.ReadTests, withBasic("dev", access))
	require.NotNil(t, caller)

	w.save(t, func(c *oidc.Change) { c.Enabled = false })
	_, caller = w.ask(t, v3, auth.ReadProjects, withKey(api))
	require.NotNil(t, caller, "a configuration that is not in force refuses nobody")
}

func (w *oidcWorld) ownerID(t *testing.T) int64 {
	t.Helper()
	m, err := account.MemberByLogin(t.Context(), w.db, w.boot.Organization.ID, w.boot.Owner.Email)
	require.NoError(t, err)
	return m.ID
}

// A configuration key works on the hosts where an API key of the organization does.
func TestOIDCHosts(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	for host, want := range map[string]int{"127.0.0.1": 0, w.boot.Organization.Slug + ".slipway.test": 0, "www.slipway.test": 0,
		"other.slipway.test": 403} {
		rec, caller := w.ask(t, v3, auth.ReadProjects, all(withOIDC(w.key, w.Token(nil)), func(r *http.Request) { r.Host = host }))
		require.Equal(t, want == 0, caller != nil, "%s: %s", host, rec.Body)
		if want != 0 {
			require.Equal(t, want, rec.Code, host)
		}
	}
}

// The service account works in the teams that the configuration has, all or some.
func TestOIDCTeams(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	var second *account.Team
	w.tx(t, func(ctx context.Context, tx *storage.Tx) (err error) {
		second, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.boot.Organization.ID, Name: "Second"})
		return err
	})
	teams := func() (ids []int64) {
		rec, caller := w.ask(t, v3, auth.UploadBuilds, withOIDC(w.key, w.Token(nil)))
		require.NotNil(t, caller, rec.Body)
		return caller.Writer(account.Actor{}).Teams
	}
	require.Equal(t, []int64{w.boot.Team.ID, second.ID}, teams(), "new ones too")
	w.save(t, func(c *oidc.Change) { c.AllTeams, c.TeamIDs = false, []int64{second.ID, second.ID} })
	require.Equal(t, []int64{second.ID}, teams())
	_, err := w.db.Exec(`delete from teams where id = $1`, second.ID)
	require.NoError(t, err)
	require.Empty(t, teams(), "the end of its team opens no other")
}

// The audit log shows whose token it was.
func TestOIDCAuditActor(t *testing.T) {
	t.Parallel()
	w := newOIDCWorld(t)
	_, caller := w.ask(t, v3, auth.UploadBuilds, withOIDC(w.key, w.Token(map[string]any{"sub": "repo:acme/app\n\x00evil", "run_id": "77"})))
	require.NotNil(t, caller)
	actor := account.Actor{UserID: caller.UserID, Name: caller.Label(), Claims: caller.Token.Shown()}
	for _, detail := range []any{nil, map[string]any{"id": 1}} {
		w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
			return account.Audit(ctx, tx, account.Event{OrganizationID: w.boot.Organization.ID, Type: account.TeamCreated,
				Actor: actor, Detail: detail})
		})
		rows, err := account.AuditEvents(t.Context(), w.db, w.boot.Organization.ID, storage.Page{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, "oidc:repo:acme/app__evil", rows[0].Actor)
		var stored struct {
			OIDC map[string]string
			ID   int
		}
		require.NoError(t, json.Unmarshal(rows[0].Detail, &stored))
		require.Equal(t, "77", stored.OIDC["run_id"])
		require.Equal(t, w.URL, stored.OIDC["iss"])
		require.Equal(t, detail != nil, stored.ID == 1)
	}
}
