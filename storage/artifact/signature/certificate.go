package signature

import (
	"crypto"
	"crypto/dsa" //nolint:staticcheck // SA1019: Android verifies such signatures of old keys
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/asn1"
	"errors"
	"math/big"
	"strings"
)

// certificate is an X.509 certificate as far as signatures need it. crypto/x509
// refuses some that Android accepts (negative serial numbers, odd strings), and of
// most of a certificate nothing depends here: Android does not look at its dates or
// issuer.
type certificate struct {
	raw        []byte
	issuer     []byte // DER
	serial     []byte
	keyInfo    []byte // DER of SubjectPublicKeyInfo
	public     crypto.PublicKey
	extensions []extension
}

type extension struct {
	id       string // DER of its object identifier, without the header
	critical bool
	value    []byte
}

// Object identifiers in DER.
const (
	idRSA          = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"
	idDSA          = "\x2a\x86\x48\xce\x38\x04\x01"
	idEC           = "\x2a\x86\x48\xce\x3d\x02\x01"
	idExtensions   = "\x55\x1d" // those of X.509
	idKeyUsage     = "\x55\x1d\x0f"
	idSubjectKeyID = "\x55\x1d\x0e"
)

var (
	errCertificate = errors.New("its certificate cannot be read")
	errKey         = errors.New("its public key cannot be read")
)

func (c *certificate) sum() string { return hexSum(c.raw) }

// parseCertificate reads a certificate. Lengths may be written longer than DER has
// them, as Android allows.
func parseCertificate(raw []byte) (*certificate, error) {
	if len(raw) > maxCertificate {
		return nil, errCertificate
	}
	whole := elements{rest: raw}
	tbs := whole.into(tagSequence).into(tagSequence)
	if tbs.peek() == tagContext0 { // the version
		tbs.next()
	}
	serial := tbs.expect(tagInteger)
	tbs.expect(tagSequence) // the algorithm
	issuer := tbs.expect(tagSequence)
	tbs.expect(tagSequence) // the dates
	tbs.expect(tagSequence) // the subject
	info := tbs.expect(tagSequence)
	if tbs.failed {
		return nil, errCertificate
	}
	c := &certificate{raw: raw, issuer: issuer.full, serial: serial.body, keyInfo: info.full}
	for tbs.more() {
		if e := tbs.next(); e.tag == tagContext3 {
			c.extensions = readExtensions(e.body)
		}
	}
	var err error
	c.public, err = parseKey(c.keyInfo)
	return c, err
}

func readExtensions(raw []byte) []extension {
	outer := elements{rest: raw}
	list := outer.into(tagSequence)
	var found []extension
	for list.more() && len(found) < maxAttributes {
		one := list.into(tagSequence)
		e := extension{id: string(one.expect(tagOID).body)}
		if one.peek() == tagBoolean {
			flag := one.next().body
			e.critical = len(flag) > 0 && flag[0] != 0
		}
		e.value = one.expect(tagOctets).body
		if one.failed {
			break
		}
		found = append(found, e)
	}
	return found
}

var (
	curves = map[string]elliptic.Curve{
		"1.3.132.0.33":        elliptic.P224(),
		"1.2.840.10045.3.1.7": elliptic.P256(),
		"1.3.132.0.34":        elliptic.P384(),
		"1.3.132.0.35":        elliptic.P521(),
	}
)

// maySign reports whether the certificate's key usage, if it has one, allows
// signatures of files: digitalSignature or nonRepudiation.
func (c *certificate) maySign() bool {
	for _, e := range c.extensions {
		if e.id != idKeyUsage {
			continue
		}
		var usage asn1.BitString
		if _, err := asn1.Unmarshal(e.value, &usage); err != nil {
			return false
		}
		return usage.At(0) == 1 || usage.At(1) == 1
	}
	return true
}

// knownCritical reports whether all critical extensions are ones that Java's
// reader of certificates knows.
func (c *certificate) knownCritical() bool {
	for _, e := range c.extensions {
		if e.critical && !strings.HasPrefix(e.id, idExtensions) {
			return false
		}
	}
	return true
}

// parseKey reads a SubjectPublicKeyInfo. Sizes are bounded, since verification
// takes time by the square of them.
func parseKey(raw []byte) (crypto.PublicKey, error) {
	whole := elements{rest: raw}
	info := whole.into(tagSequence)
	algorithm := info.into(tagSequence)
	id := string(algorithm.expect(tagOID).body)
	parameters := algorithm.rest
	point := info.expect(tagBits).body
	if info.failed || algorithm.failed || len(point) == 0 || point[0] != 0 {
		return nil, errKey
	}
	point = point[1:]
	switch id {
	case idRSA:
		return parseRSA(point)
	case idDSA:
		return parseDSA(point, parameters)
	case idEC:
		return parseEC(point, parameters)
	}
	return nil, errKey
}

func parseRSA(raw []byte) (crypto.PublicKey, error) {
	var k struct{ N, E *big.Int }
	if rest, err := asn1.Unmarshal(raw, &k); err != nil || len(rest) > 0 {
		return nil, errKey
	}
	if k.N.Sign() < 0 { // written without its leading zero
		k.N.Add(k.N, new(big.Int).Lsh(big.NewInt(1), uint(k.N.BitLen()+8)&^7))
	}
	if k.N.Sign() <= 0 || k.N.BitLen() > maxModulus || !k.E.IsInt64() || k.E.Int64() < 2 || k.E.Int64() > 1<<31-1 {
		return nil, errKey
	}
	return &rsa.PublicKey{N: k.N, E: int(k.E.Int64())}, nil
}

func parseDSA(raw, parameters []byte) (crypto.PublicKey, error) {
	var p dsa.Parameters
	y := new(big.Int)
	_, err1 := asn1.Unmarshal(parameters, &p)
	_, err2 := asn1.Unmarshal(raw, &y)
	if err := errors.Join(err1, err2); err != nil {
		return nil, errKey
	}
	for _, n := range []*big.Int{p.P, p.Q, p.G, y} {
		if n == nil || n.Sign() <= 0 || n.BitLen() > maxModulus/4 {
			return nil, errKey
		}
	}
	if p.Q.BitLen() > 512 {
		return nil, errKey
	}
	return &dsa.PublicKey{Parameters: p, Y: y}, nil
}

func parseEC(raw, parameters []byte) (crypto.PublicKey, error) {
	var id asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(parameters, &id); err != nil {
		return nil, errKey
	}
	curve, ok := curves[id.String()]
	if !ok {
		return nil, errKey
	}
	k, err := ecdsa.ParseUncompressedPublicKey(curve, raw)
	if err != nil {
		return nil, errKey
	}
	return k, nil
}
