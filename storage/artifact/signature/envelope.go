package signature

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"slices"
	"strings"
	"time"
)

// Envelope is signed content (CMS, RFC 5652) whose signature holds by the
// certificate that came with it. Whether that is to be trusted is for Trusted.
type Envelope struct {
	Content      []byte
	signer       *certificate
	certificates []*certificate
}

// errEnvelope: the envelope is no signed data in DER.
var errEnvelope = errors.New("its envelope is no signed data in DER")

// ErrUnsigned means that the content has no signature.
var ErrUnsigned = errors.New("nobody signed it")

// ErrTampered means that the signature does not hold.
var ErrTampered = errors.New("it was changed after it was signed")

// OpenEnvelope verifies the signature of an envelope. Other errors than ErrUnsigned and
// ErrTampered mean that it could not be verified.
func OpenEnvelope(raw []byte) (*Envelope, error) {
	data, err := parseSignedData(raw)
	if err != nil {
		return nil, errEnvelope
	}
	if len(data.Signers) == 0 {
		return nil, ErrUnsigned
	}
	inner := elements{rest: data.Content.Rest.Bytes}
	e := &Envelope{Content: inner.expect(tagOctets).body}
	if e.certificates, err = parseCertificates(data.Certificates.Bytes); err != nil || inner.failed {
		return nil, errEnvelope
	}
	e.signer, err = data.Signers[0].verify(e.certificates, data.Content.Type, e.Content, levelEnd, func(err error) error { return err })
	var failure *Failure
	switch {
	case errors.Is(err, errAlgorithm):
		return nil, err
	case errors.As(err, &failure) && !failure.Tampered:
		return nil, errors.New(failure.Reason)
	case err != nil || e.signer == nil:
		return nil, ErrTampered
	}
	return e, nil
}

// appleExtensions begins the object identifiers of Apple's own extensions, some of
// which are critical.
const appleExtensions = "1.2.840.113635."

// Trusted reports why the signer's certificate is not one that a root vouches for at
// a time, and whose common name contains a text; nil when it is.
func (e *Envelope) Trusted(roots *x509.CertPool, name string, now time.Time) error {
	leaf, err := x509.ParseCertificate(e.signer.raw)
	if err != nil {
		return errCertificate
	}
	between := x509.NewCertPool()
	for _, c := range e.certificates {
		if parsed, err := x509.ParseCertificate(c.raw); err == nil {
			known(parsed)
			between.AddCert(parsed)
		}
	}
	known(leaf)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		return errors.New("no trusted root vouches for who signed it")
	}
	if !strings.Contains(leaf.Subject.CommonName, name) {
		return errors.New("the certificate that signed it is not for profiles")
	}
	return nil
}

// known marks Apple's extensions as handled: they say what a certificate is for,
// which its name does too.
func known(c *x509.Certificate) {
	c.UnhandledCriticalExtensions = slices.DeleteFunc(c.UnhandledCriticalExtensions, func(id asn1.ObjectIdentifier) bool {
		return strings.HasPrefix(id.String(), appleExtensions)
	})
}
