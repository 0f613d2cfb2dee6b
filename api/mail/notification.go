package mail

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"net/textproto"
	"strings"

	"github.com/google/uuid"
)

// Notification is a delivery status notification (RFC 3464).
type Notification struct {
	// MailIDs are the ids in the Message-IDs of the mail that came back.
	MailIDs    []uuid.UUID
	Recipients []Recipient
}

// Recipient is what a notification says of one recipient.
type Recipient struct {
	Final, Original string // addresses; Original "" when it is not given
	Action          string // failed, delayed, delivered, relayed, expanded
	Status          string // of RFC 3463
	Diagnostic      string // what the mail server said
}

var errNoNotification = errors.New("is no delivery status notification (multipart/report with message/delivery-status)")

// Bounds of what a notification may have: a mail from here has one recipient.
const (
	maxParts      = 20
	maxRecipients = 20
	maxHeader     = 64 << 10
	maxText       = 1000
)

// ParseNotification reads a notification. Parts that are cut off or broken are passed
// over; an error means that it is none.
func ParseNotification(r io.Reader) (*Notification, error) {
	m, err := netmail.ReadMessage(r)
	if err != nil {
		return nil, errNoNotification
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/report" || parameters["boundary"] == "" {
		return nil, errNoNotification
	}
	n := &Notification{}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for range maxParts {
		part, err := parts.NextPart()
		if err != nil {
			break // the end, or what is left cannot be read
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		switch kind {
		case "message/delivery-status", "message/global-delivery-status":
			n.readStatus(part)
		case "text/rfc822-headers", "message/rfc822", "message/global", "message/global-headers":
			n.readReturned(part)
		}
	}
	if len(n.Recipients) == 0 {
		return nil, errNoNotification
	}
	// Some servers leave the returned mail out and refer to it.
	n.addIDs(m.Header.Get("References") + " " + m.Header.Get("In-Reply-To"))
	return n, nil
}

// readStatus reads groups of fields: the first is the message's, each other one a
// recipient's.
func (n *Notification) readStatus(r io.Reader) {
	fields := textproto.NewReader(bufio.NewReader(io.LimitReader(r, maxHeader)))
	for len(n.Recipients) < maxRecipients {
		group, err := fields.ReadMIMEHeader()
		if final := group.Get("Final-Recipient"); final != "" || group.Get("Original-Recipient") != "" {
			n.Recipients = append(n.Recipients, Recipient{Final: address(final), Original: address(group.Get("Original-Recipient")),
				Action: strings.ToLower(strings.TrimSpace(group.Get("Action"))), Status: status(group.Get("Status")),
				Diagnostic: shorten(group.Get("Diagnostic-Code"))})
		}
		if err != nil {
			return
		}
	}
}

// address returns the address of a field such as "rfc822;ann@example.org".
func address(field string) string {
	_, text, typed := strings.Cut(field, ";")
	if !typed {
		text = field
	}
	text = strings.TrimSpace(text)
	return strings.TrimSuffix(strings.TrimPrefix(text, "<"), ">")
}

// status returns the status of a field that may have a comment behind it.
func status(field string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(field), " ")
	if len(word) > 11 || strings.Trim(word, "0123456789.") != "" {
		return ""
	}
	return word
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

// readReturned reads the header of the mail that came back.
func (n *Notification) readReturned(r io.Reader) {
	content, _ := io.ReadAll(io.LimitReader(r, maxHeader))
	fields := textproto.NewReader(bufio.NewReader(bytes.NewReader(content)))
	header, _ := fields.ReadMIMEHeader()
	n.addIDs(header.Get("Message-Id"))
}

// addIDs adds the mails that Message-IDs name: <uuid@domain>.
func (n *Notification) addIDs(text string) {
	for _, word := range strings.Fields(text) {
		local, _, found := strings.Cut(strings.TrimPrefix(word, "<"), "@")
		id, err := uuid.Parse(local)
		if found && err == nil && len(local) == 36 && len(n.MailIDs) < maxRecipients {
			n.MailIDs = append(n.MailIDs, id)
		}
	}
}
