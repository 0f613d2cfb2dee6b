package auth_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

type interfaceOf = respond.Interface

func withBearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func withForm(values url.Values) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = io.NopCloser(strings.NewReader(values.Encode()))
	}
}

func withMultipart(t *testing.T, fields map[string]string) func(*http.Request) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		require.NoError(t, form.WriteField(name, value))
	}
	require.NoError(t, form.Close())
	return func(r *http.Request) {
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Body = io.NopCloser(&body)
	}
}

// TestBearer follows a token from its exchange to its three ends.
func TestBearer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorld(t, func(c *auth.Config) { c.Now = func() time.Time { return now } })
	u, api, _ := w.member(t, "dev@example.com")
	org := w.boot.Organization.ID
	issue := func() string {
		secret, expires, err := account.IssueBearer(t.Context(), w.db, w.keys, org, u.ID, now)
		require.NoError(t, err)
		require.WithinDuration(t, now.Add(time.Hour), expires, time.Second)
		return secret.Text
	}
	ask := func(token string) int {
		rec, caller := w.ask(t, v3, auth.ReadProjects, withBearer(token))
		if caller != nil {
			require.Equal(t, u.ID, caller.UserID)
			require.Zero(t, caller.KeyID)
			return 0
		}
		return rec.Code
	}
	token := issue()
	require.Zero(t, ask(token))
	for _, of := range []interfaceOf{v3, legacy, authoring} {
		rec, caller := w.ask(t, of, auth.ReadProjects, withBearer(token))
		require.NotNil(t, caller, rec.Body)
	}
	require.Equal(t, 401, ask(api), "a key is no token")
	require.Equal(t, 401, ask("nonsense"))

	// The key's end is not the token's.
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := account.RotateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{OrganizationID: org, UserID: u.ID, Kind: account.KindAPI})
		return err
	})
	require.Zero(t, ask(token))

	// Its time is.
	now = now.Add(time.Hour + time.Second)
	require.Equal(t, 401, ask(token))
	n, err := account.ForgetBearers(t.Context(), w.db, now, 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)

	// A block is, for good.
	token = issue()
	for _, change := range []func(context.Context, *storage.Tx, account.Actor, int64, int64) error{account.BlockUser, account.UnblockUser} {
		w.tx(t, func(ctx context.Context, tx *storage.Tx) error { return change(ctx, tx, account.CLI(), org, u.ID) })
		require.Equal(t, 401, ask(token))
	}

	// The end of the membership is.
	token = issue()
	require.Zero(t, ask(token))
	_, err = w.db.Exec(`delete from memberships where user_id = $1`, u.ID)
	require.NoError(t, err)
	require.Equal(t, 401, ask(token))
}

func TestFormKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, api, _ := w.member(t, "dev@example.com")
	rec, caller := w.ask(t, v3, auth.ChangeProjects, withForm(url.Values{"api_key": {api}, "name": {"x"}}))
	require.NotNil(t, caller, rec.Body)
	rec, caller = w.ask(t, v3, auth.ChangeProjects, withMultipart(t, map[string]string{"api_key": api, "name": "x"}))
	require.NotNil(t, caller, rec.Body)
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH"} {
		for kind, prepare := range map[string]func(*http.Request){"form": withForm(url.Values{"api_key": {api}}),
			"multipart": withMultipart(t, map[string]string{"api_key": api})} {
			rec, caller := w.ask(t, v3, auth.ChangeProjects, func(r *http.Request) { prepare(r); r.Method = method })
			require.NotNil(t, caller, "%s %s: %s", method, kind, rec.Body)
		}
	}
	// JSON that calls itself a form has no key, and stays whole for the handler.
	doc := `  {"api_key":"` + api + `","name":"a&b=c"}`
	var after []byte
	rec, caller = w.ask(t, v3, auth.ChangeProjects, func(r *http.Request) {
		withForm(nil)(r)
		r.Body = io.NopCloser(strings.NewReader(doc))
		t.Cleanup(func() { after, _ = io.ReadAll(r.Body); require.Equal(t, doc, string(after)) })
	})
	require.Nil(t, caller)
	require.Equal(t, 401, rec.Code)
	for name, prepare := range map[string]func(*http.Request){
		"wrong":        withForm(url.Values{"api_key": {api + "x"}}),
		"empty":        withForm(url.Values{"api_key": {""}}),
		"missing":      withForm(url.Values{"name": {"x"}}),
		"in the query": func(r *http.Request) { r.URL.RawQuery = "api_key=" + api },
	} {
		rec, caller := w.ask(t, v3, auth.ChangeProjects, prepare)
		require.Nil(t, caller, name)
		require.Equal(t, 401, rec.Code, name)
	}
	rec, _ = w.ask(t, v3, auth.ChangeProjects, func(r *http.Request) {
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		r.Body = io.NopCloser(strings.NewReader("--y"))
	})
	require.Equal(t, 400, rec.Code)
	rec, _ = w.ask(t, v3, auth.ChangeProjects, func(r *http.Request) {
		withForm(url.Values{"api_key": {api}, "name": {strings.Repeat("x", 100)}})(r)
		r.Body = http.MaxBytesReader(nil, r.Body, 50)
	})
	require.Equal(t, 413, rec.Code)
}
