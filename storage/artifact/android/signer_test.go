package android

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/artifacttest"
)

var expiry = time.Date(2050, 5, 4, 3, 2, 1, 0, time.UTC)

// signedBy returns a self-signed certificate, the same each time.
func signedBy(t testing.TB, name string, serial int64) []byte {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: expiry, Subject: pkix.Name{CommonName: name}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	require.NoError(t, err)
	return der
}

// withLength puts the lengths in front of parts and joins them.
func withLength(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(lit.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// signedPair is the value of a scheme's pair.
func signedPair(der []byte) []byte {
	signed := withLength(withLength([]byte("digest")), withLength(der), nil)
	return withLength(withLength(withLength(signed, []byte("signatures"), []byte("key"))))
}

type pair struct {
	id    uint32
	value []byte
}

func signingBlock(pairs ...pair) []byte {
	var body []byte
	for _, p := range pairs {
		body = lit.AppendUint64(body, uint64(4+len(p.value)))
		body = append(lit.AppendUint32(body, p.id), p.value...)
	}
	size := uint64(len(body) + 24)
	return slices.Concat(lit.AppendUint64(nil, size), body, lit.AppendUint64(nil, size), []byte(blockMagic))
}

// jarSignature is a v1 signature with a certificate beside the signer's.
func jarSignature(t testing.TB, name string) (raw, der []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(7), NotAfter: expiry, Subject: pkix.Name{CommonName: name}}
	der, err = x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	require.NoError(t, err)
	signer, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	other, err := x509.ParseCertificate(signedBy(t, "other", 8))
	require.NoError(t, err)
	data, err := pkcs7.NewSignedData([]byte("content"))
	require.NoError(t, err)
	data.AddCertificate(other)
	require.NoError(t, data.AddSigner(signer, key, pkcs7.SignerInfoConfig{}))
	data.Detach()
	raw, err = data.Finish()
	require.NoError(t, err)
	return raw, der
}

func TestSigners(t *testing.T) {
	t.Parallel()
	jar, v1 := jarSignature(t, "one")
	v2, v3, v31 := signedBy(t, "two", 2), signedBy(t, "three", 3), signedBy(t, "three.one", 31)
	const id2, id3, id31, padding = 0x7109871a, 0xf05368c0, 0x1b93ad61, 0x42726577
	meta := packed{name: "META-INF/CERT.RSA", data: jar}
	all := []pair{{padding, make([]byte, 5000)}, {id2, signedPair(v2)}, {id3, signedPair(v3)}, {id31, signedPair(v31)}}
	for name, c := range map[string]struct {
		entries []packed
		block   []byte
		der     []byte
		subject string
		schemes []string
		scheme  string // when it is not the last of the schemes
		failed  bool
	}{
		"none":          {},
		"v1":            {entries: []packed{meta}, der: v1, subject: "CN=one", schemes: []string{"v1"}},
		"v1, lower":     {entries: []packed{{name: "META-INF/a.dsa", data: jar}}, der: v1, subject: "CN=one", schemes: []string{"v1"}},
		"v1, not there": {entries: []packed{{name: "META-INF/sub/CERT.RSA", data: jar}, {name: "CERT.RSA", data: jar}}},
		"v1 behind a broken one": {entries: []packed{{name: "META-INF/A.EC", data: []byte("no")}, meta},
			der: v1, subject: "CN=one", schemes: []string{"v1"}, failed: true},
		"v2":        {block: signingBlock(all[1]), der: v2, subject: "CN=two", schemes: []string{"v2"}},
		"v1 and v2": {entries: []packed{meta}, block: signingBlock(all[:2]...), der: v2, subject: "CN=two", schemes: []string{"v1", "v2"}},
		"v3":        {block: signingBlock(all[:3]...), der: v3, subject: "CN=three", schemes: []string{"v2", "v3"}},
		"all": {entries: []packed{meta}, block: signingBlock(all...), der: v31, subject: "CN=three.one",
			schemes: []string{"v1", "v2", "v3", "v3.1"}},
		"no magic":     {block: bytes.Repeat([]byte("x"), 100)},
		"wrong length": {block: slices.Concat(lit.AppendUint64(nil, 1<<60), []byte(blockMagic)), failed: true},
		"wrong pair": {block: slices.Concat(make([]byte, 8), lit.AppendUint64(nil, 1<<50), make([]byte, 8),
			lit.AppendUint64(nil, 40), []byte(blockMagic)), failed: true},
		"v3 is damaged": {block: signingBlock(all[1], pair{id3, signedPair(v3)[:30]}),
			der: v2, subject: "CN=two", schemes: []string{"v2", "v3"}, scheme: "v2", failed: true},
		"no certificate": {block: signingBlock(pair{id2, signedPair([]byte("garbage"))}), failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := writtenAPK(t, c.block, append(c.entries, packed{name: "a", data: []byte("a")})...)
			a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
			require.NoError(t, err)
			s, err := readSigner(a)
			require.Equal(t, c.failed, err != nil, "%v", err)
			if c.der == nil {
				require.Nil(t, s)
				return
			}
			sum := sha256.Sum256(c.der)
			require.Equal(t, &artifact.Signer{
				Scheme: cmp.Or(c.scheme, c.schemes[len(c.schemes)-1]), Schemes: c.schemes,
				SHA256: hex.EncodeToString(sum[:]), Subject: c.subject, Expires: expiry,
			}, s)
		})
	}
}

