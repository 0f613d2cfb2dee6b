package apple

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image/png"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

const root = "Payload/Demo.app/"

func infoFile(t testing.TB, name string, changes map[string]any) file {
	return file{name: name, data: marshal(t, demo(changes), plist.BinaryFormat)}
}

func TestApp(t *testing.T) {
	t.Parallel()
	nested := infoFile(t, root+"Watch/W.app/Info.plist", map[string]any{"CFBundleIdentifier": "com.example.watch"})
	plugin := infoFile(t, root+"PlugIns/P.appex/Info.plist", map[string]any{"CFBundleIdentifier": "com.example.plugin"})
	climbing := infoFile(t, "Payload/../Evil.app/Info.plist", map[string]any{"CFBundleIdentifier": "com.example.evil"})
	good := infoFile(t, root+"Info.plist", nil)
	changed := func(key string, value any) []file {
		return []file{infoFile(t, root+"Info.plist", map[string]any{key: value})}
	}
	for name, c := range map[string]struct {
		files  []file
		change func(*artifact.Package)
	}{
		"binary":           {[]file{good}, nil},
		"xml":              {[]file{{name: root + "Info.plist", data: marshal(t, demo(nil), plist.XMLFormat)}}, nil},
		"nested before it": {[]file{nested, plugin, good}, nil},
		"climbing":         {[]file{climbing, good}, nil},
		"first is garbage": {[]file{{name: root + "Info.plist", data: []byte("rubbish")}, good}, nil},
		"first is a bomb":  {[]file{{name: root + "Info.plist", data: make([]byte, maxPlist+1)}, good}, nil},
		"first is empty":   {[]file{infoFile(t, root+"Info.plist", map[string]any{"CFBundleIdentifier": nil}), good}, nil},
		"dot in front":     {[]file{infoFile(t, "./"+root+"Info.plist", nil)}, nil},
		"backslashes":      {[]file{infoFile(t, `Payload\Demo.app\Info.plist`, nil)}, nil},
		"finder":           {[]file{infoFile(t, "__MACOSX/Payload/X.app/Info.plist", map[string]any{"CFBundleIdentifier": "x"}), good}, nil},
		"number as code":   {changed("CFBundleVersion", 45), nil},
		"name":             {changed("CFBundleDisplayName", nil), func(p *artifact.Package) { p.Name = "DemoName" }},
		"name is empty":    {changed("CFBundleDisplayName", " "), func(p *artifact.Package) { p.Name = "DemoName" }},
		"no name": {[]file{infoFile(t, root+"Info.plist", map[string]any{"CFBundleDisplayName": nil, "CFBundleName": nil})},
			func(p *artifact.Package) { p.Name = "Demo" }},
		"tvOS": {changed("DTPlatformName", "appletvos"), func(p *artifact.Package) { p.Platform = artifact.TVOS }},
		"tvOS, supported": {changed("CFBundleSupportedPlatforms", []string{"AppleTVOS"}),
			func(p *artifact.Package) { p.Platform = artifact.TVOS }},
		"tvOS, family": {changed("UIDeviceFamily", []int{3}), func(p *artifact.Package) { p.Platform = artifact.TVOS }},
		"iOS, family":  {changed("UIDeviceFamily", "1"), nil},
		"sdk": {[]file{good, {name: root + "Frameworks/SlipwayCrash.framework/SlipwayCrash"}},
			func(p *artifact.Package) { p.HasSDK = true }},
		"sdk, library":   {[]file{good, {name: root + "Frameworks/slipway.dylib"}}, func(p *artifact.Package) { p.HasSDK = true }},
		"sdk, static":    {[]file{good, {name: root + "SlipwayResources.bundle/Info.plist"}}, func(p *artifact.Package) { p.HasSDK = true }},
		"sdk of another": {[]file{good, {name: root + "Frameworks/Other.framework/slipway"}, {name: "Frameworks/Slipway.framework/x"}}, nil},
		"permissions": {[]file{infoFile(t, root+"Info.plist", map[string]any{"NSCameraUsageDescription": "to scan",
			"NSBluetoothAlwaysUsageDescription": ""})},
			func(p *artifact.Package) {
				p.Permissions = []string{"NSBluetoothAlwaysUsageDescription", "NSCameraUsageDescription"}
			}},
		"xcode":    {changed("DTXcode", "0943"), func(p *artifact.Package) { p.Tool = "Xcode 9.4.3" }},
		"no xcode": {changed("DTXcode", "beta"), func(p *artifact.Package) { p.Tool = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, a := opened(t, append(c.files, file{name: root + "DemoBin", data: thin(cpuARM64, 0, 7, binary.LittleEndian)})...)
			got, err := newReader().App(context.Background(), in, a)
			require.NoError(t, err)
			want := &artifact.Package{Kind: artifact.IPA, Platform: artifact.IOS, Name: "Demo", PackageName: "com.example.demo",
				Version: "1.2.3", VersionCode: "45", MinOSVersion: "15.0", TargetOS: "17.2", Permissions: []string{},
				Tool: "Xcode 15.2", ABIs: []string{"arm64"},
				Images: []artifact.Image{{Name: "DemoBin", Arch: "arm64", UUID: id(7)}}}
			if c.change != nil {
				c.change(want)
			}
			if name == "backslashes" { // the executable's name has none
				want.ABIs, want.Images = got.ABIs, got.Images
			}
			require.Equal(t, want, got)
		})
	}
}

func TestAppRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  []file
		reason string
	}{
		"no Info.plist": {[]file{{name: root + "DemoBin"}}, "no Payload/*.app with an Info.plist"},
		"nested alone":  {[]file{infoFile(t, root+"Watch/W.app/Info.plist", nil)}, "no Payload/*.app with an Info.plist"},
		"rubbish":       {[]file{{name: root + "Info.plist", data: []byte("rubbish")}}, "no property list"},
		"too large":     {[]file{{name: root + "Info.plist", data: make([]byte, maxPlist+1)}}, "larger than allowed"},
		"no identifier": {[]file{infoFile(t, root+"Info.plist", map[string]any{"CFBundleIdentifier": nil})}, "no CFBundleIdentifier"},
		"wrong type":    {[]file{infoFile(t, root+"Info.plist", map[string]any{"CFBundleIdentifier": []string{"a"}})}, "no CFBundleIdentifier"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, a := opened(t, c.files...)
			_, err := newReader().App(context.Background(), in, a)
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Reason, c.reason)
		})
	}
}

func TestAppParts(t *testing.T) {
	t.Parallel()
	good := infoFile(t, root+"Info.plist", nil)
	ipa := func(files ...file) *artifact.Package {
		t.Helper()
		in, a := opened(t, append(files, good)...)
		p, err := newReader().App(context.Background(), in, a)
		require.NoError(t, err)
		return p
	}
	binaryFile := file{name: root + "DemoBin", data: thin(cpuARM64, 0, 7, binary.LittleEndian)}
	development := profile(map[string]any{"Entitlements": map[string]any{"get-task-allow": true}, "ProvisionedDevices": []string{"a"}})

	p := ipa(binaryFile, file{name: root + "embedded.mobileprovision", data: signed(t, marshal(t, development, plist.XMLFormat))})
	require.Equal(t, Development, p.Provisioning.Type)
	require.True(t, p.Debuggable)
	require.Empty(t, p.Warnings)

	p = ipa(binaryFile, file{name: root + "embedded.mobileprovision", data: []byte("rubbish")})
	require.Nil(t, p.Provisioning)
	require.Len(t, p.Warnings, 1)
	require.Contains(t, p.Warnings[0], "The provisioning profile cannot be read")

	p = ipa()
	require.Equal(t, []string{"The executable cannot be read: it is not in the archive"}, p.Warnings)

	p = ipa(file{name: root + "DemoBin", data: []byte("#!/bin/sh")})
	require.Equal(t, []string{"The executable cannot be read: it is no Mach-O file"}, p.Warnings)

	arm64, armv7 := thin(cpuARM64, 0, 1, binary.LittleEndian), thin(cpuARM, 9, 2, binary.LittleEndian)
	p = ipa(file{name: root + "DemoBin", data: fat(false, part{cpuARM64, 0, 2 << 20, arm64}, part{cpuARM, 9, 4096, armv7})})
	require.Equal(t, []string{"arm64", "armv7"}, p.ABIs)
	require.Equal(t, []artifact.Image{{Name: "DemoBin", Arch: "armv7", UUID: id(2)}}, p.Images)
	require.Equal(t, []string{"the executable's UUID for arm64 cannot be read: it lies too deep in the file"}, p.Warnings)
}

