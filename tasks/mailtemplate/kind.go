package mailtemplate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// The kinds, as they are stored with a mail.
const (
	KindNewBuild         = "new-build"
	KindWelcome          = "welcome"
	KindInvitation       = "invitation"
	KindSignIn           = "sign-in"
	KindUDIDNeeded       = "udid-needed"
	KindKeyRevoked       = "key-revoked"
	KindDigest           = "digest"
	KindWebhookSuspended = "webhook-suspended"
	KindGateFailed       = "gate-failed"
	KindCrashRule        = "crash-rule"
)

// Type is what a placeholder stands for.
type Type string

// The types.
const (
	Line    Type = "line"    // one line of text
	Link    Type = "link"    // a web address
	Block   Type = "block"   // several lines; alone on its line
	Picture Type = "picture" // alone on its line; nothing in the text
)

// The pictures, which the mail contains as parts of these names.
const (
	namePictureIcon = "icon"
	namePictureQR   = "qr"
)

// Placeholder is a name that a template of a kind may use.
type Placeholder struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	// Required: a template must show it.
	Required bool   `json:"required"`
	About    string `json:"description"`
	Sample   string `json:"sample"`
}

// Kind is a kind of mail.
type Kind struct {
	Name  string
	Title string // what it is, in a few words
	// Transactional mail concerns the recipient's own access: it is sent to those
	// who unsubscribed as well.
	Transactional bool
	Placeholders  []Placeholder
	Default       Template
}

