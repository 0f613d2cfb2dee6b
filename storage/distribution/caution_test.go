package distribution

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func TestCautions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	apk := func(v artifact.Verification) *Build {
		return &Build{Kind: artifact.APK, Platform: artifact.Android, Verification: v.Verdict, Signer: &artifact.Signer{Verification: v}}
	}
	ipa := func(kind string, left time.Duration) *Build {
		return &Build{Kind: artifact.IPA, Platform: artifact.IOS, Provisioning: &artifact.Provisioning{Type: kind, Expires: now.Add(left)}}
	}
	compared := apk(artifact.NewVerification(artifact.Verified, ""))
	compared.Comparison = []Code{CautionSignerChanged, CautionVersionNotAbove}
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		build  *Build
		secure bool
		want   []Code
		text   string
	}{
		"verified":  {apk(artifact.NewVerification(artifact.Verified, "")), false, nil, ""},
		"pending":   {apk(artifact.NewVerification(artifact.Pending, "")), false, nil, ""},
		"unsigned":  {apk(artifact.NewVerification(artifact.Unsigned, "")), false, []Code{CautionUnsigned}, "not signed"},
		"no signer": {&Build{Kind: artifact.APK}, false, []Code{CautionUnsigned}, "not signed"},
		"failed": {apk(artifact.NewVerification(artifact.Failed, "v1 only")), false, []Code{CautionSignature},
			"does not hold: v1 only."},
		"compared":         {compared, false, []Code{CautionSignerChanged, CautionVersionNotAbove}, "not that of the build before"},
		"ad hoc":           {ipa("ad-hoc", 90*day), true, nil, ""},
		"ad hoc over http": {ipa("ad-hoc", 90*day), false, []Code{CautionHTTPOnly}, "https"},
		"store":            {ipa("app-store", 90*day), true, []Code{CautionStoreProfile}, "App Store"},
		"ends soon":        {ipa("ad-hoc", 12*day+time.Hour), true, []Code{CautionExpires}, "expires in 12 days"},
		"ends tomorrow":    {ipa("ad-hoc", day+time.Hour), true, []Code{CautionExpires}, "expires in 1 day."},
		"ends today":       {ipa("ad-hoc", time.Hour), true, []Code{CautionExpires}, "within a day"},
		"has ended":        {ipa("ad-hoc", -time.Hour), true, []Code{CautionExpires}, "has expired"},
		"no profile over http": {&Build{Kind: artifact.IPA, Platform: artifact.IOS}, false, []Code{CautionNoProfile,
			CautionHTTPOnly}, "No provisioning profile"},
		"simulator": {&Build{Kind: artifact.App, Platform: artifact.IOS, Simulator: true}, false,
			[]Code{CautionSimulator}, "simulator"},
		"generic": {&Build{Kind: artifact.Generic}, false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []Code
			list := c.build.Cautions(now, c.secure)
			for _, one := range list {
				got = append(got, one.Code)
			}
			require.Equal(t, c.want, got)
			if len(list) > 0 {
				require.Contains(t, list[0].Text, c.text)
				require.Contains(t, c.build.Notes(now, c.secure), list[0].Text)
			}
		})
	}
}

func TestNotAbove(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind                               artifact.Kind
		version, code, lastVersion, before string
		want                               bool
	}{
		{artifact.APK, "1.0", "5", "2.0", "4", false},
		{artifact.APK, "2.0", "5", "1.0", "5", true},
		{artifact.APK, "2.0", "10", "1.0", "9", false},
		{artifact.APK, "2.0", "x", "1.0", "9", false},
		{artifact.IPA, "1.10", "1", "1.9", "7", false},
		{artifact.IPA, "1.8", "9", "1.9", "7", true},
		{artifact.IPA, "1.9", "7", "1.9", "7", true},
		{artifact.IPA, "1.9", "8", "1.9", "7", false},
	} {
		require.Equal(t, c.want, notAbove(c.kind, c.version, c.code, c.lastVersion, c.before), c)
	}
}

// Builds that a program of before wrote have the platform as it was sent, and no verdict.
func TestBuildOfBefore(t *testing.T) {
	t.Parallel()
	r := buildRow{Platform: "windows", Signer: []byte(`{"scheme":"v2","sha256":"ab"}`), Metadata: []byte("{}")}
	b, err := r.build()
	require.NoError(t, err)
	require.Equal(t, artifact.Windows, b.Platform)
	require.Equal(t, artifact.Unchecked, b.Signature().Verdict)
	require.Nil(t, b.Signature().Verified)
}
