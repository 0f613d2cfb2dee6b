// Package mailtemplate writes the mails that Slipway sends: subject, text and
// HTML of each kind. It stores and sends nothing.
//
// A kind has one template, in a small language of its own, of which both the text
// and the HTML are made, so that they never differ. An organization may have
// templates in place of the built-in ones; Check refuses one that is broken, or
// that lost the link without which its mail is useless.
//
//	{{app}} {{version}} can be installed now.
//	{{#platform}}For {{platform}}.{{/platform}}
//	# What is new
//	{{notes}}
//	[Open the install page]({{link}})
//	--
//	Small print.
//
// There are placeholders, sections that are shown when a value is not empty,
// headings, buttons, blocks and pictures that stand alone on their line, and small
// print behind two hyphens. There is nothing else: no loop, no function, no HTML.
// Names that a kind does not have are refused.
//
// The HTML loads nothing from anywhere, so that opening a mail discloses nothing:
// pictures are parts of the mail (cid:), styles stand inside the tags.
//
// Values come from outside. In HTML they are escaped, in subjects they are reduced
// to one line of bounded length, and notes are bounded and sanitized. No value
// makes a function fail: where a stored template cannot be read, the built-in one
// is used.
package mailtemplate

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"unicode"
)

// Content is the content of one mail: a kind with its values.
type Content interface {
	Kind() string
	values() map[string]Value
}

// Value is what stands for a placeholder.
type Value struct {
	kind Type
	text string
	html template.HTML // of a block
}

func (v Value) isEmpty() bool { return v.text == "" }

// To is whom a mail is for; values that every kind has.
type To struct {
	Organization string
	Recipient    string
	// Unsubscribe is the page where the recipient ends mail of this sort; "" in mail
	// that is not for choosing.
	Unsubscribe string
}

// Template is an organization's own subject and text of a kind.
type Template struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Rendered is a mail. Icon is the object key of the picture cid:icon@mail, QR the
// link in the picture cid:qr@mail; "" when the HTML shows none.
type Rendered struct {
	Subject, Text, HTML string
	Icon, QR            string
}

const (
	// maxName bounds a name inside a subject, in characters: mail readers show
	// some 70 of a subject.
	maxName = 60
	// maxSubject is within what one mail header line may hold (998 bytes) at
	// four bytes a character.
	maxSubject = 200
	// maxLine bounds other values of one line, in characters.
	maxLine = 1000
)

//go:embed mail.html kinds
var files embed.FS

// layout is parsed once: a notification writes some thousand mails.
var layout = template.Must(template.ParseFS(files, "mail.html"))

// page is the data of mail.html.
type page struct {
	Subject     string
	Body, Foot  template.HTML
	Unsubscribe string
}

// Render writes mails of one kind by one template.
type Render struct {
	kind          Kind
	subject, text []node
}

// NewRender returns a Render of a kind; own is the organization's template, nil
// for the built-in one. One that cannot be read any more is passed over.
func NewRender(kind string, own *Template) (*Render, error) {
	k, err := KindOf(kind)
	if err != nil {
		return nil, err
	}
	if own != nil {
		if r, err := k.parse(*own); err == nil {
			return r, nil
		}
	}
	return k.parse(k.Default)
}

// Mail writes one mail; the content is of the Render's kind.
func (r *Render) Mail(c Content, to To) Rendered {
	values := c.values()
	values["organization"] = lineValue(to.Organization)
	values["recipient"] = lineValue(to.Recipient)
	return r.write(values, to.Unsubscribe)
}

func (r *Render) write(values map[string]Value, unsubscribe string) Rendered {
	shown := func(name string) bool { return !values[name].isEmpty() }
	w := &writer{values: values}
	var subject strings.Builder
	for _, p := range expand(r.subject, shown) {
		subject.WriteString(p.literal)
		if p.name != "" {
			subject.WriteString(truncate(values[p.name].text, maxName))
		}
	}
	out := Rendered{Subject: truncate(oneLine(subject.String(), maxSubject), maxSubject)}
	if out.Subject == "" {
		out.Subject = r.kind.Title
	}
	for _, pieces := range lines(expand(r.text, shown)) {
		l := classify(pieces, r.kind.typeOf)
		w.add(l)
		if l.shape == valueLine && l.name == namePictureIcon {
			out.Icon = values[l.name].text
		}
		if l.shape == valueLine && l.name == namePictureQR {
			out.QR = values[l.name].text
		}
	}
	w.closeParagraph()
	out.Text = strings.TrimSpace(w.text.String()) + "\n"
	if unsubscribe != "" {
		out.Text += "\nUnsubscribe: " + unsubscribe + "\n"
	}
	var html strings.Builder
	// A mail is complete without HTML; the tests render every kind.
	if layout.Execute(&html, page{Subject: out.Subject, Body: template.HTML(w.body.String()), Foot: template.HTML(w.foot.String()),
		Unsubscribe: unsubscribe}) == nil {
		out.HTML = html.String()
	}
	return out
}

// lineValue returns a value of one line.
func lineValue(s string) Value { return Value{kind: Line, text: oneLine(s, maxLine)} }

// nameValue returns a value that is short in subjects and texts.
func nameValue(s string) Value { return Value{kind: Line, text: oneLine(s, maxName)} }

func linkValue(link string) Value { return Value{kind: Link, text: oneLine(link, maxLine)} }

func pictureValue(source string) Value { return Value{kind: Picture, text: source} }

// textValue returns a block of plain text that keeps its line breaks.
func textValue(s string) Value {
	text, _ := cleanNotes(s)
	return Value{kind: Block, text: text, html: template.HTML(strings.ReplaceAll(template.HTMLEscapeString(text), "\n", "<br>\n"))}
}

func numberValue(n int) Value { return Value{kind: Line, text: fmt.Sprint(n)} }

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
