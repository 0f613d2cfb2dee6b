package signature

import (
	"bytes"
	"crypto"
	"encoding/asn1"
	"errors"
	"slices"
)

// contentInfo is the outermost part of a JAR signature, PKCS #7 (RFC 2315) with the signature
// file as the content that is not inside.
type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
}

type signedDataDER struct {
	Version int
	Digests asn1.RawValue
	Content struct {
		Type asn1.ObjectIdentifier
		Rest asn1.RawValue `asn1:"optional"`
	}
	Certificates asn1.RawValue   `asn1:"optional,tag:0"`
	Lists        asn1.RawValue   `asn1:"optional,tag:1"`
	Signers      []signerInfoDER `asn1:"set"`
}

type algorithmDER struct {
	ID         asn1.ObjectIdentifier
	Parameters asn1.RawValue `asn1:"optional"`
}

type signerInfoDER struct {
	Version    int
	By         asn1.RawValue // issuer and serial number, or [0] key identifier
	Digest     algorithmDER
	Attributes asn1.RawValue `asn1:"optional,tag:0"`
	Algorithm  algorithmDER
	Signature  []byte
	Unsigned   asn1.RawValue `asn1:"optional,tag:1"`
}

type attributeDER struct {
	Type   asn1.ObjectIdentifier
	Values asn1.RawValue
}

// errAlgorithm: no version of Android knows the digest or the signature algorithm.
var errAlgorithm = errors.New("its algorithms are not known")

var (
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
)

// jarHashes are the digests by their object identifiers.
var jarHashes = map[string]crypto.Hash{
	"1.2.840.113549.2.5": crypto.MD5, "1.3.14.3.2.26": crypto.SHA1, "2.16.840.1.101.3.4.2.4": crypto.SHA224,
	"2.16.840.1.101.3.4.2.1": crypto.SHA256, "2.16.840.1.101.3.4.2.2": crypto.SHA384, "2.16.840.1.101.3.4.2.3": crypto.SHA512,
}

// jarSince are the API levels from which on all later versions verify a digest with
// a signature algorithm; a pair that is missing is one that some version does not
// support. An algorithm with a digest of its own takes that one only.
var jarSince = map[string]struct {
	key   key
	since map[crypto.Hash]int
}{
	"1.2.840.113549.1.1.1": {keyRSA, map[crypto.Hash]int{crypto.MD5: 0, crypto.SHA1: 0, crypto.SHA224: 21, crypto.SHA256: 18,
		crypto.SHA384: 18, crypto.SHA512: 18}},
	"1.2.840.113549.1.1.4":  {keyRSA, map[crypto.Hash]int{crypto.MD5: 21}},
	"1.2.840.113549.1.1.5":  {keyRSA, map[crypto.Hash]int{crypto.SHA1: 0}},
	"1.2.840.113549.1.1.14": {keyRSA, map[crypto.Hash]int{crypto.SHA224: 21}},
	"1.2.840.113549.1.1.11": {keyRSA, map[crypto.Hash]int{crypto.SHA256: 18}},
	"1.2.840.113549.1.1.12": {keyRSA, map[crypto.Hash]int{crypto.SHA384: 21}},
	"1.2.840.113549.1.1.13": {keyRSA, map[crypto.Hash]int{crypto.SHA512: 21}},

	"1.2.840.10040.4.1":      {keyDSA, map[crypto.Hash]int{crypto.SHA1: 0, crypto.SHA224: 22, crypto.SHA256: 22}},
	"1.2.840.10040.4.3":      {keyDSA, map[crypto.Hash]int{crypto.SHA1: 9}},
	"2.16.840.1.101.3.4.3.1": {keyDSA, map[crypto.Hash]int{crypto.SHA224: 21}},
	"2.16.840.1.101.3.4.3.2": {keyDSA, map[crypto.Hash]int{crypto.SHA256: 21}},

	"1.2.840.10045.2.1": {keyEC, map[crypto.Hash]int{crypto.SHA1: 18, crypto.SHA224: 21, crypto.SHA256: 18, crypto.SHA384: 18,
		crypto.SHA512: 18}},
	"1.2.840.10045.4.1":   {keyEC, map[crypto.Hash]int{crypto.SHA1: 18}},
	"1.2.840.10045.4.3.1": {keyEC, map[crypto.Hash]int{crypto.SHA224: 21}},
	"1.2.840.10045.4.3.2": {keyEC, map[crypto.Hash]int{crypto.SHA256: 21}},
	"1.2.840.10045.4.3.3": {keyEC, map[crypto.Hash]int{crypto.SHA384: 21}},
	"1.2.840.10045.4.3.4": {keyEC, map[crypto.Hash]int{crypto.SHA512: 21}},
}

// verifyJARBlock verifies the signature of a signature file and returns the
// certificate of who signed it. Before Android 7 the first signer counted; since
// then the first one that verifies.
// What older versions do not verify is passed to later, and verified nonetheless.
func verifyJARBlock(raw, file []byte, level int, later func(error) error) (*certificate, error) {
	data, err := parseSignedData(raw)
	if err != nil {
		return nil, err
	}
	if len(data.Signers) == 0 {
		return nil, broken(V1, "it has no signer")
	}
	certificates, err := parseCertificates(data.Certificates.Bytes)
	if err != nil {
		return nil, err
	}
	signers := data.Signers[:min(len(data.Signers), maxSigners)]
	if level < levelNougat {
		signers = signers[:1]
	}
	for _, s := range signers {
		c, err := s.verify(certificates, data.Content.Type, file, level, later)
		if c != nil || err != nil {
			return c, err
		}
	}
	return nil, broken(V1, "the signature does not verify")
}

