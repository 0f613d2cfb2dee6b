package mailtemplate

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

// hostile is what a name or notes may contain.
const hostile = "<script>alert(1)</script>\r\nBcc: all@example.com\x00\u202egnp.exe {{link}}"

func render(t *testing.T, c Content, unsubscribe string) Rendered {
	t.Helper()
	r, err := NewRender(c.Kind(), nil)
	require.NoError(t, err)
	return r.Mail(c, To{Organization: "Acme", Recipient: "ann@example.com", Unsubscribe: unsubscribe})
}

func TestNewBuild(t *testing.T) {
	t.Parallel()
	m := render(t, NewBuild{App: "Groupshot", Version: "2.1", VersionCode: "21", Platform: "Android", Comment: "Look!",
		Notes: NewNotes("Faster <b>start</b>\r\n\r\n* *new* & nice"), Link: "https://qa.example.com/install/abc", Icon: "icons/1"},
		"https://qa.example.com/mail/unsubscribe/x")
	require.Equal(t, "Groupshot 2.1 (21) is ready to install", m.Subject)
	require.Equal(t, `Groupshot 2.1 (21) can be installed now.
Platform: Android

Look!

What is new:

Faster <b>start</b>

* *new* & nice

Install it from this page, best on the device itself:

Open the install page:
https://qa.example.com/install/abc

This mail was sent to ann@example.com because you are a tester of this app.

Unsubscribe: https://qa.example.com/mail/unsubscribe/x
`, m.Text)
	require.Contains(t, m.HTML, "<em>new</em> &amp; nice")
	require.Contains(t, m.HTML, "can be installed now.<br>\nPlatform: Android</p>")
	require.Equal(t, 2, strings.Count(m.HTML, `href="https://qa.example.com/install/abc"`))
	require.Contains(t, m.HTML, `href="https://qa.example.com/mail/unsubscribe/x"`)
	require.Contains(t, m.HTML, `src="cid:icon@mail"`)
	require.Contains(t, m.HTML, `src="cid:qr@mail"`)
	require.Equal(t, 2, strings.Count(m.HTML, "src="), "a mail loads nothing")
	require.Equal(t, "icons/1", m.Icon)
	require.Equal(t, "https://qa.example.com/install/abc", m.QR)
	require.NotContains(t, m.HTML, "ZgotmplZ", "html/template refused nothing")
}

func TestNewBuildWithLittleAndWithMuch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		build   NewBuild
		subject string
	}{
		{NewBuild{App: "A"}, "A is ready to install"},
		{NewBuild{App: "A", Version: "1"}, "A 1 is ready to install"},
		{NewBuild{App: "A", VersionCode: "7"}, "A 7 is ready to install"},
		{NewBuild{App: "A", Version: "7", VersionCode: "7"}, "A 7 is ready to install"},
		{NewBuild{App: strings.Repeat("ä", 100), Version: "1"}, strings.Repeat("ä", 60) + "… 1 is ready to install"},
	} {
		m := render(t, tt.build, "")
		require.Equal(t, tt.subject, m.Subject)
		for _, body := range []string{m.Text, m.HTML} {
			require.NotContains(t, body, "What is new")
			require.NotContains(t, body, "nsubscribe")
			require.NotContains(t, body, "Platform")
			require.NotContains(t, body, "cid:icon")
		}
	}
	m := render(t, NewBuild{App: "A", Notes: NewNotes(strings.Repeat("ö", maxNotes))}, "")
	require.Less(t, len(m.Text), maxNotes+600)
	require.Contains(t, m.Text, "The page has the rest of it.")
	require.Contains(t, m.HTML, "The page has the rest of it.")
	require.True(t, utf8.ValidString(m.Text) && utf8.ValidString(m.HTML))
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	m := render(t, SignIn{App: "Groupshot", Link: "https://qa.example.com/session/s3cret", Minutes: 15}, "")
	require.Equal(t, "Sign in to Groupshot", m.Subject)
	require.Contains(t, m.Text, "\nhttps://qa.example.com/session/s3cret\n")
	require.Contains(t, m.Text, "within 15 minutes")
	require.Contains(t, m.HTML, `href="https://qa.example.com/session/s3cret"`)
	m = render(t, SignIn{Link: "https://qa.example.com/session/s3cret", Minutes: 1}, "")
	require.Equal(t, "Sign in", m.Subject)
	require.Contains(t, m.Text, "within a minute.")
}