// Certificates that crypto/x509 refuses are described all the same.
func TestOddCertificates(t *testing.T) {
	t.Parallel()
	der := signedBy(t, "odd", 5)
	// The serial number 5 becomes -5.
	at := bytes.Index(der, []byte{2, 1, 5})
	der[at+2] = 0xfb
	_, err := x509.ParseCertificate(der)
	require.Error(t, err)
	s := &artifact.Signer{}
	require.NoError(t, describe(s, der))
	require.Equal(t, "CN=odd", s.Subject)
	require.Equal(t, expiry, s.Expires)
	require.Len(t, s.SHA256, 64)
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	require.Equal(t, `CN=a\,b,EMAILADDRESS=x@example.com`, subject(pkix.RDNSequence{
		{{Type: emailAddress, Value: "x@example.com"}},
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "a,b"}},
	}))
}

// plainSignature is PKCS #7 around a certificate that does not name its signer.
func plainSignature(t testing.TB, der []byte) []byte {
	t.Helper()
	null := asn1.RawValue{FullBytes: []byte{5, 0}}
	data, err := asn1.Marshal(struct {
		Version          int
		Digests, Content asn1.RawValue
		Certificates     asn1.RawValue
		Signers          []int `asn1:"set"`
	}{Version: 1, Digests: null, Content: null, Signers: []int{},
		Certificates: asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: der}})
	require.NoError(t, err)
	raw, err := asn1.Marshal(struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}, asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: data}})
	require.NoError(t, err)
	return raw
}

func TestSignatureWithoutASigner(t *testing.T) {
	t.Parallel()
	der := signedBy(t, "alone", 3)
	found, err := v1Certificate(plainSignature(t, der))
	require.NoError(t, err)
	require.Equal(t, der, found)
}

// Lengths that end with a mark are left unread, however deep they are nested.
func TestSignaturesThatAreNoDER(t *testing.T) {
	t.Parallel()
	raw, _ := jarSignature(t, "old")
	var outer asn1.RawValue
	_, err := asn1.Unmarshal(raw, &outer)
	require.NoError(t, err)
	for _, raw := range [][]byte{slices.Concat([]byte{0x30, 0x80}, outer.Bytes, []byte{0, 0}), {0x30, 0x80, 0, 0},
		bytes.Repeat([]byte{0x30, 0x80}, maxSignature/2)} {
		_, err := v1Certificate(raw)
		require.ErrorIs(t, err, errCertificate)
	}
}

func FuzzSigner(f *testing.F) {
	der := signedBy(f, "fuzz", 1)
	jar := plainSignature(f, der)
	f.Add(signingBlock(pair{0x7109871a, signedPair(der)}, pair{0xf05368c0, signedPair(der)}), jar)
	f.Fuzz(func(t *testing.T, block, jar []byte) {
		r := bytes.NewReader(block)
		found, _ := blockSigners(r, r.Size())
		require.LessOrEqual(t, len(found), len(schemeOf))
		for _, der := range found {
			_ = describe(&artifact.Signer{}, der)
		}
		if der, err := v1Certificate(jar); err == nil {
			require.NotEmpty(t, der)
			_ = describe(&artifact.Signer{}, der)
		}
	})
}

// Certificates and subjects are bounded before anything of them is formatted: formatting was
// quadratic, and took minutes for a subject of a MiB.
func TestLongSubjects(t *testing.T) {
	t.Parallel()
	for names, want := range map[int]error{1: nil, maxSubjectNames: nil, maxSubjectNames + 1: errSubject, 2000: errSubject,
		58_222: errCertificateSize} {
		s := &artifact.Signer{}
		require.ErrorIs(t, describe(s, artifacttest.Certificate(names)), want)
		require.Equal(t, want == nil, s.Subject != "", names)
		require.Equal(t, !errors.Is(want, errCertificateSize), s.SHA256 != "", "a subject that is too long costs the subject alone")
	}
	long := pkix.RDNSequence{{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: strings.Repeat("a", maxSubject)}}}
	der, err := asn1.Marshal(long)
	require.NoError(t, err)
	_, err = readNames(der)
	require.ErrorIs(t, err, errSubject)
}

// The names are those of the library, which writes all but mail addresses alike.
func TestSubjectsAreTheLibrarys(t *testing.T) {
	t.Parallel()
	names := pkix.RDNSequence{
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 6}, Value: "DE"}},
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: `a "b", c+d`}, {Type: asn1.ObjectIdentifier{2, 5, 4, 11}, Value: " x "}},
		{{Type: asn1.ObjectIdentifier{1, 2, 3}, Value: "unknown"}},
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "#name"}},
	}
	require.Equal(t, names.String(), subject(names))
	der, err := asn1.Marshal(names)
	require.NoError(t, err)
	var want pkix.RDNSequence
	_, err = asn1.Unmarshal(der, &want)
	require.NoError(t, err)
	read, err := readNames(der)
	require.NoError(t, err)
	require.Equal(t, want.String(), subject(read))
}
