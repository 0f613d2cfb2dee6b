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

// describe sets a signer's fields from a certificate; a broken one changes nothing.
func describe(s *artifact.Signer, der []byte) error {
	var c certificate
	if _, err := asn1.Unmarshal(der, &c); err != nil {
		return errCertificate
	}
	sum := sha256.Sum256(der)
	s.SHA256 = hex.EncodeToString(sum[:])
	s.Subject, s.Expires = "", c.TBS.Validity.Until.UTC()
	var names pkix.RDNSequence
	if _, err := asn1.Unmarshal(c.TBS.Subject.FullBytes, &names); err == nil {
		s.Subject = clean(subject(names))
	}
	return nil
}

var emailAddress = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}

// subject returns a name as RFC 2253 writes it, and the mail addresses of old
// certificates as the tools of Android write them.
func subject(names pkix.RDNSequence) string {
	s := names.String()
	for _, set := range names {
		for _, n := range set {
			text, ok := n.Value.(string)
			if !ok || !n.Type.Equal(emailAddress) {
				continue
			}
			if der, err := asn1.Marshal(text); err == nil {
				s = strings.Replace(s, emailAddress.String()+"=#"+hex.EncodeToString(der), "EMAILADDRESS="+text, 1)
			}
		}
	}
	return s
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
