package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

var shownSecret = regexp.MustCompile(`<span class="copy"><code>([^<]{20,})</code>`)

// secret is the one that a page shows.
func (p *page) secret(t *testing.T) string {
	t.Helper()
	found := shownSecret.FindStringSubmatch(p.text)
	require.NotNil(t, found, "%s shows no secret: %.1500s", p.path, p.main())
	require.NotContains(t, p.path, found[1])
	return found[1]
}

func TestConsoleSettings(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)

	t.Run("members", func(t *testing.T) {
		w.t = t
		username, key := w.member("mia", account.Member)
		p := c.shows("/console/settings/members", "mia@example.com", "owner", w.boot.Owner.Email)
		require.Contains(t, p.text, "/console/settings/members\" aria-current")
		p = c.shows("/console/settings/members?role=member", "mia@example.com")
		require.NotContains(t, p.main(), w.boot.Owner.Email)
		c.shows("/console/settings/members?search=nobody-is-called-so", "No member fits these filters")
		require.Equal(t, http.StatusBadRequest, c.open("/console/settings/members?role=king").status)
		mia := w.console(username, key)
		require.Equal(t, http.StatusForbidden, mia.open("/console/settings/members").status)
		at := "/console/settings/members/" + w.one(`select id::text from users where username = $1`, username)
		c.does(c.shows(at, "mia@example.com"), "/role", url.Values{"role": {"admin"}}, "The role was changed.")
		require.Equal(t, "admin", w.one(`select m.role from memberships m join users u on u.id = m.user_id where u.username = $1`, username))
		mia.shows("/console/settings/members", w.boot.Owner.Email)
		owner := "/console/settings/members/" + w.one(`select id::text from users where username = $1`, w.boot.Owner.Username)
		require.NotContains(t, mia.shows(owner, "is above yours").text, owner+"/remove")
		p = c.submit(c.shows(owner), "/remove", nil)
		require.Contains(t, p.text, "keeps at least one owner")
		c.does(c.shows(at, "searches that were shared with a team"), "/remove", nil, "The member was removed")
		require.Equal(t, http.StatusNotFound, c.open(at).status)
		require.True(t, strings.HasPrefix(mia.open("/console/settings").path, "/console/sign-in"), "the session has ended")
	})

	t.Run("keys and sessions", func(t *testing.T) {
		w.t = t
		p := c.shows("/console/settings", "this one")
		p = c.submit(p, "/settings/keys", url.Values{"name": {scriptName}, "kind": {"api"}})
		secret := p.secret(t)
		w.key = secret
		code, answer := w.send(request{method: http.MethodGet, path: v3 + "/me/sessions"})
		require.Equal(t, http.StatusOK, code, "the new key works: %s", answer)
		require.Contains(t, string(answer), `"current":false`)
		w.key = w.boot.Owner.APIKey
		p = c.shows("/console/settings", "&lt;script&gt;alert(1)&lt;/script&gt;")
		require.NotContains(t, p.text, secret, "it was shown once")
		require.NotContains(t, p.text, scriptName)
		id := w.one(`select max(id)::text from api_keys where user_id = $1`, w.boot.Owner.ID)
		c.does(p, "/keys/"+id+"/end", nil, "The key has ended.")
		require.Equal(t, "true", w.one(`select (revoked_at is not null)::text from api_keys where id = $1::bigint`, id))

		other := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
		session := w.one(`select max(id)::text from console_sessions`)
		p = c.shows("/console/settings")
		c.does(p, "/sessions/"+session+"/end", nil, "The session has ended")
		require.Contains(t, other.open("/console/settings").path, "/sign-in")
		require.Equal(t, "1", w.one(`select count(*)::text from audit_events where type = 1171`))
		require.Equal(t, http.StatusBadRequest, c.open("/console/settings?colour=red").status)
	})

	t.Run("who came by a link makes a first key", func(t *testing.T) {
		w.t = t
		_, err := w.db.ExecContext(t.Context(), `update console_sessions set key_id = null`)
		require.NoError(t, err)
		p := c.submit(c.shows("/console/settings"), "/settings/keys", url.Values{"name": {"first"}})
		require.NotEmpty(t, p.secret(t))
	})

	t.Run("service accounts", func(t *testing.T) {
		w.t = t
		p := c.shows("/console/settings/accounts", "There is no service account")
		p = c.submit(p, "/accounts/create", url.Values{"username": {"robot"}, "name": {scriptName}})
		require.NotEmpty(t, p.secret(t))
		id := w.one(`select id::text from users where username = 'robot'`)
		c.shows("/console/settings/accounts", "robot")
		p = c.shows(p.linkTo(t, "/accounts/"+id))
		require.NotContains(t, p.text, scriptName)
		second := c.submit(p, "/accounts/"+id+"/keys", nil).secret(t)
		require.NotContains(t, c.shows("/console/settings/accounts/"+id).text, second)
		key := w.one(`select max(id)::text from api_keys where user_id = $1::bigint`, id)
		p = c.does(c.shows("/console/settings/accounts/"+id), "/keys/"+key+"/end", nil, "The key has ended.")
		c.does(p, "/accounts/"+id+"/delete", nil, "was deleted")
		require.Equal(t, http.StatusNotFound, c.open("/console/settings/accounts/"+id).status)
	})

	t.Run("mail", func(t *testing.T) {
		w.t = t
		p := c.shows("/console/settings/mail")
		p = c.submit(p, "/settings/mail", url.Values{"reply_to": {"no address"}, "sender_name": {"Ours"}})
		require.Equal(t, http.StatusBadRequest, p.status)
		require.Contains(t, p.text, `value="Ours"`, "what was typed is still there")
		c.does(p, "/settings/mail", url.Values{"sender_name": {scriptName}, "reply_to": {"qa@example.com"},
			"rate_per_minute": {"1000000"}}, `role="alert"`)
		p = c.does(p, "/settings/mail", url.Values{"sender_name": {scriptName}, "reply_to": {"qa@example.com"},
			"rate_per_minute": {"90"}, "hour": {"7"},
			"recipients": {"ann@example.com\nbob@example.com"}}, "were changed")
		require.NotContains(t, p.text, scriptName)
		require.Contains(t, p.text, "ann@example.com\nbob@example.com")

		var kind string
		for _, to := range p.links() {
			if _, name, ok := strings.Cut(to, "/mail/templates/"); ok && kind == "" {
				kind = name
			}
		}
		p = c.shows("/console/settings/mail/templates/"+kind, "Placeholders")
		text := fields(p.form("/templates/" + kind)).Get("text")
		p = c.submit(p, "/templates/"+kind, url.Values{"subject": {"Hello " + scriptName}, "text": {text}, "do": {"preview"}})
		require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
		require.Contains(t, p.text, `<pre id="preview"`)
		require.NotContains(t, p.text, scriptName)
		require.Contains(t, p.text, "the template of Slipway", "nothing was saved")
		form := fields(p.form("/templates/" + kind))
		form.Set("text", text+"\n\n"+scriptName)
		shown := c.post("/console/settings/mail/templates/"+kind+"/html", form)
		require.Equal(t, http.StatusOK, shown.status, "%.2000s", shown.text)
		require.Contains(t, shown.text, "style")
		require.Equal(t, []string{"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"},
			shown.header.Values("Content-Security-Policy"), "the mail shows with its style, in a frame of the console")
		require.Equal(t, []string{"SAMEORIGIN"}, shown.header.Values("X-Frame-Options"))
		require.NotContains(t, shown.text, "<main", "it is the mail, and no page")
		require.NotContains(t, shown.text, scriptName)
		form.Set("text", "{{nothing}} of it")
		shown = c.post("/console/settings/mail/templates/"+kind+"/html", form)
		require.Equal(t, http.StatusBadRequest, shown.status)
		require.NotContains(t, shown.text, "<main", "it fits into the frame")
		require.Contains(t, shown.text, "nothing")
		framed := func(p *page) {
			require.Regexp(t, `frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox$`,
				p.header.Get("Content-Security-Policy"))
			require.Equal(t, []string{"SAMEORIGIN"}, p.header.Values("X-Frame-Options"))
		}
		framed(shown)
		stranger := newConsole(w).post("/console/settings/mail/templates/"+kind+"/html", form)
		require.Equal(t, http.StatusUnauthorized, stranger.status, "the sign-in fits into no frame")
		framed(stranger)
		require.Contains(t, stranger.text, "Your session has ended")
		require.Equal(t, []string{"/console/sign-in"}, stranger.links())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+"/console/settings/mail/templates/"+
			kind+"/html", strings.NewReader(form.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Referer", w.base+"/console/settings/mail/templates/"+kind+"?x=<script>")
		require.Equal(t, []string{"/console/sign-in?to=%2Fsettings%2Fmail%2Ftemplates%2F" + kind + "%3Fx%3D%3Cscript%3E"},
			newConsole(w).send(r).links())
		form.Del("csrf")
		stale := c.post("/console/settings/mail/templates/"+kind+"/html", form)
		require.Equal(t, http.StatusForbidden, stale.status)
		framed(stale)
		require.Contains(t, stale.text, "load the page again")
		p = c.does(p, "/templates/"+kind, url.Values{"subject": {"Hello"}, "text": {text}, "do": {"save"}}, "The template is in force.")
		p = c.submit(p, "/templates/"+kind, url.Values{"text": {"{{nothing}} of it"}, "do": {"save"}})
		require.Equal(t, http.StatusBadRequest, p.status)
		require.Contains(t, p.text, "{{nothing}} of it")
		p = c.does(c.shows("/console/settings/mail/templates/"+kind, "your own"), "/reset", nil, "in force again")
		require.NotContains(t, p.text, "your own")

		c.shows("/console/settings/mail/suppressions", "All addresses get mail")
		_, err = w.db.ExecContext(t.Context(), `insert into mail_suppressions (organization_id, email, source, status, detail)
			values ($1, 'gone@example.com', 'smtp', '5.1.1', $2)`, w.boot.Organization.ID, scriptName)
		require.NoError(t, err)
		p = c.shows("/console/settings/mail/suppressions?search=gone", "gone@example.com")
		require.NotContains(t, p.text, scriptName)
		p = c.does(p, "/remove", nil, "gets mail again")
		require.NotContains(t, p.text, "gone@example.com")
	})

	t.Run("OIDC", func(t *testing.T) {
		w.t = t
		p := c.shows("/console/settings/oidc", "There is no configuration")
		p = c.submit(p, "/settings/oidc", url.Values{"issuer_url": {"ftp://issuer"}, "claims": {"repository_owner = acme"}})
		require.Equal(t, http.StatusBadRequest, p.status)
		require.Contains(t, p.text, "repository_owner = acme")
		p = c.submit(p, "/settings/oidc", url.Values{"issuer_url": {w.base}, "claims": {"sub = a*\nsub = b*"}})
		require.NotEmpty(t, p.secret(t))
		p = c.shows("/console/settings/oidc", "sub = a*\nsub = b*")
		p = c.does(p, "/settings/oidc", url.Values{"audience": {scriptName}}, "was saved")
		require.NotContains(t, p.text, scriptName)
		p = c.submit(p, "/oidc/test", nil)
		require.Equal(t, http.StatusOK, p.status)
		require.Contains(t, p.text, `id="outcome"`)
		require.NotEmpty(t, c.submit(p, "/oidc/key", nil).secret(t))
		c.does(c.shows("/console/settings/oidc"), "/oidc/delete", nil, "was deleted")
	})

	t.Run("organization", func(t *testing.T) {
		w.t = t
		p := c.shows("/console/settings/organization", "crashes per day")
		p = c.submit(p, "/settings/organization", url.Values{"retention_days": {"soon"}})
		require.Equal(t, http.StatusBadRequest, p.status)
		require.Contains(t, p.text, `value="soon"`)
		p = c.does(p, "/settings/organization", url.Values{"retention_days": {"1000"}, "retention_builds": {"1000000"},
			"healing": {"suggest"}, "generic_files": {"on"}}, "were changed")
		require.Equal(t, "1000000", fields(p.form("/settings/organization")).Get("retention_builds"))
		p = c.does(p, "/settings/organization", url.Values{"retention_builds": {""}, "healing": {""}}, "were changed")
		require.Equal(t, ", null, 1000", w.one(`select healing || ', ' || coalesce(retention_builds::text, 'null') || ', ' || retention_days
			from organizations where id = $1`, w.boot.Organization.ID))
		p = c.does(p, "/organization/storage", url.Values{"endpoint": {"https://8.8.8.8"}, "bucket": {scriptName},
			"access_key": {"AK"}}, `role="alert"`)
		p = c.does(p, "/organization/storage", url.Values{"endpoint": {"https://8.8.8.8"}, "bucket": {"apps"},
			"access_key": {"AK"}, "secret": {"hidden-secret"}}, "was stored")
		require.NotContains(t, p.text, "hidden-secret")
		c.does(p, "/storage/delete", nil, "was deleted")
	})

	t.Run("audit", func(t *testing.T) {
		w.t = t
		p := c.shows("/console/settings/audit", "Created key")
		require.NotContains(t, p.text, scriptName)
		p = c.shows("/console/settings/audit?action=key.created&search=key")
		file := c.open(p.linkTo(t, "/export?action=key.created&search=key"))
		require.True(t, strings.HasPrefix(file.text, "Time,User,Action,Details,IP"), "%.200s", file.text)
		for _, query := range []string{"action=nothing", "from=soon", "user_id=x", "colour=red"} {
			require.Equal(t, http.StatusBadRequest, c.open("/console/settings/audit?"+query).status, query)
		}
	})

	t.Run("a member", func(t *testing.T) {
		w.t = t
		username, key := w.member("reader", account.Member)
		member := w.console(username, key)
		p := member.shows("/console/settings")
		require.NotContains(t, p.text, "/settings/audit")
		member.shows("/console/settings/webhooks", "There is no webhook")
		for _, path := range []string{"accounts", "mail", "oidc", "organization", "audit", "webhooks/new"} {
			require.Equal(t, http.StatusForbidden, member.open("/console/settings/"+path).status, path)
		}
	})
}

