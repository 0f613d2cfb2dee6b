package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/artifact"
)

func TestPackage(t *testing.T) {
	t.Parallel()
	ipa := zipped(t, info(t, "Payload/Demo.app/Info.plist", nil),
		file{name: "Payload/Demo.app/Frameworks/Slipway.framework/Slipway", data: nil})
	tv := zipped(t, info(t, "Payload/Demo.app/Info.plist", map[string]any{"DTPlatformName": "appletvos"}))
	mac := zipped(t, info(t, "build/Demo.app/Contents/Info.plist", map[string]any{"CFBundleExecutable": "Demo"}),
		file{name: "build/Demo.app/Contents/MacOS/Demo", data: machO()})
	app := func(kind artifact.Kind, platform artifact.Platform) artifact.Package { // lists are empty, and not nil
		return artifact.Package{Kind: kind, Platform: platform, Name: "Demo", PackageName: "com.example.demo",
			Version: "1.2.3", VersionCode: "45",
			ABIs: []string{}, Permissions: []string{}, Splits: []string{}, Images: []artifact.Image{}, Warnings: []string{}}
	}
	iosApp, tvApp, macApp := app(artifact.IPA, artifact.IOS), app(artifact.IPA, artifact.TVOS), app(artifact.Mac, artifact.MacOS)
	iosApp.HasSDK = true
	macApp.ABIs = []string{"arm64"}
	macApp.Images = []artifact.Image{{Name: "Demo", Arch: "arm64", UUID: uuid}}
	for name, c := range map[string]struct {
		raw      []byte
		platform string
		generic  bool
		want     artifact.Package
	}{
		"ipa":                   {raw: ipa, want: iosApp},
		"tvOS":                  {raw: tv, want: tvApp},
		"mac":                   {raw: mac, want: macApp},
		"known before platform": {raw: ipa, platform: "Xbox", generic: true, want: iosApp},
		"known before unknown":  {raw: mac, platform: "BeOS", want: macApp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := New().Package(context.Background(), input(c.raw), c.platform, c.generic)
			require.NoError(t, err)
			require.Equal(t, &c.want, p)
		})
	}
}

func TestPackageRefuses(t *testing.T) {
	t.Parallel()
	dsym := zipped(t, file{name: "Demo.app.dSYM/Contents/Resources/DWARF/Demo", data: machO()})
	for name, c := range map[string]struct {
		raw    []byte
		reason string
	}{
		"empty":           {nil, "empty"},
		"text":            {[]byte("hello, this is no app"), "no app"},
		"short":           {[]byte("P"), "no app"},
		"tar":             {append([]byte{0x1f, 0x8b}, make([]byte, 100)...), "no app"},
		"magic alone":     {[]byte("PK\x03\x04"), "archive"},
		"truncated":       {dsym[:len(dsym)-30], "archive"},
		"empty archive":   {zipped(t), "the archive is empty"},
		"another archive": {zipped(t, file{name: "readme.txt", data: nil}), "neither an AndroidManifest.xml"},
		"dsym":            {dsym, "symbols_file"},
		"mapping":         {zipped(t, file{name: "mapping.txt", data: []byte("a.B -> c:\n")}), "no app"},
		"one APK":         {zipped(t, file{name: "app.apk", data: nil}), "send the APK itself"},
		"an IPA":          {zipped(t, file{name: "out/app.ipa", data: nil}), "send the IPA itself"},
		"simulator":       {zipped(t, info(t, "Demo.app/Info.plist", nil)), "outside of Payload"},
		"climbing":        {zipped(t, info(t, "../Payload/Demo.app/Info.plist", nil)), "outside of Payload"},
		"absolute":        {zipped(t, file{name: "/Payload/Demo.app/x", data: nil}), "no app"},
		"broken APK":      {zipped(t, file{name: "AndroidManifest.xml", data: []byte("rubbish")}), "AndroidManifest.xml"},
		"broken bundle": {zipped(t, file{name: "BundleConfig.pb", data: nil}, file{name: "base/manifest/AndroidManifest.xml",
			data: []byte{0xff}}), ""},
		"broken set": {zipped(t, file{name: "base.apk", data: []byte("x")}, file{name: "toc.pb", data: nil}), ""},
		"broken ipa": {zipped(t, file{name: "Payload/Demo.app/Info.plist", data: []byte("rubbish")}), "Info.plist"},
		"broken mac": {zipped(t, file{name: "Demo.app/Contents/Info.plist", data: []byte("rubbish")}), "Info.plist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New().Package(context.Background(), input(c.raw), "", false)
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Reason, c.reason)
		})
	}
}

