package install

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func apk(change func(*distribution.Build)) *distribution.Build {
	b := &distribution.Build{ID: 1, Kind: artifact.APK, Platform: artifact.Android, State: distribution.Enabled, Signer: &artifact.Signer{}}
	if change != nil {
		change(b)
	}
	return b
}

func ipa(change func(*distribution.Build)) *distribution.Build {
	b := &distribution.Build{ID: 1, Kind: artifact.IPA, Platform: artifact.IOS, State: distribution.Enabled,
		Provisioning: &artifact.Provisioning{Type: "ad-hoc", Expires: noon.Add(time.Hour), Devices: []string{"00008030-001A2B3C4D5E6F70", "b"}}}
	if change != nil {
		change(b)
	}
	return b
}

func TestActions(t *testing.T) {
	t.Parallel()
	const download, itms = "/d", "itms-services://m"
	type want struct{ problem, button, link, second, scan, hint string }
	file := func(label, scan string) want { return want{button: label, link: download, scan: scan} }
	for name, tc := range map[string]struct {
		build  *distribution.Build
		device device
		http   bool
		udid   string
		want   want
	}{
		"apk on android":   {apk(nil), android, false, "", file("Install", "")},
		"apk on a desktop": {apk(nil), desktop, false, "", file("Download APK", "Android phone or tablet")},
		"apk on a mac":     {apk(nil), mac, false, "", file("Download APK", "Android phone or tablet")},
		"apk by http":      {apk(nil), android, true, "", file("Install", "")},
		"apk on an iphone": {apk(nil), apple, false, "", want{problem: "This app is for Android"}},
		"apk not signed": {apk(func(b *distribution.Build) { b.Signer = nil }), android, false, "",
			want{button: "Install", link: download, hint: "No signature was found"}},

		"ipa on an iphone": {ipa(nil), apple, false, "", want{button: "Install", link: itms, hint: "Only the 2 devices"}},
		"ipa on a desktop": {ipa(nil), desktop, false, "", want{button: "Download IPA", link: download, scan: "iPhone or iPad",
			hint: "Only the 2 devices"}},
		"ipa on a mac": {ipa(nil), mac, false, "", want{button: "Download IPA", link: download, second: "This is an iPad",
			scan: "iPhone or iPad", hint: "Only the 2"}},
		"ipa on android":    {ipa(nil), android, false, "", want{problem: "This app is for iPhone and iPad"}},
		"ipa by http":       {ipa(nil), apple, true, "", want{problem: "needs https", hint: "Only the 2"}},
		"ipa by http, desk": {ipa(nil), desktop, true, "", want{problem: "needs https", second: "Download IPA", hint: "Only the 2"}},
		"known device":      {ipa(nil), apple, false, "00008030-001a2b3c4d5e6f70", want{button: "Install", link: itms, hint: "Only the 2"}},
		"unknown device": {ipa(nil), apple, false, "00008030-FFFFFFFFFFFFFFFF", want{problem: "not in the provisioning profile",
			hint: "Only the 2"}},
		"one device": {ipa(func(b *distribution.Build) { b.Provisioning.Devices = []string{"a"} }), apple, false, "",
			want{button: "Install", link: itms, hint: "Only the one device"}},
		"enterprise": {ipa(func(b *distribution.Build) { b.Provisioning.Type = "enterprise" }), apple, false, "00008030-FFFFFFFFFFFFFFFF",
			want{button: "Install", link: itms}},
		"app store": {ipa(func(b *distribution.Build) { b.Provisioning.Type = "app-store" }), apple, false, "", want{problem: "App Store"}},
		"no profile": {ipa(func(b *distribution.Build) { b.Provisioning = nil }), apple, false, "",
			want{button: "Install", link: itms, hint: "No provisioning profile"}},
		"profile ended": {ipa(func(b *distribution.Build) { b.Provisioning.Expires = noon }), apple, false, "",
			want{problem: "profile has expired", hint: "Only the 2"}},
		"ended by column": {ipa(func(b *distribution.Build) { end := noon.Add(-time.Hour); b.ExpiresAt = &end }), desktop, false, "",
			want{problem: "profile has expired", second: "Download IPA", hint: "Only the 2"}},

		"disabled": {apk(func(b *distribution.Build) { b.State = distribution.Disabled }), android, false, "", want{problem: "not available"}},
		"invalid": {apk(func(b *distribution.Build) { b.State, b.StateReason = distribution.Invalid, "broken" }),
			android, false, "", want{problem: "cannot be installed"}},
		"expired": {ipa(func(b *distribution.Build) { b.State = distribution.CertificateExpired }), desktop, false,
			"", want{problem: "profile has expired"}},
		"other state": {apk(func(b *distribution.Build) { b.State = "odd" }), android, false, "", want{problem: "not available"}},

		"bundle": {apk(func(b *distribution.Build) { b.Kind = artifact.AAB }), android, false, "",
			want{button: "Download", link: download, hint: "App Bundle"}},
		"set": {apk(func(b *distribution.Build) { b.Kind = artifact.APKS }), android, false, "",
			want{button: "Download", link: download, hint: "set of packages"}},
		"television": {ipa(func(b *distribution.Build) { b.Platform = artifact.TVOS }), apple, false, "",
			want{button: "Download", link: download, hint: "Apple TV"}},
		"mac app": {ipa(func(b *distribution.Build) { b.Kind, b.Platform = artifact.Mac, artifact.MacOS }), mac, false, "",
			want{button: "Download for Mac", link: download, hint: "Unpack"}},
		"mac app on a phone": {ipa(func(b *distribution.Build) { b.Kind, b.Platform = artifact.Mac, artifact.MacOS }), apple, false, "",
			want{problem: "This app is for Mac"}},
		"generic": {apk(func(b *distribution.Build) { b.Kind, b.Platform = artifact.Generic, "windows" }), desktop, false, "",
			want{button: "Download", link: download, hint: "cannot be installed from a page"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := actionsOf(asked{build: tc.build, device: tc.device, now: noon, https: !tc.http, udid: tc.udid, download: download, manifest: itms})
			if tc.want.problem == "" {
				require.Nil(t, o.Problem)
			} else {
				require.NotNil(t, o.Problem)
				require.Contains(t, o.Problem.Title, tc.want.problem)
				require.NotEmpty(t, o.Problem.Text)
				require.Nil(t, o.Button, "no button that cannot work")
				require.Empty(t, o.Steps)
			}
			var have want
			if o.Button != nil {
				have.button, have.link = o.Button.Label, string(o.Button.Link)
			}
			require.Equal(t, tc.want.button, have.button)
			require.Equal(t, tc.want.link, have.link)
			require.Equal(t, tc.want.scan, o.Scan)
			if tc.want.second == "" {
				require.Nil(t, o.Second)
			} else {
				require.Contains(t, o.Second.Label, tc.want.second)
			}
			if tc.want.hint == "" {
				require.Empty(t, o.Hints)
			} else {
				require.Len(t, o.Hints, 1)
				require.Contains(t, o.Hints[0], tc.want.hint)
			}
		})
	}
}