// Kinds returns all kinds.
func Kinds() []Kind {
	link := func(about string) Placeholder {
		return Placeholder{Name: "link", Type: Link, Required: true, About: about, Sample: "https://qa.example.com/install/q7m2c9"}
	}
	app := Placeholder{Name: "app", Type: Line, About: "name of the app", Sample: "Groupshot"}
	build := []Placeholder{app,
		{Name: "version", Type: Line, About: "version with its code", Sample: "2.1 (21)"},
		{Name: "platform", Type: Line, About: "platform of the build, may be empty", Sample: "Android"},
		{Name: "notes", Type: Block, About: "release notes, may be empty", Sample: "- Photos load *twice* as fast\n- Fixes a crash at the start"},
		{Name: "comment", Type: Block, About: "comment of who sends it, may be empty", Sample: "Please look at the new album page."},
		link("the recipient's way to install the build"),
		{Name: namePictureIcon, Type: Picture, About: "icon of the app, may be empty", Sample: "sample"},
		{Name: namePictureQR, Type: Picture, About: "QR code of the link", Sample: "https://qa.example.com/install/q7m2c9"},
	}
	kinds := []Kind{
		{Name: KindNewBuild, Title: "A new build can be installed", Placeholders: build},
		{Name: KindWelcome, Title: "Welcome to a new tester", Placeholders: []Placeholder{
			{Name: "groups", Type: Line, About: "groups of the tester, may be empty", Sample: "Beta, Staff"},
			link("the tester's own page")}},
		{Name: KindInvitation, Title: "Invitation to a build", Placeholders: build},
		{Name: KindSignIn, Title: "One-time sign-in", Transactional: true, Placeholders: []Placeholder{app,
			link("the link that signs in, once"),
			{Name: "time", Type: Line, About: "how long the link works", Sample: "60 minutes"}}},
		{Name: KindUDIDNeeded, Title: "A device has to be registered", Placeholders: []Placeholder{app,
			link("the page that registers the device")}},
		{Name: KindKeyRevoked, Title: "An API key was revoked", Transactional: true, Placeholders: []Placeholder{
			{Name: "key", Type: Line, Required: true, About: "name of the key", Sample: "CI (key ending in 4f2a)"},
			{Name: "reason", Type: Line, About: "why, a sentence", Sample: "An app sent a crash report with this key."}}},
		{Name: KindDigest, Title: "Weekly digest", Placeholders: []Placeholder{
			{Name: "from", Type: Line, About: "first day", Sample: "2026-11-16"},
			{Name: "to", Type: Line, About: "day after the last one", Sample: "2026-11-23"},
			{Name: "crash_group_count", Type: Line, About: "number of new crash groups", Sample: "2"},
			{Name: "crash_groups", Type: Block, About: "the first of them, may be empty",
				Sample: "- NullPointerException in Album.open (31 crashes)\n- SIGSEGV in decode (4 crashes)"},
			{Name: "run_count", Type: Line, About: "number of failed suite runs", Sample: "1"},
			{Name: "runs", Type: Block, About: "the first of them, may be empty", Sample: "- Checkout (2026-11-20 06:00, 3 of 20 failed)"},
			{Name: "link", Type: Link, About: "where Slipway is", Sample: "https://qa.example.com"}}},
		{Name: KindWebhookSuspended, Title: "A webhook was suspended", Transactional: true, Placeholders: []Placeholder{
			{Name: "name", Type: Line, Required: true, About: "name of the webhook", Sample: "Chat"},
			{Name: "url", Type: Line, About: "its address", Sample: "https://hooks.example.com/slipway"},
			{Name: "reason", Type: Line, About: "why, a sentence", Sample: "The receiver answered 410: it is gone for good."},
			{Name: "link", Type: Link, About: "where the webhook is read, may be empty", Sample: "https://qa.example.com/api/v3/webhooks/7"}}},
		{Name: KindGateFailed, Title: "A build did not pass its gate", Placeholders: []Placeholder{app,
			{Name: "version", Type: Line, About: "version with its code", Sample: "2.1 (21)"},
			{Name: "reason", Type: Block, Required: true, About: "which conditions failed, and why",
				Sample: "Smoke: 1 of 20 cases of the suite \"Smoke\" did not pass"},
			{Name: "link", Type: Link, About: "where the gate is read", Sample: "https://qa.example.com/console/builds/builds/7"}}},
		{Name: KindCrashRule, Title: "A rule of crash groups fired", Placeholders: []Placeholder{
			{Name: "rule", Type: Line, About: "name of the rule", Sample: "New crashes of Groupshot"},
			{Name: "title", Type: Line, Required: true, About: "title of the group, the first of several",
				Sample: "NullPointerException in Album.open"},
			{Name: "crash_project", Type: Line, About: "crash project of the group", Sample: "Groupshot"},
			{Name: "reason", Type: Line, About: "why the rule fired", Sample: "more than 100 users in an hour"},
			{Name: "groups", Type: Block, About: "the groups, at most ten",
				Sample: "- NullPointerException in Album.open (Groupshot, 31 reports, 12 users)"},
			{Name: "link", Type: Link, About: "where the first group is read", Sample: "https://qa.example.com/console/crashes/groups/7"}}},
	}
	for i := range kinds {
		kinds[i].Placeholders = append(kinds[i].Placeholders,
			Placeholder{Name: "organization", Type: Line, About: "name of the organization", Sample: "Acme QA"},
			Placeholder{Name: "recipient", Type: Line, About: "mail address of the recipient", Sample: "ann@example.com"})
		kinds[i].Default = builtIn(kinds[i].Name)
	}
	return kinds
}

// builtIn reads the template of a kind: its first line is the subject.
func builtIn(kind string) Template {
	text, err := files.ReadFile("kinds/" + kind + ".txt")
	if err != nil {
		return Template{} // the tests read every kind
	}
	subject, body, _ := strings.Cut(string(text), "\n")
	return Template{Subject: subject, Text: strings.TrimSpace(body)}
}

// KindOf returns a kind; storage.ErrNotFound.
func KindOf(name string) (Kind, error) {
	all := Kinds()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, fmt.Errorf("kind of mail %q: %w", clip(name), storage.ErrNotFound)
	}
	return all[i], nil
}

// typeOf returns the type of a placeholder, "" for none.
func (k Kind) typeOf(name string) Type {
	for _, p := range k.Placeholders {
		if p.Name == name {
			return p.Type
		}
	}
	return ""
}

func (k Kind) knows(name string) bool { return k.typeOf(name) != "" }