func TestMac(t *testing.T) {
	t.Parallel()
	binaryFile := func(prefix string) file {
		return file{name: prefix + "MacOS/DemoBin", data: thin(cpuX64, 3, 9, binary.LittleEndian)}
	}
	inner := func(prefix string) file {
		return infoFile(t, prefix+"Info.plist", map[string]any{"CFBundleIdentifier": "com.example.inner"})
	}
	for name, c := range map[string]struct {
		prefix string
		others []file
	}{
		"at the top":     {"Demo.app/Contents/", nil},
		"in folders":     {"out/Release 1/Demo.app/Contents/", nil},
		"helper first":   {"Demo.app/Contents/", []file{inner("Demo.app/Contents/Frameworks/Helper.app/Contents/")}},
		"deeper one":     {"a/Demo.app/Contents/", []file{inner("a/b/Other.app/Contents/")}},
		"finder's noise": {"Demo.app/Contents/", []file{inner("__MACOSX/Demo.app/Contents/")}},
		"climbing":       {"Demo.app/Contents/", []file{inner("../Demo.app/Contents/")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, a := opened(t, append(c.others, infoFile(t, c.prefix+"Info.plist", nil), binaryFile(c.prefix),
				file{name: c.prefix + "Resources/SlipwayUI.bundle/x"},
				file{name: c.prefix + "embedded.provisionprofile",
					data: signed(t, marshal(t, profile(map[string]any{"ProvisionsAllDevices": true}), plist.XMLFormat))})...)
			require.True(t, IsMac(a.Entries()))
			got, err := newReader().Mac(context.Background(), in, a)
			require.NoError(t, err)
			require.Equal(t, Enterprise, got.Provisioning.Type)
			got.Provisioning = nil
			require.Equal(t, &artifact.Package{Kind: artifact.Mac, Platform: artifact.MacOS, Name: "Demo", PackageName: "com.example.demo",
				Version: "1.2.3", VersionCode: "45", MinOSVersion: "12.0", TargetOS: "17.2", Permissions: []string{},
				Tool: "Xcode 15.2", ABIs: []string{"x86_64"},
				HasSDK: true, Images: []artifact.Image{{Name: "DemoBin", Arch: "x86_64", UUID: id(9)}}}, got)
		})
	}
	for _, name := range []string{"a/b/c/d/e/Demo.app/Contents/Info.plist", "Demo.app/Info.plist", ".app/Contents/Info.plist",
		"Payload/Demo.app/Info.plist"} {
		in, a := opened(t, infoFile(t, name, nil))
		require.False(t, IsMac(a.Entries()), name)
		_, err := newReader().Mac(context.Background(), in, a)
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid)
	}
}

// failing is a reader that fails before an offset, once it is armed.
type failing struct {
	io.ReaderAt
	before int64
}

var errNetwork = errors.New("the network is down")

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off < f.before {
		return 0, errNetwork
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestReaderFails(t *testing.T) {
	t.Parallel()
	image := file{name: root + "DemoBin", data: thin(cpuARM64, 0, 7, binary.LittleEndian), stored: true}
	raw := zipped(t, image, infoFile(t, root+"Info.plist", nil))
	for name, before := range map[string]int64{"in Info.plist": int64(len(raw)), "in the executable": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := &failing{ReaderAt: bytes.NewReader(raw)}
			in := artifact.Input{Reader: reader, Size: int64(len(raw))}
			a, err := archive.Open(in.Reader, in.Size)
			require.NoError(t, err)
			reader.before = before
			_, err = newReader().App(context.Background(), in, a)
			require.ErrorIs(t, err, errNetwork)
		})
	}
}

func TestCallerIsGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in, a := opened(t, infoFile(t, root+"Info.plist", nil))
	_, err := newReader().App(ctx, in, a)
	require.ErrorIs(t, err, context.Canceled)
}

// side returns the side and the red of an icon.
func side(t *testing.T, raw []byte) (pixels int, red uint8) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	b := img.Bounds()
	r, _, _, _ := img.At(b.Dx()/2, b.Dy()/2).RGBA()
	return b.Dx(), uint8(r >> 8)
}
