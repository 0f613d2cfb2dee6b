package mailtemplate

import (
	"html/template"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/tasks/note"
)

const (
	// maxNotes bounds release notes in a mail, in bytes: the page has them all.
	maxNotes = 16 << 10
	// maxNotesHTML bounds what notes become as HTML; text that became more is
	// shown as text. A stored mail has 256 KiB for all of its HTML.
	maxNotesHTML = 128 << 10
)

// Notes are release notes, converted once for all mails of a build: long ones take
// some milliseconds.
type Notes struct{ value Value }

// NewNotes converts notes from Markdown.
func NewNotes(markdown string) Notes {
	text, complete := cleanNotes(markdown)
	v := textValue(text)
	if html := note.HTML(text); html != "" && len(html) <= maxNotesHTML {
		v.html = html
	}
	if !complete {
		const rest = "The page has the rest of it."
		v.text += "\n\n" + rest
		v.html += template.HTML("<p>" + rest + "</p>\n")
	}
	return Notes{v}
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