func TestOtherKinds(t *testing.T) {
	t.Parallel()
	m := render(t, KeyRevoked{Key: "CI", Reason: "It was found inside an app."}, "")
	require.Equal(t, "Your API key CI was revoked", m.Subject)
	require.Contains(t, m.Text, "It was found inside an app.\n")
	require.NotContains(t, m.HTML, "<a ")
	m = render(t, Welcome{Groups: []string{"Beta", "Staff"}, Link: "https://qa.example.com/apps"}, "")
	require.Equal(t, "Welcome as a tester of Acme", m.Subject)
	require.Contains(t, m.Text, "Your groups: Beta, Staff\n")
	m = render(t, UDIDNeeded{App: "Groupshot", Link: "https://qa.example.com/udid"}, "")
	require.Contains(t, m.Text, "Register this device:\nhttps://qa.example.com/udid\n")
	m = render(t, WebhookSuspended{Name: "Chat", URL: "https://h.example.com", Reason: "Gone."}, "")
	require.NotContains(t, m.Text, "See the webhook")
	m = render(t, Invitation{App: "Groupshot", Link: "https://qa.example.com/invite/x"}, "")
	require.Contains(t, m.Text, "Acme invites you to test Groupshot")
	m = render(t, Digest{From: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		CrashGroups: 12, CrashGroupList: []DigestItem{{"Crash\nin a", "31 crashes"}, {"B", ""}}}, "")
	require.Equal(t, "Acme: 12 new crash groups, 0 failed suite runs", m.Subject)
	require.Contains(t, m.Text, "- Crash in a (31 crashes)\n- B\nand 10 more\n")
	require.NotContains(t, m.Text, "Failed suite runs (")
}

// requireSafe checks what every mail guarantees.
func requireSafe(t *testing.T, m Rendered) {
	t.Helper()
	require.False(t, strings.ContainsFunc(m.Subject, unicode.IsControl), "%q", m.Subject)
	require.LessOrEqual(t, utf8.RuneCountInString(m.Subject), maxSubject+1)
	require.NotEmpty(t, m.Subject)
	require.NotEmpty(t, m.HTML)
	require.NotContains(t, m.HTML, "<script")
	require.NotContains(t, m.HTML, `="javascript:`)
	require.NotContains(t, m.Text, "\x00")
	require.NotContains(t, m.Subject, "\u202e")
	require.True(t, utf8.ValidString(m.Subject+m.Text+m.HTML))
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	link := `javascript:alert(1)"><script>`
	for _, c := range []Content{
		NewBuild{App: hostile, Version: hostile, VersionCode: hostile, Platform: hostile, Notes: NewNotes(hostile), Comment: hostile, Link: link},
		Invitation{App: hostile, Notes: NewNotes(hostile), Link: link}, Welcome{Groups: []string{hostile}, Link: link},
		SignIn{App: hostile, Link: link}, UDIDNeeded{App: hostile, Link: link}, KeyRevoked{Key: hostile, Reason: hostile},
		Digest{CrashGroups: 1, CrashGroupList: []DigestItem{{hostile, hostile}}, Link: link},
		WebhookSuspended{Name: hostile, URL: hostile, Reason: hostile, Link: link},
	} {
		r, err := NewRender(c.Kind(), nil)
		require.NoError(t, err)
		requireSafe(t, r.Mail(c, To{Organization: hostile, Recipient: hostile, Unsubscribe: link}))
	}
}

