// Package enrolment writes the configuration profile by which an iPhone, an iPad or a
// Mac says its identifier (UDID), and reads the device's answer.
//
// The exchange is the first phase of Apple's over-the-air profile delivery ("Over-the-Air
// Profile Delivery and Configuration", Apple developer archive): a profile of type
// Profile Service names a URL and the attributes that are asked for, with a challenge;
// the device posts a property list with the attributes and the challenge to that URL,
// as the content of a CMS message (RFC 5652) that it signed. No other attribute than
// those that a provisioning profile and a list of devices need is asked for.
//
// Signed returns a profile inside a CMS message of its own, which devices show as
// verified; without a certificate it goes out as it is, and devices show it as unsigned.
//
// Answers come from anybody. Read bounds them, and returns only what one signer signed.
// Who that is, it says as well: a certificate that chains to one of the issuers given
// was issued by Apple to a device; any other is whatever the sender liked. Every other
// message is an error, ErrAnswer, whose text is for the log.
package enrolment

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/smallstep/pkcs7"
	"howett.net/plist"
)

// ContentType is the media type of a configuration profile.
const ContentType = "application/x-apple-aspen-config"

// Profile is a configuration profile that asks a device for its identifier.
type Profile struct {
	URL          string // where the device posts its answer
	Challenge    string // comes back in the answer
	Organization string // shown by the device
	Name         string // shown by the device, as the profile's title
	Text         string // shown by the device, below it
	Identifier   string // in the form of a reversed host name; the same for each profile
	UUID         string // of this profile
}

// payload is a profile as Apple's document has it.
type payload struct {
	Content      payloadContent `plist:"PayloadContent"`
	Organization string         `plist:"PayloadOrganization"`
	DisplayName  string         `plist:"PayloadDisplayName"`
	Description  string         `plist:"PayloadDescription"`
	Identifier   string         `plist:"PayloadIdentifier"`
	UUID         string         `plist:"PayloadUUID"`
	Version      int            `plist:"PayloadVersion"`
	Type         string         `plist:"PayloadType"`
}

type payloadContent struct {
	URL        string   `plist:"URL"`
	Attributes []string `plist:"DeviceAttributes"`
	Challenge  string   `plist:"Challenge"`
}

// Encode returns the profile as a property list.
func (p Profile) Encode() ([]byte, error) {
	return plist.MarshalIndent(payload{
		Content: payloadContent{URL: p.URL, Challenge: p.Challenge,
			Attributes: []string{"UDID", "PRODUCT", "VERSION", "DEVICE_NAME"}},
		Organization: p.Organization, DisplayName: p.Name, Description: p.Text, Identifier: p.Identifier,
		UUID: p.UUID, Version: 1, Type: "Profile Service",
	}, plist.XMLFormat, "\t")
}

// Signer signs profiles. A nil one leaves them as they are.
type Signer struct {
	certificate *x509.Certificate
	parents     []*x509.Certificate
	key         crypto.PrivateKey
}

// NewSigner reads a certificate with its chain, and its private key, both in PEM: what a
// web server has for https will do.
func NewSigner(certificates, key []byte) (*Signer, error) {
	pair, err := tls.X509KeyPair(certificates, key)
	if err != nil {
		return nil, fmt.Errorf("certificate that signs configuration profiles: %w", err)
	}
	s := &Signer{key: pair.PrivateKey}
	for i, der := range pair.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("certificate that signs configuration profiles: %w", err)
		}
		if i == 0 {
			s.certificate = c
			continue
		}
		s.parents = append(s.parents, c)
	}
	return s, nil
}

// Signed returns the profile inside a CMS message.
func (s *Signer) Signed(profile []byte) ([]byte, error) {
	if s == nil {
		return profile, nil
	}
	message, err := pkcs7.NewSignedData(profile)
	if err != nil {
		return nil, fmt.Errorf("sign profile: %w", err)
	}
	message.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	if err := message.AddSigner(s.certificate, s.key, pkcs7.SignerInfoConfig{}); err != nil {
		return nil, fmt.Errorf("sign profile: %w", err)
	}
	for _, parent := range s.parents {
		message.AddCertificate(parent)
	}
	return message.Finish()
}

// ReadIssuers reads the certificates of the authorities that issue devices theirs, in
// PEM. Each is trusted by itself: a file with Apple's root authority would trust all
// that Apple ever certified.
func ReadIssuers(text []byte) ([]*x509.Certificate, error) {
	var issuers []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("issuer of devices: %w", err)
		}
		issuers = append(issuers, c)
	}
	if len(issuers) == 0 {
		return nil, errors.New("issuers of devices: the file has no certificate in PEM")
	}
	return issuers, nil
}
