package android

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

func readSet(t testing.TB, entries ...packed) (*artifact.Package, error) {
	t.Helper()
	r := bytes.NewReader(writtenAPK(t, nil, entries...))
	a, err := archive.Open(r, r.Size())
	require.NoError(t, err)
	return newReader().Set(t.Context(), artifact.Input{Reader: r, Size: r.Size(), Vendor: "slipway"}, a)
}

// partAPK is an APK whose version is the name of its entry.
func partAPK(t testing.TB, name string, more ...packed) packed {
	manifest := manifestOf(node("application").with("icon", text("res/ic.png"))).with("versionName", text(name))
	entries := append([]packed{{name: manifestName, data: manifest.bin()}, {name: "res/ic.png", data: square(t, 20, red)}}, more...)
	return packed{name: name, data: writtenAPK(t, nil, entries...), stored: true}
}

func TestSetChoosesTheBase(t *testing.T) {
	t.Parallel()
	big := packed{name: "assets/big", data: bytes.Repeat([]byte("big"), 9000), stored: true}
	for _, test := range []struct {
		base   string
		others []string
		splits []string
		abis   []string
	}{
		{"splits/base-master.apk", []string{"splits/base-arm64_v8a.apk", "splits/base-xxhdpi.apk", "splits/game-master.apk",
			"splits/base-master_2.apk", "standalones/standalone-x86_64_hdpi.apk"},
			[]string{"base-arm64_v8a", "base-master_2", "base-xxhdpi", "game-master", "standalone-x86_64_hdpi"}, []string{"arm64-v8a", "x86_64"}},
		{"splits/base-master_2.apk", []string{"splits/base-x86.apk", "standalones/standalone-x86.apk"},
			[]string{"base-x86", "standalone-x86"}, []string{"x86"}},
		{"universal.apk", nil, []string{}, nil},
		{"standalones/standalone-armeabi_v7a_hdpi.apk", []string{"splits/game-master.apk"}, []string{"game-master"}, []string{"armeabi-v7a"}},
		{"base.apk", []string{"split_config.arm64_v8a.apk", "split_config.en.apk"}, []string{"split_config.arm64_v8a",
			"split_config.en"}, []string{"arm64-v8a"}},
		{"com.example.app.apk", []string{"config.armeabi_v7a.apk", "config.de.apk"}, []string{"config.armeabi_v7a", "config.de"},
			[]string{"armeabi-v7a"}},
		{"BASE.APK", []string{"other.apk"}, []string{"other"}, nil},
		{"../../etc/base.apk", []string{"/config.x86.apk"}, []string{"config.x86"}, []string{"x86"}},
	} {
		t.Run(strings.ReplaceAll(test.base, "/", " "), func(t *testing.T) {
			t.Parallel()
			entries := []packed{{name: "readme.txt"}}
			for _, name := range test.others {
				entries = append(entries, partAPK(t, name, big)) // size alone must not decide
			}
			p, err := readSet(t, append(entries, partAPK(t, test.base, packed{name: "lib/mips/libslipway.so"}))...)
			require.NoError(t, err)
			require.NotNil(t, p.Icon)
			require.Equal(t, artifact.APKS, p.Kind)
			require.Equal(t, test.base, p.Version)
			require.Equal(t, "com.example.app", p.PackageName)
			require.ElementsMatch(t, test.splits, p.Splits)
			require.IsIncreasing(t, append(p.ABIs, "~"))
			require.ElementsMatch(t, append(test.abis, "mips"), p.ABIs)
			require.True(t, p.HasSDK)
			require.Empty(t, p.Warnings)
		})
	}
	p, err := readSet(t, partAPK(t, "a.apk"), partAPK(t, "b.apk", big), partAPK(t, "c.apk"))
	require.NoError(t, err)
	require.Equal(t, "b.apk", p.Version)
}

func TestSetReadsDescriptions(t *testing.T) {
	t.Parallel()
	xapk := packed{name: "manifest.json", data: []byte(`{"xapk_version":2,"package_name":"com.described","name":"Described","version_code":12,
		"version_name":"1.2","min_sdk_version":"21","target_sdk_version":34,"split_apks":[{"file":"config.x86.apk","id":"config.x86"},` +
		`{"file":"odd name.apk","id":"base"}]}`)}
	apkm := packed{name: "info.json",
		data: []byte(`{"apkm_version":5,"pname":"com.described","app_name":"Described","release_version":"1.2","versioncode":"12",` +
			`"min_api":"21"}`)}
	icon := packed{name: "icon.png", data: square(t, 30, green)}

	p, err := readSet(t, xapk, partAPK(t, "base.apk"), partAPK(t, "odd name.apk"), partAPK(t, "config.x86.apk"))
	require.NoError(t, err)
	require.Equal(t, "odd name.apk", p.Version, "the base is the one that is named")
	require.Equal(t, "com.example.app", p.Name, "an APK that can be read counts")
	require.Equal(t, []string{"base", "config.x86"}, p.Splits)

	for _, about := range []packed{xapk, apkm} {
		p, err = readSet(t, about, icon, packed{name: "base.apk", data: []byte("no zip")}, packed{name: "odd name.apk", data: []byte("no zip")})
		require.NoError(t, err)
		require.Equal(t, artifact.Package{Name: "Described", PackageName: "com.described", Version: "1.2", VersionCode: "12", MinOSVersion: "21"},
			artifact.Package{Name: p.Name, PackageName: p.PackageName, Version: p.Version, VersionCode: p.VersionCode, MinOSVersion: p.MinOSVersion})
		require.Equal(t, artifact.Android, p.Platform)
		require.Equal(t, green, shownAt(t, p.Icon, 0.5, 0.5))
		require.Len(t, p.Warnings, 1)
		require.Contains(t, p.Warnings[0], "Only the description")
	}

	p, err = readSet(t, packed{name: "toc.pb", data: message{}.bytes(2, message{}.text(2, "1.18.1")).text(4, "com.example.app")},
		partAPK(t, "universal.apk"))
	require.NoError(t, err)
	require.Equal(t, "bundletool 1.18.1", p.Tool)

	for name, broken := range map[string]packed{
		"no JSON":   {name: "manifest.json", data: []byte("{")},
		"a list":    {name: "info.json", data: []byte("[]")},
		"too large": {name: "manifest.json", data: bytes.Repeat([]byte(" "), maxDescription+1)},
	} {
		p, err = readSet(t, broken, partAPK(t, "base.apk"))
		require.NoError(t, err, name)
		require.Equal(t, "base.apk", p.Version, name)
		require.Len(t, p.Warnings, 1, name)
		require.Contains(t, p.Warnings[0], "The description of the archive cannot be read", name)
	}
}

