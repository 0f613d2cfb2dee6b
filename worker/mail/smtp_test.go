package mail

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/mail"
)

func sample() *Outgoing {
	return &Outgoing{Mail: &mail.Mail{ID: uuid.MustParse("0190a5b4-7c1e-7cc0-9f00-000000000001"), Kind: "new-build",
		Recipient: "ann@example.org",
		Subject:   "Übung 1.0 is ready", TextBody: "Grüße\n.\nFrom here\n", HTMLBody: "<p>Grüße</p>",
		CreatedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}}
}

func TestSMTPSends(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		url              string
		implicit, secure bool
		user             string
	}{
		"STARTTLS and sign-in": {url: "smtp://ann:s3cret@HOST", secure: true, user: "ann"},
		"STARTTLS":             {url: "smtp://HOST", secure: true},
		"implicit":             {url: "smtps://ann:s3cret@HOST", implicit: true, secure: true, user: "ann"},
		"in the clear":         {url: "smtp://HOST?tls=none"},
		"clear with password":  {url: "smtp://ann:s3cret@HOST?tls=none", user: "ann"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startMailServer(t, func(_ *mailServer, s *smtp.Server) { s.AllowInsecureAuth = strings.Contains(tt.url, "none") }, tt.implicit)
			require.NoError(t, o.transport(t, tt.url).Send(t.Context(), sample()))
			posts := o.received()
			require.Len(t, posts, 1)
			got := posts[0]
			require.Equal(t, "qa@example.com", got.from)
			require.Equal(t, "ann@example.org", got.to)
			require.Equal(t, tt.secure, got.secure)
			require.Equal(t, tt.user, got.user)
			readMail(t, got.data)
		})
	}
}

// readMail reads the sample as a mail reader does.
func readMail(t *testing.T, data []byte) {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, "<0190a5b4-7c1e-7cc0-9f00-000000000001@example.com>", m.Header.Get("Message-Id"))
	require.Equal(t, "Wed, 04 Mar 2026 05:06:07 +0000", m.Header.Get("Date"))
	require.Equal(t, "auto-generated", m.Header.Get("Auto-Submitted"))
	require.Equal(t, `"Slipway QA" <qa@example.com>`, m.Header.Get("From"))
	require.Equal(t, "<ann@example.org>", m.Header.Get("To"))
	require.Equal(t, "1.0", m.Header.Get("Mime-Version"))
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	require.NoError(t, err)
	require.Equal(t, "Übung 1.0 is ready", subject)
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for _, want := range [][2]string{{"text/plain", "Grüße\r\n.\r\nFrom here\r\n"}, {"text/html", "<p>Grüße</p>"}} {
		part, err := parts.NextRawPart()
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(part.Header.Get("Content-Type"), want[0]), part.Header)
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(want[1], "\r\n", "\n"), strings.ReplaceAll(string(text), "\r\n", "\n"))
	}
	_, err = parts.NextPart()
	require.ErrorIs(t, err, io.EOF)
}

func TestSMTPTextAlone(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, nil, false)
	m := sample()
	m.HTMLBody = ""
	require.NoError(t, o.transport(t, "smtp://HOST").Send(t.Context(), m))
	got, err := netmail.ReadMessage(bytes.NewReader(o.received()[0].data))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain"))
}

func TestSMTPRefusals(t *testing.T) {
	t.Parallel()
	reply := func(code int, text string) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
	}
	for name, tt := range map[string]struct {
		change    func(*mailServer)
		permanent bool
		text      string
	}{
		"recipient unknown":  {func(o *mailServer) { o.rcpt = reply(550, "no such user") }, true, "no such user"},
		"content refused":    {func(o *mailServer) { o.data = reply(554, "looks like spam") }, true, "looks like spam"},
		"a long answer":      {func(o *mailServer) { o.rcpt = reply(550, strings.Repeat("x", 1900)) }, true, "xxx..."},
		"greylisted":         {func(o *mailServer) { o.rcpt = reply(451, "come again") }, false, "come again"},
		"content later":      {func(o *mailServer) { o.data = reply(452, "disk full") }, false, "disk full"},
		"sender not allowed": {func(o *mailServer) { o.mail = reply(550, "not your domain") }, false, "not your domain"},
		"sign-in needed":     {func(o *mailServer) { o.rcpt = reply(530, "sign in first") }, false, "sign in first"},
		"wrong password":     {func(o *mailServer) { o.auth = errors.New("no") }, false, "sign-in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startMailServer(t, func(o *mailServer, _ *smtp.Server) { tt.change(o) }, false)
			err := o.transport(t, "smtp://ann:s3cret@HOST").Send(t.Context(), sample())
			var refused *RefusedError
			require.Equal(t, tt.permanent, errors.As(err, &refused), "%v", err)
			require.ErrorContains(t, err, tt.text)
			require.Less(t, len(err.Error()), 700)
			require.NotContains(t, err.Error(), "s3cret")
			require.NotContains(t, err.Error(), "AGFubgBzM2NyZXQ", "nor its base64")
			require.Empty(t, o.received())
		})
	}
}

