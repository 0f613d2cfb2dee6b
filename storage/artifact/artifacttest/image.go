package artifacttest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// largePNG is a picture of many pixels in few bytes.
func largePNG(side int) []byte {
	img := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		panic(err) // the writer is memory
	}
	return b.Bytes()
}

// imagesAPK has an adaptive icon of lists of large images, and two such icons.
func imagesAPK() []byte {
	layer := func(name string) *element {
		list := &element{name: "layer-list"}
		for n := range 20 {
			list.children = append(list.children, &element{name: "item", attrs: []attr{text("drawable", fmt.Sprintf("res/%d.png", n))}})
		}
		return &element{name: name, children: []*element{list}}
	}
	icon := document(&element{name: "adaptive-icon", children: []*element{layer("background"), layer("foreground")}})
	entries := []entry{manifestEntry(text("icon", "res/a.xml"), text("roundIcon", "res/b.xml")),
		{name: "res/a.xml", data: icon}, {name: "res/b.xml", data: icon}}
	large := largePNG(1700)
	for n := range 20 {
		entries = append(entries, entry{name: fmt.Sprintf("res/%d.png", n), data: large})
	}
	return zipped(nil, entries...)
}

// nestedSet is an archive of APKs whose base is compressed and large.
func nestedSet() []byte {
	base := zipped(nil, entry{name: "assets/zeros", data: make([]byte, 60<<20), stored: true}, manifestEntry())
	return zipped(nil, entry{name: "base.apk", data: base},
		entry{name: "manifest.json", data: []byte(`{"package_name":"` + PackageName + `","name":"Set","version_name":"1.0","version_code":"1"}`)})
}

// partsSet is an archive of many APKs.
func partsSet() []byte {
	entries := []entry{{name: "base.apk", data: zipped(nil, manifestEntry()), stored: true}}
	for n := range 60_000 {
		entries = append(entries, entry{name: fmt.Sprintf("split_%d.apk", n), stored: true})
	}
	return zipped(nil, entries...)
}

// inflatingManifest is a manifest that inflates to more than it may have.
func inflatingManifest() []byte {
	packed, n := zeros(900 << 20)
	return zipped(nil, entry{name: "AndroidManifest.xml", packed: packed, size: n}, entry{name: "AndroidManifest.xml",
		packed: packed, size: 100})
}

// field writes a field of a protobuf message that holds bytes.
func field(number byte, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	b := []byte{number<<3 | 2}
	n := uint64(len(body))
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(append(b, byte(n)), body...)
}

// number writes a field that holds a number.
func number(field byte, v uint32) []byte {
	b := []byte{field << 3}
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// scannedAAB is a bundle with a table of one type with very many entries, and an icon that
// looks up many of them.
func scannedAAB() []byte {
	attribute := func(name string, value []byte) []byte { return field(4, field(2, []byte(name)), value) }
	refer := func(name string, id uint32) []byte { return attribute(name, field(6, field(1, number(2, id)))) }
	root := field(1, field(3, []byte("manifest")), attribute("package", field(3, []byte(PackageName))),
		field(5, field(1, field(3, []byte("application")), refer("icon", 0x7f020000), refer("label", 0x7f020001))))
	var entries []byte
	path := field(1, field(1, nil), field(2, field(4, field(5, field(1, []byte("res/icon.xml"))))))
	entries = append(entries, field(3, field(1, number(1, 0)), field(6, path))...)
	entries = append(entries, bytes.Repeat(field(3, field(1, number(1, 60_000))), 2<<20)...)
	table := field(2, field(1, number(1, 0x7f)), field(3, field(1, number(1, 2)), entries))
	icon := field(3, []byte("vector"))
	for n := range uint32(3900) {
		icon = append(icon, field(5, field(1, field(3, []byte("path")), attribute("pathData", field(3, []byte("M0,0h24v24h-24z"))),
			refer("fillColor", 0x7f020002+n)))...)
	}
	return zipped(nil, entry{name: "BundleConfig.pb"}, entry{name: "base/manifest/AndroidManifest.xml", data: root},
		entry{name: "base/resources.pb", data: table}, entry{name: "base/res/icon.xml", data: field(1, icon)})
}
