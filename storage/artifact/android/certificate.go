package android

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// certificate is the part of an X.509 certificate that describes it. crypto/x509
// refuses certificates that Android accepts (negative serial numbers, odd strings,
// old curves), and nothing is verified here.
type certificate struct {
	TBS struct {
		Version   asn1.RawValue `asn1:"optional,explicit,tag:0"`
		Serial    *big.Int
		Algorithm asn1.RawValue
		Issuer    asn1.RawValue
		Validity  struct{ From, Until time.Time }
		Subject   asn1.RawValue
	}
}

var errCertificate = errors.New("the certificate cannot be read")

// Bounds of certificates, before anything of them is formatted. Those of apps have one or
// two kilobytes, and some six names.
const (
	maxCertificate  = 64 << 10
	maxSubject      = 16 << 10
	maxSubjectNames = 64
)

var (
	errCertificateSize = errors.New("the certificate is longer than 64 KiB")
	errSubject         = errors.New("the certificate's subject is too long to be shown")
)

// describe sets a signer's fields from a certificate. One that cannot be read changes
// nothing; one with a subject that is too long sets all else.
func describe(s *artifact.Signer, der []byte) error {
	if len(der) > maxCertificate {
		return errCertificateSize
	}
	var c certificate
	if _, err := asn1.Unmarshal(der, &c); err != nil {
		return errCertificate
	}
	sum := sha256.Sum256(der)
	s.SHA256 = hex.EncodeToString(sum[:])
	s.Subject, s.Expires = "", c.TBS.Validity.Until.UTC()
	names, err := readNames(c.TBS.Subject.FullBytes)
	s.Subject = clean(subject(names))
	return err
}

// DescribeSigner describes who signed by the certificate of a verified signature and its
// schemes, of which the last one counts. The subject and the end stay empty where they
// cannot be read.
func DescribeSigner(der []byte, schemes []string) *artifact.Signer {
	sum := sha256.Sum256(der)
	s := &artifact.Signer{Schemes: schemes, SHA256: hex.EncodeToString(sum[:])}
	if len(schemes) > 0 {
		s.Scheme = schemes[len(schemes)-1]
	}
	_ = describe(s, der) // changes nothing when it cannot be read
	return s
}

// readNames reads a distinguished name; none when it is broken. One that is too long is an
// error before it is decoded.
func readNames(der []byte) (pkix.RDNSequence, error) {
	if len(der) > maxSubject {
		return nil, errSubject
	}
	var outer asn1.RawValue
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return nil, nil
	}
	var names pkix.RDNSequence
	attributes := 0
	for rest := outer.Bytes; len(rest) > 0; {
		var set pkix.RelativeDistinguishedNameSET
		var err error
		if rest, err = asn1.UnmarshalWithParams(rest, &set, "set"); err != nil {
			return nil, nil
		}
		if attributes += len(set); attributes > maxSubjectNames {
			return nil, errSubject
		}
		names = append(names, set)
	}
	return names, nil
}

var emailAddress = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}

// subject returns a name as RFC 2253 writes it, and the mail addresses of old
// certificates as the tools of Android write them.
func subject(names pkix.RDNSequence) string {
	var s strings.Builder
	for i := range names {
		if i > 0 {
			s.WriteByte(',')
		}
		for j, n := range names[len(names)-1-i] { // the last one is written first
			if j > 0 {
				s.WriteByte('+')
			}
			if text, ok := n.Value.(string); ok && n.Type.Equal(emailAddress) {
				s.WriteString("EMAILADDRESS=" + text)
				continue
			}
			// One at a time: the library's own loop copies what it has for each name.
			s.WriteString(pkix.RDNSequence{{n}}.String())
		}
	}
	return s.String()
}

// signedData is PKCS #7 as far as it names the signer's certificate.
type signedData struct {
	Version      int
	Digests      asn1.RawValue
	Content      asn1.RawValue
	Certificates asn1.RawValue `asn1:"optional,tag:0"`
	Lists        asn1.RawValue `asn1:"optional,tag:1"`
	Signers      []struct {
		Version int
		Issuer  struct {
			Name   asn1.RawValue
			Serial *big.Int
		}
	} `asn1:"set"`
}

// v1Certificate returns the certificate of the first signer of a JAR signature.
// The certificates are read one by one, since parsers of PKCS #7 refuse all of
// them for an odd one. Lengths that DER does not allow are not read: the common
// parser for them recurses without a bound, and no tool that signs packages writes
// them.
func v1Certificate(raw []byte) ([]byte, error) {
	var outer struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
	}
	var data signedData
	if _, err := asn1.Unmarshal(raw, &outer); err != nil {
		return nil, errCertificate
	}
	if _, err := asn1.Unmarshal(outer.Content.Bytes, &data); err != nil {
		return nil, errCertificate
	}
	var first []byte
	for unread := data.Certificates.Bytes; len(unread) > 0; {
		var raw asn1.RawValue
		var err error
		if unread, err = asn1.Unmarshal(unread, &raw); err != nil {
			break
		}
		if first == nil {
			first = raw.FullBytes
		}
		var c certificate
		if _, err := asn1.Unmarshal(raw.FullBytes, &c); err != nil || len(data.Signers) == 0 {
			continue
		}
		by := data.Signers[0].Issuer
		if c.TBS.Serial.Cmp(by.Serial) == 0 && bytes.Equal(c.TBS.Issuer.FullBytes, by.Name.FullBytes) {
			return raw.FullBytes, nil
		}
	}
	if first == nil {
		return nil, errCertificate
	}
	return first, nil
}
