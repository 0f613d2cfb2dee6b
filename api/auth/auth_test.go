package auth_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const (
	v3        = respond.InterfaceV3
	legacy    = respond.InterfaceLegacy
	authoring = respond.InterfaceAuthoring
)

func TestMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	u, api, access := w.member(t, "Dev@example.com")
	var botKey account.Secret
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		bot, err := account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{
			OrganizationID: w.boot.Organization.ID, Username: "bot", Role: account.Admin})
		if err != nil {
			return err
		}
		_, botKey, err = account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
			OrganizationID: w.boot.Organization.ID, UserID: bot.ID, Kind: account.KindAPI})
		return err
	})
	foreign, err := account.NewIssuer("eu", nil)
	require.NoError(t, err)
	euKey, err := foreign.New(account.KindAPI)
	require.NoError(t, err)
	unknown, err := w.keys.New(account.KindAPI)
	require.NoError(t, err)
	op := w.boot.Operator

	for name, tc := range map[string]struct {
		of      respond.Interface
		prepare func(*http.Request)
		status  int // 0: let through
		text    string
		user    string
	}{
		"v3 header":                  {v3, withKey(api), 0, "", u.Username},
		"v3 basic":                   {v3, withBasic("dev@EXAMPLE.com", api), 0, "", u.Username},
		"v3 basic, service account":  {v3, withBasic("bot", botKey.Text), 0, "", "bot"},
		"v3 operator":                {v3, withBasic(op.Username, op.Password), 0, "", "operator"},
		"legacy basic":               {legacy, withBasic("Dev@example.com", api), 0, "", u.Username},
		"legacy header":              {legacy, withKey(api), 0, "", u.Username},
		"authoring":                  {authoring, withBasic(u.Username, access), 0, "", u.Username},
		"authoring header":           {authoring, withKey(api), 0, "", u.Username},
		"authoring, service account": {authoring, withKey(botKey.Text), 0, "", "bot"},
		"authoring, unknown key":     {authoring, withKey(unknown.Text), 401, "invalid API key", ""},
		"authoring, another region":  {authoring, withKey(euKey.Text), 401, "region", ""},
		"authoring, mail and key":    {authoring, withBasic("Dev@example.com", api), 401, "another interface", ""},
		"authoring, operator":        {authoring, withBasic(op.Username, op.Password), 401, "another interface", ""},
		"authoring, a wrong key does not fall back": {authoring, func(r *http.Request) {
			withKey(unknown.Text)(r)
			withBasic(u.Username, access)(r)
		}, 401, "invalid API key", ""},
		"nothing":                    {v3, func(*http.Request) {}, 401, "authentication is required", ""},
		"unknown key":                {v3, withKey(unknown.Text), 401, "invalid API key", ""},
		"empty header":               {v3, withKey(""), 401, "invalid API key", ""},
		"no key at all":              {v3, withKey(strings.Repeat("x", 1<<16)), 401, "invalid API key", ""},
		"key of another region":      {v3, withKey(euKey.Text), 401, "region", ""},
		"access key as API key":      {v3, withKey(access), 401, "another interface", ""},
		"API key as access key":      {authoring, withBasic(u.Username, api), 401, "another interface", ""},
		"crash token as API key":     {v3, withKey(w.boot.Crash.Token), 401, "another interface", ""},
		"key of another address":     {v3, withBasic("owner@slipway.local", api), 401, "not of this mail address", ""},
		"service account by mail":    {v3, withBasic("dev@example.com", botKey.Text), 401, "not of this mail address", ""},
		"access key of another name": {authoring, withBasic("owner", access), 401, "not of this user name", ""},
		"mail in place of user name": {authoring, withBasic("Dev@example.com", access), 401, "not of this user name", ""},
		"operator, wrong name":       {v3, withBasic("root", op.Password), 401, "invalid operator", ""},
		"operator, hostile name":     {v3, withBasic("a\x00\xff", op.Password), 401, "invalid operator", ""},
		"operator in legacy":         {legacy, withBasic(op.Username, op.Password), 401, "another interface", ""},
		"access key in the header":   {authoring, withKey(access), 401, "another interface", ""},
		"broken basic":               {v3, func(r *http.Request) { r.Header.Set("Authorization", "Basic !") }, 401, "cannot be read", ""},
		"other scheme": {v3, func(r *http.Request) { r.Header.Set("Authorization", "Digest x") }, 401,
			"authentication is required", ""},
		"a wrong key does not fall back": {v3, func(r *http.Request) {
			withKey(unknown.Text)(r)
			withBasic("dev@example.com", api)(r)
		}, 401, "invalid API key", ""},
		"foreign page": {v3, func(r *http.Request) {
			withBasic(op.Username, op.Password)(r)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403, "another origin", ""},
		"foreign origin": {v3, func(r *http.Request) {
			withBasic("dev@example.com", api)(r)
			r.Header.Set("Origin", "https://evil.test")
		}, 403, "another origin", ""},
		"own page": {v3, func(r *http.Request) {
			withBasic(op.Username, op.Password)(r)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, 0, "", "operator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, caller := w.ask(t, tc.of, auth.ReadTasks, tc.prepare)
			if tc.status != 0 {
				require.Nil(t, caller)
				require.Equal(t, tc.status, rec.Code)
				require.Contains(t, rec.Body.String(), tc.text)
				require.NotContains(t, rec.Body.String(), "slp_")
				return
			}
			require.NotNil(t, caller, rec.Body.String())
			require.Equal(t, tc.user, caller.Username)
			if !caller.Operator {
				require.Equal(t, w.boot.Organization.ID, caller.OrganizationID)
				require.Equal(t, w.boot.Organization.UUID, caller.OrganizationUUID)
			}
		})
	}
}

func TestBlockedAndDemoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	org := w.boot.Organization.ID
	u, api, access := w.member(t, "dev@example.com")
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return account.SetRole(ctx, tx, account.CLI(), org, u.ID, account.Tester)
	})
	rec, caller := w.ask(t, v3, auth.ReadTasks, withKey(api))
	require.Nil(t, caller)
	require.Equal(t, 403, rec.Code)
	require.JSONEq(t, `{"error":"a tester has no access to this interface"}`, rec.Body.String())
	rec, _ = w.ask(t, legacy, auth.ReadTasks, withBasic("dev@example.com", api))
	require.Equal(t, 403, rec.Code)
	require.Contains(t, rec.Body.String(), `"code":133`)
	rec, _ = w.ask(t, authoring, auth.ReadTasks, withBasic(u.Username, access))
	require.Equal(t, 403, rec.Code)

	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return account.SetRole(ctx, tx, account.CLI(), org, u.ID, account.Admin)
	})
	_, caller = w.ask(t, v3, auth.PurgeCrashes, withKey(api))
	require.NotNil(t, caller)
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return account.BlockUser(ctx, tx, account.CLI(), org, u.ID)
	})
	rec, caller = w.ask(t, v3, auth.ReadTasks, withKey(api))
	require.Nil(t, caller)
	require.Equal(t, 403, rec.Code)
	require.Contains(t, rec.Body.String(), "blocked")
}

func TestHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, api, _ := w.member(t, "dev@example.com")
	for host, through := range map[string]bool{
		"main.slipway.test": true, "MAIN.slipway.test.:8080": true, "main.slipway.test:443": true,
		"other.slipway.test": false, "nobody.slipway.test:8080": false,
		"slipway.test": true, "www.slipway.test": true, "www.slipway.test:9": true, "a.b.slipway.test": true,
		"127.0.0.1:8080": true, "[::1]:8080": true, "otherslipway.test": true,
	} {
		rec, caller := w.ask(t, v3, auth.ReadTasks, func(r *http.Request) { withKey(api)(r); r.Host = host })
		require.Equal(t, through, caller != nil, host)
		if !through {
			require.Equal(t, 403, rec.Code)
			require.Contains(t, rec.Body.String(), "another organization")
		}
		_, caller = w.ask(t, v3, auth.ReadTasks, func(r *http.Request) {
			withBasic(w.boot.Operator.Username, w.boot.Operator.Password)(r)
			r.Host = host
		})
		require.NotNil(t, caller, "operators may use any host")
	}
}

func TestLastUseIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, api, _ := w.member(t, "dev@example.com")
	used := func() *time.Time {
		var at *time.Time
		require.NoError(t, w.db.GetContext(t.Context(), &at, `select last_used_at from api_keys where digest = $1`, digest(api)))
		return at
	}
	require.Nil(t, used())
	_, caller := w.ask(t, v3, auth.ReadTasks, withKey(api))
	require.NotNil(t, caller)
	first := used()
	require.NotNil(t, first)
	w.ask(t, v3, auth.ReadTasks, withKey(api))
	require.Equal(t, first, used(), "once in some minutes")
}

func digest(text string) []byte { d := account.DigestOf(text); return d[:] }

func TestOnlyFailuresAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := newWorld(t, func(cfg *auth.Config) {
		cfg.FailuresPerMinute = 3
		cfg.Now = func() time.Time { return now }
	})
	_, api, _ := w.member(t, "dev@example.com")
	from := func(addr, key string) func(*http.Request) {
		return func(r *http.Request) { withKey(key)(r); r.RemoteAddr = addr }
	}
	for range 20 {
		_, caller := w.ask(t, v3, auth.ReadTasks, from("192.0.2.1:1", api))
		require.NotNil(t, caller, "right keys cost nothing")
	}
	for i, want := range []int{401, 401, 401, 429, 429} {
		rec, _ := w.ask(t, v3, auth.ReadTasks, from("192.0.2.1:1", "wrong"))
		require.Equal(t, want, rec.Code, "failure %d", i)
		if want == 429 {
			require.NotEmpty(t, rec.Header().Get("Retry-After"))
		}
	}
	_, caller := w.ask(t, v3, auth.ReadTasks, from("192.0.2.1:1", api))
	require.NotNil(t, caller, "the right key behind the same address still passes")
	rec, _ := w.ask(t, v3, auth.ReadTasks, from("192.0.2.2:1", "wrong"))
	require.Equal(t, 401, rec.Code, "another address is not touched")
	now = now.Add(20 * time.Second)
	rec, _ = w.ask(t, v3, auth.ReadTasks, from("192.0.2.1:1", "wrong"))
	require.Equal(t, 401, rec.Code, "three a minute is one in 20 s")
}

func TestDatabaseAwayIsNoRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, api, _ := w.member(t, "dev@example.com")
	away, err := storage.Open(storage.Config{URL: "postgres://x:y@127.0.0.1:1/none"})
	require.NoError(t, err)
	defer away.Close()
	w.auth, err = auth.New(auth.Config{DB: away, Region: "local", FailuresPerMinute: 1})
	require.NoError(t, err)
	for range 3 {
		rec, caller := w.ask(t, v3, auth.ReadTasks, withKey(api))
		require.Nil(t, caller)
		require.Equal(t, 503, rec.Code)
	}
}
