package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"os"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/slipway-qa/slipway/tasks/mailmessage"
)

// SMTPConfig is the mail server to use, and how.
type SMTPConfig struct {
	Server Server
	// From is the sender of all mail: an address, or a name and an address as in
	// "Slipway <qa@example.com>".
	From string
	// Timeout bounds the whole of one mail, from the connection to the server's
	// last reply; default 30 s, half of the task's time.
	Timeout time.Duration
	// Roots are the authorities that may have signed the server's certificate; nil
	// for the machine's.
	Roots *x509.CertPool
	// Hello is the name that this machine sends in EHLO; default its host name.
	Hello string
	// Connections bounds the connections that are open at once; default 4.
	Connections int
}

// SMTP is the Transport to a mail server. It keeps connections and sends one mail
// after another over each. It is safe for concurrent use.
type SMTP struct {
	cfg  SMTPConfig
	from *netmail.Address
	pool pool
}

// NewSMTP checks the configuration; it does not connect.
func NewSMTP(cfg SMTPConfig) (*SMTP, error) {
	from, err := netmail.ParseAddress(cfg.From)
	if err != nil || mailmessage.HasControl(cfg.From) || mailmessage.HasControl(from.Name) || mailmessage.HasControl(from.Address) {
		return nil, errors.New("mail: the sender must be a mail address, or Name <address>")
	}
	if cfg.Server.Host == "" || cfg.Server.Port == 0 || cfg.Server.TLS == "" {
		return nil, errors.New("mail: no server")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.Hello == "" {
		cfg.Hello, _ = os.Hostname()
	}
	// A name that servers would refuse is worse than none (RFC 5321, 4.1.4).
	if cfg.Hello == "" || len(cfg.Hello) > 253 || strings.ContainsFunc(cfg.Hello, func(r rune) bool {
		return !(r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		cfg.Hello = "localhost"
	}
	if cfg.Connections <= 0 {
		cfg.Connections = 4
	}
	return &SMTP{cfg: cfg, from: from, pool: pool{free: make(chan struct{}, cfg.Connections)}}, nil
}

// Send sends the mail to the server. Errors name the step and the server's reply,
// except to the credentials.
func (t *SMTP) Send(ctx context.Context, m *Outgoing) error {
	msg, err := mailmessage.Compose(t.from, &mailmessage.Outgoing{Mail: m.Mail, SenderName: m.SenderName, ReplyTo: m.ReplyTo,
		IconPNG: m.IconPNG})
	var refused *mailmessage.RefusedError
	if errors.As(err, &refused) {
		return &RefusedError{Text: refused.Text}
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	defer cancel()
	if err := t.pool.enter(ctx); err != nil {
		return fmt.Errorf("mail server: no free connection: %w", err)
	}
	defer t.pool.leave()
	err = t.sendOver(ctx, msg, m.Ending)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("mail server: no end within %s: %w", t.cfg.Timeout, context.Cause(ctx))
	}
	return err
}

// Close ends the connections that are kept.
func (t *SMTP) Close() { t.pool.close() }

// sendOver sends a message over a kept connection, or a new one when there is none
// or the server has ended it meanwhile.
func (t *SMTP) sendOver(ctx context.Context, msg *mailmessage.Message, ending func()) error {
	if s := t.pool.take(); s != nil {
		err := t.over(ctx, s, msg, ending)
		if !errors.Is(err, errConnectionEnded) {
			return err
		}
	}
	s, err := t.connect(ctx)
	if err != nil {
		return err
	}
	return t.over(ctx, s, msg, ending)
}

// over sends a message over a connection and keeps it when it can be used again.
func (t *SMTP) over(ctx context.Context, s *session, msg *mailmessage.Message, ending func()) error {
	// Reads and writes end with the context, at its deadline or before it.
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	s.limit.left = maxReplies
	err := s.send(msg, ending)
	if stop() && s.usable {
		t.pool.put(s)
	} else {
		s.close()
	}
	return err
}

// connect opens a connection, starts TLS and signs in.
func (t *SMTP) connect(ctx context.Context) (*session, error) {
	conn, limit, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	client, err := t.startSession(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return newSession(client, conn, limit), nil
}

// maxReplies bounds what is read from the server for one mail, TLS included.
const maxReplies = 1 << 20

// limitedConn is a connection that fails after left bytes were read.
type limitedConn struct {
	net.Conn
	left int
}

func (t *limitedConn) Read(b []byte) (int, error) {
	if t.left <= 0 {
		return 0, errors.New("the mail server talks without end")
	}
	n, err := t.Conn.Read(b[:min(len(b), t.left)])
	t.left -= n
	return n, err
}

func (t *SMTP) dial(ctx context.Context) (net.Conn, *limitedConn, error) {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", t.cfg.Server.address())
	if err != nil {
		return nil, nil, fmt.Errorf("reach mail server: %w", err)
	}
	limit := &limitedConn{Conn: raw, left: maxReplies}
	if t.cfg.Server.TLS != Implicit {
		return limit, limit, nil
	}
	secure := tls.Client(limit, t.tls())
	if err := secure.HandshakeContext(ctx); err != nil {
		limit.Close()
		return nil, nil, fmt.Errorf("mail server: TLS: %w", err)
	}
	return secure, limit, nil
}

func (t *SMTP) tls() *tls.Config {
	return &tls.Config{ServerName: t.cfg.Server.Host, RootCAs: t.cfg.Roots, MinVersion: tls.VersionTLS12}
}

// startSession greets the server, starts TLS and signs in. What fails here is not
// the mail's fault.
func (t *SMTP) startSession(conn net.Conn) (*smtp.Client, error) {
	client, err := smtp.NewClient(conn, t.cfg.Server.Host)
	if err != nil {
		return nil, stepError("greeting", err)
	}
	if err := client.Hello(t.cfg.Hello); err != nil {
		return nil, stepError("EHLO", err)
	}
	if t.cfg.Server.TLS == StartTLS {
		if ok, _ := client.Extension("STARTTLS"); !ok {
			return nil, errors.New("mail server: it does not offer STARTTLS (tls=none sends in the clear)")
		}
		if err := client.StartTLS(t.tls()); err != nil {
			return nil, stepError("STARTTLS", err)
		}
	}
	if t.cfg.Server.User != "" {
		return client, t.authenticate(client)
	}
	return client, nil
}

// authenticate picks the mechanism: inside TLS the password itself, outside
// preferably a proof of it.
func (t *SMTP) authenticate(client *smtp.Client) error {
	_, offered := client.Extension("AUTH")
	s := t.cfg.Server
	offers := func(name string) bool {
		for mechanism := range strings.FieldsSeq(offered) {
			if strings.EqualFold(mechanism, name) {
				return true
			}
		}
		return false
	}
	var auth smtp.Auth
	unencrypted := s.TLS == None
	switch {
	case unencrypted && offers("SCRAM-SHA-256"):
		auth = smtp.ScramSHA256Auth(s.User, s.Password)
	case unencrypted && offers("CRAM-MD5"):
		auth = smtp.CRAMMD5Auth(s.User, s.Password)
	case offers("PLAIN"):
		auth = smtp.PlainAuth("", s.User, s.Password, s.Host, unencrypted)
	case offers("LOGIN"):
		auth = smtp.LoginAuth(s.User, s.Password, s.Host, unencrypted)
	case offers("SCRAM-SHA-256"):
		auth = smtp.ScramSHA256Auth(s.User, s.Password)
	case offers("CRAM-MD5"):
		auth = smtp.CRAMMD5Auth(s.User, s.Password)
	default:
		return errors.New("mail server: it offers no way to sign in that is known here (PLAIN, LOGIN, SCRAM-SHA-256, CRAM-MD5)")
	}
	err := client.Auth(auth)
	var reply *textproto.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reply):
		return fmt.Errorf("mail server: sign-in refused (%d)", reply.Code)
	}
	return errors.New("mail server: sign-in failed") // a library's text may hold what was sent
}

// replyError is a reply that does not accept a step.
type replyError struct {
	step  string
	reply *textproto.Error
}

func (e *replyError) Error() string {
	return fmt.Sprintf("mail server: %s answered with %d %s", e.step, e.reply.Code, oneLine(e.reply.Msg))
}

// Unwrap returns the reply.
func (e *replyError) Unwrap() error { return e.reply }

// stepError adds the step to a failure.
func stepError(step string, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return &replyError{step, reply}
	}
	return fmt.Errorf("mail server: %s: %w", step, err)
}
