package android

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

func newReader() Reader { return Reader{Icons: icon.NewDecoder(2)} }

var (
	red   = color.NRGBA{R: 255, A: 255}
	green = color.NRGBA{G: 255, A: 255}
	blue  = color.NRGBA{B: 255, A: 255}
)

func readAPK(t testing.TB, raw []byte) (*artifact.Package, error) {
	t.Helper()
	r := bytes.NewReader(raw)
	a, err := archive.Open(r, r.Size())
	require.NoError(t, err)
	return newReader().APK(t.Context(), artifact.Input{Reader: r, Size: r.Size(), Vendor: "slipway"}, a)
}

// mustAPK reads a package that has to be readable.
func mustAPK(t testing.TB, entries ...packed) *artifact.Package {
	t.Helper()
	p, err := readAPK(t, writtenAPK(t, nil, entries...))
	require.NoError(t, err)
	return p
}

// manifestOf is a manifest whose attributes of the application are given.
func manifestOf(application *element) *element {
	return node("manifest", node("uses-sdk"), application).with("package", text("com.example.app"))
}

const (
	labelID = 0x7f010001
	codeID  = 0x7f020000
	iconID  = 0x7f030000
	roundID = 0x7f030001
	colorID = 0x7f040000
)

func TestReadsAPackage(t *testing.T) {
	t.Parallel()
	manifest := node("manifest",
		node("uses-sdk").with("minSdkVersion", num(21)).with("targetSdkVersion", ref(codeID+1)),
		node("application", node("activity")).with("label", ref(labelID)).with("icon", ref(iconID)).with("debuggable", yes()),
	).with("package", text("com.example.app")).with("versionName", text("1.2 ✓ 😀")).
		with("versionCode", ref(codeID)).with("versionCodeMajor", num(2)).with("split", text("config.de"))
	table := []resource{
		{id: labelID, config: config{Locale: "de"}, value: text("Beispiel")},
		{id: labelID, config: config{Locale: "en"}, value: text("Sample")},
		{id: labelID, config: config{Locale: "pt-BR", Density: 480}, value: text("Exemplo")},
		{id: labelID, value: ref(labelID + 6)},
		{id: labelID + 6, value: text("Example")},
		{id: labelID + 6, config: config{Night: true}, value: text("Night")},
		{id: codeID, value: num(7)},
		{id: codeID + 1, value: num(34)},
		{id: codeID + 1, config: config{Other: true}, value: num(99)},
		{id: codeID + 9, bag: true},
		{id: iconID, config: config{Density: 160}, value: text("res/a.png")},
	}
	for name, o := range map[string]xmlOptions{"utf-8": {}, "utf-16": {utf16: true}, "names left out": {blank: true}} {
		for kind, flags := range map[string]byte{"plain": 0, "sparse": typeSparse, "short offsets": typeOffset16} {
			for _, compact := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, compact %v", name, kind, compact), func(t *testing.T) {
					t.Parallel()
					p := mustAPK(t,
						packed{name: "../../etc/passwd"},
						packed{name: manifestName, data: writtenXML(manifest, o)},
						packed{name: tableName, data: writtenTable(table, flags, compact), stored: compact},
						packed{name: "res/a.png", data: square(t, 48, red)},
						packed{name: "lib/x86_64/libmain.so"}, packed{name: "lib/arm64-v8a/libslipway-core.so"},
						packed{name: "lib/arm64-v8a/b.so"}, packed{name: "lib/a b/c.so"}, packed{name: "lib/x.so"},
					)
					require.Equal(t, square(t, 48, red), square(t, 48, shownAt(t, p.Icon, 0.5, 0.5)))
					p.Icon = nil
					require.Equal(t, &artifact.Package{
						Kind: artifact.APK, Platform: artifact.Android,
						Name: "Example", PackageName: "com.example.app",
						Version: "1.2 ✓ 😀", VersionCode: "8589934599", // 2<<32 | 7
						MinOSVersion: "21", TargetOS: "34", Permissions: []string{},
						ABIs: []string{"arm64-v8a", "x86_64"}, Debuggable: true,
						Splits: []string{"config.de"}, HasSDK: true,
					}, p)
				})
			}
		}
	}
}

