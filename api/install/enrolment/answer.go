package enrolment

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/smallstep/pkcs7"
	"howett.net/plist"
)

// MaxAnswer bounds an answer, in bytes: a property list of some 500 bytes, a signature
// and three certificates are below 8 KiB. The parser takes time by the square of it when
// elements are nested: some 30 ms here, half a second for four times as much.
const MaxAnswer = 16 << 10

// The certificates of an answer, and the bits of an RSA key in one of them: the largest
// that fits in takes a second and more to verify with.
const (
	maxCertificates = 10
	maxKeyBits      = 4096
)

// ErrAnswer is for what no device answers.
var ErrAnswer = errors.New("not a device's answer")

// Answer is what a device says of itself.
type Answer struct {
	UDID       string `plist:"UDID"`
	Product    string `plist:"PRODUCT"`     // such as iPhone16,2
	Version    string `plist:"VERSION"`     // the build of the system, such as 22G86
	DeviceName string `plist:"DEVICE_NAME"` // what its owner calls it; not always there
	Challenge  string `plist:"CHALLENGE"`
}

// Read reads a device's answer, which is one CMS message with one signer, whose
// signature covers the content. issued reports whether one of the issuers issued the
// signer's certificate.
func Read(message []byte, issuers []*x509.Certificate) (answer *Answer, issued bool, err error) {
	defer func() {
		// The parsers below are for messages of any sender, and are not ours.
		if r := recover(); r != nil {
			answer, issued, err = nil, false, fmt.Errorf("%w: parser failed: %v", ErrAnswer, r)
		}
	}()
	if len(message) > MaxAnswer {
		return nil, false, fmt.Errorf("%w: has %d bytes", ErrAnswer, len(message))
	}
	signed, err := pkcs7.Parse(message)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if err := checkKeys(signed.Certificates); err != nil {
		return nil, false, err
	}
	signer := signed.GetOnlySigner()
	if signer == nil {
		return nil, false, fmt.Errorf("%w: has not one signer with a certificate", ErrAnswer)
	}
	if err := signed.Verify(); err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	content := bytes.TrimSpace(signed.Content)
	// Devices write XML. A binary list could name one part many times over.
	if !bytes.HasPrefix(content, []byte("<")) {
		return nil, false, fmt.Errorf("%w: content is no property list in XML", ErrAnswer)
	}
	answer = &Answer{}
	if _, err := plist.Unmarshal(content, answer); err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if answer.UDID == "" || answer.Challenge == "" {
		return nil, false, fmt.Errorf("%w: has no UDID or no challenge", ErrAnswer)
	}
	return answer, isIssued(signer, signed.Certificates, issuers), nil
}

// checkKeys refuses what takes too long to verify with.
func checkKeys(certificates []*x509.Certificate) error {
	if len(certificates) > maxCertificates {
		return fmt.Errorf("%w: has %d certificates", ErrAnswer, len(certificates))
	}
	for _, c := range certificates {
		if key, ok := c.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > maxKeyBits {
			return fmt.Errorf("%w: has a key of %d bits", ErrAnswer, key.N.BitLen())
		}
	}
	return nil
}

// maxChain bounds the certificates between a device's and that of an issuer.
const maxChain = 4

// isIssued follows the signatures from a certificate to one of the issuers, by way of
// those in the message. The times of validity do not count, for the authority
// under which Apple issues certificates to devices ended in 2014 and issues them still;
// SHA-1, which it signs with, does, as long as only issuers given here are trusted.
func isIssued(c *x509.Certificate, others, issuers []*x509.Certificate) bool {
	for range maxChain {
		for _, issuer := range issuers {
			if signedBy(c, issuer) {
				return true
			}
		}
		var parent *x509.Certificate
		for _, other := range others {
			if !other.Equal(c) && other.IsCA && signedBy(c, other) {
				parent = other
				break
			}
		}
		if parent == nil {
			return false
		}
		c = parent
	}
	return false
}

func signedBy(c, issuer *x509.Certificate) bool {
	return bytes.Equal(c.RawIssuer, issuer.RawSubject) &&
		issuer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
