package mail

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// Mails share connections; each connection ends after so many.
func TestConnectionsAreShared(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, nil, false)
	transport := o.transport(t, "smtp://ann:s3cret@HOST")
	t.Cleanup(transport.Close)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 40 {
				if err := transport.Send(t.Context(), sample()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, o.received(), 320)
	require.LessOrEqual(t, o.connections(), 8, "320 mails of at most 100 each over at most 4 at once")
}

// A refused recipient does not end the connection, also where its command was sent
// together with the next ones.
func TestRefusalKeepsTheConnection(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, nil, false)
	transport := o.transport(t, "smtp://HOST")
	t.Cleanup(transport.Close)
	for _, reply := range []error{&smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}, nil,
		&smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "later"}, nil} {
		o.mu.Lock()
		o.rcpt = reply
		o.mu.Unlock()
		err := transport.Send(t.Context(), sample())
		var refused *RefusedError
		switch {
		case reply == nil:
			require.NoError(t, err)
		case errors.As(err, &refused):
			require.Equal(t, "5.1.1", refused.Status)
			require.True(t, refused.Address)
		default:
			require.ErrorContains(t, err, "later")
		}
	}
	require.Len(t, o.received(), 2)
	require.Equal(t, 1, o.connections())
}

// A server that ended a kept connection gets the mail over a new one.
func TestServerEndsConnections(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, nil, false)
	transport := o.transport(t, "smtp://HOST")
	t.Cleanup(transport.Close)
	for n := range 3 {
		require.NoError(t, transport.Send(t.Context(), sample()))
		require.Len(t, o.received(), n+1)
		o.hangUp()
	}
	require.Equal(t, 3, o.connections())
}

func TestAddressRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"550 5.1.1 unknown": true, "550 5.7.1 blocked by policy": false, "550 mailbox not found": true, "552 5.2.2 full": false,
		"553 5.1.3 bad address": true, "554 transaction failed": false, "550 5.1.10 null MX": true, "550 5.2.1 disabled": true,
		"550 5.0.0 no": true, "554 5.4.14 loop": false, "550 relay not permitted": false, "550 5.0.0 Relaying denied": false,
		"550 Unrouteable address": true, "550 your host is blocked using example.org": false, "553 sender address rejected": false,
	} {
		code, reply, _ := strings.Cut(text, " ")
		err := &smtp.SMTPError{Message: reply}
		require.NotEmpty(t, code)
		o := startMailServer(t, nil, false)
		o.rcpt = rawReply(code, reply, err)
		transport := o.transport(t, "smtp://HOST")
		var refused *RefusedError
		require.ErrorAs(t, transport.Send(t.Context(), sample()), &refused, text)
		require.Equal(t, want, refused.Address, text)
		transport.Close()
	}
}

// rawReply makes the server write a reply as it is.
func rawReply(code, text string, e *smtp.SMTPError) error {
	for _, digit := range code {
		e.Code = 10*e.Code + int(digit-'0')
	}
	e.EnhancedCode, e.Message = smtp.NoEnhancedCode, text
	return e
}

func TestMessageHeadersAndPictures(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, nil, false)
	transport := o.transport(t, "smtp://HOST")
	t.Cleanup(transport.Close)
	m := sample()
	m.Recipient = "ann+beta@exämple.org"
	m.SenderName, m.ReplyTo = "Ärzte \"QA\"", "qa@exämple.org"
	m.Unsubscribe = "https://qa.example.com/mail/unsubscribe/" + strings.Repeat("x", 43)
	m.Icon, m.IconPNG, m.QR = "icons/1", []byte("\x89PNG icon"), "https://qa.example.com/install/abc"
	m.HTMLBody = `<p><img src="cid:icon@mail"><img src="cid:qr@mail"></p>`
	require.NoError(t, transport.Send(t.Context(), m))
	got, err := netmail.ReadMessage(bytes.NewReader(o.received()[0].data))
	require.NoError(t, err)
	require.Equal(t, "ann+beta@xn--exmple-cua.org", o.received()[0].to, "no SMTPUTF8 is needed for a domain")
	require.Equal(t, "<ann+beta@xn--exmple-cua.org>", got.Header.Get("To"))
	require.Equal(t, "<qa@xn--exmple-cua.org>", got.Header.Get("Reply-To"))
	from, err := got.Header.AddressList("From")
	require.NoError(t, err)
	require.Equal(t, "Ärzte \"QA\"", from[0].Name)
	require.Equal(t, "<"+m.Unsubscribe+">", got.Header.Get("List-Unsubscribe"))
	require.Equal(t, "List-Unsubscribe=One-Click", got.Header.Get("List-Unsubscribe-Post"))
	parts := map[string]string{}
	collect(t, got.Header.Get("Content-Type"), got.Body, parts)
	require.Contains(t, parts["text/plain"], "")
	require.Contains(t, parts, "text/html")
	require.Contains(t, parts, "<icon@mail>")
	require.Contains(t, parts, "<qr@mail>")
	require.Len(t, parts, 4)
}

// collect gathers the leaves of a message by Content-ID, else by type.
func collect(t *testing.T, contentType string, body io.Reader, parts map[string]string) {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(contentType)
	require.NoError(t, err)
	if !strings.HasPrefix(kind, "multipart/") {
		return
	}
	reader := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		require.NoError(t, err)
		if strings.HasPrefix(kind, "multipart/") {
			collect(t, part.Header.Get("Content-Type"), part, parts)
			continue
		}
		name := part.Header.Get("Content-ID")
		if name == "" {
			name = kind
		}
		content, err := io.ReadAll(part)
		require.NoError(t, err)
		parts[name] = string(content)
	}
}
