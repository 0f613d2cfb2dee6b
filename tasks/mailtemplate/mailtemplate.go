// Package mailtemplate writes the mails that Slipway sends: subject, text and
// HTML of each kind. It stores and sends nothing.
//
// Every mail is complete as plain text; the HTML has the same content with a
// button. The HTML loads nothing from anywhere: no picture, no font, no style
// sheet, so that opening a mail discloses nothing and mail readers have nothing to
// block. Styles stand inside the tags, as mail readers require.
//
// Names of apps and release notes come from outside. In HTML they are escaped by
// html/template, in subjects they are reduced to one line of bounded length, and
// notes are bounded too. No text makes a function fail: at worst a mail has no
// HTML.
package mailtemplate

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"unicode"
)

// The kinds, as they are stored with a mail.
const (
	KindNewBuild   = "new-build"
	KindSignIn     = "sign-in"
	KindKeyRevoked = "key-revoked"
)

// Build is the content of a new-build mail.
type Build struct {
	App         string
	Version     string // "" when the package has none
	VersionCode string
	Platform    string
	Notes       string // release notes, Markdown as it was written
	Link        string // the build's install page
	Recipient   string // the tester's address
	// NotesHTML converts notes to safe HTML; nil shows them as text with their line
	// breaks.
	NotesHTML func(notes string) template.HTML
}

const (
	// maxName bounds a name inside a subject, in characters: mail readers show
	// some 70 of a subject.
	maxName = 60
	// maxSubject is within what one mail header line may hold (998 bytes) at
	// four bytes a character.
	maxSubject = 200
	// maxNotes bounds release notes in a mail, in bytes: the page has them all.
	maxNotes = 16 << 10
	// maxNotesHTML bounds what notes become as HTML; text that became more is
	// shown as text. A stored mail has 256 KiB for all of its HTML.
	maxNotesHTML = 128 << 10
	// maxReason bounds why a key was revoked, in characters.
	maxReason = 1000
)

//go:embed mail.html
var files embed.FS

// layout is parsed once: a notification writes some thousand mails.
var layout = template.Must(template.ParseFS(files, "mail.html"))

// page is the data of mail.html.
type page struct {
	Subject string
	Lines   []string
	Notes   template.HTML
	Button  string
	Link    string
	Foot    string
}

// NewBuild returns the mail to a tester about a build that can be installed.
func NewBuild(b Build) (subject, text, html string) {
	name := strings.TrimSpace(oneLine(b.App, maxName) + " " + oneLine(b.version(), maxName))
	subject = truncate(name+" is ready to install", maxSubject)
	notes, complete := cleanNotes(b.Notes)
	about := []string{name + " can be installed now."}
	if b.Platform != "" {
		about = append(about, "Platform: "+oneLine(b.Platform, maxName))
	}
	var t strings.Builder
	writeLines(&t, about...)
	if notes != "" {
		t.WriteString("What is new:\n\n" + notes + "\n\n")
		if !complete {
			t.WriteString("The page has the rest of it.\n\n")
		}
	}
	foot := "This mail was sent to " + oneLine(b.Recipient, maxSubject) + " because you are a tester of this app."
	t.WriteString("Install it from this page, best on the device itself:\n" + b.Link + "\n\n" + foot + "\n")
	return subject, t.String(), render(page{Subject: subject, Lines: about, Notes: b.notes(notes),
		Button: "Open the install page", Link: b.Link, Foot: foot})
}

// version returns the version with its code, as testers know it.
func (b Build) version() string {
	switch {
	case b.VersionCode == "" || b.Version == b.VersionCode:
		return b.Version
	case b.Version == "":
		return b.VersionCode
	}
	return b.Version + " (" + b.VersionCode + ")"
}

func (b Build) notes(notes string) template.HTML {
	if notes == "" {
		return ""
	}
	if b.NotesHTML != nil {
		if html := b.NotesHTML(notes); len(html) <= maxNotesHTML {
			return html
		}
	}
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(notes), "\n", "<br>\n"))
}

// SignIn returns the mail to a tester with the link that opens an app's page; it
// works once and for some minutes.
func SignIn(app, link string, minutes int) (subject, text, html string) {
	subject = truncate("Sign in to install "+oneLine(app, maxName), maxSubject)
	first := "Open this link to sign in and install " + oneLine(app, maxName) + "."
	lasts := fmt.Sprintf("It works once, within %d minutes.", minutes)
	if minutes == 1 {
		lasts = "It works once, within a minute."
	}
	const foot = "If you did not ask for it, ignore this mail: nothing happens without the link."
	text = first + "\n" + lasts + "\n\n" + link + "\n\n" + foot + "\n"
	return subject, text, render(page{Subject: subject, Lines: []string{first, lasts},
		Button: "Sign in", Link: link, Foot: foot})
}

// KeyRevoked returns the mail to the owner of a key that was revoked. key is its
// name or the part of it that may be shown, never the key; reason is a whole
// sentence.
func KeyRevoked(key, reason string) (subject, text, html string) {
	subject = truncate("Your API key "+oneLine(key, maxName)+" was revoked", maxSubject)
	lines := []string{"The API key " + oneLine(key, maxName) + " was revoked and works no more.", oneLine(reason, maxReason)}
	const foot = "Whoever needs access makes a new key, and keeps it out of apps and repositories."
	var t strings.Builder
	writeLines(&t, lines...)
	t.WriteString(foot + "\n")
	return subject, t.String(), render(page{Subject: subject, Lines: lines, Foot: foot})
}

func writeLines(t *strings.Builder, lines ...string) {
	for _, line := range lines {
		t.WriteString(line + "\n")
	}
	t.WriteString("\n")
}

func render(p page) string {
	var out strings.Builder
	if err := layout.Execute(&out, p); err != nil {
		return "" // a mail is complete without HTML; the tests render every kind
	}
	return out.String()
}

// oneLine returns a name as one line of bounded length.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		// Control characters end headers; format characters (bidirectional
		// overrides, joiners of nothing) can make a name look like another.
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return truncate(strings.Join(strings.Fields(s), " "), most)
}

// truncate cuts a text off after most characters.
func truncate(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return strings.TrimSpace(s[:i]) + "…"
		}
		n++
	}
	return s
}

// cleanNotes cleans and bounds release notes, which keep their lines; complete is
// false when their end is missing.
func cleanNotes(notes string) (text string, complete bool) {
	notes = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(notes)
	notes = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(notes, "\uFFFD"))
	notes = strings.TrimSpace(notes)
	if len(notes) <= maxNotes {
		return notes, true
	}
	return strings.ToValidUTF8(notes[:maxNotes], "") + "…", false
}
