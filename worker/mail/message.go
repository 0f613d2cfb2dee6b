package mail

import (
	"bytes"
	"fmt"
	netmail "net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"github.com/slipway-qa/slipway/storage/mail"
)

// message is a mail as it goes over the wire.
type message struct {
	from, to string // the envelope: <address>
	bytes    []byte
	unicode  bool // an address needs SMTPUTF8
}

// compose writes the mail in the format of RFC 5322: text, or text and HTML as
// alternatives. It is the same each time but for the boundary between the parts.
// The storage refuses addresses and subjects that could end their header; that is
// checked here again, where such a value would do harm.
func compose(from *netmail.Address, m *mail.Mail) (*message, error) {
	to, err := netmail.ParseAddress(m.Recipient)
	if err != nil || to.Address != m.Recipient || hasControl(m.Recipient) {
		return nil, &RefusedError{Text: "the recipient is not a mail address"}
	}
	if hasControl(m.Subject) {
		return nil, &RefusedError{Text: "the subject holds a control character"}
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	if err := msg.To((&netmail.Address{Address: m.Recipient}).String()); err != nil {
		return nil, &RefusedError{Text: "the recipient is not a mail address"}
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.ID.String() + "@" + domain)
	msg.SetDateWithValue(m.CreatedAt.UTC())
	// RFC 3834: keeps out-of-office replies away.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, m.TextBody)
	if m.HTMLBody != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTMLBody)
	}
	var out bytes.Buffer
	if _, err := msg.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("compose mail: %w", err)
	}
	return &message{
		from: (&netmail.Address{Address: from.Address}).String(), to: (&netmail.Address{Address: m.Recipient}).String(),
		bytes: out.Bytes(), unicode: !isASCII(from.Address) || !isASCII(m.Recipient),
	}, nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, unicode.IsControl)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// maxReason bounds what is stored of a server's text, in bytes.
const maxReason = 500

// oneLine returns a text that a row and a page can hold: one line, valid UTF-8,
// bounded.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "..."
	}
	return s
}