// Every kind has a built-in template that passes its own check, and a preview.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		require.NoError(t, k.Check(k.Default), k.Name)
		m, err := k.Preview(nil, nil, "https://qa.example.com/mail/unsubscribe/x")
		require.NoError(t, err)
		requireSafe(t, m)
		require.Equal(t, !k.Transactional, strings.Contains(m.Text, "Unsubscribe: "), k.Name)
		require.NotContains(t, m.Text+m.HTML+m.Subject, "{{")
		for _, p := range k.Placeholders {
			require.NotEmpty(t, p.Sample, "%s %s", k.Name, p.Name)
			require.NotEmpty(t, p.About, "%s %s", k.Name, p.Name)
		}
	}
	_, err := KindOf("nonsense")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const link = "[Sign in]({{link}})"
	for name, tt := range map[string]struct{ subject, text, field, msg string }{
		"no subject":            {"", link, "subject", "is required"},
		"blank subject":         {"  ", link, "subject", "is required"},
		"header injection":      {"Hi\r\nBcc: all@example.com", link, "subject", "one line"},
		"hidden characters":     {"Hi\u202e", link, "subject", "one line"},
		"long subject":          {strings.Repeat("x", maxSubject+1), link, "subject", "at most 200"},
		"link in the subject":   {"{{link}}", link, "subject", "{{link}} is a link"},
		"unknown in subject":    {"{{nobody}}", link, "subject", "no placeholder {{nobody}}"},
		"no text":               {"Hi", " \n", "text", "is required"},
		"no link":               {"Hi", "Hello {{app}}", "text", "must show {{link}}"},
		"link in a comment":     {"Hi", "{{#app}}{{link}}{{/app}}", "text", "must show {{link}}"},
		"unknown":               {"Hi", "\n{{notes}} " + link, "text", "line 2: there is no placeholder {{notes}}"},
		"no end":                {"Hi", "{{app" + link, "text", "line 1: {{ has no }}"},
		"section without end":   {"Hi", "{{#app}}x" + link, "text", "{{#app}} has no end"},
		"end without section":   {"Hi", link + "{{/app}}", "text", "ends no section"},
		"crossing":              {"Hi", "{{#app}}{{#time}}x{{/app}}{{/time}}" + link, "text", "ends no section"},
		"a function":            {"Hi", "{{call .app}}" + link, "text", "no placeholder"},
		"too deep":              {"Hi", strings.Repeat("{{#app}}", 9) + strings.Repeat("{{/app}}", 9) + link, "text", "at most 8"},
		"too many":              {"Hi", strings.Repeat("{{app}}", 501) + link, "text", "at most 500"},
		"too long":              {"Hi", strings.Repeat("x", maxTemplate) + link, "text", "at most 32768 bytes"},
		"control characters":    {"Hi", "\x00" + link, "text", "control characters"},
		"broken text":           {"Hi", "\xff" + link, "text", "UTF-8"},
		"hash in a placeholder": {"Hi", "{{##app}}x{{/app}}" + link, "text", "is no placeholder"},
	} {
		k, err := KindOf(KindSignIn)
		require.NoError(t, err)
		err = k.Check(Template{tt.subject, tt.text})
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, tt.field, invalid.Field, name)
		require.Contains(t, invalid.Msg, tt.msg, name)
	}
	k, err := KindOf(KindNewBuild)
	require.NoError(t, err)
	require.ErrorContains(t, k.Check(Template{"Hi", "Notes: {{notes}}\n{{link}}"}), "{{notes}} must stand alone")
	require.ErrorContains(t, k.Check(Template{"Hi", "{{icon}} {{app}}\n{{link}}"}), "{{icon}} must stand alone")
	require.NoError(t, k.Check(Template{"{{app}}: {{version}}",
		"Hi {{recipient}},\r\n\r\n{{#notes}}\n# News\n{{notes}}\n{{/notes}}\nSee {{ link }}."}))
}

