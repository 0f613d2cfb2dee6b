package android

import (
	"context"
	"errors"
)

// Chunks of a compiled document.
const (
	kindXML          = 0x0003
	kindResourceMap  = 0x0180
	kindStartElement = 0x0102
	kindEndElement   = 0x0103
)

// Bounds of a document. The manifests of the largest apps have some 10,000
// elements, 10 deep.
const (
	maxElements   = 60_000
	maxAttributes = 300_000
	maxDepth      = 100
)

var errNoDocument = errors.New("not a compiled XML document")

// parseXML reads a binary XML document. Chunks of unknown kinds are skipped, as
// Android does; the document ends at its first broken chunk.
func parseXML(ctx context.Context, data []byte) (*element, error) {
	b := inMemory(data)
	// Android does not check the kind of the first chunk; packers change it to
	// defeat readers.
	root, ok := b.chunk(0, b.size)
	if !ok {
		return nil, errNoDocument
	}
	p := &xmlParser{file: b}
	for at, n := root.at+root.header, 1; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c, ok := b.chunk(at, b.size)
		if !ok {
			break
		}
		if done := p.chunk(c); done {
			break
		}
		at = c.end
	}
	if p.root == nil {
		return nil, errNoDocument
	}
	return p.root, nil
}

type xmlParser struct {
	file       *binaryFile
	pool       *stringPool
	ids        chunk // resource ids of attribute names, by index of the name
	root       *element
	open       []*element
	elements   int
	attributes int
}

// chunk reads one chunk; done is set when the document ends or has reached its
// bounds.
func (p *xmlParser) chunk(c chunk) (done bool) {
	switch c.kind {
	case kindStringPool:
		if p.pool == nil {
			p.pool = p.file.stringPool(c)
		}
	case kindResourceMap:
		p.ids = c
	case kindStartElement:
		e := p.element(c)
		if e == nil || len(p.open) == maxDepth {
			return true
		}
		if len(p.open) == 0 {
			p.root = e
		} else {
			parent := p.open[len(p.open)-1]
			parent.Children = append(parent.Children, e)
		}
		p.open = append(p.open, e)
	case kindEndElement:
		if len(p.open) > 0 {
			p.open = p.open[:len(p.open)-1]
		}
		return len(p.open) == 0 && p.root != nil
	}
	return false
}

// element reads the start of an element: namespace, name, and the offset, the
// length and the number of its attributes.
func (p *xmlParser) element(c chunk) *element {
	at := c.at + c.header
	start, size, count := int64(p.file.u16(at+8)), int64(p.file.u16(at+10)), int64(p.file.u16(at+12))
	if at+14 > c.end {
		return nil
	}
	p.elements++
	p.attributes += int(count)
	if p.elements > maxElements || p.attributes > maxAttributes {
		return nil
	}
	e := &element{Name: p.pool.text(p.file.u32(at + 4))}
	if size < 20 {
		size = 20
	}
	for i := range count {
		a := at + start + i*size
		if a+20 > c.end {
			break
		}
		e.Attrs = append(e.Attrs, p.attribute(a))
	}
	return e
}

// attribute reads namespace, name, raw text and value. The name is that of the
// resource id: the string beside it may be anything.
func (p *xmlParser) attribute(at int64) attr {
	name := p.file.u32(at + 4)
	a := attr{Value: p.file.value(at+12, p.pool)}
	if id := p.ids.at + p.ids.header + int64(name)*4; p.ids.kind != 0 && id+4 <= p.ids.end {
		a.Name = attributeNames[p.file.u32(id)]
	}
	if a.Name == "" {
		a.Name = p.pool.text(name)
	}
	return a
}

// attributeNames are the attributes of Android that are read here, by resource id.
var attributeNames = map[uint32]string{
	0x01010001: "label",
	0x01010002: "icon",
	0x01010003: "name",
	0x0101000f: "debuggable",
	0x01010024: "value",
	0x01010119: "src",
	0x01010121: "tint",
	0x01010155: "height",
	0x01010159: "width",
	0x01010199: "drawable",
	0x0101019a: "shape",
	0x0101019d: "startColor",
	0x0101019e: "endColor",
	0x010101a5: "color",
	0x010101b5: "pivotX",
	0x010101b6: "pivotY",
	0x010101b7: "insetLeft",
	0x010101b8: "insetRight",
	0x010101b9: "insetTop",
	0x010101ba: "insetBottom",
	0x0101020c: "minSdkVersion",
	0x0101021b: "versionCode",
	0x0101021c: "versionName",
	0x01010270: "targetSdkVersion",
	0x0101031f: "alpha",
	0x01010324: "scaleX",
	0x01010325: "scaleY",
	0x01010326: "rotation",
	0x01010402: "viewportWidth",
	0x01010403: "viewportHeight",
	0x01010404: "fillColor",
	0x01010405: "pathData",
	0x01010406: "strokeColor",
	0x01010407: "strokeWidth",
	0x0101045a: "translateX",
	0x0101045b: "translateY",
	0x010104cb: "strokeAlpha",
	0x010104cc: "fillAlpha",
	0x0101051e: "fillType",
	0x0101052c: "roundIcon",
	0x01010576: "versionCodeMajor",
}
