package demo

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"hash/adler32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"time"
	"unicode/utf16"
)

// app describes a package to build.
type app struct {
	pkg, name   string
	version     string
	code        uint32
	permissions []string
	hue         color.NRGBA // of the icon
	native      bool        // it has a library of 64-bit ARM
	payload     []byte      // what differs from version to version
}

var little = binary.LittleEndian

// buildAPK returns a signed package of Android. It has what inspection reads: manifest,
// resources, icon, signature. It has no code: its classes.dex is valid and empty, so that a
// phone installs it and has nothing to start.
func buildAPK(a app, key *signingKey) ([]byte, error) {
	icon, err := iconPNG(192, a.hue)
	if err != nil {
		return nil, err
	}
	files := []struct {
		name   string
		data   []byte
		stored bool
	}{
		{"AndroidManifest.xml", manifest(a), false},
		{"resources.arsc", resourceTable("app", a.name, "res/icon.png"), true},
		{"res/icon.png", icon, true},
		{"classes.dex", emptyDex(), false},
		{"assets/catalog.json", a.payload, false},
	}
	if a.native {
		files = append(files, struct {
			name   string
			data   []byte
			stored bool
		}{"lib/arm64-v8a/liblamps.so", emptyLibrary(), false})
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
		if f.stored {
			h.Method = zip.Store
		}
		out, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := out.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return key.sign(b.Bytes())
}

// iconPNG draws a lamp on a ground of one colour.
func iconPNG(side int, ground color.NRGBA) ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	light := color.NRGBA{255, 244, 214, 255}
	for y := range side {
		for x := range side {
			// In hundredths of the side.
			h, v := (x*100)/side-50, (y*100)/side
			c := ground
			switch {
			case v >= 20 && v < 55 && abs(h) <= 10+(v-20)/2: // the shade
				c = light
			case v >= 55 && v < 78 && abs(h) <= 3, v >= 78 && v < 84 && abs(h) <= 18: // stand and foot
				c = light
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

func abs(n int) int { return max(n, -n) }

// emptyDex is a file of Dalvik without classes: its header and its list of parts.
func emptyDex() []byte {
	const header, list = 0x70, 4 + 2*12
	b := make([]byte, header+list)
	copy(b, "dex\n035\x00")
	little.PutUint32(b[32:], uint32(len(b)))
	little.PutUint32(b[36:], header)
	little.PutUint32(b[40:], 0x12345678) // the order of bytes
	little.PutUint32(b[52:], header)     // where the list of parts is
	little.PutUint32(b[104:], list)
	little.PutUint32(b[108:], header)
	little.PutUint32(b[header:], 2)
	little.PutUint32(b[header+8:], 1) // the header: one, at 0
	little.PutUint16(b[header+16:], 0x1000)
	little.PutUint32(b[header+20:], 1)
	little.PutUint32(b[header+24:], header)
	sum := sha1.Sum(b[32:])
	copy(b[12:], sum[:])
	little.PutUint32(b[8:], adler32.Checksum(b[12:]))
	return b
}

// emptyLibrary is a header of ELF for 64-bit ARM.
func emptyLibrary() []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	little.PutUint16(b[16:], 3)   // a shared object
	little.PutUint16(b[18:], 183) // AArch64
	little.PutUint32(b[20:], 1)
	little.PutUint16(b[52:], 64)
	return b
}

// Kinds of chunks of compiled documents and resource tables, and of values in them.
const (
	chunkStrings     = 0x0001
	chunkTable       = 0x0002
	chunkXML         = 0x0003
	chunkStart       = 0x0102
	chunkEnd         = 0x0103
	chunkNamespace   = 0x0100
	chunkNamespaceOf = 0x0101
	chunkIDs         = 0x0180
	chunkPackage     = 0x0200
	chunkType        = 0x0201
	chunkTypeSpec    = 0x0202

	valueReference = 0x01
	valueString    = 0x03
	valueNumber    = 0x10
	valueBoolean   = 0x12

	noIndex = 0xffffffff

	labelID = 0x7f010000
	iconID  = 0x7f020000
)

// chunk writes a chunk; header is what follows its first eight bytes.
func chunk(kind uint16, header, body []byte) []byte {
	b := little.AppendUint16(nil, kind)
	b = little.AppendUint16(b, uint16(8+len(header)))
	b = little.AppendUint32(b, uint32(8+len(header)+len(body)))
	return slices.Concat(b, header, body)
}

func numbers(list ...uint32) []byte {
	var b []byte
	for _, n := range list {
		b = little.AppendUint32(b, n)
	}
	return b
}

// pool is a list of texts, each once.
type pool []string

func (p *pool) index(text string) uint32 {
	if i := slices.Index(*p, text); i >= 0 {
		return uint32(i)
	}
	*p = append(*p, text)
	return uint32(len(*p) - 1)
}

// bytes writes the texts in UTF-16.
func (p pool) bytes() []byte {
	var offsets, data []byte
	for _, text := range p {
		offsets = little.AppendUint32(offsets, uint32(len(data)))
		units := utf16.Encode([]rune(text))
		data = little.AppendUint16(data, uint16(len(units)))
		for _, unit := range append(units, 0) {
			data = little.AppendUint16(data, unit)
		}
	}
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	n := uint32(len(p))
	return chunk(chunkStrings, numbers(n, 0, 0, 28+4*n, 0), append(offsets, data...))
}

// attribute is one of an element of the manifest; id is that of Android, 0 for none.
type attribute struct {
	name  string
	id    uint32
	kind  byte
	data  uint32
	value string
}

type element struct {
	name       string
	attributes []attribute
	children   []element
}

func texts(name string, id uint32, value string) attribute {
	return attribute{name: name, id: id, kind: valueString, value: value}
}

func number(name string, id, n uint32) attribute {
	return attribute{name: name, id: id, kind: valueNumber, data: n}
}

func reference(name string, id, to uint32) attribute {
	return attribute{name: name, id: id, kind: valueReference, data: to}
}

// manifest is the compiled AndroidManifest.xml.
func manifest(a app) []byte {
	const minSDK, targetSDK = 24, 36
	root := element{name: "manifest", attributes: []attribute{
		number("versionCode", 0x0101021b, a.code), texts("versionName", 0x0101021c, a.version), texts("package", 0, a.pkg)}}
	root.children = append(root.children, element{name: "uses-sdk", attributes: []attribute{
		number("minSdkVersion", 0x0101020c, minSDK), number("targetSdkVersion", 0x01010270, targetSDK)}})
	for _, name := range a.permissions {
		root.children = append(root.children, element{name: "uses-permission",
			attributes: []attribute{texts("name", 0x01010003, "android.permission."+name)}})
	}
	root.children = append(root.children, element{name: "application", attributes: []attribute{
		reference("label", 0x01010001, labelID), reference("icon", 0x01010002, iconID),
		{name: "hasCode", id: 0x0101000c, kind: valueBoolean}}})
	return compiled(root)
}

// compiled writes a document. Attributes of an element stand in the order of their ids, and
// names with an id come first in the pool, as Android wants both.
func compiled(root element) []byte {
	var ids []attribute
	var collect func(e element)
	collect = func(e element) {
		for _, a := range e.attributes {
			if a.id != 0 && !slices.ContainsFunc(ids, func(other attribute) bool { return other.id == a.id }) {
				ids = append(ids, a)
			}
		}
		for _, child := range e.children {
			collect(child)
		}
	}
	collect(root)
	var p pool
	var table []byte
	for _, a := range ids {
		p.index(a.name)
		table = little.AppendUint32(table, a.id)
	}
	space := p.index("http://schemas.android.com/apk/res/android")
	prefix := p.index("android")
	node := numbers(1, noIndex)
	var body []byte
	var write func(e element)
	write = func(e element) {
		attributes := slices.Clone(e.attributes)
		slices.SortStableFunc(attributes, func(a, b attribute) int { return int(a.id) - int(b.id) })
		start := numbers(noIndex, p.index(e.name))
		start = append(start, 20, 0, 20, 0, byte(len(attributes)), 0, 0, 0, 0, 0, 0, 0)
		for _, a := range attributes {
			in, raw, data := space, uint32(noIndex), a.data
			if a.id == 0 {
				in = noIndex
			}
			if a.kind == valueString {
				data = p.index(a.value)
				raw = data
			}
			start = append(start, numbers(in, p.index(a.name), raw, 8|uint32(a.kind)<<24, data)...)
		}
		body = append(body, chunk(chunkStart, node, start)...)
		for _, child := range e.children {
			write(child)
		}
		body = append(body, chunk(chunkEnd, node, numbers(noIndex, p.index(e.name)))...)
	}
	write(root)
	body = slices.Concat(chunk(chunkNamespace, node, numbers(prefix, space)), body, chunk(chunkNamespaceOf, node, numbers(prefix, space)))
	return chunk(chunkXML, nil, slices.Concat(p.bytes(), chunk(chunkIDs, nil, table), body))
}

// resourceTable is a resources.arsc with a label and an icon.
func resourceTable(pkg, label, icon string) []byte {
	values := pool{label, icon}
	types, keys := pool{"string", "drawable"}, pool{"app_name", "icon"}
	header := make([]byte, 280) // what follows the eight bytes of each chunk
	little.PutUint32(header, 0x7f)
	for i, unit := range utf16.Encode([]rune(pkg)) {
		little.PutUint16(header[4+2*i:], unit)
	}
	typeNames, keyNames := types.bytes(), keys.bytes()
	little.PutUint32(header[260:], 288)
	little.PutUint32(header[264:], uint32(len(types)))
	little.PutUint32(header[268:], uint32(288+len(typeNames)))
	little.PutUint32(header[272:], uint32(len(keys)))
	body := slices.Concat(typeNames, keyNames)
	for i := range values {
		id := []byte{byte(i + 1), 0, 0, 0}
		body = append(body, chunk(chunkTypeSpec, append(slices.Clone(id), numbers(1)...), numbers(0))...)
		config := make([]byte, 64)
		little.PutUint32(config, 64)
		entry := slices.Concat([]byte{8, 0, 0, 0}, numbers(uint32(i)), []byte{8, 0, 0, valueString}, numbers(uint32(i)))
		kind := slices.Concat(id, numbers(1, uint32(20+len(config)+4)), config)
		body = append(body, chunk(chunkType, kind, slices.Concat(numbers(0), entry))...)
	}
	return chunk(chunkTable, numbers(1), slices.Concat(values.bytes(), chunk(chunkPackage, header, body)))
}