// shownAt is the colour of a PNG at a share of its sides.
func shownAt(t testing.TB, raw []byte, x, y float64) color.NRGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	return pixelAt(img, x, y)
}

func pixelAt(img image.Image, x, y float64) color.NRGBA {
	b := img.Bounds()
	return color.NRGBAModel.Convert(img.At(b.Min.X+int(x*float64(b.Dx())), b.Min.Y+int(y*float64(b.Dy())))).(color.NRGBA)
}

// Nothing that cannot be decoded rejects a package with a manifest.
func TestKeepsPackagesWithBrokenParts(t *testing.T) {
	t.Parallel()
	manifest := packed{name: manifestName, data: manifestOf(
		node("application").with("label", ref(labelID)).with("icon", ref(iconID)),
	).with("versionName", text("1.0")).bin()}
	circle := writtenTable([]resource{
		{id: labelID, value: ref(labelID + 1)}, {id: labelID + 1, value: ref(labelID)},
		{id: iconID, value: ref(roundID)}, {id: roundID, value: ref(iconID)},
	}, 0, false)
	icons := writtenTable([]resource{
		{id: labelID, value: text("a\x00b\n\u202d" + strings.Repeat("x", 400))},
		{id: iconID, value: text("res/icon.png")},
	}, 0, false)
	for name, c := range map[string]struct {
		entries []packed
		label   string
		warning string
	}{
		"no table":         {[]packed{manifest}, "com.example.app", "label refers to"},
		"garbage first":    {[]packed{{name: manifestName, data: []byte("garbage")}, manifest}, "com.example.app", "label refers to"},
		"empty first":      {[]packed{{name: manifestName}, manifest}, "com.example.app", "label refers to"},
		"table is garbage": {[]packed{manifest, {name: tableName, data: []byte("garbage")}}, "com.example.app", "resources cannot be read"},
		"table is cut off": {[]packed{manifest, {name: tableName, data: icons[:len(icons)-250]}}, "com.example.app", "icon cannot be read"},
		"circles":          {[]packed{manifest, {name: tableName, data: circle}}, "com.example.app", "icon cannot be read"},
		"icon not there":   {[]packed{manifest, {name: tableName, data: icons}}, "ab " + strings.Repeat("x", 252), "icon cannot be read"},
		"icon is garbage": {[]packed{manifest, {name: tableName, data: icons},
			{name: "res/icon.png", data: []byte("\x89PNG\r\n\x1a\n")}}, "ab " + strings.Repeat("x", 252), "icon cannot be read"},
		"icon is odd XML": {[]packed{manifest, {name: tableName, data: icons}, {name: "res/icon.png", data: node("odd").bin()}},
			"ab " + strings.Repeat("x", 252), "icon cannot be read"},
		"signature garbage": {[]packed{manifest, {name: "META-INF/CERT.RSA", data: []byte("garbage")}}, "com.example.app",
			"signature cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := mustAPK(t, c.entries...)
			require.Equal(t, "com.example.app", p.PackageName)
			require.Equal(t, "1.0", p.Version)
			require.Equal(t, c.label, p.Name)
			require.Nil(t, p.Icon)
			require.Nil(t, p.Signer)
			require.Contains(t, strings.Join(p.Warnings, "\n"), c.warning)
		})
	}
}

func TestRefusesPackagesWithoutAManifest(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]packed{
		"none":         {{name: "a"}},
		"text":         {{name: manifestName, data: []byte(`<?xml version="1.0"?><manifest package="a.b"/>`)}},
		"other root":   {{name: manifestName, data: node("vector").bin()}},
		"no package":   {{name: manifestName, data: node("manifest").bin()}},
		"one too long": {{name: manifestName, data: make([]byte, maxManifest+1)}},
	} {
		_, err := readAPK(t, writtenAPK(t, nil, entries...))
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Contains(t, invalid.Reason, "AndroidManifest.xml cannot be read", name)
	}
}

