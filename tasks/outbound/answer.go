package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// CleanText returns a text of an answer that a column and a page can have: valid UTF-8 without
// control characters.
func CleanText(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == unicode.ReplacementChar) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}

// RetryAfter reads the header of that name: seconds or a date (RFC 9110, 10.2.3). 0: there is
// none, or the time has come.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, min(n, 1<<30))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// Explain returns the text of an error of a request, for people and without addresses. The
// timeout is that of the client.
func Explain(err error, timeout time.Duration) string {
	var forbidden *ForbiddenError
	var lookup *net.DNSError
	var slow net.Error
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &forbidden):
		return forbidden.Error()
	case errors.As(err, &lookup):
		return "host name: " + lookup.Err
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the receiver closed the connection without an answer"
	case errors.As(err, &certificate), errors.As(err, &authority):
		return "the receiver's TLS certificate is not valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the receiver does not speak TLS"
	case strings.Contains(err.Error(), "redirects"):
		return "too many redirects"
	}
	return "the connection failed"
}