func TestReasonsAreSentences(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", " a reason ": "A reason.", "Done!": "Done!", "öffnen": "Öffnen.", "\xff": "\uFFFD."} {
		require.Equal(t, want, sentence(in))
	}
	n := unavailable(apk(func(b *distribution.Build) { b.State, b.StateReason = distribution.Disabled, "crashes at start" }))
	require.Equal(t, "It was disabled by the people who distribute the app. Crashes at start.", n.Text)
	n = unavailable(ipa(func(b *distribution.Build) { b.State = distribution.CertificateExpired; b.Provisioning.Expires = noon }))
	require.Contains(t, n.Text, "until 21 November 2026")
	n = unavailable(apk(func(b *distribution.Build) { b.State, b.StateReason = distribution.CertificateExpired, "revoked" }))
	require.Contains(t, n.Text, "Revoked.")
}

func TestDevice(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]device{
		"": desktop,
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile " +
			"Safari/537.36": android,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 " +
			"Safari/604.1": apple,
		"Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) " +
			"AppleWebKit/605.1.15": apple,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 " +
			"Safari/605.1.15": mac,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " +
			"AppleWebKit/537.36": desktop,
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 " +
			"Firefox/140.0": desktop,
		"Mozilla/5.0 (Mobile; Windows Phone 8.1; Android 4.0; ARM; Trident/7.0; Touch; rv:11.0; IEMobile/11.0; NOKIA; Lumia 520) like iPhone " +
			"OS 7_0_3 Mac OS X": desktop,
	} {
		require.Equal(t, want, deviceOf(agent), agent)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 9_940: "9.9 kB", 9_960: "10 kB", 24_311_000: "24 MB",
		999_400_000: "999 MB", 999_600_000: "1.0 GB", 4 << 30: "4.3 GB", 5e15: "5000 TB"} {
		require.Equal(t, want, size(n), n)
	}
	for want, b := range map[string]distribution.Build{"1.2 (34)": {Version: "1.2", VersionCode: "34"},
		"1.2": {Version: "1.2", VersionCode: "1.2"},
		"34":  {VersionCode: "34"}, "unknown": {}} {
		require.Equal(t, want, versionOf(&b))
	}
	for want, b := range map[string]distribution.Build{"": {Platform: "iOS"}, "iOS 16.0": {Platform: "iOS", MinOSVersion: "16.0"},
		"Android 8.0": {Platform: "Android", MinOSVersion: "26"}, "Android API level Baklava": {Platform: "Android", MinOSVersion: "Baklava"}} {
		require.Equal(t, want, minimumOS(&b))
	}
	require.Equal(t, "a b", printable(" a\n\u200b\tb\x00 ", 80)[:1]+" b")
	require.Equal(t, "abc…", printable("abcdefgh", 4))
}

func TestUDID(t *testing.T) {
	t.Parallel()
	const long = "0123456789abcdef0123456789abcdef01234567"
	for in, want := range map[string]string{long: long, "00008030-001A2B3C4D5E6F70": "00008030-001A2B3C4D5E6F70", "": "",
		"x": "", long + "0": "",
		"00008030-001A2B3C4D5E6F7<": ""} {
		require.Equal(t, want, udid(in))
	}
}
