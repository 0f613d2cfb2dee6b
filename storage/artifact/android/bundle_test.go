package android

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

func readBundle(t testing.TB, raw []byte) (*artifact.Package, error) {
	t.Helper()
	r := bytes.NewReader(raw)
	a, err := archive.Open(r, r.Size())
	require.NoError(t, err)
	return newReader().Bundle(t.Context(), artifact.Input{Reader: r, Size: r.Size(), Vendor: "slipway"}, a)
}

// testdata/bundle_shapes.apk and .aab are one app, made by aapt2 2.19 (link without
// and with --proto-format) from resources written for this test: an adaptive icon
// of two vectors with a gradient, a turned group, an even-odd hole and a stroke,
// colours behind references, and values for German and the night. The .aab has a
// second module and two libraries that hold one byte. So the numbers of the fields
// here are those of the tool, and not only those of this package's writers.
func TestReadsWhatTheToolMakes(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/bundle_shapes.apk")
	require.NoError(t, err)
	apk, err := readAPK(t, raw)
	require.NoError(t, err)
	raw, err = os.ReadFile("testdata/bundle_shapes.aab")
	require.NoError(t, err)
	bundle, err := readBundle(t, raw)
	require.NoError(t, err)

	require.EqualValues(t, 0xdc, shownAt(t, bundle.Icon, 0.2, 0.05).G) // the background
	require.EqualValues(t, 0xff, shownAt(t, bundle.Icon, 0.5, 0.2).R)  // the frame
	require.EqualValues(t, 0x3d, shownAt(t, bundle.Icon, 0.45, 0.4).R) // through its hole, left of the shadow
	require.True(t, bytes.Equal(apk.Icon, bundle.Icon), "the icon differs between the forms")

	want := &artifact.Package{
		Kind: artifact.AAB, Platform: artifact.Android, Name: "Shapes & Co", PackageName: "com.example.shapes",
		Version: "4.1", VersionCode: "41", MinOSVersion: "26", TargetOS: "29", Permissions: []string{}, Debuggable: true, Icon: bundle.Icon,
		ABIs: []string{"arm64-v8a", "x86_64"}, Splits: []string{"base", "feature"}, Tool: "bundletool 1.17.2", HasSDK: true,
	}
	require.Equal(t, want, bundle)
	want.Kind, want.ABIs, want.Splits, want.Tool, want.HasSDK = artifact.APK, nil, nil, "", false
	require.Equal(t, want, apk)
}

func TestReadsABundle(t *testing.T) {
	t.Parallel()
	manifest := node("manifest",
		node("uses-sdk").with("minSdkVersion", num(21)).with("targetSdkVersion", ref(codeID)),
		node("application").with("label", ref(labelID)).with("icon", ref(iconID)).with("debuggable", value{Type: typeBool}),
	).with("package", text("com.example.app")).with("versionName", text("1.2 ✓")).with("versionCode", num(7)).with("versionCodeMajor", num(1))
	raw := writtenBundle(t,
		bundleConfig("1.17.2"),
		bundleManifest(manifest),
		packed{name: bundleTableName, data: writtenProtoTable(
			resource{id: labelID, value: text("Beispiel"), config: config{Locale: "de"}},
			resource{id: labelID, value: text("Example")},
			resource{id: codeID, value: num(34)},
			resource{id: iconID, value: text("res/mipmap-mdpi/ic.png"), config: config{Density: 160}},
			resource{id: iconID, value: text("res/mipmap-xxhdpi/ic.png"), config: config{Density: 480}},
			resource{id: iconID, value: text("res/mipmap-night/ic.png"), config: config{Density: 640, Night: true}},
			resource{id: iconID, value: text("res/mipmap-anydpi/ic.xml"), config: config{Density: densityAny, SDK: 26}},
		)},
		packed{name: "base/res/mipmap-mdpi/ic.png", data: square(t, 48, red)},
		packed{name: "base/res/mipmap-xxhdpi/ic.png", data: square(t, 144, green)},
		packed{name: "base/res/mipmap-night/ic.png", data: square(t, 192, blue)},
		packed{name: "base/res/mipmap-anydpi/ic.xml", data: node("adaptive-icon").proto()},
		packed{name: "base/lib/x86/liba.so"}, packed{name: "game/lib/arm64-v8a/libb.so"}, packed{name: "game/manifest/AndroidManifest.xml"},
		packed{name: "base/lib/README"}, packed{name: "lib/mips/libc.so"}, packed{name: "../manifest/x"},
	)
	p, err := readBundle(t, raw)
	require.NoError(t, err)
	require.Equal(t, green, shownAt(t, p.Icon, 0.5, 0.5))
	p.Icon = nil
	require.Equal(t, &artifact.Package{
		Kind: artifact.AAB, Platform: artifact.Android, Name: "Example", PackageName: "com.example.app", Version: "1.2 ✓",
		VersionCode: "4294967303", MinOSVersion: "21", TargetOS: "34", Permissions: []string{}, ABIs: []string{"arm64-v8a", "x86"},
		Splits: []string{"base", "game"}, Tool: "bundletool 1.17.2",
	}, p)
}