func TestGeneric(t *testing.T) {
	t.Parallel()
	other := zipped(t, file{name: "game/level1.bin", data: []byte("level")})
	dsym := zipped(t, file{name: "Demo.dSYM/Contents/Resources/DWARF/Demo", data: machO()})
	for name, c := range map[string]struct {
		raw      []byte
		platform string
		generic  bool
		want     artifact.Platform // "-": refused
	}{
		"zip":               {other, "", true, ""},
		"zip, platform":     {other, " XBOX ", false, "Xbox"},
		"no zip":            {[]byte("MZ rubbish"), "wINDOWS", false, "Windows"},
		"no zip, generic":   {[]byte("MZ rubbish"), "", true, ""},
		"disk image":        {[]byte("koly"), "macos", true, "macOS"},
		"playstation":       {other, "playstation", true, "PlayStation"},
		"dsym":              {dsym, "", true, ""},
		"iOS is not":        {other, "iOS", false, "-"},
		"android, generic":  {other, "android", true, ""},
		"unknown platform":  {other, "BeOS", true, "-"},
		"not allowed":       {other, "", false, "-"},
		"truncated":         {other[:len(other)-3], "", true, "-"},
		"broken is no zip":  {zipped(t, file{name: "AndroidManifest.xml", data: []byte("rubbish")}), "windows", true, "-"},
		"empty, of windows": {nil, "windows", true, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := New().Package(context.Background(), input(c.raw), c.platform, c.generic)
			if c.want == "-" {
				var invalid *artifact.InvalidError
				require.ErrorAs(t, err, &invalid)
				return
			}
			require.NoError(t, err)
			require.Equal(t, artifact.Generic, p.Kind)
			require.Equal(t, c.want, p.Platform)
			require.Equal(t, "demo-1.2", p.Name)
			require.Empty(t, p.PackageName)
		})
	}
}

func TestFileTitle(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"game.zip": "game", "../../etc/passwd": "passwd", `C:\a\b.exe`: "b", ".hidden": ".hidden", "": "", "/": "", "..": "", "a/..": "",
		"no extension": "no extension", "x.tar.gz": "x.tar",
	} {
		require.Equal(t, want, fileTitle(name), name)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  artifact.Kind
	}{
		"apk":                 {[]string{"classes.dex", "AndroidManifest.xml"}, artifact.APK},
		"apk with apks":       {[]string{"assets/a.apk", "assets/b.apk", "AndroidManifest.xml"}, artifact.APK},
		"apk with Payload":    {[]string{"Payload/A.app/Info.plist", "AndroidManifest.xml"}, artifact.APK},
		"bundle":              {[]string{"BundleConfig.pb", "base/manifest/AndroidManifest.xml"}, artifact.AAB},
		"bundle, no config":   {[]string{"base/manifest/AndroidManifest.xml"}, artifact.AAB},
		"apks":                {[]string{"toc.pb", "splits/base-master.apk", "splits/base-xxhdpi.apk"}, artifact.APKS},
		"apks, standalone":    {[]string{"toc.pb", "standalones/standalone.apk"}, artifact.APKS},
		"xapk":                {[]string{"manifest.json", "com.example.apk", "icon.png"}, artifact.APKS},
		"apkm":                {[]string{"info.json", "base.apk"}, artifact.APKS},
		"two apks":            {[]string{"a.APK", "b.apk"}, artifact.APKS},
		"one apk":             {[]string{"a.apk", "readme.txt"}, artifact.Generic},
		"manifest alone":      {[]string{"manifest.json"}, artifact.Generic},
		"finder's apks":       {[]string{"__MACOSX/._a.apk", "__MACOSX/._b.apk", "._c.apk", "._d.apk"}, artifact.Generic},
		"deep apks":           {[]string{"a/b/c.apk", "a/b/d.apk"}, artifact.Generic},
		"ipa":                 {[]string{"Payload/", "Payload/Demo.app/Info.plist"}, artifact.IPA},
		"ipa without plist":   {[]string{"Payload/Demo.app/Demo"}, artifact.IPA},
		"mac":                 {[]string{"Demo.app/Contents/Info.plist"}, artifact.Mac},
		"mac with its dsym":   {[]string{"Demo.app.dSYM/Contents/Resources/DWARF/Demo", "Demo.app/Contents/Info.plist"}, artifact.Mac},
		"dsym":                {[]string{"Demo.app.dSYM/Contents/Resources/DWARF/Demo"}, artifact.DSYM},
		"framework is no app": {[]string{"Kit.framework/Info.plist"}, artifact.Generic},
		"none":                {nil, artifact.Generic},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []file
			for _, f := range c.files {
				files = append(files, file{name: f})
			}
			require.Equal(t, c.want, detect(opened(t, files...).Entries()))
		})
	}
}

