package apple

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// authority signs profiles as Apple does: a root, and a certificate for profiles.
type authority struct {
	roots *x509.CertPool
	leaf  *x509.Certificate
	key   *ecdsa.PrivateKey
}

func newAuthority(t testing.TB, name string) authority {
	make := func(name string, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		c := &x509.Certificate{SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: name}, NotBefore: verifyTime.AddDate(-1, 0, 0),
			NotAfter: verifyTime.AddDate(9, 0, 0), IsCA: parent == nil, BasicConstraintsValid: true}
		if parent == nil {
			parent, by = c, key
		}
		raw, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
		require.NoError(t, err)
		parsed, err := x509.ParseCertificate(raw)
		require.NoError(t, err)
		return parsed, key
	}
	root, rootKey := make("Root", nil, nil)
	a := authority{roots: x509.NewCertPool()}
	a.roots.AddCert(root)
	a.leaf, a.key = make(name, root, rootKey)
	return a
}

var verifyTime = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

func (a authority) sign(t testing.TB, content []byte) []byte {
	message, err := pkcs7.NewSignedData(content)
	require.NoError(t, err)
	message.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	require.NoError(t, message.AddSigner(a.leaf, a.key, pkcs7.SignerInfoConfig{}))
	raw, err := message.Finish()
	require.NoError(t, err)
	return raw
}

func TestVerifyApp(t *testing.T) {
	t.Parallel()
	const root = "Payload/Demo.app/"
	apple, developer := newAuthority(t, "Apple iPhone OS Provisioning Profile Signing"), newAuthority(t, "iPhone Distribution: Somebody")
	text := func(id string, ends time.Time) []byte {
		return marshal(t, profile(map[string]any{"ExpirationDate": ends,
			"Entitlements": map[string]any{"application-identifier": id}}), plist.XMLFormat)
	}
	later := verifyTime.AddDate(1, 0, 0)
	sum := sha256.Sum256([]byte("picture"))
	resources := marshal(t, map[string]any{"files2": map[string]any{"a.png": map[string]any{"hash2": sum[:]},
		"b.strings": map[string]any{"hash2": sum[:], "optional": true}}}, plist.XMLFormat)
	genuine := apple.sign(t, text("TEAM123456.com.example.*", later))
	for name, c := range map[string]struct {
		profile  []byte
		picture  string
		bare     bool // without a code signature
		unknown  bool // roots
		roots    authority
		verdict  artifact.Verdict
		tampered bool
		reason   string
	}{
		"genuine":     {profile: genuine, verdict: artifact.Verified},
		"no roots":    {profile: genuine, unknown: true, verdict: artifact.Unchecked, reason: "no root certificates"},
		"other roots": {profile: genuine, roots: developer, verdict: artifact.Failed, reason: "no trusted root"},
		"by a developer": {profile: developer.sign(t, text("TEAM123456.*", later)), roots: developer, verdict: artifact.Failed,
			reason: "not for profiles"},
		"changed": {profile: bytes.Replace(genuine, []byte("Demo Profile"), []byte("Demo Profiel"), 1),
			verdict: artifact.Failed, tampered: true, reason: "changed"},
		"expired": {profile: apple.sign(t, text("TEAM123456.*", verifyTime.AddDate(0, 0, -1))), verdict: artifact.Failed,
			reason: "expired on 2026-05-05"},
		"other app": {profile: apple.sign(t, text("TEAM123456.org.other", later)), verdict: artifact.Failed,
			reason: "is for TEAM123456.org.other"},
		"no profile":        {verdict: artifact.Unsigned, reason: "no provisioning profile"},
		"no code signature": {profile: genuine, bare: true, verdict: artifact.Failed, reason: "no code signature"},
		"changed file":      {profile: genuine, picture: "another", verdict: artifact.Failed, tampered: true, reason: `"a.png" was changed`},
		"not an envelope":   {profile: []byte("plain"), verdict: artifact.Unchecked, reason: "cannot be verified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picture := "picture"
			if c.picture != "" {
				picture = c.picture
			}
			files := []file{{name: root + "Info.plist",
				data: marshal(t, demo(map[string]any{"CFBundleIdentifier": "com.example.demo"}), plist.XMLFormat)},
				{name: root + "a.png", data: []byte(picture)}}
			if c.profile != nil {
				files = append(files, file{name: root + "embedded.mobileprovision", data: c.profile})
			}
			if !c.bare {
				files = append(files, file{name: root + resourcesName, data: resources})
			}
			in, a := opened(t, files...)
			roots := apple.roots
			if c.roots.roots != nil {
				roots = c.roots.roots
			}
			if c.unknown {
				roots = nil
			}
			v, err := Verify(t.Context(), a, in.Size, roots, verifyTime)
			require.NoError(t, err)
			require.Equal(t, c.verdict, v.Verdict, v.Reason)
			require.Equal(t, c.tampered, v.Tampered)
			require.Contains(t, v.Reason, c.reason)
			require.Equal(t, c.verdict == artifact.Unchecked, v.Verified == nil)
		})
	}
}

func TestSimulated(t *testing.T) {
	t.Parallel()
	info := func(changes map[string]any) []byte { return marshal(t, demo(changes), plist.XMLFormat) }
	for name, folder := range map[string]string{"at the top": "Demo.app/", "in a folder": "build/Debug-iphonesimulator/Demo.app/"} {
		in, a := opened(t, file{name: "__MACOSX/" + folder + "Info.plist", data: []byte("junk")},
			file{name: folder + "Info.plist", data: info(map[string]any{"CFBundleSupportedPlatforms": []string{"iPhoneSimulator"},
				"DTPlatformName": "iphonesimulator"})})
		require.True(t, IsSimulated(a.Entries()), name)
		p, err := newReader().Simulated(t.Context(), in, a)
		require.NoError(t, err, name)
		require.Equal(t, artifact.App, p.Kind)
		require.Equal(t, artifact.IOS, p.Platform)
		require.True(t, p.Simulator)
	}
	in, a := opened(t, file{name: "Demo.app/Info.plist",
		data: info(map[string]any{"CFBundleSupportedPlatforms": []string{"iPhoneOS"}, "DTPlatformName": "iphoneos"})})
	_, err := newReader().Simulated(t.Context(), in, a)
	require.ErrorContains(t, err, "export it as an IPA")
}

func FuzzVerifyApp(f *testing.F) {
	f.Add(zipped(f, file{name: "Payload/A.app/Info.plist", data: marshal(f, demo(nil), plist.XMLFormat)},
		file{name: "Payload/A.app/embedded.mobileprovision", data: newAuthority(f, "any").sign(f, marshal(f, profile(nil), plist.XMLFormat))}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		v, err := Verify(t.Context(), a, int64(len(raw)), nil, verifyTime)
		require.NoError(t, err)
		require.NotEqual(t, artifact.Verified, v.Verdict, "there are no roots")
	})
}