// An icon drawn from documents that hold every kind of value.
func TestDrawsDocumentsOfABundle(t *testing.T) {
	t.Parallel()
	float := func(f float32) value { return value{Type: typeFloat, Data: math.Float32bits(f)} }
	dimension := value{Type: typeDimension, Data: 108<<8 | 1} // 108dp
	vector := node("vector",
		node("group",
			node("path").with("pathData", text("M0,0h5v5h-5z")).with("fillColor", ref(colorID)),
		).with("scaleX", float(2)).with("scaleY", num(2)),
	).with("width", dimension).with("height", dimension).with("viewportWidth", float(10)).with("viewportHeight", num(10))
	p, err := readBundle(t, writtenBundle(t,
		bundleManifest(manifestOf(node("application").with("icon", ref(iconID)))),
		packed{name: bundleTableName, data: writtenProtoTable(
			resource{id: iconID, value: text("res/icon"), config: config{Density: densityAny}},
			resource{id: colorID, value: hue(0xff00ff00)},
			resource{id: colorID, value: hue(0xffff0000), config: config{Night: true}},
		)},
		packed{name: "base/res/icon", data: vector.proto()},
	))
	require.NoError(t, err)
	require.Empty(t, p.Warnings)
	require.Equal(t, green, shownAt(t, p.Icon, 0.9, 0.9))
}

func TestProtoValues(t *testing.T) {
	t.Parallel()
	for _, v := range []value{
		ref(0x7f010002), text("hello"), text(""), num(-5), num(0), hue(0x80ff0000), yes(),
		{Type: typeAttribute, Data: 0x01010433}, {Type: typeHex, Data: 0xffffffff}, {Type: typeColorRGB4, Data: 0xff112233},
		{Type: typeDimension, Data: 0x1801}, {Type: typeFraction, Data: 0x30}, {Type: typeFloat, Data: math.Float32bits(1.5)},
	} {
		require.Equal(t, v, protoItem(protoItemOf(v)), "%+v", v)
	}
	inner := message{}.text(1, "x")
	require.Equal(t, text("x"), protoItem(message{}.bytes(3, inner)))                 // raw
	require.Equal(t, text("x"), protoItem(message{}.bytes(4, inner.bytes(2, inner)))) // styled
	require.Equal(t, text("x"), protoItem(message{}.bytes(5, inner.number(2, 3))))    // a file
	require.Equal(t, text("a"), protoItem(message{}.bytes(2, message{}.text(1, "a\xff"))))
	require.Equal(t, value{Type: typeFloat, Data: math.Float32bits(8)}, protoItem(message{}.bytes(7, message{}.fixed(4, math.Float32bits(8)))))
	for _, none := range []message{nil, message{}.bytes(6, nil), message{}.bytes(7, nil),
		message{}.bytes(7, message{}.bytes(1, nil)), {0xff}} {
		require.True(t, protoItem(none).isNone())
	}
}

// The id of an attribute decides about its name, and what it was compiled to about
// its value.
func TestProtoAttributes(t *testing.T) {
	t.Parallel()
	written := message{}.text(2, "").text(3, "@string/app").number(5, 0x01010001).bytes(6, protoItemOf(ref(labelID)))
	require.Equal(t, attr{Name: "label", Value: ref(labelID)}, protoAttribute(field{bytes: written}))
	written = message{}.text(1, "http://schemas.android.com/apk/res/android").text(2, "label").text(3, "Name").bytes(6, nil)
	require.Equal(t, attr{Name: "label", Value: text("Name")}, protoAttribute(field{bytes: written}))
}

