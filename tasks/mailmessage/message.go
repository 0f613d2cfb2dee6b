// Package mailmessage writes mail in the format of RFC 5322, as it goes to a mail server:
// text, or text and HTML as alternatives, the HTML with its pictures. The worker sends what
// it writes, and operators read its headers.
//
// A mail is the same each time but for the boundary between its parts. What could end a
// header before its time is a *RefusedError; the storage refuses it too, when the mail is
// written.
package mailmessage

import (
	"bytes"
	"fmt"
	netmail "net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"
	"rsc.io/qr"

	"github.com/slipway-qa/slipway/storage/mail"
)

// Outgoing is a mail with what its organization and its pictures add to it.
type Outgoing struct {
	*mail.Mail
	SenderName, ReplyTo string
	IconPNG             []byte
}

// RefusedError means that a mail cannot be written.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Message is a mail as it goes over the wire.
type Message struct {
	From, To string // the envelope: <address>
	Bytes    []byte
	Unicode  bool // an address needs SMTPUTF8
}

// Compose writes a mail. The storage refuses addresses and subjects that could end their
// header; that is checked here again, where such a value would do harm.
func Compose(from *netmail.Address, m *Outgoing) (*Message, error) {
	to, err := netmail.ParseAddress(m.Recipient)
	if err != nil || to.Address != m.Recipient || HasControl(m.Recipient) {
		return nil, &RefusedError{"the recipient is not a mail address"}
	}
	if HasControl(m.Subject + m.SenderName + m.ReplyTo + m.Unsubscribe) {
		return nil, &RefusedError{"a header would hold a control character"}
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
		return nil, &RefusedError{"the recipient is not a mail address"}
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
	return &Message{
		From: (&netmail.Address{Address: sender.Address}).String(), To: (&netmail.Address{Address: recipient}).String(),
		Bytes: out.Bytes(), Unicode: !isASCII(sender.Address) || !isASCII(recipient),
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

// HasControl reports whether a text has a control character, which a header cannot hold.
func HasControl(s string) bool {
	return strings.ContainsFunc(s, unicode.IsControl)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// Header is a line of a mail's head, unfolded.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Headers are the lines of a message's head, in their order. What in them would act for the
// recipient, the token of a link to unsubscribe, is left out.
func (m *Message) Headers() (list []Header) {
	head, _, _ := bytes.Cut(m.Bytes, []byte("\r\n\r\n"))
	for _, line := range strings.Split(string(head), "\r\n") {
		if n := len(list); n > 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			list[n-1].Value += " " + strings.TrimSpace(line)
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		list = append(list, Header{name, strings.TrimSpace(value)})
	}
	for i, h := range list {
		if strings.EqualFold(h.Name, string(gomail.HeaderListUnsubscribe)) {
			list[i].Value = h.Value[:strings.LastIndexByte(h.Value, '/')+1] + "...>"
		}
	}
	return list
}
