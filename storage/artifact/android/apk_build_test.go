package android

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// The functions of this file build documents, resource tables and packages,
// with the oddities that a test needs.

var lit = binary.LittleEndian

// writtenChunk writes a chunk: header is what follows the first 8 bytes of it.
func writtenChunk(kind uint16, header, body []byte) []byte {
	b := lit.AppendUint16(nil, kind)
	b = lit.AppendUint16(b, uint16(8+len(header)))
	b = lit.AppendUint32(b, uint32(8+len(header)+len(body)))
	return append(append(b, header...), body...)
}

func writtenWords(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = lit.AppendUint32(b, w)
	}
	return b
}

// writtenPool collects strings.
type writtenPool struct {
	utf16   bool
	strings []string
}

func (p *writtenPool) index(s string) uint32 {
	i := slices.Index(p.strings, s)
	if i < 0 {
		i = len(p.strings)
		p.strings = append(p.strings, s)
	}
	return uint32(i)
}

func (p *writtenPool) bytes() []byte {
	var offsets, data []byte
	for _, s := range p.strings {
		offsets = lit.AppendUint32(offsets, uint32(len(data)))
		units := utf16.Encode([]rune(s))
		if p.utf16 {
			if n := len(units); n > 0x7fff {
				data = lit.AppendUint16(data, uint16(n>>16)|0x8000)
			}
			data = lit.AppendUint16(data, uint16(len(units)))
			for _, u := range append(units, 0) {
				data = lit.AppendUint16(data, u)
			}
			continue
		}
		for _, n := range []int{len(units), len(s)} {
			if n > 0x7f {
				data = append(data, byte(n>>8)|0x80)
			}
			data = append(data, byte(n))
		}
		data = append(append(data, s...), 0)
	}
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	var flags uint32 = flagUTF8
	if p.utf16 {
		flags = 0
	}
	n := uint32(len(p.strings))
	return writtenChunk(kindStringPool, writtenWords(n, 0, flags, 28+4*n, 0), append(offsets, data...))
}

// xmlOptions are the ways to write a document.
type xmlOptions struct {
	utf16 bool
	blank bool // names of attributes that have a resource id are empty
}

// writtenXML writes a document.
func writtenXML(root *element, o xmlOptions) []byte {
	pool := &writtenPool{utf16: o.utf16}
	var ids []byte
	names := map[string]uint32{}
	var collect func(e *element)
	collect = func(e *element) {
		for _, a := range e.Attrs {
			for id, name := range attributeNames {
				if _, known := names[name]; name == a.Name && !known {
					if names[name] = uint32(len(pool.strings)); o.blank {
						name = ""
					}
					pool.strings = append(pool.strings, name)
					ids = lit.AppendUint32(ids, id)
				}
			}
		}
		for _, c := range e.Children {
			collect(c)
		}
	}
	collect(root)

	var body []byte
	var write func(e *element)
	write = func(e *element) {
		node := writtenWords(1, 0xffffffff)
		start := writtenWords(0xffffffff, pool.index(e.Name))
		start = append(start, 20, 0, 20, 0, byte(len(e.Attrs)), byte(len(e.Attrs)>>8), 0, 0, 0, 0, 0, 0)
		for _, a := range e.Attrs {
			name, ok := names[a.Name]
			if !ok {
				name = pool.index(a.Name)
			}
			v, raw := a.Value, uint32(0xffffffff)
			if v.Type == typeString {
				v.Data = pool.index(v.Text)
				raw = v.Data
			}
			start = append(start, writtenWords(0xffffffff, name, raw, 8|uint32(v.Type)<<24, v.Data)...)
		}
		body = append(body, writtenChunk(kindStartElement, node, start)...)
		for _, c := range e.Children {
			write(c)
		}
		body = append(body, writtenChunk(kindEndElement, node, writtenWords(0xffffffff, pool.index(e.Name)))...)
	}
	write(root)
	all := append(pool.bytes(), writtenChunk(kindResourceMap, nil, ids)...)
	return writtenChunk(kindXML, nil, append(all, body...))
}

// resource is one value in one configuration.
type resource struct {
	id     uint32
	config config
	value  value
	bag    bool
}