func TestVersionCodes(t *testing.T) {
	t.Parallel()
	for want, attrs := range map[string][]attr{
		"":           nil,
		"5":          {{"versionCode", num(5)}},
		"0":          {{"versionCode", num(0)}},
		"16":         {{"versionCode", value{Type: typeHex, Data: 16}}},
		"17":         {{"versionCode", text("17")}},
		"4294967295": {{"versionCode", num(-1)}}, // as Android joins it, without a sign
		"4294967296": {{"versionCode", num(0)}, {"versionCodeMajor", num(1)}},
		"next":       {{"versionCode", text("next")}},
	} {
		p := &artifact.Package{}
		readManifest(&element{Attrs: attrs}, &apk{}, p)
		require.Equal(t, want, p.VersionCode)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]value{
		"true": yes(), "false": {Type: typeBool}, "-1": num(-1), "255": {Type: typeHex, Data: 255},
		"1.1": {Type: typeFloat, Data: 0x3f8ccccd}, "text": text("text"), "": ref(1),
	} {
		require.Equal(t, want, v.text())
	}
	for v, want := range map[value]float64{
		text("12.5"): 12.5, text("3dp"): 3, text("x"): 9, num(-2): -2, {}: 9, text("NaN"): 9, text("1e30"): 9,
		{Type: typeDimension, Data: 5<<8 | 1}:             5,
		{Type: typeFraction, Data: 0x40000000 | 0x30}:     0.5,
		{Type: typeFloat, Data: 0x7f800000 /* endless */}: 9,
	} {
		require.InDelta(t, want, v.float(9), 1e-6, "%+v", v)
	}
	require.True(t, text("true").boolean())
	require.False(t, text("yes").boolean())
	require.False(t, ref(1).boolean())
}

// Android writes characters beyond U+FFFF as two surrogates in its UTF-8.
func TestModifiedUTF8(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a😀ü", decodeModifiedUTF8("a\xed\xa0\xbd\xed\xb8\x80ü"))
	require.Equal(t, "a\ufffdb", decodeModifiedUTF8("a\xffb"))
	require.Equal(t, "\ufffd", decodeModifiedUTF8("\xed\xa0\xbd"))
}

func TestVendorEntries(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"lib/x86/libslipway.so":            true,
		"lib/x86/libSlipwayCore.so":        true,
		"lib/x86/libother.so":              false,
		"lib/x86/sub/libslipway.so":        false,
		"assets/slipway/config.json":       true,
		"assets/other/slipway.json":        false,
		"META-INF/com.slipway.sdk.version": true,
		"META-INF/slipway.kotlin_module":   true,
		"META-INF/CERT.RSA":                false,
		"res/slipway.png":                  false,
	} {
		require.Equal(t, want, vendorEntry(name, "slipway"), name)
		require.False(t, vendorEntry(name, ""), name)
	}
}

// A reader that fails and a deadline are no broken packages.
func TestErrorsOfOthers(t *testing.T) {
	t.Parallel()
	raw := writtenAPK(t, nil, packed{name: manifestName, data: manifestOf(node("application")).bin()})
	a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = newReader().APK(ctx, artifact.Input{}, a)
	require.ErrorIs(t, err, context.Canceled)

	r := &vanishing{r: bytes.NewReader(raw)}
	a, err = archive.Open(r, int64(len(raw)))
	require.NoError(t, err)
	r.gone = errors.New("the store is gone")
	_, err = newReader().APK(t.Context(), artifact.Input{}, a)
	require.ErrorIs(t, err, r.gone)
}

type vanishing struct {
	r    *bytes.Reader
	gone error
}

func (v *vanishing) ReadAt(p []byte, off int64) (int, error) {
	if v.gone != nil {
		return 0, v.gone
	}
	return v.r.ReadAt(p, off)
}
