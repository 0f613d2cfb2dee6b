package demo

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// signingKey signs packages by Android's scheme v2. It is drawn anew by each filling: the
// packages of one have one signer, and nobody has the key afterwards.
type signingKey struct {
	key         *ecdsa.PrivateKey
	certificate []byte
}

func newSigningKey() (*signingKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("a key for packages: %w", err)
	}
	const years = 25 // Google Play asks for a validity beyond 2033
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Slipway demo", Organization: []string{"Lamps"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(years, 0, 0)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("a certificate for packages: %w", err)
	}
	return &signingKey{key: key, certificate: certificate}, nil
}

const (
	schemeV2       = 0x7109871a
	ecdsaSHA256    = 0x0201
	signingMagic   = "APK Sig Block 42"
	endOfDirectory = "PK\x05\x06"
	digestedPiece  = 1 << 20
)

// sign puts a signing block in front of the directory of an archive.
func (k *signingKey) sign(archive []byte) ([]byte, error) {
	at := bytes.LastIndex(archive, []byte(endOfDirectory))
	if at < 0 {
		return nil, errors.New("sign a package: it is no archive")
	}
	from := little.Uint32(archive[at+16:])
	entries, directory, end := archive[:from], archive[from:at], slices.Clone(archive[at:])
	digest := digestOf(entries, directory, end)
	signed := slices.Concat(
		prefixed(prefixed(numbers(ecdsaSHA256), prefixed(digest))), prefixed(prefixed(k.certificate)), prefixed())
	sum := sha256.Sum256(signed)
	signature, err := k.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("sign a package: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(k.key.Public())
	if err != nil {
		return nil, fmt.Errorf("sign a package: %w", err)
	}
	signer := prefixed(prefixed(signed), prefixed(prefixed(numbers(ecdsaSHA256), prefixed(signature))), prefixed(public))
	value := slices.Concat(numbers(schemeV2), prefixed(signer))
	pair := slices.Concat(little.AppendUint64(nil, uint64(len(value))), value)
	length := little.AppendUint64(nil, uint64(len(pair)+8+len(signingMagic)))
	block := slices.Concat(length, pair, length, []byte(signingMagic))
	little.PutUint32(end[16:], from+uint32(len(block)))
	return slices.Concat(entries, block, directory, end), nil
}

// digestOf is the digest of the parts of an archive, in pieces, as scheme v2 describes it.
func digestOf(parts ...[]byte) []byte {
	var digests []byte
	count := uint32(0)
	for _, part := range parts {
		for piece := range slices.Chunk(part, digestedPiece) {
			sum := sha256.Sum256(slices.Concat([]byte{0xa5}, numbers(uint32(len(piece))), piece))
			digests = append(digests, sum[:]...)
			count++
		}
	}
	sum := sha256.Sum256(slices.Concat([]byte{0x5a}, numbers(count), digests))
	return sum[:]
}

// prefixed writes parts behind their length.
func prefixed(parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(numbers(uint32(len(body))), body...)
}
