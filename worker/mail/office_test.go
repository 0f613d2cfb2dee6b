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

// post is what a server was given.
type post struct {
	from, to, user string
	secure         bool
	data           []byte
}

// office is a mail server.
type office struct {
	addr  string
	roots *x509.CertPool

	mu    sync.Mutex
	posts []post
	// What to answer; nil is to accept.
	mail, rcpt, data, auth error
	hold                   chan struct{} // when set, recipients wait for its end
}

func (o *office) received() []post {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]post(nil), o.posts...)
}

// visit is one connection.
type visit struct {
	office *office
	conn   *smtp.Conn
	post   post
}

func (v *visit) Reset() { v.post = post{user: v.post.user} }

func (v *visit) Logout() error { return nil }

func (v *visit) AuthMechanisms() []string { return []string{sasl.Plain} }

func (v *visit) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if v.office.auth != nil || password != "s3cret" {
			return errors.Join(v.office.auth, smtp.ErrAuthFailed)
		}
		v.post.user = user
		return nil
	}), nil
}

func (v *visit) Mail(from string, _ *smtp.MailOptions) error {
	v.post.from = from
	return v.office.mail
}

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.post.to = to
	if v.office.hold != nil {
		<-v.office.hold
	}
	return v.office.rcpt
}

func (v *visit) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if v.office.data != nil {
		return v.office.data
	}
	_, v.post.secure = v.conn.TLSConnectionState()
	v.post.data = data
	v.office.mu.Lock()
	defer v.office.mu.Unlock()
	v.office.posts = append(v.office.posts, v.post)
	return nil
}

// open starts a mail server on a loopback address.
func open(t *testing.T, change func(*office, *smtp.Server), implicit bool) *office {
	t.Helper()
	certificate, roots := authority(t)
	o := &office{roots: roots}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &visit{office: o, conn: c}, nil
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

// authority makes a certificate for 127.0.0.1 that only its own pool knows.
func authority(t *testing.T) (tls.Certificate, *x509.CertPool) {
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

func (o *office) transport(t *testing.T, url string) *SMTP {
	t.Helper()
	server, err := ParseSMTP(strings.Replace(url, "HOST", o.addr, 1))
	require.NoError(t, err)
	transport, err := NewSMTP(SMTPConfig{Server: server, From: "Slipway QA <qa@example.com>", Roots: o.roots, Timeout: 30 * time.Second})
	require.NoError(t, err)
	return transport
}
