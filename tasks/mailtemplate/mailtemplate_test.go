package mailtemplate

import (
	"html/template"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// hostile is what a name or notes may contain.
const hostile = "<script>alert(1)</script>\r\nBcc: all@example.com\x00\u202egnp.exe"

func TestNewBuild(t *testing.T) {
	t.Parallel()
	subject, text, html := NewBuild(Build{App: "Groupshot", Version: "2.1", VersionCode: "21", Platform: "Android",
		Notes: "Faster <b>start</b>\r\n\r\n* new & nice", Link: "https://qa.example.com/install/abc", Recipient: "ann@example.com"})
	require.Equal(t, "Groupshot 2.1 (21) is ready to install", subject)
	require.Equal(t, `Groupshot 2.1 (21) can be installed now.
Platform: Android

What is new:

Faster <b>start</b>

* new & nice

Install it from this page, best on the device itself:
https://qa.example.com/install/abc

This mail was sent to ann@example.com because you are a tester of this app.
`, text)
	require.Contains(t, html, "Faster &lt;b&gt;start&lt;/b&gt;<br>\n<br>\n* new &amp; nice")
	require.Equal(t, 2, strings.Count(html, `href="https://qa.example.com/install/abc"`))
	require.Contains(t, html, "ann@example.com")
	require.NotContains(t, html, "src=", "a mail loads nothing")
	require.NotContains(t, html, "ZgotmplZ", "html/template refused nothing")
}

func TestNewBuildWithLittleAndWithMuch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		build   Build
		subject string
	}{
		{Build{App: "A"}, "A is ready to install"},
		{Build{App: "A", Version: "1"}, "A 1 is ready to install"},
		{Build{App: "A", VersionCode: "7"}, "A 7 is ready to install"},
		{Build{App: "A", Version: "7", VersionCode: "7"}, "A 7 is ready to install"},
		{Build{App: strings.Repeat("ä", 100), Version: "1"}, strings.Repeat("ä", 60) + "… 1 is ready to install"},
	} {
		subject, text, html := NewBuild(tt.build)
		require.Equal(t, tt.subject, subject)
		require.NotContains(t, text, "What is new")
		require.NotContains(t, html, "What is new")
	}
	_, text, html := NewBuild(Build{App: "A", Notes: strings.Repeat("ö", maxNotes)})
	require.Less(t, len(text), maxNotes+500)
	require.Contains(t, text, "The page has the rest of it.")
	require.True(t, utf8.ValidString(text) && utf8.ValidString(html))
}

func TestNotesByAFunctionOfTheCaller(t *testing.T) {
	t.Parallel()
	var got string
	_, text, html := NewBuild(Build{App: "A", Notes: "*x*", NotesHTML: func(notes string) template.HTML {
		got = notes
		return "<em>x</em>"
	}})
	require.Equal(t, "*x*", got)
	require.Contains(t, html, "<em>x</em>")
	require.Contains(t, text, "*x*")
	_, _, html = NewBuild(Build{App: "A", Notes: "*x*", NotesHTML: func(string) template.HTML {
		return template.HTML(strings.Repeat("x", maxNotesHTML+1))
	}})
	require.Contains(t, html, ">*x*<", "HTML that is too much")
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	subject, text, html := SignIn("Groupshot", "https://qa.example.com/session/s3cret", 15)
	require.Equal(t, "Sign in to install Groupshot", subject)
	require.Contains(t, text, "\nhttps://qa.example.com/session/s3cret\n")
	require.Contains(t, text, "within 15 minutes")
	require.Contains(t, html, `href="https://qa.example.com/session/s3cret"`)
	_, text, _ = SignIn("Groupshot", "https://qa.example.com/session/s3cret", 1)
	require.Contains(t, text, "within a minute.")
}

func TestKeyRevoked(t *testing.T) {
	t.Parallel()
	subject, text, html := KeyRevoked("CI", "It was found inside an app.")
	require.Equal(t, "Your API key CI was revoked", subject)
	require.Contains(t, text, "It was found inside an app.\n")
	require.Contains(t, html, "It was found inside an app.")
	require.NotContains(t, html, "<a ")
	_, text, _ = KeyRevoked("CI", strings.Repeat("long reason ", 40))
	require.Contains(t, text, strings.TrimSpace(strings.Repeat("long reason ", 40)))
}

// requireSafe checks what every mail guarantees.
func requireSafe(t *testing.T, subject, text, html string) {
	t.Helper()
	require.False(t, strings.ContainsFunc(subject, unicode.IsControl), "%q", subject)
	require.LessOrEqual(t, utf8.RuneCountInString(subject), maxSubject+1)
	require.NotEmpty(t, subject)
	require.NotEmpty(t, html)
	require.NotContains(t, html, "<script")
	require.NotContains(t, html, `="javascript:`)
	require.NotContains(t, text, "\x00")
	require.True(t, utf8.ValidString(subject+text+html))
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	link := `javascript:alert(1)"><script>`
	subject, text, html := NewBuild(Build{App: hostile, Version: hostile, VersionCode: hostile, Platform: hostile,
		Notes: hostile, Link: link, Recipient: hostile})
	requireSafe(t, subject, text, html)
	require.NotContains(t, subject, "\u202e")
	subject, text, html = SignIn(hostile, link, 5)
	requireSafe(t, subject, text, html)
	subject, text, html = KeyRevoked(hostile, hostile)
	requireSafe(t, subject, text, html)
}

func FuzzNewBuild(f *testing.F) {
	f.Add("App", "1", "2", "Android", "notes", "a@example.com")
	f.Add(hostile, hostile, hostile, hostile, hostile, hostile)
	f.Fuzz(func(t *testing.T, app, version, code, platform, notes, recipient string) {
		subject, text, html := NewBuild(Build{App: app, Version: version, VersionCode: code, Platform: platform,
			Notes: notes, Link: "https://qa.example.com/install/t", Recipient: recipient})
		require.False(t, strings.ContainsFunc(subject, unicode.IsControl), "%q", subject)
		require.True(t, utf8.ValidString(subject+text+html))
		require.NotContains(t, html, "<script")
	})
}