func TestConsoleSettingsWebhooks(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	var refuse atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if refuse.Load() {
			res.WriteHeader(http.StatusGone)
		}
		_, _ = io.WriteString(res, scriptName)
	}))
	t.Cleanup(receiver.Close)

	p := c.shows("/console/settings/webhooks", "There is no webhook")
	p = c.shows(p.linkTo(t, "/webhooks/new"))
	p = c.submit(p, "/webhooks/new", url.Values{"name": {"chat"}, "url": {"ftp://nowhere"}, "actions": {"upload"}})
	require.Equal(t, http.StatusBadRequest, p.status)
	require.Contains(t, p.text, "ftp://nowhere", "what was typed is still there")
	p = c.submit(p, "/webhooks/new", url.Values{"name": {scriptName}, "url": {receiver.URL}, "actions": {"upload", "run"}})
	first := p.secret(t)
	id := w.one(`select id::text from webhooks`)
	require.NotContains(t, p.text, scriptName)
	p = c.shows("/console/settings/webhooks/"+id, receiver.URL)
	require.NotContains(t, p.text, scriptName)
	require.NotContains(t, p.text, first)

	p = c.does(p, "/webhooks/"+id, url.Values{"name": {"chat"}, "actions": {"run"}}, "The webhook was changed.")
	require.Equal(t, "{run}", w.one(`select actions::text from webhooks`))
	p = c.submit(p, "/webhooks/"+id, url.Values{"url": {"ftp://nowhere"}})
	require.Equal(t, http.StatusBadRequest, p.status)
	p = c.shows("/console/settings/webhooks/" + id)
	require.NotEqual(t, first, c.submit(p, "/secret", url.Values{"hours": {"1"}}).secret(t))
	p = c.does(c.shows("/console/settings/webhooks/"+id, "valid until"), "/secret/end", nil, "The former secret has ended.")
	c.does(p, "/webhooks/"+id+"/secret", url.Values{"hours": {"many"}}, `role="alert"`)

	// A delivery that arrives, one that does not, and both again.
	p = c.does(p, "/webhooks/"+id+"/test", nil, "The test arrived.")
	require.Contains(t, p.text, "&lt;script&gt;alert(1)&lt;/script&gt;", "what the receiver answered is text")
	require.NotContains(t, p.text, scriptName)
	refuse.Store(true)
	p = c.does(c.shows("/console/settings/webhooks/"+id), "/webhooks/"+id+"/test", nil, "The test did not arrive")
	c.does(p, "/replay", nil, "is due again")
	refuse.Store(false)
	list := "/console/settings/webhooks/" + id
	require.Eventually(t, func() bool {
		return strings.Contains(c.open(list+"?status=delivered").text, "delivered")
	}, time.Minute, 100*time.Millisecond)
	for _, query := range []string{"status=lost", "event=nothing", "from=soon", "colour=red"} {
		require.Equal(t, http.StatusBadRequest, c.open(list+"?"+query).status, query)
	}
	p = c.shows(list)
	p = c.does(p, "/webhooks/"+id+"/replay", url.Values{"from": {"2020-01-01T00:00"}}, "Failed deliveries that become due again:")
	c.does(p, "/webhooks/"+id+"/delete", nil, "The webhook was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from webhooks`))
}