func TestKeepsBundlesWithBrokenParts(t *testing.T) {
	t.Parallel()
	circle := []resource{{id: labelID, value: ref(labelID + 1)}, {id: labelID + 1, value: ref(labelID)}, {id: iconID, value: ref(iconID)}}
	manifest := bundleManifest(manifestOf(node("application").with("label", ref(labelID)).with("icon", ref(iconID))))
	table := func(data []byte) packed { return packed{name: bundleTableName, data: data} }
	whole := writtenProtoTable(resource{id: labelID, value: text("Label")}, resource{id: iconID, value: text("res/ic.xml")})
	bomb := packed{name: "base/res/ic.xml", data: bytes.Repeat([]byte{1<<3 | 2, 0}, maxDocument)}
	for name, test := range map[string]struct {
		entries []packed
		label   string
		warning string
	}{
		"no resources":      {[]packed{manifest}, "", "label refers to a resource"},
		"circles":           {[]packed{manifest, table(writtenProtoTable(circle...))}, "", "label refers to a resource"},
		"no table":          {[]packed{manifest, table([]byte("hello"))}, "", "not a protobuf message"},
		"a table cut off":   {[]packed{manifest, table(append(whole, 0x12, 0x7f))}, "Label", "not a protobuf message"},
		"a table too large": {[]packed{manifest, table(make([]byte, maxProtoTable+1))}, "", "larger than allowed"},
		"too many types":    {[]packed{manifest, table(message{}.bytes(2, bytes.Repeat([]byte{3<<3 | 2, 0}, 5000)))}, "", "too many types"},
		"no icon file":      {[]packed{manifest, table(whole)}, "Label", "not in the package"},
		"icon is no drawing": {[]packed{manifest, table(whole), {name: "base/res/ic.xml", data: node("vector").proto()}},
			"Label", "The icon cannot be read"},
		"icon is too large": {[]packed{manifest, table(whole), bomb}, "Label", "larger than allowed"},
		"icon is no image":  {[]packed{manifest, table(whole), {name: "base/res/ic.xml", data: []byte("hello")}}, "Label", "not a known image"},
		"a broken config": {[]packed{manifest, table(whole), {name: bundleConfigName, data: []byte{0xff}}}, "Label",
			"BundleConfig.pb cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := readBundle(t, writtenBundle(t, test.entries...))
			require.NoError(t, err)
			require.Equal(t, "com.example.app", p.PackageName)
			if test.label == "" {
				test.label = p.PackageName
			}
			require.Equal(t, test.label, p.Name)
			require.Contains(t, strings.Join(p.Warnings, "\n"), test.warning)
			require.Nil(t, p.Icon)
		})
	}
}

func TestRefusesBundlesWithoutAManifest(t *testing.T) {
	t.Parallel()
	whole := manifestOf(node("application")).proto()
	for name, data := range map[string][]byte{
		"empty":          {},
		"text":           []byte("<manifest package='x'/>"),
		"binary":         manifestOf(node("application")).bin(),
		"cut off":        whole[:len(whole)/2],
		"other document": node("resources").with("package", text("x")).proto(),
		"no package":     node("manifest").proto(),
		"only a text":    message{}.text(2, "manifest"),
		"too large":      make([]byte, maxManifest+1),
	} {
		_, err := readBundle(t, writtenBundle(t, bundleConfig("1"), packed{name: bundleManifestName, data: data}))
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Contains(t, invalid.Reason, bundleManifestName, name)
	}
	_, err := readBundle(t, writtenBundle(t, bundleConfig("1")))
	require.ErrorContains(t, err, "there is none")

	p, err := readBundle(t, writtenBundle(t, packed{name: bundleManifestName, data: []byte("garbage")},
		packed{name: bundleManifestName, data: whole}))
	require.NoError(t, err)
	require.Equal(t, "com.example.app", p.PackageName)
}

func TestProtoDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	// Nested beyond the depth of any stack.
	deep := message{}.text(3, "e")
	for range 20_000 {
		deep = message{}.text(3, "e").bytes(5, message{}.bytes(1, deep))
		if len(deep) > 1<<16 {
			break
		}
	}
	root, err := parseProtoXML(t.Context(), message{}.bytes(1, deep))
	require.NoError(t, err)
	depth := 0
	for e := root; e != nil; e = e.child("e") {
		depth++
	}
	require.Equal(t, maxDepth, depth)

	child := message{}.bytes(5, message{}.bytes(1, message{}.text(3, "e")))
	root, err = parseProtoXML(t.Context(), message{}.bytes(1, append(message{}.text(3, "r"), bytes.Repeat(child, maxElements+500)...)))
	require.NoError(t, err)
	require.Len(t, root.Children, maxElements-1)

	attribute := message{}.bytes(4, nil)
	root, err = parseProtoXML(t.Context(), message{}.bytes(1, append(message{}.text(3, "r"), bytes.Repeat(attribute, maxAttributes+500)...)))
	require.NoError(t, err)
	require.Len(t, root.Attrs, maxAttributes)

	// Groups are skipped, and nested ones end.
	groups := append(bytes.Repeat(protowire.AppendTag(nil, 1, protowire.StartGroupType), 1<<20), message{}.bytes(1, deep)...)
	_, err = parseProtoXML(t.Context(), groups)
	require.Error(t, err)
}

func TestProtoTableIsBounded(t *testing.T) {
	t.Parallel()
	var many []resource
	for i := range maxCandidates + 500 {
		many = append(many, resource{id: labelID, value: text("x"), config: config{Locale: fmt.Sprint(i)}})
	}
	table, err := parseProtoTable(t.Context(), writtenProtoTable(append(many, resource{id: codeID, value: num(1)})...))
	require.NoError(t, err)
	require.Len(t, table.candidates(labelID), maxCandidates)
	require.Len(t, table.candidates(codeID), 1)
	require.Empty(t, table.candidates(codeID+1))
	require.Empty(t, table.candidates(0))

	table.scanned = maxScanned
	require.Len(t, table.candidates(codeID), 1, "what was found is kept")
	require.Empty(t, table.candidates(labelID+1))
	require.Greater(t, table.scanned, maxScanned)
}

func TestListsOfABundleAreBounded(t *testing.T) {
	t.Parallel()
	entries := []packed{bundleManifest(manifestOf(node("application")))}
	for i := range 2 * maxModules {
		entries = append(entries, packed{name: fmt.Sprintf("m%d/manifest/AndroidManifest.xml", i)},
			packed{name: fmt.Sprintf("m/lib/abi%d/x.so", i)})
	}
	entries = append(entries, packed{name: strings.Repeat("long", 300) + "/manifest/AndroidManifest.xml"})
	p, err := readBundle(t, writtenBundle(t, entries...))
	require.NoError(t, err)
	require.Len(t, p.Splits, maxModules)
	require.Len(t, p.ABIs, maxABIs)
}

func TestBundleErrorsOfOthers(t *testing.T) {
	t.Parallel()
	r := &vanishing{r: bytes.NewReader(writtenBundle(t, bundleManifest(manifestOf(node("application")))))}
	a, err := archive.Open(r, r.r.Size())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = newReader().Bundle(ctx, artifact.Input{}, a)
	require.ErrorIs(t, err, context.Canceled)
	r.gone = errors.New("the store is gone")
	_, err = newReader().Bundle(t.Context(), artifact.Input{}, a)
	require.ErrorIs(t, err, r.gone)
}

func FuzzProtoDocument(f *testing.F) {
	f.Add([]byte(manifestOf(node("application", node("activity").with("name", text("x"))).with("label", ref(labelID)).with("icon",
		hue(1))).proto()))
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := parseProtoXML(t.Context(), data)
		if err != nil {
			return
		}
		p := &artifact.Package{}
		readManifest(root, nil, p)
		require.LessOrEqual(t, len([]rune(p.Name)), maxText)
	})
}

func FuzzProtoTable(f *testing.F) {
	f.Add([]byte(writtenProtoTable(
		resource{id: labelID, value: text("Beispiel"), config: config{Locale: "de", Night: true, Other: true}},
		resource{id: labelID, value: ref(codeID)}, resource{id: codeID, value: num(3), config: config{SDK: 26, Density: 240}},
		resource{id: iconID, bag: true},
	)), uint32(labelID))
	f.Fuzz(func(t *testing.T, data []byte, id uint32) {
		table, _ := parseProtoTable(t.Context(), data)
		b := &bundle{files: apk{ctx: t.Context()}, table: table}
		require.False(t, resolve(b, referenceValue(id)).isReference())
		require.LessOrEqual(t, len(table.candidates(id)), maxCandidates)
	})
}