func parseSignedData(raw []byte) (*signedDataDER, error) {
	var outer contentInfo
	var data signedDataDER
	damaged := broken(V1, "it is no PKCS #7 signature")
	if _, err := asn1.Unmarshal(raw, &outer); err != nil || !outer.Type.Equal(oidSignedData) {
		return nil, damaged
	}
	if _, err := asn1.Unmarshal(outer.Content.Bytes, &data); err != nil {
		return nil, damaged
	}
	return &data, nil
}

func parseCertificates(raw []byte) ([]*certificate, error) {
	var list []*certificate
	for all := (elements{rest: raw}); all.more(); {
		one := all.next()
		if all.failed || len(list) == maxRecords {
			return nil, broken(V1, "its certificates cannot be read")
		}
		c, err := parseCertificate(one.full)
		if c == nil {
			return nil, broken(V1, "%s", err)
		}
		list = append(list, c)
	}
	return list, nil
}

// verify returns the certificate of a signer whose signature holds, nil for one
// whose signature does not, and an error where Android refuses the package. What older
// versions do not verify is an error where later returns it.
func (s *signerInfoDER) verify(certificates []*certificate, content asn1.ObjectIdentifier, file []byte, level int,
	later func(error) error) (*certificate, error) {
	hash, known := jarHashes[s.Digest.ID.String()]
	kind, ok := jarSince[s.Algorithm.ID.String()]
	since, supported := kind.since[hash]
	if !known || !ok {
		return nil, errAlgorithm
	}
	if !supported || level < since {
		err := later(unsupported(V1,
			"Android API level %d and some later ones do not verify its algorithms (digest %s, signature %s)", level, s.Digest.ID, s.Algorithm.ID))
		if err != nil {
			return nil, err
		}
	}
	at := slices.IndexFunc(certificates, s.isBy)
	if at < 0 {
		return nil, broken(V1, "it does not have the certificate of its signer")
	}
	c := certificates[at]
	switch {
	case c.public == nil:
		return nil, broken(V1, "%s", errKey)
	case !c.knownCritical():
		return nil, broken(V1, "the certificate of its signer has a critical extension that is not known")
	case !c.maySign():
		return nil, broken(V1, "the certificate of its signer is not for signatures")
	}
	signed := file
	if len(s.Attributes.FullBytes) > 0 {
		if level < levelKitKat {
			if err := later(unsupported(V1, "Android before 4.4 does not verify signatures with signed attributes")); err != nil {
				return nil, err
			}
		}
		fits, err := s.attributesFit(content, file, hash)
		if err != nil || !fits {
			return nil, err
		}
		signed = bytes.Clone(s.Attributes.FullBytes)
		signed[0] = 0x31 // signed as a SET, whatever its tag is
	}
	if !(algorithm{key: kind.key, hash: hash}).verifies(c.public, signed, s.Signature) {
		return nil, nil
	}
	return c, nil
}

// attributesFit reports whether the signed attributes are those of the file.
func (s *signerInfoDER) attributesFit(content asn1.ObjectIdentifier, file []byte, hash crypto.Hash) (bool, error) {
	values := map[string]asn1.RawValue{}
	for raw := s.Attributes.Bytes; len(raw) > 0; {
		var a attributeDER
		rest, err := asn1.Unmarshal(raw, &a)
		if _, twice := values[a.Type.String()]; err != nil || twice || len(values) == maxAttributes {
			return false, broken(V1, "its signed attributes cannot be read")
		}
		values[a.Type.String()], raw = a.Values, rest
	}
	var kind asn1.ObjectIdentifier
	var sum []byte
	if _, err := asn1.Unmarshal(values[oidContentType.String()].Bytes, &kind); err != nil {
		return false, broken(V1, "its signed attributes have no content type")
	}
	if _, err := asn1.Unmarshal(values[oidMessageDigest.String()].Bytes, &sum); err != nil {
		return false, broken(V1, "its signed attributes have no digest")
	}
	h := hash.New()
	h.Write(file)
	return kind.Equal(content) && bytes.Equal(h.Sum(nil), sum), nil
}

// isBy reports whether a certificate is the one that the signer names.
func (s *signerInfoDER) isBy(c *certificate) bool {
	if s.By.Class == asn1.ClassContextSpecific {
		for _, e := range c.extensions {
			if e.id == idSubjectKeyID {
				value := elements{rest: e.value}
				id := value.expect(tagOctets).body
				return !value.failed && bytes.Equal(id, s.By.Bytes)
			}
		}
		return false
	}
	by := elements{rest: s.By.Bytes}
	issuer, serial := by.expect(tagSequence), by.expect(tagInteger)
	return !by.failed && bytes.Equal(c.serial, serial.body) && sameName(c.issuer, issuer.full)
}