// parse reads a template of the kind. An error is an *storage.InvalidError of the
// field subject or text.
func (k Kind) parse(t Template) (*Render, error) {
	invalid := func(field, msg string) error { return &storage.InvalidError{Field: field, Msg: msg} }
	switch {
	case strings.TrimSpace(t.Subject) == "":
		return nil, invalid("subject", "is required")
	case utf8.RuneCountInString(t.Subject) > maxSubject || !utf8.ValidString(t.Subject) ||
		oneLine(t.Subject, maxSubject) != strings.TrimSpace(t.Subject):
		return nil, invalid("subject", fmt.Sprintf("must be one line of printable text of at most %d characters", maxSubject))
	case strings.TrimSpace(t.Text) == "":
		return nil, invalid("text", "is required")
	case !utf8.ValidString(t.Text) || strings.ContainsFunc(t.Text, isForbidden):
		return nil, invalid("text", "must be UTF-8 text without control characters")
	}
	subject, err := parse(t.Subject, k.knows)
	if err != nil {
		return nil, invalid("subject", err.Error())
	}
	for _, name := range names(subject) {
		if typ := k.typeOf(name); typ != Line {
			return nil, invalid("subject", fmt.Sprintf("{{%s}} is a %s, which no subject can hold", name, typ))
		}
	}
	text, err := parse(t.Text, k.knows)
	if err != nil {
		return nil, invalid("text", err.Error())
	}
	return &Render{kind: k, subject: subject, text: text}, nil
}

func isForbidden(r rune) bool { return r < 0x20 && r != '\n' && r != '\r' && r != '\t' || r == 0x7f }

// names returns the placeholders that are shown somewhere.
func names(list []node) (out []string) {
	for _, n := range list {
		if n.section {
			out = append(out, names(n.inner)...)
		} else if n.name != "" {
			out = append(out, n.name)
		}
	}
	return out
}

// Check returns an *storage.InvalidError of the field subject or text when a
// template of the kind is broken, or leaves out what its mail is for.
func (k Kind) Check(t Template) error {
	r, err := k.parse(t)
	if err != nil {
		return err
	}
	// With every value: a block or picture that does not stand alone is found.
	for _, pieces := range lines(expand(r.text, func(string) bool { return true })) {
		l := classify(pieces, k.typeOf)
		for _, p := range l.pieces {
			if typ := k.typeOf(p.name); typ == Block || typ == Picture {
				return &storage.InvalidError{Field: "text", Msg: fmt.Sprintf("{{%s}} must stand alone on its line", p.name)}
			}
		}
	}
	// With the required values alone: what a section hides does not count.
	values := k.samples(func(p Placeholder) bool { return p.Required })
	out := r.write(values, "")
	for _, p := range k.Placeholders {
		if p.Required && !strings.Contains(out.Text, p.Sample) {
			return &storage.InvalidError{Field: "text", Msg: fmt.Sprintf("must show {{%s}}: without it the mail is of no use", p.Name)}
		}
	}
	return nil
}

// samples returns the sample values of those placeholders that are wanted.
func (k Kind) samples(wanted func(Placeholder) bool) map[string]Value {
	values := map[string]Value{}
	for _, p := range k.Placeholders {
		if wanted(p) {
			values[p.Name] = sampleValue(p, p.Sample)
		}
	}
	return values
}

// sampleValue returns a value of the placeholder's type.
func sampleValue(p Placeholder, text string) Value {
	switch {
	case p.Type == Block && p.Name == "notes":
		return NewNotes(text).value
	case p.Type == Block:
		return textValue(text)
	case p.Type == Link:
		return linkValue(text)
	case p.Type == Picture:
		return pictureValue(text)
	}
	return lineValue(text)
}

// Preview writes a mail of the kind with sample values, in place of which given
// ones are used. A name that the kind does not have is an *storage.InvalidError of
// the field data, as is a value that is too long.
func (k Kind) Preview(own *Template, given map[string]string, unsubscribe string) (Rendered, error) {
	values := k.samples(func(Placeholder) bool { return true })
	for name, text := range given {
		i := slices.IndexFunc(k.Placeholders, func(p Placeholder) bool { return p.Name == name })
		if i < 0 {
			return Rendered{}, &storage.InvalidError{Field: "data." + clip(name), Msg: "is no placeholder of this kind of mail"}
		}
		if len(text) > maxNotes {
			return Rendered{}, &storage.InvalidError{Field: "data." + clip(name), Msg: fmt.Sprintf("must have at most %d bytes", maxNotes)}
		}
		values[name] = sampleValue(k.Placeholders[i], text)
	}
	r, err := NewRender(k.Name, own)
	if err != nil {
		return Rendered{}, err
	}
	if k.Transactional {
		unsubscribe = ""
	}
	return r.write(values, unsubscribe), nil
}
