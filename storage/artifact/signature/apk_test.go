package signature_test

import (
	"archive/zip"
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"
)

var le = binary.LittleEndian

// identity is a key with its certificate.
type identity struct {
	key  crypto.Signer
	cert []byte
}

func (i identity) sum() string {
	sum := sha256.Sum256(i.cert)
	return hex.EncodeToString(sum[:])
}

// identities are made once: RSA keys take time.
var identities = sync.OnceValue(func() map[string]identity {
	all := map[string]identity{}
	for name, make := range map[string]func() (crypto.Signer, error){
		"rsa":   func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
		"other": func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) },
		"p256":  func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
		"p384":  func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P384(), rand.Reader) },
		"p521":  func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P521(), rand.Reader) },
	} {
		key, err := make()
		if err != nil {
			panic(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Unix(1_500_000_000, 0), NotAfter: time.Unix(2_500_000_000, 0)}
		cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			panic(err)
		}
		all[name] = identity{key, cert}
	}
	return all
})

func who(name string) identity { return identities()[name] }

// entry is a file of the package.
type entry struct{ name, text string }

// levels are what the manifest declares; 0 is left out.
type levels struct{ min, target, sandbox uint32 }

// axml is a binary AndroidManifest.xml: strings, ids of attributes, elements.
func axml(l levels) string {
	names := []string{"minSdkVersion", "targetSdkVersion", "targetSandboxVersion"}
	ids := []uint32{0x0101020c, 0x01010270, 0x0101054c}
	texts := append(slices.Clone(names), "manifest", "uses-sdk", "package", "com.example.app", "http://schemas.android.com/apk/res/android")
	at := func(s string) uint32 { return uint32(slices.Index(texts, s)) }
	u16 := func(n int) []byte { return le.AppendUint16(nil, uint16(n)) }
	u32 := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	chunk := func(kind, head int, body []byte) []byte {
		return slices.Concat(u16(kind), u16(head), u32(uint32(8+len(body))), body)
	}
	var pool, offsets []byte
	for _, s := range texts {
		offsets = append(offsets, u32(uint32(len(pool)))...)
		units := utf16.Encode([]rune(s))
		pool = append(pool, u16(len(units))...)
		for _, u := range units {
			pool = append(pool, u16(int(u))...)
		}
		pool = append(pool, 0, 0)
	}
	for len(pool)%4 != 0 {
		pool = append(pool, 0)
	}
	count := uint32(len(texts))
	none := uint32(0xffffffff)
	doc := chunk(1, 28, slices.Concat(u32(count, 0, 0, 28+4*count, 0), offsets, pool))
	doc = append(doc, chunk(0x180, 8, u32(ids...))...)
	start := func(name string, attributes ...[]byte) []byte {
		return chunk(0x102, 16, slices.Concat(u32(1, none, none, at(name)), u16(20), u16(20), u16(len(attributes)),
			make([]byte, 6), slices.Concat(attributes...)))
	}
	end := func(name string) []byte { return chunk(0x103, 16, u32(1, none, none, at(name))) }
	number := func(name string, value uint32) []byte {
		return slices.Concat(u32(at(texts[len(texts)-1]), at(name), none), u16(8), []byte{0, 0x10}, u32(value))
	}
	root := [][]byte{slices.Concat(u32(none, at("package"), at("com.example.app")), u16(8), []byte{0, 3}, u32(at("com.example.app")))}
	if l.sandbox > 0 {
		root = append(root, number("targetSandboxVersion", l.sandbox))
	}
	var sdk [][]byte
	for i, v := range []uint32{l.min, l.target} {
		if v > 0 {
			sdk = append(sdk, number(names[i], v))
		}
	}
	doc = slices.Concat(doc, start("manifest", root...), start("uses-sdk", sdk...), end("uses-sdk"), end("manifest"))
	return string(chunk(3, 8, doc))
}

