package apple

import (
	"bytes"
	"context"
	"encoding/binary"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func red(v uint8) color.Color { return color.NRGBA{R: v, A: 255} }

func TestMobileIcons(t *testing.T) {
	t.Parallel()
	icons := func(names ...string) map[string]any {
		return map[string]any{"CFBundlePrimaryIcon": map[string]any{"CFBundleIconFiles": names}}
	}
	small, middle, large := square(t, 60, red(60)), square(t, 120, red(120)), square(t, 180, red(180))
	for name, c := range map[string]struct {
		info     map[string]any
		files    []file
		red      uint8 // 0: no icon
		warnings int
	}{
		"largest": {map[string]any{"CFBundleIcons": icons("AppIcon60x60")},
			[]file{{name: "AppIcon60x60@2x.png", data: middle}, {name: "AppIcon60x60@3x.png", data: large},
				{name: "AppIcon60x60.png", data: small}}, 180, 0},
		"other images are larger": {map[string]any{"CFBundleIcons": icons("AppIcon60x60")},
			[]file{{name: "AppIcon60x60@2x.png", data: middle}, {name: "Splash.png", data: large},
				{name: "Sub/AppIcon60x60@3x.png", data: large}}, 120, 0},
		"tablet": {map[string]any{"CFBundleIcons~ipad": icons("AppIcon76x76"), "CFBundleIcons": icons("AppIcon60x60")},
			[]file{{name: "AppIcon76x76@2x~ipad.png", data: large}, {name: "AppIcon60x60@2x.png", data: middle}}, 180, 0},
		"with extension": {map[string]any{"CFBundleIconFiles": []string{"Icon-60@2x.png"}},
			[]file{{name: "Icon-60@2x.png", data: middle}}, 120, 0},
		"single":  {map[string]any{"CFBundleIconFile": "main.png"}, []file{{name: "main.PNG", data: middle}}, 120, 0},
		"unnamed": {nil, []file{{name: "Icon@2x.png", data: middle}, {name: "Icon.png", data: small}}, 120, 0},
		"artwork": {map[string]any{"CFBundleIcons": icons("Gone")}, []file{{name: "../../iTunesArtwork", data: large}}, 180, 0},
		"catalogue only": {map[string]any{"CFBundleIcons": icons("AppIcon60x60"), "CFBundleIconName": "AppIcon"},
			[]file{{name: "Assets.car", data: []byte("car")}}, 0, 0},
		"name of an asset": {map[string]any{"CFBundleIcons": map[string]any{"CFBundlePrimaryIcon": "App Icon"}},
			[]file{{name: "Assets.car", data: []byte("car")}}, 0, 0},
		"largest is broken": {map[string]any{"CFBundleIcons": icons("A")}, []file{{name: "A@3x.png", data: large[:60]},
			{name: "A@2x.png", data: middle}}, 120, 0},
		"all are broken": {map[string]any{"CFBundleIcons": icons("A")}, []file{{name: "A@3x.png", data: large[:60]},
			{name: "A.png", data: []byte("x")}}, 0, 1},
		"too large": {map[string]any{"CFBundleIcons": icons("A")}, []file{{name: "A.png", data: make([]byte, maxIcon+1)}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := []file{infoFile(t, root+"Info.plist", c.info), {name: root + "DemoBin", data: thin(cpuARM64, 0, 7, binary.LittleEndian)}}
			for _, f := range c.files {
				if f.name = root + f.name; f.name == root+"../../iTunesArtwork" {
					f.name = "iTunesArtwork"
				}
				files = append(files, f)
			}
			in, a := opened(t, files...)
			p, err := newReader().App(context.Background(), in, a)
			require.NoError(t, err)
			require.Len(t, p.Warnings, c.warnings)
			if c.red == 0 {
				require.Nil(t, p.Icon)
				return
			}
			pixels, red := side(t, p.Icon)
			require.Equal(t, c.red, red)
			require.LessOrEqual(t, pixels, artifact.IconSize)
		})
	}
}

func TestPixels(t *testing.T) {
	t.Parallel()
	plain := square(t, 60, red(1))
	cgbi := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x04CgBI\x50\x00\x20\x02\x2b\xd5\xb3\x7f"), plain[8:]...)
	_, a := opened(t, file{name: "plain", data: plain}, file{name: "cgbi", data: cgbi}, file{name: "short", data: plain[:20]},
		file{name: "none", data: bytes.Repeat([]byte("none"), 50)})
	b := bundle{archive: a}
	for i, want := range []uint64{3600, 3600, 0, 0} {
		require.Equal(t, want, b.pixelCount(a.Entries()[i]), a.Entries()[i].Name)
	}
}

func TestMacIcons(t *testing.T) {
	t.Parallel()
	part := func(kind string, data []byte) []byte {
		return append(binary.BigEndian.AppendUint32([]byte(kind), uint32(8+len(data))), data...)
	}
	icns := part("icns", part("ic07", square(t, 128, red(90))))
	for name, c := range map[string]struct {
		named, stored string
		found         bool
	}{
		"without extension": {"AppIcon", "AppIcon.icns", true},
		"with extension":    {"AppIcon.icns", "AppIcon.icns", true},
		"another":           {"AppIcon", "Other.icns", false},
		"climbing":          {"../AppIcon", "../AppIcon.icns", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const root = "Demo.app/Contents/"
			in, a := opened(t, infoFile(t, root+"Info.plist", map[string]any{"CFBundleIconFile": c.named, "CFBundleExecutable": nil}),
				file{name: root + "Resources/" + c.stored, data: icns})
			p, err := newReader().Mac(context.Background(), in, a)
			require.NoError(t, err)
			require.Empty(t, p.Warnings)
			require.Equal(t, c.found, p.Icon != nil)
			if c.found {
				_, red := side(t, p.Icon)
				require.Equal(t, uint8(90), red)
			}
		})
	}
}