func TestSetReadsCompressedBases(t *testing.T) {
	t.Parallel()
	part := partAPK(t, "base.apk")
	part.stored = false
	p, err := readSet(t, part)
	require.NoError(t, err)
	require.Equal(t, "base.apk", p.Version)

	bomb := packed{name: "base.apk", data: make([]byte, maxNested+1)}
	_, err = readSet(t, bomb)
	var invalid *artifact.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "the base APK cannot be read: it is compressed and larger than 36 MiB", invalid.Reason)

	p, err = readSet(t, bomb, packed{name: "manifest.json", data: []byte(`{"package_name":"com.described"}`)})
	require.NoError(t, err)
	require.Equal(t, "com.described", p.Name)
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]packed{
		"no APK":         {{name: "manifest.json", data: []byte(`{"package_name":"x"}`)}},
		"no zip":         {{name: "base.apk", data: []byte("hello"), stored: true}},
		"no manifest":    {{name: "base.apk", data: writtenAPK(t, nil, packed{name: "x"}), stored: true}},
		"a set in a set": {{name: "base.apk", data: writtenAPK(t, nil, partAPK(t, "base.apk")), stored: true}},
	} {
		_, err := readSet(t, entries...)
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid, name)
	}
}

func TestSetBoundsItsLists(t *testing.T) {
	t.Parallel()
	entries := []packed{partAPK(t, "base.apk"), {name: "x/.apk"}, {name: "twice.apk"}, {name: "a/twice.apk"}, {name: "a\x00b.apk"}}
	for i := range 2 * maxSplits {
		entries = append(entries, packed{name: fmt.Sprintf("config.%s%d.apk", strings.Repeat("x", 500), i)})
	}
	p, err := readSet(t, entries...)
	require.NoError(t, err)
	require.LessOrEqual(t, len(p.Splits), maxSplits)
	require.Contains(t, p.Splits, "twice")
	require.Contains(t, p.Splits, "ab")
	for _, name := range p.Splits {
		require.LessOrEqual(t, len(name), maxText)
		require.NotEmpty(t, name)
	}
}

func TestSetErrorsOfOthers(t *testing.T) {
	t.Parallel()
	r := &vanishing{r: bytes.NewReader(writtenAPK(t, nil, partAPK(t, "base.apk")))}
	a, err := archive.Open(r, r.r.Size())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = newReader().Set(ctx, artifact.Input{}, a)
	require.ErrorIs(t, err, context.Canceled)
	r.gone = errors.New("the store is gone")
	_, err = newReader().Set(t.Context(), artifact.Input{}, a)
	require.ErrorIs(t, err, r.gone)
}

func TestABIsInNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"base-arm64_v8a.apk": "arm64-v8a", "splits/base-armeabi_v7a.apk": "armeabi-v7a", "base-armeabi.apk": "armeabi",
		"base-x86_64_2.apk": "x86_64",
		"config.x86.apk":    "x86", "split_config.arm64_v8a.apk": "arm64-v8a", "config.arm64-v8a.apk": "arm64-v8a",
		"game.config.riscv64.apk": "riscv64",
		"standalone-x86_hdpi.apk": "x86", "base-x86x.apk": "", "base-en.apk": "", "base.apk": "", "x86/base.apk": "", "": "",
	} {
		require.Equal(t, want, abiOfPart(name), name)
	}
}

func FuzzDescription(f *testing.F) {
	f.Add([]byte(`{"package_name":"com.example","name":"Example","version_code":"1","version_name":1.5,"split_apks":[{"id":"base",` +
		`"file":"a.apk"}]}`))
	f.Add([]byte(`{"pname":"com.example","app_name":"Example","versioncode":null,"min_api":[],"release_version":{"a":1e999}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, parse := range []func([]byte) (description, error){parseXAPK, parseAPKM} {
			a, err := parse(raw)
			if err != nil {
				require.Equal(t, description{}, a)
				continue
			}
			p := a.toPackage()
			require.Equal(t, a.packageName == "", p == nil)
			if p == nil {
				continue
			}
			for _, s := range []string{p.Name, p.PackageName, p.Version, p.VersionCode, p.MinOSVersion, p.TargetOS} {
				require.LessOrEqual(t, len([]rune(s)), maxText)
				require.NotContains(t, s, "\x00")
			}
			_, err = json.Marshal(p)
			require.NoError(t, err)
		}
	})
}