// container builds the archive. Stored entries keep its bytes easy to change.
func container(t testing.TB, files ...entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		in, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		require.NoError(t, err)
		_, err = in.Write([]byte(f.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// content are the entries of a small app.
func content(l levels) []entry {
	return []entry{{"AndroidManifest.xml", axml(l)}, {"classes.dex", strings.Repeat("code ", 1000)}, {"res/a.png", "picture"}}
}

// jar adds a signature of v1; attributes go to the main section of the signature file.
func jar(t testing.TB, files []entry, by identity, attributes string) []entry {
	digest := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	manifest := "Manifest-Version: 1.0\r\nCreated-By: test\r\n\r\n"
	for _, f := range files {
		manifest += "Name: " + f.name + "\r\nSHA-256-Digest: " + digest(f.text) + "\r\n\r\n"
	}
	sf := "Signature-Version: 1.0\r\nCreated-By: test\r\nSHA-256-Digest-Manifest: " + digest(manifest) + "\r\n" + attributes + "\r\n"
	for _, f := range files {
		sf += "Name: " + f.name + "\r\nSHA-256-Digest: " + digest("Name: "+f.name+"\r\nSHA-256-Digest: "+digest(f.text)+"\r\n\r\n") + "\r\n\r\n"
	}
	message, err := pkcs7.NewSignedData([]byte(sf))
	require.NoError(t, err)
	message.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	cert, err := x509.ParseCertificate(by.cert)
	require.NoError(t, err)
	require.NoError(t, message.SignWithoutAttr(cert, by.key, pkcs7.SignerInfoConfig{}))
	message.Detach()
	block, err := message.Finish()
	require.NoError(t, err)
	return append([]entry{{"META-INF/MANIFEST.MF", manifest}, {"META-INF/CERT.SF", sf}, {"META-INF/CERT.RSA", string(block)}}, files...)
}

// sized puts its length in front of a part.
func sized(parts ...[]byte) []byte {
	all := slices.Concat(parts...)
	return append(le.AppendUint32(nil, uint32(len(all))), all...)
}

func word(n uint32) []byte { return le.AppendUint32(nil, n) }

// signedBy is one signer of v2, v3 or v3.1.
type signedBy struct {
	identity
	algorithm uint32
	low, high uint32 // v3 and v3.1
	attribute []byte // id and value
	digest    func([]byte) []byte
	sign      func([]byte) []byte // changes the signed data after they were signed
}

func (s signedBy) hash() crypto.Hash {
	if s.algorithm == 0x0104 || s.algorithm == 0x0102 || s.algorithm == 0x0202 {
		return crypto.SHA512
	}
	return crypto.SHA256
}

// signature signs data by the algorithm.
func (s signedBy) signature(t testing.TB, data []byte) []byte {
	h := s.hash().New()
	h.Write(data)
	var options crypto.SignerOpts = s.hash()
	if s.algorithm <= 0x0102 {
		options = &rsa.PSSOptions{SaltLength: s.hash().Size(), Hash: s.hash()}
	}
	sig, err := s.key.Sign(rand.Reader, h.Sum(nil), options)
	require.NoError(t, err)
	return sig
}

func (s signedBy) bytes(t testing.TB, digests map[crypto.Hash][]byte, versioned bool) []byte {
	value := digests[s.hash()]
	if s.algorithm > 0x0400 {
		value = digests[0]
	}
	if s.digest != nil {
		value = s.digest(slices.Clone(value))
	}
	var attributes [][]byte
	if s.attribute != nil {
		attributes = append(attributes, sized(s.attribute))
	}
	parts := [][]byte{sized(sized(word(s.algorithm), sized(value))), sized(sized(s.cert))}
	if versioned {
		parts = append(parts, word(s.low), word(s.high))
	}
	data := slices.Concat(append(parts, sized(attributes...))...)
	sig := s.signature(t, data)
	if s.sign != nil {
		data = s.sign(data)
	}
	spki, err := x509.MarshalPKIXPublicKey(s.key.Public())
	require.NoError(t, err)
	out := [][]byte{sized(data)}
	if versioned {
		out = append(out, word(s.low), word(s.high))
	}
	return sized(append(out, sized(sized(word(s.algorithm), sized(sig))), sized(spki))...)
}

// scheme is a pair of the signing block with its signers.
type scheme struct {
	id      uint32
	signers []signedBy
}

const (
	pairV2  = 0x7109871a
	pairV3  = 0xf05368c0
	pairV31 = 0x1b93ad61
)

// split returns the parts of an archive: entries, directory, end record.
func split(raw []byte) (entries, directory, end []byte) {
	at := bytes.LastIndex(raw, []byte("PK\x05\x06"))
	from := int(le.Uint32(raw[at+16:]))
	return raw[:from], raw[from:at], raw[at:]
}

// chunks digests as v2 describes it, on its own.
func chunks(h crypto.Hash, parts ...[]byte) []byte {
	var all []byte
	count := 0
	for _, part := range parts {
		for piece := range slices.Chunk(part, 1<<20) {
			one := h.New()
			one.Write(append([]byte{0xa5}, word(uint32(len(piece)))...))
			one.Write(piece)
			all = one.Sum(all)
			count++
		}
	}
	top := h.New()
	top.Write(append([]byte{0x5a}, word(uint32(count))...))
	top.Write(all)
	return top.Sum(nil)
}

// tree is the verity digest, a level at a time.
func tree(parts ...[]byte) []byte {
	data := slices.Concat(parts...)
	length := len(data)
	for {
		var next []byte
		for page := range slices.Chunk(data, 4096) {
			sum := sha256.Sum256(slices.Concat(make([]byte, 8), page, make([]byte, 4096-len(page))))
			next = append(next, sum[:]...)
		}
		if data = next; len(data) <= 4096 {
			sum := sha256.Sum256(slices.Concat(make([]byte, 8), data, make([]byte, 4096-len(data))))
			data = sum[:]
			break
		}
	}
	return le.AppendUint64(slices.Clone(data), uint64(length))
}

// signed adds a signing block to an archive.
func signed(t testing.TB, raw []byte, schemes ...scheme) []byte {
	entries, directory, end := split(raw)
	for len(entries)%4096 != 0 {
		entries = append(slices.Clone(entries), make([]byte, 4096-len(entries)%4096)...)
	}
	end = slices.Clone(end)
	le.PutUint32(end[16:], uint32(len(entries)))
	digests := map[crypto.Hash][]byte{crypto.SHA256: chunks(crypto.SHA256, entries, directory, end),
		crypto.SHA512: chunks(crypto.SHA512, entries, directory, end), 0: tree(entries, directory, end)}
	var pairs []byte
	for _, s := range schemes {
		var signers [][]byte
		for _, one := range s.signers {
			signers = append(signers, one.bytes(t, digests, s.id != pairV2))
		}
		value := append(word(s.id), sized(signers...)...)
		pairs = slices.Concat(pairs, le.AppendUint64(nil, uint64(len(value))), value)
	}
	padding := 4096 - (8+len(pairs)+12+24)%4096
	pairs = slices.Concat(pairs, le.AppendUint64(nil, uint64(padding+4)), word(0x42726577), make([]byte, padding))
	length := le.AppendUint64(nil, uint64(len(pairs)+24))
	block := slices.Concat(length, pairs, length, []byte("APK Sig Block 42"))
	le.PutUint32(end[16:], uint32(len(entries)+len(block)))
	return slices.Concat(entries, block, directory, end)
}

// rotation is the attribute that proves the way from one key to the next.
func rotation(t testing.TB, chain ...signedBy) []byte {
	nodes := word(1)
	for i, one := range chain {
		before := uint32(0)
		if i > 0 {
			before = chain[i-1].algorithm
		}
		data := slices.Concat(sized(one.cert), word(before))
		var sig []byte
		if i > 0 {
			sig = chain[i-1].signature(t, data)
		}
		nodes = append(nodes, sized(sized(data), word(0), word(one.algorithm), sized(sig))...)
	}
	return append(word(0x3ba06f8c), nodes...)
}

var fixedTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// deflated builds the archive with packed entries.
func deflated(t testing.TB, files []entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		in, err := w.Create(f.name)
		require.NoError(t, err)
		_, err = in.Write([]byte(f.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}
