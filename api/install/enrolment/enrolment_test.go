package enrolment_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/api/install/enrolment"
)

const udid = "00008030-001A2B3C4D5E6F70"

// list is what a device answers.
func list(udid, challenge string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CHALLENGE</key><string>` + challenge + `</string>
<key>PRODUCT</key><string>iPhone16,2</string>
<key>UDID</key><string>` + udid + `</string>
<key>VERSION</key><string>22G86</string>
</dict></plist>`
}

// authority is a certificate with its key.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// issue makes a certificate; parent nil: it signs itself.
func issue(t testing.TB, name string, parent *authority, isCA bool, from, to time.Time) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		IsCA: isCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	above, by := template, crypto.Signer(key)
	if parent != nil {
		above, by = parent.certificate, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, above, key.Public(), by)
	require.NoError(t, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{c, key}
}

func valid() (time.Time, time.Time) { return time.Now().Add(-time.Hour), time.Now().Add(time.Hour) }

// sign makes a CMS message.
func sign(t testing.TB, content []byte, by *authority, others ...*authority) []byte {
	t.Helper()
	message, err := pkcs7.NewSignedData(content)
	require.NoError(t, err)
	message.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	require.NoError(t, message.AddSigner(by.certificate, by.key, pkcs7.SignerInfoConfig{}))
	for _, other := range others {
		message.AddCertificate(other.certificate)
	}
	der, err := message.Finish()
	require.NoError(t, err)
	return der
}

func TestRead(t *testing.T) {
	t.Parallel()
	from, to := valid()
	device := issue(t, "device", nil, false, from, to)
	answer, issued, err := enrolment.Read(sign(t, []byte(list(udid, "challenge")), device), nil)
	require.NoError(t, err)
	require.False(t, issued)
	require.Equal(t, &enrolment.Answer{UDID: udid, Product: "iPhone16,2", Version: "22G86", Challenge: "challenge"}, answer)
}

// TestReadChain has an issuer whose validity ended before it issued the device's
// certificate, as Apple's did.
func TestReadChain(t *testing.T) {
	t.Parallel()
	long := time.Date(2007, 1, 1, 0, 0, 0, 0, time.UTC)
	from, to := valid()
	root := issue(t, "root", nil, true, long, long.AddDate(7, 0, 0))
	issuer := issue(t, "devices", root, true, long, long.AddDate(7, 0, 0))
	device := issue(t, "device", issuer, false, from, to)
	content := []byte(list(udid, "challenge"))
	read := func(message []byte, issuers ...*authority) bool {
		var list []*x509.Certificate
		for _, i := range issuers {
			list = append(list, i.certificate)
		}
		_, issued, err := enrolment.Read(message, list)
		require.NoError(t, err)
		return issued
	}
	require.True(t, read(sign(t, content, device), issuer))
	require.True(t, read(sign(t, content, device, issuer), root), "by way of a certificate in the message")
	require.False(t, read(sign(t, content, device), root))
	require.False(t, read(sign(t, content, device, issuer)))

	// Somebody who uses the names.
	other := issue(t, "devices", nil, true, from, to)
	forged := issue(t, "device", other, false, from, to)
	require.False(t, read(sign(t, content, forged, other), issuer, root))
	// A device's own certificate issues nothing.
	child := issue(t, "child", device, false, from, to)
	require.False(t, read(sign(t, content, child, device), issuer))
}

func TestReadRefusals(t *testing.T) {
	t.Parallel()
	from, to := valid()
	device := issue(t, "device", nil, false, from, to)
	good := sign(t, []byte(list(udid, "challenge")), device)
	unsigned, err := pkcs7.NewSignedData([]byte(list(udid, "challenge")))
	require.NoError(t, err)
	bare, err := unsigned.Finish()
	require.NoError(t, err)
	detached, err := pkcs7.NewSignedData([]byte(list(udid, "challenge")))
	require.NoError(t, err)
	require.NoError(t, detached.AddSigner(device.certificate, device.key, pkcs7.SignerInfoConfig{}))
	detached.Detach()
	without, err := detached.Finish()
	require.NoError(t, err)
	for name, message := range map[string][]byte{
		"nothing":           nil,
		"text":              []byte("UDID=" + udid),
		"a list, unsigned":  []byte(list(udid, "challenge")),
		"no signer":         bare,
		"no content":        without,
		"altered":           bytes.Replace(good, []byte("00008030"), []byte("00008031"), 1),
		"cut":               good[:len(good)-40],
		"too large":         append(bytes.Clone(good), make([]byte, enrolment.MaxAnswer)...),
		"no UDID":           sign(t, []byte(strings.ReplaceAll(list(udid, "c"), "UDID", "OTHER")), device),
		"no challenge":      sign(t, []byte(list(udid, "")), device),
		"not a list":        sign(t, []byte("<html></html>"), device),
		"a number":          sign(t, []byte(strings.Replace(list("1", "c"), "<string>1</string>", "<integer>1</integer>", 1)), device),
		"binary":            sign(t, binary(t), device),
		"deep":              bytes.Repeat([]byte{0x30, 0x80}, enrolment.MaxAnswer/2),
		"deep and closed":   append(bytes.Repeat([]byte{0x30, 0x80}, enrolment.MaxAnswer/4), make([]byte, enrolment.MaxAnswer/2)...),
		"deep list":         sign(t, []byte("<plist>"+strings.Repeat("<array>", 8000)), device),
		"certificate ended": sign(t, []byte(list(udid, "c")), issue(t, "old", nil, false, from.AddDate(-9, 0, 0), from.AddDate(-8, 0, 0))),
	} {
		start := time.Now()
		_, _, err := enrolment.Read(message, nil)
		require.ErrorIs(t, err, enrolment.ErrAnswer, name)
		require.Less(t, time.Since(start), time.Minute, name)
	}
}

// TestReadLargeKey has a key that takes seconds to verify with, as large as a message can
// hold.
func TestReadLargeKey(t *testing.T) {
	t.Parallel()
	from, to := valid()
	by := issue(t, "authority", nil, true, from, to)
	modulus := new(big.Int).SetBit(big.NewInt(1), 48_000, 1)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "device"}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, &rsa.PublicKey{N: modulus, E: 1<<31 - 1}, by.key)
	require.NoError(t, err)
	large, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	content := []byte(list(udid, "challenge"))
	for name, message := range map[string][]byte{
		"of the signer": sign(t, content, &authority{large, by.key}),
		"of another":    sign(t, content, issue(t, "device", nil, false, from, to), &authority{large, by.key}),
	} {
		_, _, err := enrolment.Read(message, nil)
		require.ErrorIs(t, err, enrolment.ErrAnswer, name)
		require.ErrorContains(t, err, "has a key of 48001 bits", name)
	}
}

func binary(t *testing.T) []byte {
	b, err := plist.Marshal(map[string]string{"UDID": udid, "CHALLENGE": "c"}, plist.BinaryFormat)
	require.NoError(t, err)
	return b
}

// TestReadOpenSSL reads what another implementation wrote, and has it read a profile.
func TestReadOpenSSL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openssl := func(args ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), "openssl", args...)
		command.Dir = dir
		var trouble bytes.Buffer
		command.Stderr = &trouble
		out, err := command.Output()
		require.NoError(t, err, trouble.String())
		return out
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatal("no openssl to compare with; install it: apt-get install -y openssl")
	}
	openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Devices")
	openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "device.key", "-out", "device.csr", "-subj", "/CN=Device")
	openssl("x509", "-req", "-in", "device.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-sha1", "-out",
		"device.pem", "-days", "2")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "answer.plist"), []byte(list(udid, "challenge")), 0o600))
	issuersPEM, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	require.NoError(t, err)
	issuers, err := enrolment.ReadIssuers(issuersPEM)
	require.NoError(t, err)
	for _, digest := range []string{"sha1", "sha256"} {
		message := openssl("cms", "-sign", "-binary", "-nodetach", "-outform", "DER", "-md", digest, "-in", "answer.plist",
			"-signer", "device.pem", "-inkey", "device.key")
		answer, issued, err := enrolment.Read(message, issuers)
		require.NoError(t, err, digest)
		require.True(t, issued)
		require.Equal(t, udid, answer.UDID)
		message[bytes.Index(message, []byte("0000803"))] = '9'
		_, _, err = enrolment.Read(message, issuers)
		require.ErrorIs(t, err, enrolment.ErrAnswer)
	}
	message := openssl("cms", "-sign", "-binary", "-nodetach", "-stream", "-outform", "DER", "-in", "answer.plist",
		"-signer", "device.pem", "-inkey", "device.key")
	answer, _, err := enrolment.Read(message, nil)
	require.NoError(t, err, "of indefinite length")
	require.Equal(t, "challenge", answer.Challenge)

	certificate, err := os.ReadFile(filepath.Join(dir, "device.pem"))
	require.NoError(t, err)
	key, err := os.ReadFile(filepath.Join(dir, "device.key"))
	require.NoError(t, err)
	signer, err := enrolment.NewSigner(append(certificate, issuersPEM...), key)
	require.NoError(t, err)
	profile, err := enrolment.Profile{URL: "https://qa.example.com/udid/answer"}.Encode()
	require.NoError(t, err)
	signed, err := signer.Signed(profile)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "profile.der"), signed, 0o600))
	require.Equal(t, profile, openssl("cms", "-verify", "-inform", "DER", "-in", "profile.der", "-CAfile", "ca.pem", "-purpose", "any"))
}

func TestProfile(t *testing.T) {
	t.Parallel()
	encoded, err := enrolment.Profile{URL: "https://qa.example.com/udid/answer", Challenge: "a&b", Organization: "Ships <1>",
		Name: "Register", Text: "Text",
		Identifier: "com.example.qa.udid", UUID: "0B0B7E62-6B39-4E43-9D4C-3C6F0B9E5A11"}.Encode()
	require.NoError(t, err)
	var top map[string]any
	_, err = plist.Unmarshal(encoded, &top)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"PayloadType": "Profile Service", "PayloadVersion": uint64(1), "PayloadOrganization": "Ships <1>", "PayloadDisplayName": "Register",
		"PayloadDescription": "Text", "PayloadIdentifier": "com.example.qa.udid", "PayloadUUID": "0B0B7E62-6B39-4E43-9D4C-3C6F0B9E5A11",
		"PayloadContent": map[string]any{"URL": "https://qa.example.com/udid/answer", "Challenge": "a&b",
			"DeviceAttributes": []any{"UDID", "PRODUCT", "VERSION", "DEVICE_NAME"}},
	}, top)
	var none *enrolment.Signer
	plain, err := none.Signed(encoded)
	require.NoError(t, err)
	require.Equal(t, encoded, plain)
}

func TestCertificateErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		_, err := enrolment.ReadIssuers([]byte(text))
		require.ErrorContains(t, err, "issuer")
		_, err = enrolment.NewSigner([]byte(text), []byte(text))
		require.ErrorContains(t, err, "certificate that signs")
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, err = enrolment.ReadIssuers(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	require.Error(t, err, "a key is no certificate")
}

// FuzzRead reads what anybody may post: it is an answer with both members, or ErrAnswer.
func FuzzRead(f *testing.F) {
	from, to := valid()
	device := issue(f, "device", nil, false, from, to)
	f.Add(sign(f, []byte(list(udid, "challenge")), device))
	f.Add(sign(f, []byte(fmt.Sprintf("<plist>%s", strings.Repeat("<dict>", 100))), device))
	f.Add([]byte{0x30, 0x80, 0x06, 0x00})
	f.Fuzz(func(t *testing.T, message []byte) {
		answer, _, err := enrolment.Read(message, nil)
		if err != nil {
			require.ErrorIs(t, err, enrolment.ErrAnswer)
			return
		}
		require.NotEmpty(t, answer.UDID)
		require.NotEmpty(t, answer.Challenge)
	})
}
