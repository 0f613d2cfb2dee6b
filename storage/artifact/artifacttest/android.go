package artifacttest

import (
	"slices"
	"strings"
)

// Types of values, as in Res_value.
const (
	valueReference = 0x01
	valueString    = 0x03
	valueInteger   = 0x10
	valueColor     = 0x1c
)

// element is an element of a compiled document.
type element struct {
	name     string
	attrs    []attr
	children []*element
}

// attr is an attribute; text counts for strings, data for all else.
type attr struct {
	name string
	kind byte
	data uint32
	text string
}

func text(name, value string) attr          { return attr{name: name, kind: valueString, text: value} }
func reference(name string, id uint32) attr { return attr{name: name, kind: valueReference, data: id} }
func integer(name string, n uint32) attr    { return attr{name: name, kind: valueInteger, data: n} }

// chunk writes a chunk of a compiled file: header is what follows its first eight bytes.
func chunk(kind uint16, header, body []byte) []byte {
	b := le.AppendUint16(nil, kind)
	b = le.AppendUint16(b, uint16(8+len(header)))
	b = le.AppendUint32(b, uint32(8+len(header)+len(body)))
	return slices.Concat(b, header, body)
}

func words(all ...uint32) []byte {
	var b []byte
	for _, w := range all {
		b = le.AppendUint32(b, w)
	}
	return b
}

// pool is a pool of strings in UTF-8.
type pool struct {
	index   map[string]uint32
	offsets []byte
	data    []byte
}

func (p *pool) add(s string) uint32 {
	if i, ok := p.index[s]; ok {
		return i
	}
	if p.index == nil {
		p.index = map[string]uint32{}
	}
	i := uint32(len(p.index))
	p.index[s] = i
	p.offsets = le.AppendUint32(p.offsets, uint32(len(p.data)))
	for range 2 { // characters and bytes: all texts here are ASCII
		if n := len(s); n > 0x7f {
			p.data = append(p.data, byte(n>>8)|0x80, byte(n))
		} else {
			p.data = append(p.data, byte(n))
		}
	}
	p.data = append(append(p.data, s...), 0)
	return i
}

func (p *pool) bytes() []byte {
	const utf8 = 1 << 8
	data := append(slices.Clip(p.data), make([]byte, -len(p.data)&3)...)
	n := uint32(len(p.index))
	return chunk(1, words(n, 0, utf8, 28+4*n, 0), slices.Concat(p.offsets, data))
}

// document writes a compiled document.
func document(root *element) []byte {
	var strings pool
	var body []byte
	var write func(e *element)
	write = func(e *element) {
		node := words(1, 0xffffffff)
		start := words(0xffffffff, strings.add(e.name))
		start = append(start, 20, 0, 20, 0, byte(len(e.attrs)), byte(len(e.attrs)>>8), 0, 0, 0, 0, 0, 0)
		for _, a := range e.attrs {
			data, raw := a.data, uint32(0xffffffff)
			if a.kind == valueString {
				data = strings.add(a.text)
				raw = data
			}
			start = append(start, words(0xffffffff, strings.add(a.name), raw, 8|uint32(a.kind)<<24, data)...)
		}
		body = append(body, chunk(0x0102, node, start)...)
		for _, c := range e.children {
			write(c)
		}
		body = append(body, chunk(0x0103, node, words(0xffffffff, strings.add(e.name)))...)
	}
	write(root)
	return chunk(3, nil, slices.Concat(strings.bytes(), body))
}

// manifest is that of PackageName, with attributes of its application.
func manifest(application ...attr) []byte {
	return document(&element{name: "manifest", attrs: []attr{text("package", PackageName), text("versionName", "1.0"),
		integer("versionCode", 1)},
		children: []*element{{name: "application", attrs: application}}})
}

func manifestEntry(application ...attr) entry {
	return entry{name: "AndroidManifest.xml", data: manifest(application...)}
}

// value is a resource's value in so many configurations.
type value struct {
	id       uint32
	kind     byte
	data     uint32
	variants int
}

// table writes a resource table: each value has a chunk of a type for each of its
// configurations. extra follows the chunks of the package.
func table(strings *pool, all []value, extra []byte) []byte {
	var types []byte
	for _, v := range all {
		index := v.id & 0xffff
		for n := range v.variants {
			config := make([]byte, 28)
			le.PutUint32(config, 28)
			le.PutUint16(config[24:], uint16(n+1)) // version of the system
			offsets := slices.Repeat([]byte{0xff, 0xff, 0xff, 0xff}, int(index))
			offsets = append(offsets, 0, 0, 0, 0)
			header := append([]byte{byte(v.id >> 16), 0, 0, 0}, words(index+1, uint32(20+len(config)+len(offsets)))...)
			item := append([]byte{8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, v.kind}, words(v.data)...)
			types = append(types, chunk(0x0201, append(header, config...), append(offsets, item...))...)
		}
	}
	header := make([]byte, 280)
	header[0] = 0x7f
	pack := chunk(0x0200, header, append(types, extra...))
	return chunk(2, words(1), slices.Concat(strings.bytes(), pack))
}

