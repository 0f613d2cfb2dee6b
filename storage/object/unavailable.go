package object

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/minio/minio-go/v7"
)

var (
	// ErrUnavailable means that the store cannot serve at the moment, whatever is asked of it.
	// The error is an *UnavailableError.
	ErrUnavailable = errors.New("object store not available")
	// ErrFull is an ErrUnavailable: nothing can be written, as there is no room.
	// What is stored can be read.
	ErrFull = errors.New("object store full")
)

// UnavailableError says why a store cannot serve.
type UnavailableError struct {
	// Store is where it is, as Config.String shows it.
	Store string
	// Reason is a few words for everybody: no host, no folder, no secret.
	Reason string
	// ReadOnly: what is stored can be read; Full: because there is no room.
	ReadOnly, Full bool
	// Err is the cause, for the log.
	Err error
}

func (e *UnavailableError) Error() string {
	text := "object store " + e.Store + ": " + e.Reason
	if e.Err != nil && e.Err.Error() != e.Reason {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause, ErrUnavailable and, where that is why, ErrFull.
func (e *UnavailableError) Unwrap() []error {
	all := []error{ErrUnavailable}
	if e.Full {
		all = append(all, ErrFull)
	}
	if e.Err != nil {
		all = append(all, e.Err)
	}
	return all
}

// unavailable returns the error as an *UnavailableError where the store as a whole
// cannot serve; nil where only this one request failed.
func unavailable(store string, err error) *UnavailableError {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	var known *UnavailableError
	if errors.As(err, &known) {
		return known
	}
	u := &UnavailableError{Store: store, Err: err}
	if u.ofDisk() || u.ofService() || u.ofNetwork() {
		return u
	}
	return nil
}

// ofDisk recognises what a file system reports.
func (e *UnavailableError) ofDisk() bool {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		e.Reason, e.ReadOnly, e.Full = "no space left", true, true
	case errors.Is(e.Err, syscall.EROFS):
		e.Reason, e.ReadOnly = "read-only file system", true
	case errors.Is(e.Err, fs.ErrPermission):
		e.Reason = "permission denied"
	case errors.Is(e.Err, syscall.EIO), errors.Is(e.Err, syscall.ESTALE):
		e.Reason = "input/output error"
	case errors.Is(e.Err, syscall.EMFILE), errors.Is(e.Err, syscall.ENFILE):
		e.Reason = "too many open files"
	case errors.Is(e.Err, syscall.ENOTDIR):
		e.Reason = "not a folder"
	default:
		return false
	}
	return true
}

// ofService recognises what an S3 service responds. The codes are those of
// docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html; those that begin
// with X are MinIO's (cmd/api-errors.go there).
func (e *UnavailableError) ofService() bool {
	if errors.Is(e.Err, errNoBucket) {
		e.Reason = errNoBucket.Error()
		return true
	}
	var answer minio.ErrorResponse
	if !errors.As(e.Err, &answer) {
		return false
	}
	switch answer.Code {
	case "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded", "InsufficientStorage":
		e.Reason, e.ReadOnly, e.Full = "no space left", true, true
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "ExpiredToken", "InvalidToken":
		e.Reason = "access refused (" + answer.Code + ")"
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "InvalidRegion":
		e.Reason = "wrong region (" + answer.Code + ")"
	case "NoSuchBucket":
		e.Reason = errNoBucket.Error()
	case "RequestTimeTooSkewed":
		e.Reason = "its clock and this machine's differ"
	default:
		return e.ofStatus(answer.StatusCode)
	}
	return true
}

// ofStatus recognises what a service responds without a code that is known.
func (e *UnavailableError) ofStatus(status int) bool {
	switch {
	case status == http.StatusInsufficientStorage:
		e.Reason, e.ReadOnly, e.Full = "no space left", true, true
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		e.Reason = "it responds " + http.StatusText(status)
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		e.Reason = "access refused"
	case status == http.StatusMovedPermanently:
		e.Reason = "wrong region"
	default:
		return false
	}
	return true
}

// ofNetwork recognises what keeps a request from its service.
func (e *UnavailableError) ofNetwork() bool {
	var (
		dns     *net.DNSError
		network net.Error
		request *url.Error
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		e.Reason = "connection refused"
	case errors.As(e.Err, &dns):
		e.Reason = "host name not resolved"
	case errors.As(e.Err, &cert), errors.As(e.Err, &unknown):
		e.Reason = "its certificate is not trusted"
	case errors.As(e.Err, &record), strings.Contains(e.Err.Error(), "server gave HTTP response to HTTPS client"):
		e.Reason = "it does not speak TLS"
	case errors.Is(e.Err, os.ErrDeadlineExceeded), errors.Is(e.Err, context.DeadlineExceeded), errors.As(e.Err, &network) && network.Timeout():
		e.Reason = "timeout"
	case errors.As(e.Err, &request), errors.As(e.Err, &network):
		e.Reason = "not reachable"
	default:
		return false
	}
	return true
}