// writtenTable writes a resource table whose type chunks have the flags, and
// whose entries are compact or not.
func writtenTable(all []resource, flags byte, compact bool) []byte {
	pool := &writtenPool{}
	type group struct {
		kind   uint32
		config config
	}
	groups := map[group][]resource{}
	for _, r := range all {
		g := group{r.id >> 16 & 0xff, r.config}
		groups[g] = append(groups[g], r)
	}
	var types []byte
	keys := make([]group, 0, len(groups))
	for g := range groups {
		keys = append(keys, g)
	}
	slices.SortFunc(keys, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.config.Locale, b.config.Locale),
			cmp.Compare(a.config.Density, b.config.Density), cmp.Compare(a.config.SDK, b.config.SDK))
	})
	for _, g := range keys {
		types = append(types, writtenType(pool, byte(g.kind), g.config, groups[g], flags, compact)...)
	}
	header := make([]byte, 280)
	lit.PutUint32(header, 0x7f)
	pack := writtenChunk(kindPackage, header, types)
	return writtenChunk(kindTable, writtenWords(1), append(pool.bytes(), pack...))
}

func writtenType(pool *writtenPool, kind byte, c config, all []resource, flags byte, compact bool) []byte {
	var entries []byte
	offsets := map[uint32]uint32{}
	var last uint32
	for _, r := range all {
		index := r.id & 0xffff
		last = max(last, index)
		offsets[index] = uint32(len(entries))
		v := r.value
		if v.Type == typeString {
			v.Data = pool.index(v.Text)
		}
		switch {
		case r.bag:
			entries = append(entries, 16, 0, entryComplex, 0)
			entries = append(entries, make([]byte, 12)...)
		case compact:
			entries = append(entries, 0, 0, entryCompact, byte(v.Type))
			entries = lit.AppendUint32(entries, v.Data)
		default:
			entries = append(entries, 8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, byte(v.Type))
			entries = lit.AppendUint32(entries, v.Data)
		}
	}
	var table []byte
	count := last + 1
	if flags&typeSparse != 0 {
		count = uint32(len(offsets))
	}
	for i := range last + 1 {
		offset, ok := offsets[i]
		switch {
		case flags&typeSparse != 0:
			if ok {
				table = lit.AppendUint16(lit.AppendUint16(table, uint16(i)), uint16(offset/4))
			}
		case flags&typeOffset16 != 0:
			if !ok {
				offset = 0xffff * 4
			}
			table = lit.AppendUint16(table, uint16(offset/4))
		default:
			if !ok {
				offset = 0xffffffff
			}
			table = lit.AppendUint32(table, offset)
		}
	}
	if len(table)%4 != 0 {
		table = append(table, 0, 0)
	}
	raw := make([]byte, 64)
	lit.PutUint32(raw, 64)
	if len(c.Locale) >= 2 {
		copy(raw[8:], c.Locale[:2])
	}
	if len(c.Locale) == 5 {
		copy(raw[10:], c.Locale[3:])
	}
	lit.PutUint16(raw[14:], c.Density)
	lit.PutUint16(raw[24:], c.SDK)
	if c.Night {
		raw[29] = 0x20
	}
	if c.Other {
		raw[12] = 2
	}
	header := append([]byte{kind, flags, 0, 0}, writtenWords(count, uint32(20+len(raw)+len(table)))...)
	return writtenChunk(kindType, append(header, raw...), append(table, entries...))
}

// packed is an entry of a package; stored ones are not compressed.
type packed struct {
	name   string
	data   []byte
	stored bool
}

// writtenAPK writes a package, with a signing block in front of its directory.
func writtenAPK(t testing.TB, block []byte, entries ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestSpeed)
	})
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.stored {
			h.Method = zip.Store
		}
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = f.Write(e.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	raw := b.Bytes()
	end := bytes.LastIndex(raw, []byte("PK\x05\x06"))
	directory := lit.Uint32(raw[end+16:])
	lit.PutUint32(raw[end+16:], directory+uint32(len(block)))
	return slices.Concat(raw[:directory], block, raw[directory:])
}

// node, text, ref, hue and num are short for documents.
func node(name string, children ...*element) *element {
	return &element{Name: name, Children: children}
}

func (e *element) with(name string, v value) *element {
	e.Attrs = append(e.Attrs, attr{Name: name, Value: v})
	return e
}

func text(s string) value      { return stringValue(s) }
func ref(id uint32) value      { return referenceValue(id) }
func hue(argb uint32) value    { return value{Type: typeColorARGB8, Data: argb} }
func num(n int32) value        { return value{Type: typeDec, Data: uint32(n)} }
func yes() value               { return value{Type: typeBool, Data: 0xffffffff} }
func (e *element) bin() []byte { return writtenXML(e, xmlOptions{}) }

// square is a PNG of one colour.
func square(t testing.TB, side int, c color.NRGBA) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		img.SetNRGBA(i%side, i/side, c)
	}
	return pngOf(t, img)
}

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}