// Wherever an archive is cut off, it is refused with a reason.
func TestTruncated(t *testing.T) {
	t.Parallel()
	whole := zipped(t, info(t, "Payload/Demo.app/Info.plist", nil), file{name: "Payload/Demo.app/Demo", data: machO()})
	for cut := range len(whole) {
		_, err := New().Package(context.Background(), input(whole[:cut]), "", cut >= 4)
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid, cut)
		require.NotEmpty(t, invalid.Reason)
	}
}

func TestSymbols(t *testing.T) {
	t.Parallel()
	const text = "# compiler: R8\n# pg_map_id: 7a3f\ncom.example.Main -> a:\n"
	mapped := &artifact.Symbols{Kind: artifact.Mapping, Tool: "R8", MapID: "7a3f", Images: []artifact.Image{}, Notes: []string{}}
	for name, c := range map[string]struct {
		raw  []byte
		want *artifact.Symbols
	}{
		"dsym": {zipped(t, file{name: "a/Demo.dSYM/Contents/Resources/DWARF/Demo", data: machO()}, file{name: "mapping.txt", data: []byte(text)}),
			&artifact.Symbols{Kind: artifact.DSYM, Images: []artifact.Image{{Name: "Demo", Arch: "arm64", UUID: uuid}}, Notes: []string{}}},
		"mapping":           {[]byte(text), mapped},
		"mapping in a zip":  {zipped(t, file{name: "mapping.txt", data: []byte(text)}), mapped},
		"empty":             {nil, nil},
		"text":              {[]byte("hello"), nil},
		"truncated archive": {zipped(t, file{name: "mapping.txt", data: []byte(text)})[:40], nil},
		"another archive":   {zipped(t, file{name: "a.bin", data: []byte(text)}), nil},
		"an app":            {zipped(t, info(t, "Payload/Demo.app/Info.plist", nil)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := New().Symbols(context.Background(), input(c.raw))
			if c.want == nil {
				var invalid *artifact.InvalidError
				require.ErrorAs(t, err, &invalid)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, s)
			_, err = json.Marshal(s)
			require.NoError(t, err)
		})
	}
}

// counting counts the bytes that are requested.
type counting struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

// Of a large package only what matters is read: the target is 1 MiB and the
// directory.
func TestReadsLittle(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 8<<20)
	_, err := rand.NewChaCha8([32]byte{}).Read(noise)
	require.NoError(t, err)
	raw := zipped(t, file{name: "Payload/Demo.app/Assets.car", data: noise},
		info(t, "Payload/Demo.app/Info.plist", map[string]any{"CFBundleExecutable": "Demo"}),
		file{name: "Payload/Demo.app/Demo", data: append(machO(), noise...)})
	in := input(raw)
	reader := &counting{ReaderAt: in.Reader}
	in.Reader = reader
	p, err := New().Package(context.Background(), in, "", false)
	require.NoError(t, err)
	require.Equal(t, []string{"arm64"}, p.ABIs)
	require.Less(t, reader.bytes.Load(), int64(400<<10))
}

// TestRealPackages reads packages of npm.
func TestRealPackages(t *testing.T) {
	t.Parallel()
	modules := servicetest.NodeModules(t)
	for pattern, want := range map[string]artifact.Package{
		"io.appium.settings/apks/*.apk": {
			Kind: artifact.APK, PackageName: "io.appium.settings", Version: "8.0.10", VersionCode: "192", Name: "Appium Settings",
			MinOSVersion: "26"},
		"android-apidemos/apks/ApiDemos-debug.apk": {
			Kind: artifact.APK, PackageName: "io.appium.android.apis", Version: "5.0.0", VersionCode: "25", Name: "API Demos", MinOSVersion: "17"},
	} {
		t.Run(strings.Split(pattern, "/")[0], func(t *testing.T) {
			t.Parallel()
			found, err := filepath.Glob(filepath.Join(modules, pattern))
			require.NoError(t, err)
			require.Len(t, found, 1, "install it with: make deps")
			raw, err := os.ReadFile(found[0])
			require.NoError(t, err)
			p, err := New().Package(context.Background(), artifact.Input{Reader: bytes.NewReader(raw), Size: int64(len(raw))}, "", false)
			require.NoError(t, err)
			require.Equal(t, want, artifact.Package{Kind: p.Kind, PackageName: p.PackageName, Version: p.Version, VersionCode: p.VersionCode,
				Name: p.Name, MinOSVersion: p.MinOSVersion})
		})
	}
}
