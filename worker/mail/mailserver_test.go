package mail

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// receivedMail is a mail that the server received.
type receivedMail struct {
	from, to, user string
	secure         bool
	data           []byte
}

// mailServer is a mail server for tests.
type mailServer struct {
	addr  string
	roots *x509.CertPool

	mu    sync.Mutex
	mails []receivedMail
	// The replies; nil accepts.
	mail, rcpt, data, auth error
	blocked                chan struct{} // when set, RCPT waits until it is closed
	conns                  []*smtp.Conn
}

// connections returns how many there were.
func (o *mailServer) connections() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	places := map[string]bool{} // STARTTLS begins a session anew
	for _, c := range o.conns {
		places[c.Conn().RemoteAddr().String()] = true
	}
	return len(places)
}

// hangUp ends all connections.
func (o *mailServer) hangUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.conns {
		_ = c.Close()
	}
}

func (o *mailServer) received() []receivedMail {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]receivedMail(nil), o.mails...)
}

// serverSession is one connection to it.
type serverSession struct {
	server *mailServer
	conn   *smtp.Conn
	mail   receivedMail
}

func (v *serverSession) Reset() { v.mail = receivedMail{user: v.mail.user} }

func (v *serverSession) Logout() error { return nil }

func (v *serverSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (v *serverSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if v.server.auth != nil || password != "s3cret" {
			return errors.Join(v.server.auth, smtp.ErrAuthFailed)
		}
		v.mail.user = user
		return nil
	}), nil
}

func (v *serverSession) Mail(from string, _ *smtp.MailOptions) error {
	v.mail.from = from
	return v.server.mail
}

func (v *serverSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.mail.to = to
	if v.server.blocked != nil {
		<-v.server.blocked
	}
	v.server.mu.Lock()
	defer v.server.mu.Unlock()
	return v.server.rcpt
}

func (v *serverSession) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if v.server.data != nil {
		return v.server.data
	}
	_, v.mail.secure = v.conn.TLSConnectionState()
	v.mail.data = data
	v.server.mu.Lock()
	defer v.server.mu.Unlock()
	v.server.mails = append(v.server.mails, v.mail)
	return nil
}

// startMailServer starts a mail server on a loopback address.
func startMailServer(t *testing.T, change func(*mailServer, *smtp.Server), implicit bool) *mailServer {
	t.Helper()
	certificate, roots := newCertificate(t)
	o := &mailServer{roots: roots}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.conns = append(o.conns, c)
		return &serverSession{server: o, conn: c}, nil
	}))
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.Domain = "localhost"
	if change != nil {
		change(o, server)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o.addr = listener.Addr().String()
	if implicit {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = server.Close()
		done.Wait()
	})
	return o
}

// newCertificate returns a certificate for 127.0.0.1 and the pool that trusts it.
func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func (o *mailServer) transport(t *testing.T, url string) *SMTP {
	t.Helper()
	server, err := ParseSMTP(strings.Replace(url, "HOST", o.addr, 1))
	require.NoError(t, err)
	transport, err := NewSMTP(SMTPConfig{Server: server, From: "Slipway QA <qa@example.com>", Roots: o.roots, Timeout: 30 * time.Second})
	require.NoError(t, err)
	return transport
}
