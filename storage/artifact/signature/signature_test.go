package signature_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact/android"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/signature"
)

// verified opens and verifies a package.
func verified(t testing.TB, raw []byte) *signature.Result {
	t.Helper()
	a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return &signature.Result{Failure: &signature.Failure{Reason: err.Error(), Tampered: true}}
	}
	q, err := android.ReadRequirements(t.Context(), a)
	require.NoError(t, err)
	result, err := signature.Verify(t.Context(), bytes.NewReader(raw), int64(len(raw)), a,
		signature.Requirements{MinSDK: q.MinSDK, TargetSDK: q.TargetSDK, Sandbox: q.Sandbox})
	require.NoError(t, err)
	return result
}

// sample is a package with what should be found of it.
type sample struct {
	apk     []byte
	schemes string // "" when it is refused
	signer  string
	fails   string // the scheme
	reason  string // part of it
	intact  bool   // refused, and not tampered with
	young   bool   // apksigner 31 does not know v3.1
}

const end = 1<<31 - 1

// swapped changes the first occurrence of a text.
func swapped(raw []byte, from, to string) []byte {
	return bytes.Replace(bytes.Clone(raw), []byte(from), []byte(to), 1)
}

// samples are packages of all schemes, genuine and changed.
func samples(t testing.TB) map[string]sample {
	rsa, other, p256 := who("rsa"), who("other"), who("p256")
	old, modern, newest := levels{min: 18, target: 29}, levels{min: 24, target: 34}, levels{min: 28, target: 34}
	one := func(by identity, algorithm uint32) scheme {
		return scheme{pairV2, []signedBy{{identity: by, algorithm: algorithm}}}
	}
	third := func(by identity, low, high uint32, attribute []byte) scheme {
		return scheme{pairV3, []signedBy{{identity: by, algorithm: 0x0103, low: low, high: high, attribute: attribute}}}
	}
	proof := func(chain ...identity) []byte {
		var list []signedBy
		for _, i := range chain {
			list = append(list, signedBy{identity: i, algorithm: 0x0103})
		}
		return rotation(t, list...)
	}
	plain := container(t, content(modern)...)
	jarred := container(t, jar(t, content(old), rsa, "")...)
	both := signed(t, container(t, jar(t, content(old), rsa, "X-Android-APK-Signed: 2\r\n")...), one(rsa, 0x0103))
	second := signed(t, plain, one(rsa, 0x0103))
	changed := func(s signedBy) scheme { return scheme{pairV2, []signedBy{s}} }
	all := map[string]sample{
		"unsigned":         {apk: plain, reason: "not signed", intact: true},
		"v1":               {apk: jarred, schemes: "v1", signer: rsa.sum()},
		"v1 changed entry": {apk: swapped(jarred, "code code", "c0de code"), fails: "v1", reason: "classes.dex"},
		"v1 changed main section": {apk: swapped(jarred, "Created-By: test\r\n\r\n", "Created-By: tost\r\n\r\n"),
			schemes: "v1", signer: rsa.sum()},
		"v1 changed section": {apk: swapped(jarred, "res/a.png\r\nSHA-256-Digest", "res/a.png\r\nSHA-256-Digesz"),
			fails: "v1", reason: "what the manifest says"},
		"v1 changed signature file": {apk: swapped(jarred, "Signature-Version: 1.0", "Signature-Version: 1.1"),
			fails: "v1", reason: "does not verify"},
		"v1 added entry": {apk: container(t, append(jar(t, content(old), rsa, ""), entry{"evil.dex", "evil"})...),
			fails: "v1", reason: "evil.dex"},
		"v1 added in META-INF": {apk: container(t, append(jar(t, content(old), rsa, ""), entry{"META-INF/note", "any"})...),
			schemes: "v1", signer: rsa.sum()},
		"v1 removed entry": {apk: container(t, jar(t, content(old), rsa, "")[:5]...), fails: "v1", reason: "removed"},
		"v1 entry twice": {apk: container(t, append(jar(t, content(old), rsa, ""), entry{"res/a.png", "picture"})...),
			fails: "v1", reason: "two entries"},
		"v1 and target 30": {apk: container(t, jar(t, content(levels{min: 18, target: 30}), rsa, "")...),
			fails: "v1", reason: "targets", intact: true, schemes: "v1"},
		"v1 of SHA-256 below API 18": {apk: container(t, jar(t, content(levels{min: 9, target: 29}), rsa, "")...),
			fails: "v1", reason: "do not verify its algorithms", intact: true},
		"v1 and sandbox": {apk: container(t, jar(t, content(levels{min: 18, target: 29, sandbox: 2}), rsa, "")...),
			fails: "v2", reason: "Sandbox", intact: true},
		"v1 changed, and sandbox": {apk: swapped(container(t, jar(t, content(levels{min: 18, target: 29, sandbox: 2}),
			rsa, "")...), "code code", "c0de code"), fails: "v1", reason: "classes.dex"},
		"v1 changed below API 18": {apk: swapped(container(t, jar(t, content(levels{min: 9, target: 29}), rsa, "")...),
			"code code", "c0de code"), fails: "v1", reason: "classes.dex"},
		"v1 without its signatures": {apk: container(t, slices.Delete(jar(t, content(old), rsa, ""), 1, 2)...),
			fails: "v1", reason: "no signature"},
		"v2 changed below API 28": {apk: swapped(signed(t, plain, one(rsa, 0x0421)), "code code", "c0de code"),
			fails: "v2", reason: "digest differs"},
		"v1 and v2": {apk: both, schemes: "v1 v2", signer: rsa.sum()},
		"v1 with v2 stripped": {apk: container(t, jar(t, content(old), rsa, "X-Android-APK-Signed: 2\r\n")...),
			fails: "v1", reason: "stripped"},
		"v1 and v2 of others": {apk: signed(t, container(t, jar(t, content(old), other, "")...), one(rsa, 0x0103)),
			fails: "v2", reason: "different signers", schemes: "v1 v2"},
		"v2": {apk: second, schemes: "v2", signer: rsa.sum()},
		"v2 of old minSdk": {apk: signed(t, container(t, content(old)...), one(rsa, 0x0103)), fails: "v1",
			schemes: "v2", reason: "MANIFEST", intact: true},
		"v2 RSA-PSS SHA-512": {apk: signed(t, plain, one(rsa, 0x0102)), schemes: "v2", signer: rsa.sum()},
		"v2 RSA SHA-512":     {apk: signed(t, plain, one(rsa, 0x0104)), schemes: "v2", signer: rsa.sum()},
		"v2 ECDSA":           {apk: signed(t, plain, one(p256, 0x0201)), schemes: "v2", signer: p256.sum()},
		"v2 ECDSA P-384":     {apk: signed(t, plain, one(who("p384"), 0x0202)), schemes: "v2", signer: who("p384").sum()},
		"v2 ECDSA P-521":     {apk: signed(t, plain, one(who("p521"), 0x0202)), schemes: "v2", signer: who("p521").sum()},
		"v2 verity":          {apk: signed(t, container(t, content(newest)...), one(rsa, 0x0421)), schemes: "v2", signer: rsa.sum()},
		"v2 verity below API 28": {apk: signed(t, plain, one(rsa, 0x0421)), fails: "v2",
			reason: "read from Android API level 28", intact: true},
		"v2 unknown algorithm": {apk: signed(t, plain, one(rsa, 0x0777)), fails: "v2", reason: "known algorithm"},
		"v2 changed entry":     {apk: swapped(second, "code code", "c0de code"), fails: "v2", reason: "SHA-256 digest differs"},
		"v2 changed directory": {apk: swapped(second, "PK\x01\x02\x14", "PK\x01\x02\x15"), fails: "v2", reason: "digest differs"},
		"v2 changed verity": {apk: swapped(signed(t, container(t, content(newest)...), one(rsa, 0x0421)),
			"code code", "c0de code"), fails: "v2", reason: "verity"},
		"v2 changed signed data": {apk: signed(t, plain, changed(signedBy{identity: rsa, algorithm: 0x0103,
			sign: func(b []byte) []byte { b[len(b)-5] ^= 1; return b }})), fails: "v2", reason: "does not verify"},
		"v2 other digest": {apk: signed(t, plain, changed(signedBy{identity: rsa, algorithm: 0x0103,
			digest: func(b []byte) []byte { b[0] ^= 1; return b }})), fails: "v2", reason: "digest differs"},
		"v2 other certificate": {apk: signed(t, plain, one(identity{rsa.key, other.cert}, 0x0103)), fails: "v2",
			reason: "not that of its certificate"},
		"v2 block without its magic": {apk: swapped(second, "APK Sig Block 42", "APK Sig Block 43"), reason: "not signed", intact: true},
		"v2 with v3 stripped": {apk: signed(t, plain, changed(signedBy{identity: rsa, algorithm: 0x0103,
			attribute: slices.Concat(word(0xbeeff00d), word(3))})), fails: "v2", reason: "v3 too"},
		"v2 two signers": {apk: signed(t, plain, scheme{pairV2, []signedBy{{identity: rsa, algorithm: 0x0103},
			{identity: p256, algorithm: 0x0201}}}), schemes: "v2", signer: rsa.sum()},
		"v2 no signers": {apk: signed(t, plain, scheme{id: pairV2}), fails: "v2", reason: "no signer"},
		"v2 eleven signers": {apk: signed(t, plain, scheme{pairV2,
			slices.Repeat([]signedBy{{identity: p256, algorithm: 0x0201}}, 11)}), fails: "v2", reason: "more than 10", young: true},
		"v3": {apk: signed(t, container(t, content(newest)...), third(rsa, 28, end, nil)),
			schemes: "v3", signer: rsa.sum()},
		"v3 changed entry": {apk: swapped(signed(t, container(t, content(newest)...), third(rsa, 28, end, nil)),
			"code code", "c0de code"), fails: "v3", reason: "digest differs"},
		"v3 below its first version": {apk: signed(t, container(t, content(newest)...), third(rsa, 30, end, nil)),
			fails: "v3", reason: "30 to", intact: true},
		"v3 and v2": {apk: signed(t, plain, one(rsa, 0x0103), third(rsa, 28, end, nil)), schemes: "v2 v3", signer: rsa.sum()},
		"v3 and v2 of another": {apk: signed(t, plain, one(other, 0x0103), third(rsa, 28, end, nil)), fails: "v3",
			schemes: "v2 v3", reason: "another key"},
		"v3 rotated": {apk: signed(t, plain, one(other, 0x0103), third(rsa, 28, end, proof(other, rsa))),
			schemes: "v2 v3", signer: rsa.sum()},
		"v3 rotated from a third key": {apk: signed(t, plain, one(other, 0x0103), third(rsa, 28, end, proof(who("p256"), rsa))),
			fails: "v3", reason: "does not verify"},
		"v3 proof of another": {apk: signed(t, plain, one(other, 0x0103), third(rsa, 28, end, proof(other))),
			fails: "v3", reason: "does not end with its own"},
		"v3 proof with a twice": {apk: signed(t, plain, one(other, 0x0103), third(rsa, 28, end, proof(rsa, other, rsa))),
			fails: "v3", reason: "twice"},
		"v3 gap": {apk: signed(t, container(t, content(newest)...),
			scheme{pairV3, []signedBy{{identity: rsa, algorithm: 0x0103, low: 28, high: 29},
				{identity: rsa, algorithm: 0x0103, low: 31, high: end}}}), fails: "v3", reason: "28 to 29 and 31"},
		"v3.1": {apk: signed(t, plain, one(other, 0x0103), third(other, 28, end, slices.Concat(word(0x559f8b02), word(33))),
			scheme{pairV31, []signedBy{{identity: rsa, algorithm: 0x0103, low: 33, high: end, attribute: proof(other, rsa)}}}),
			schemes: "v2 v3 v3.1", signer: rsa.sum(), young: true},
		"v3.1 stripped": {apk: signed(t, plain, one(other, 0x0103), third(other, 28, end, slices.Concat(word(0x559f8b02),
			word(33)))), fails: "v3", reason: "v3.1 too", young: true},
		"v3.1 alone": {apk: signed(t, container(t, content(newest)...),
			scheme{pairV31, []signedBy{{identity: rsa, algorithm: 0x0103, low: 33, high: end}}}),
			fails: "v3.1", reason: "no signature of the scheme v3", young: true},
		"v3.1 too early": {apk: signed(t, plain, third(other, 28, end, nil),
			scheme{pairV31, []signedBy{{identity: rsa, algorithm: 0x0103, low: 30, high: end}}}),
			fails: "v3.1", reason: "begins with 33", young: true},
	}
	return all
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, c := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verified(t, c.apk)
			if c.fails == "" && c.reason == "" {
				require.Nil(t, got.Failure)
				require.Equal(t, c.schemes, strings.Join(got.Schemes, " "))
				require.Equal(t, c.signer, got.Certificates[0])
				return
			}
			require.NotNil(t, got.Failure)
			require.Equal(t, c.fails, got.Failure.Scheme, got.Failure.Reason)
			require.Contains(t, got.Failure.Reason, c.reason)
			require.Equal(t, !c.intact, got.Failure.Tampered)
			require.Equal(t, c.reason == "not signed", got.Unsigned)
		})
	}
}