func TestSMTPInsistsOnTLS(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, func(_ *mailServer, s *smtp.Server) { s.TLSConfig = nil }, false)
	require.ErrorContains(t, o.transport(t, "smtp://ann:s3cret@HOST").Send(t.Context(), sample()), "does not offer STARTTLS")

	for _, implicit := range []bool{false, true} {
		o = startMailServer(t, nil, implicit)
		url := "smtp://ann:s3cret@HOST"
		if implicit {
			url = "smtps://ann:s3cret@HOST"
		}
		o.roots = x509.NewCertPool() // knows nobody
		err := o.transport(t, url).Send(t.Context(), sample())
		require.ErrorContains(t, err, "certificate signed by unknown authority")
		require.Empty(t, o.received())
	}
}

func TestSMTPWithoutServer(t *testing.T) {
	t.Parallel()
	o := &mailServer{addr: "127.0.0.1:1"}
	err := o.transport(t, "smtp://ann:s3cret@HOST").Send(t.Context(), sample())
	require.ErrorContains(t, err, "reach mail server")
	var refused *RefusedError
	require.NotErrorAs(t, err, &refused)
	require.NotContains(t, err.Error(), "s3cret")
}

// A server that stops replying, at the start or in the middle, delays nobody for
// longer than the timeout, or than the worker's context.
func TestSMTPSlowServer(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	slow := startMailServer(t, func(o *mailServer, _ *smtp.Server) { o.blocked = end }, false)
	t.Cleanup(func() { close(end) }) // before the server's own end
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = mute.Close() })

	for _, url := range []string{"smtp://HOST", "smtps://HOST", "smtp://SLOW"} {
		o := &mailServer{addr: mute.Addr().String()}
		if strings.Contains(url, "SLOW") {
			o, url = slow, "smtp://HOST"
		}
		transport := o.transport(t, url)
		transport.cfg.Timeout = 300 * time.Millisecond
		err := transport.Send(t.Context(), sample())
		require.ErrorIs(t, err, context.DeadlineExceeded)

		transport.cfg.Timeout = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		require.Error(t, transport.Send(ctx, sample()))
		cancel()
	}
}

func TestSMTPServerThatTalksWithoutEnd(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	var done sync.WaitGroup
	done.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for line := bytes.Repeat([]byte("220-hello\r\n"), 1000); err == nil; {
			_, err = conn.Write(line)
		}
	})
	t.Cleanup(done.Wait)
	o := &mailServer{addr: listener.Addr().String()}
	require.ErrorContains(t, o.transport(t, "smtp://HOST").Send(t.Context(), sample()), "talks without end")
}

func TestHeaderInjection(t *testing.T) {
	t.Parallel()
	o := startMailServer(t, nil, false)
	transport := o.transport(t, "smtp://HOST")
	for name, change := range map[string]func(*Outgoing){
		"subject":            func(m *Outgoing) { m.Subject = "Hi\r\nBcc: all@example.com" },
		"subject, line feed": func(m *Outgoing) { m.Subject = "Hi\nBcc: all@example.com" },
		"subject, NUL":       func(m *Outgoing) { m.Subject = "Hi\x00" },
		"recipient":          func(m *Outgoing) { m.Recipient = "ann@example.org\r\nBcc: all@example.com" },
		"recipient, command": func(m *Outgoing) { m.Recipient = "ann@example.org>\r\nRCPT TO:<eve@example.org" },
		"two recipients":     func(m *Outgoing) { m.Recipient = "ann@example.org, eve@example.org" },
		"recipient, name":    func(m *Outgoing) { m.Recipient = "Ann <ann@example.org>" },
		"recipient, none":    func(m *Outgoing) { m.Recipient = "" },
		"recipient, no at":   func(m *Outgoing) { m.Recipient = "ann" },
	} {
		m := sample()
		change(m)
		var refused *RefusedError
		require.ErrorAs(t, transport.Send(t.Context(), m), &refused, name)
	}
	m := sample()
	m.Recipient = "änn@example.org"
	var refused *RefusedError
	require.ErrorAs(t, transport.Send(t.Context(), m), &refused, "a server without SMTPUTF8")
	require.Empty(t, o.received())

	m = sample() // a long subject is folded, a body cannot end the mail
	m.Subject = strings.Repeat("very long subject ", 30)
	m.TextBody = "\r\n.\r\nMAIL FROM:<eve@example.org>\r\n"
	require.NoError(t, transport.Send(t.Context(), m))
	require.Len(t, o.received(), 1)
	got, err := netmail.ReadMessage(bytes.NewReader(o.received()[0].data))
	require.NoError(t, err)
	require.Len(t, got.Header["To"], 1)
	require.Empty(t, got.Header["Bcc"])
}

func TestNewSMTPRefuses(t *testing.T) {
	t.Parallel()
	server, err := ParseSMTP("smtp://h")
	require.NoError(t, err)
	for _, from := range []string{"", "qa", "qa@example.com, b@example.com", "a\r\nBcc: <b@example.com>"} {
		_, err := NewSMTP(SMTPConfig{Server: server, From: from})
		require.Error(t, err, from)
	}
	_, err = NewSMTP(SMTPConfig{From: "qa@example.com"})
	require.Error(t, err)
	made, err := NewSMTP(SMTPConfig{Server: server, From: "qa@example.com", Hello: "bad name\r\n"})
	require.NoError(t, err)
	require.Equal(t, "localhost", made.cfg.Hello)
}
