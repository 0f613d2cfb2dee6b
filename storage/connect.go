package storage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"net"
	"net/url"
	"os"
	"syscall"

	"github.com/lib/pq"
)

// Host returns host and port of the URL, for messages; never a password.
func (cfg Config) Host() string {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// ConnectError means that no connection to the database could be made, for whatever reason: it
// is away, does not speak TLS, refuses the password, or has no database of that name.
// It is ErrUnavailable.
type ConnectError struct {
	Host string // host and port
	Err  error
}

func (e *ConnectError) Error() string { return "connect to " + e.Host + ": " + e.Err.Error() }

// Unwrap returns the cause and ErrUnavailable.
func (e *ConnectError) Unwrap() []error { return []error{e.Err, ErrUnavailable} }

// reporting returns every failure to connect as a *ConnectError: what stands between
// a process and its database says nothing of the statement that was to be sent.
type reporting struct {
	driver.Connector
	host string
}

// Connect implements driver.Connector.
func (c reporting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, err // the caller has gone
		}
		return nil, &ConnectError{Host: c.host, Err: err}
	}
	return conn, nil
}

// Reason returns, for an error that is ErrUnavailable, why in a few words that hold no
// host, user or secret; "" where the words say no more than the error's kind.
func Reason(err error) string {
	var (
		server *pq.Error
		dns    *net.DNSError
		cert   *tls.CertificateVerificationError
		issuer x509.UnknownAuthorityError
		dial   net.Error
	)
	switch {
	case errors.As(err, &server):
		return serverReason(server)
	case errors.Is(err, pq.ErrSSLNotSupported):
		return "the database does not speak TLS"
	case errors.As(err, &cert), errors.As(err, &issuer):
		return "the certificate of the database is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &dns):
		return "host name not resolved"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &dial) && dial.Timeout():
		return "timeout"
	}
	return ""
}

// serverReason names what the server refuses, by the codes of
// postgresql.org/docs/current/errcodes-appendix.html.
func serverReason(err *pq.Error) string {
	switch err.Code {
	case "53100":
		return "the disk of the database is full"
	case "53200":
		return "the database is out of memory"
	case "53300":
		return "too many connections to the database"
	case "3D000":
		return "there is no database of that name"
	case "25006":
		return "the database is read-only"
	case "57P03":
		return "the database is starting up or shutting down"
	}
	switch err.Code.Class() {
	case "28":
		return "the database refuses user or password"
	case "58":
		return "the disk of the database fails"
	}
	return ""
}