func TestOwnTemplate(t *testing.T) {
	t.Parallel()
	own := &Template{"{{#app}}{{app}}!{{/app}}", "Hi **you** <b>\nSee {{link}}.\n\n[Go {{app}}]({{link}})\n--\nBye"}
	r, err := NewRender(KindSignIn, own)
	require.NoError(t, err)
	m := r.Mail(SignIn{App: "A&B", Link: "https://x.example.com/?a=1&b=2"}, To{})
	require.Equal(t, "A&B!", m.Subject)
	require.Equal(t, "Hi **you** <b>\nSee https://x.example.com/?a=1&b=2.\n\nGo A&B:\nhttps://x.example.com/?a=1&b=2\n\nBye\n", m.Text)
	require.Contains(t, m.HTML, "Hi **you** &lt;b&gt;<br>\nSee <a href=\"https://x.example.com/?a=1&amp;b=2\"")
	require.Contains(t, m.HTML, "Go A&amp;B</a>")
	m = r.Mail(SignIn{Link: "https://x.example.com"}, To{})
	require.Equal(t, "One-time sign-in", m.Subject, "a subject is never empty")

	broken, err := NewRender(KindSignIn, &Template{"{{gone}}", "x"})
	require.NoError(t, err, "a stored template that cannot be read")
	require.Equal(t, "Sign in to A", broken.Mail(SignIn{App: "A"}, To{}).Subject)
}

// An organization must not have the link that signs somebody in, to all their
// organizations, become a part of an address of its own.
func TestLinkStandsAlone(t *testing.T) {
	t.Parallel()
	const link = "https://qa.example.com/session/slp_link_x"
	for _, text := range []string{"https://evil.example/?to={{link}}", "https://evil.example/{{app}}{{link}}",
		"https://evil.example/?to={{#app}}{{/app}}{{link}}", "[https://evil.example/{{link}}]({{link}})",
		"https://evil.example/{{link}}{{link}}"} {
		r, err := NewRender(KindSignIn, &Template{"Sign in", text})
		require.NoError(t, err)
		m := r.Mail(SignIn{App: "a?to=", Link: link}, To{})
		for _, part := range []string{m.Text, m.HTML} {
			require.NotContains(t, part, "="+link, text)
			require.NotContains(t, part, "/"+link, text)
			require.NotContains(t, part, link+"https", text)
		}
		require.Contains(t, m.Text, " "+link, text)
	}
}

func TestPreviewWithData(t *testing.T) {
	t.Parallel()
	k, err := KindOf(KindNewBuild)
	require.NoError(t, err)
	m, err := k.Preview(&Template{"{{app}}", "{{#notes}}\n{{notes}}\n{{/notes}}\n{{link}}"}, map[string]string{"app": "Mine", "notes": ""}, "")
	require.NoError(t, err)
	require.Equal(t, "Mine", m.Subject)
	require.NotContains(t, m.Text, "Photos")
	for name, value := range map[string]string{"nobody": "x", "notes": strings.Repeat("x", maxNotes+1)} {
		_, err = k.Preview(nil, map[string]string{name: value}, "")
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "data."+name, invalid.Field)
	}
}

// A template that passes the check renders, whatever it is, without breaking out of
// its subject or into the HTML.
func FuzzTemplate(f *testing.F) {
	for _, k := range Kinds() {
		f.Add(k.Name, k.Default.Subject, k.Default.Text, "value")
	}
	f.Add(KindSignIn, "{{#app}}{{app}}{{/app}}", "{{link}}<script>\n--\n[{{app}}]({{link}})", hostile)
	f.Fuzz(func(t *testing.T, kind, subject, text, value string) {
		k, err := KindOf(kind)
		if err != nil || k.Check(Template{subject, text}) != nil {
			return
		}
		r, err := k.parse(Template{subject, text})
		require.NoError(t, err)
		values := map[string]Value{}
		for _, p := range k.Placeholders {
			values[p.Name] = sampleValue(p, value)
		}
		m := r.write(values, "")
		require.False(t, strings.ContainsFunc(m.Subject, unicode.IsControl), "%q", m.Subject)
		require.True(t, utf8.ValidString(m.Subject+m.HTML))
		require.NotContains(t, m.HTML, "<script")
		require.NotEmpty(t, m.HTML)
	})
}
