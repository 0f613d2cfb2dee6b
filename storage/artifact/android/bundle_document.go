package android

import (
	"context"
	"math"
	"strings"
)

// Messages and field numbers are those of aapt2's Resources.proto (AOSP).

// parseProtoXML reads a document in its protobuf form, an XmlNode. It has the
// bounds of binary documents: what lies beyond them is left out.
func parseProtoXML(ctx context.Context, data []byte) (*element, error) {
	p := protoParser{ctx: ctx}
	root := p.node(data, 0)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errNoDocument
	}
	return root, nil
}

type protoParser struct {
	ctx                  context.Context
	elements, attributes int
}

// node reads XmlNode: element 1, text 2. It is nil for a text and for what is
// broken.
func (p *protoParser) node(data []byte, depth int) (e *element) {
	eachField(data, func(f field) bool {
		if f.number == 1 && f.bytes != nil {
			e = p.element(f.bytes, depth)
		}
		return true
	})
	return e
}

// element reads XmlElement: name 3, attribute 4, child 5.
func (p *protoParser) element(data []byte, depth int) *element {
	if p.elements++; p.elements > maxElements || depth == maxDepth || p.elements%1024 == 0 && p.ctx.Err() != nil {
		return nil
	}
	e := &element{}
	err := eachField(data, func(f field) bool {
		switch f.number {
		case 3:
			e.Name = protoText(f.bytes)
		case 4:
			if p.attributes++; p.attributes > maxAttributes {
				return false
			}
			e.Attrs = append(e.Attrs, protoAttribute(f))
		case 5:
			if child := p.node(f.bytes, depth+1); child != nil {
				e.Children = append(e.Children, child)
			}
		}
		return true
	})
	if err != nil && e.Name == "" {
		return nil
	}
	return e
}

// protoAttribute reads XmlAttribute: name 2, value 3, resource_id 5, compiled_item
// 6. The name is that of the resource id, as in binary documents.
func protoAttribute(f field) attr {
	var name, text string
	var compiled value
	var id uint64
	eachField(f.bytes, func(f field) bool {
		switch f.number {
		case 2:
			name = protoText(f.bytes)
		case 3:
			text = protoText(f.bytes)
		case 5:
			id = f.bits
		case 6:
			compiled = protoItem(f.bytes)
		}
		return true
	})
	if known := attributeNames[uint32(id)]; known != "" {
		name = known
	}
	if compiled.isNone() {
		compiled = stringValue(text)
	}
	return attr{Name: name, Value: compiled}
}

// protoItem reads Item: a reference 1, three kinds of strings 2 to 4, a file 5 or
// a primitive 7, of which the first member of each is what counts. A file is its
// path, as in binary tables.
func protoItem(data []byte) (v value) {
	eachField(data, func(f field) bool {
		switch f.number {
		case 1:
			v = protoReference(f)
		case 2, 3, 4, 5:
			v = stringValue(protoText(f.message(1)))
		case 7:
			v = protoPrimitive(f.bytes)
		}
		return true
	})
	return v
}

// protoReference reads Reference: type 1 (1 is ?attr), id 2, name 3.
func protoReference(f field) value {
	if f.value(1) == 1 {
		return value{Type: typeAttribute, Data: uint32(f.value(2))}
	}
	return referenceValue(uint32(f.value(2)))
}

// protoPrimitive reads Primitive, whose members are the types of Res_value.
func protoPrimitive(data []byte) (v value) {
	eachField(data, func(f field) bool {
		bits := uint32(f.bits)
		switch f.number {
		case 3:
			v = value{Type: typeFloat, Data: bits}
		case 4, 5: // dimension and fraction as floats, in old versions
			if !math.IsNaN(float64(math.Float32frombits(bits))) {
				v = value{Type: typeFloat, Data: bits}
			}
		case 6:
			v = value{Type: typeDec, Data: bits}
		case 7:
			v = value{Type: typeHex, Data: bits}
		case 8:
			v = value{Type: typeBool, Data: bits}
		case 9, 10, 11, 12:
			v = value{Type: typeColorARGB8 + valueType(f.number-9), Data: bits}
		case 13:
			v = value{Type: typeDimension, Data: bits}
		case 14:
			v = value{Type: typeFraction, Data: bits}
		}
		return true
	})
	return v
}

func protoText(b []byte) string { return strings.ToValidUTF8(string(b), "") }