// failingReader fails from an offset on, as a store that goes away.
type failingReader struct {
	*bytes.Reader
	from int64
	err  error
}

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, f.err
	}
	return f.Reader.ReadAt(p, off)
}

// What the store or the caller does is no fault of the package.
func TestVerifyReportsTheReader(t *testing.T) {
	t.Parallel()
	raw := samples(t)["v1 and v2"].apk
	a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	gone := errors.New("the store is gone")
	_, err = signature.Verify(t.Context(), failingReader{bytes.NewReader(raw), 100, gone}, int64(len(raw)), a,
		signature.Requirements{MinSDK: 24})
	require.ErrorIs(t, err, gone)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = signature.Verify(ctx, bytes.NewReader(raw), int64(len(raw)), a, signature.Requirements{MinSDK: 18})
	require.ErrorIs(t, err, context.Canceled)
}

// A bomb in a package of v1 costs what its size allows.
func TestVerifyBoundsV1(t *testing.T) {
	t.Parallel()
	files := jar(t, append(content(levels{min: 18, target: 29}), entry{"bomb", strings.Repeat("\x00", 66<<20)}), who("rsa"), "")
	raw := deflated(t, files)
	require.Less(t, len(raw), 1<<20)
	got := verified(t, raw)
	require.NotNil(t, got.Failure)
	require.Contains(t, got.Failure.Reason, "too large to be verified")
	require.False(t, got.Failure.Tampered)
}

func FuzzVerify(f *testing.F) {
	for _, c := range samples(f) {
		f.Add(c.apk)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for _, level := range []int{1, 24, 28, 33} {
			result, err := signature.Verify(t.Context(), bytes.NewReader(raw), int64(len(raw)), a, signature.Requirements{MinSDK: level})
			require.NoError(t, err)
			require.True(t, result.Failure != nil || len(result.Schemes) > 0)
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(jar(f, content(levels{}), who("rsa"), "")[2].text))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if e, err := signature.OpenEnvelope(raw); err == nil {
			require.Error(t, e.Trusted(nil, "nobody", fixedTime))
		}
	})
}
