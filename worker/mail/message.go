package mail

import (
	"bytes"
	"fmt"
	netmail "net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"
	"rsc.io/qr"
)

// message is a mail as it goes over the wire.
type message struct {
	from, to string // the envelope: <address>
	bytes    []byte
	unicode  bool // an address needs SMTPUTF8
}

// compose writes the mail in the format of RFC 5322: text, or text and HTML as
// alternatives, the HTML with its pictures. It is the same each time but for the
// boundary between the parts. The storage refuses addresses and subjects that could
// end their header; that is checked here again, where such a value would do harm.
func compose(from *netmail.Address, m *Outgoing) (*message, error) {
	to, err := netmail.ParseAddress(m.Recipient)
	if err != nil || to.Address != m.Recipient || hasControl(m.Recipient) {
		return nil, &RefusedError{Text: "the recipient is not a mail address"}
	}
	if hasControl(m.Subject + m.SenderName + m.ReplyTo + m.Unsubscribe) {
		return nil, &RefusedError{Text: "a header would hold a control character"}
	}
	recipient := asciiDomain(m.Recipient)
	sender := &netmail.Address{Name: from.Name, Address: asciiDomain(from.Address)}
	if m.SenderName != "" {
		sender.Name = m.SenderName
	}
	_, domain, _ := strings.Cut(sender.Address, "@")
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(sender)
	if err := msg.To((&netmail.Address{Address: recipient}).String()); err != nil {
		return nil, &RefusedError{Text: "the recipient is not a mail address"}
	}
	if m.ReplyTo != "" {
		msg.ReplyToMailAddress(&netmail.Address{Address: asciiDomain(m.ReplyTo)})
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.ID.String() + "@" + domain)
	msg.SetDateWithValue(m.CreatedAt.UTC())
	// RFC 3834: keeps out-of-office replies away.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Unsubscribe != "" {
		// RFC 8058: one click in the mail reader.
		msg.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribe, "<"+m.Unsubscribe+">")
		msg.SetGenHeaderPreformatted(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.TextBody)
	if m.HTMLBody != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTMLBody)
		if err := addPictures(msg, m); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	if _, err := msg.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("compose mail: %w", err)
	}
	return &message{
		from: (&netmail.Address{Address: sender.Address}).String(), to: (&netmail.Address{Address: recipient}).String(),
		bytes: out.Bytes(), unicode: !isASCII(sender.Address) || !isASCII(recipient),
	}, nil
}

// addPictures adds the parts cid:icon@mail and cid:qr@mail. A link that is too long
// for a code has none: mail readers then show nothing.
func addPictures(msg *gomail.Msg, m *Outgoing) error {
	pictures := map[string][]byte{}
	if m.Icon != "" {
		pictures["icon"] = m.IconPNG
	}
	if m.QR != "" {
		if code, err := qr.Encode(m.QR, qr.M); err == nil {
			code.Scale = 4
			pictures["qr"] = code.PNG()
		}
	}
	for _, name := range []string{"icon", "qr"} {
		if len(pictures[name]) == 0 {
			continue
		}
		err := msg.EmbedReader(name+".png", bytes.NewReader(pictures[name]), gomail.WithFileContentID("<"+name+"@mail>"),
			gomail.WithFileContentType("image/png"))
		if err != nil {
			return fmt.Errorf("picture of mail: %w", err)
		}
	}
	return nil
}

// asciiDomain returns an address whose domain is written in ASCII (RFC 5891), which
// every mail server takes. One that has no such form stays as it is.
func asciiDomain(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 || isASCII(address[at:]) {
		return address
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil {
		return address
	}
	return address[:at+1] + domain
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