// vectorAPK has an icon of so many paths whose attributes are references, each of which
// leads through fifteen others with a thousand configurations each.
func vectorAPK() []byte {
	var strings pool
	values := []value{{id: 0x7f020000, kind: valueString, data: strings.add("res/icon.xml"), variants: 1}}
	const chain, variants = 15, 1000
	for n := range uint32(chain) {
		v := value{id: 0x7f030000 + n<<16, kind: valueReference, data: 0x7f030000 + (n+1)<<16, variants: variants}
		if n == chain-1 {
			v.kind, v.data = valueColor, 0xff112233
		}
		values = append(values, v)
	}
	path := &element{name: "path", attrs: []attr{text("pathData", "M0,0h24v24h-24z")}}
	for _, name := range []string{"fillColor", "strokeColor", "strokeWidth", "fillAlpha", "strokeAlpha", "fillType"} {
		path.attrs = append(path.attrs, reference(name, 0x7f030000))
	}
	icon := &element{name: "vector", attrs: []attr{integer("viewportWidth", 24), integer("viewportHeight", 24)}}
	for range 3999 {
		icon.children = append(icon.children, path)
	}
	return zipped(nil, manifestEntry(reference("icon", 0x7f020000)), entry{name: "resources.arsc", data: table(&strings, values, nil)},
		entry{name: "res/icon.xml", data: document(icon)})
}

// chunksAPK has a resource table of as many chunks as fit into its bytes.
func chunksAPK() []byte {
	var strings pool
	extra := slices.Repeat([]byte{0xff, 0x7f, 8, 0, 8, 0, 0, 0}, 4<<20)
	return zipped(nil, manifestEntry(reference("icon", 0x7f020000)), entry{name: "resources.arsc", data: table(&strings, nil, extra)})
}

// lookupsAPK has a stored table of many types in far-apart chunks, and an icon that looks
// many of them up.
func lookupsAPK() []byte {
	var strings pool
	values := []value{{id: 0x7f020000, kind: valueString, data: strings.add("res/icon.xml"), variants: 1},
		{id: 0x7f030002, kind: valueColor, data: 0xff112233, variants: 16_000}}
	icon := &element{name: "vector"}
	for n := range uint32(3999) {
		icon.children = append(icon.children, &element{name: "path", attrs: []attr{text("pathData", "M0,0h24v24h-24z"),
			reference("fillColor", 0x7f030003+n)}})
	}
	return zipped(nil, manifestEntry(reference("icon", 0x7f020000), reference("label", 0x7f030002)),
		entry{name: "resources.arsc", data: table(&strings, values, nil), stored: true}, entry{name: "res/icon.xml", data: document(icon)})
}

// elementsAPK has a manifest of as many elements and attributes as there may be.
func elementsAPK() []byte {
	root := &element{name: "manifest", attrs: []attr{text("package", PackageName)}}
	wide := &element{name: "x"}
	for n := range 5 {
		wide.attrs = append(wide.attrs, integer(strings.Repeat("a", n+1), 1))
	}
	for range 50_000 {
		root.children = append(root.children, wide)
	}
	return zipped(nil, entry{name: "AndroidManifest.xml", data: document(root)})
}

// drawnAPK has an icon that draws as many pixels as paths allow, forty times.
func drawnAPK() []byte {
	star := "M0,0" + strings.Repeat("l24,12l-24,12l24,-24l-24,24", 4000)
	vector := &element{name: "vector", attrs: []attr{integer("viewportWidth", 24), integer("viewportHeight", 24)},
		children: []*element{{name: "path", attrs: []attr{text("fillColor", "#123456")}}}}
	for len(star) > 0 {
		n := min(len(star), 30_000) // a text of UTF-8 has 15 bits of length
		n = strings.LastIndexByte(star[:n], 'l')
		if n <= 0 {
			break
		}
		vector.children = append(vector.children, &element{name: "path", attrs: []attr{text("pathData", star[:n]), text("fillColor", "#123456")}})
		star = "M0,0" + star[n:]
		if len(vector.children) > 40 {
			break
		}
	}
	list := &element{name: "layer-list"}
	for range 20 {
		list.children = append(list.children, &element{name: "item", children: []*element{vector}})
	}
	return zipped(nil, manifestEntry(text("icon", "res/icon.xml")), entry{name: "res/icon.xml", data: document(list)})
}
