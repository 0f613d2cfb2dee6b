package android

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The functions of this file build the messages of bundles.

// message is a protobuf message that is being written.
type message []byte

func (m message) bytes(number protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), b)
}

func (m message) text(number protowire.Number, s string) message { return m.bytes(number, []byte(s)) }

func (m message) number(number protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
}

func (m message) fixed(number protowire.Number, v uint32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, number, protowire.Fixed32Type), v)
}

// protoItemOf writes a value as an Item.
func protoItemOf(v value) message {
	switch v.Type {
	case typeReference:
		return message{}.bytes(1, message{}.number(2, uint64(v.Data)))
	case typeAttribute:
		return message{}.bytes(1, message{}.number(1, 1).number(2, uint64(v.Data)))
	case typeString:
		return message{}.bytes(2, message{}.text(1, v.Text))
	}
	numbers := map[valueType]protowire.Number{
		typeDec: 6, typeHex: 7, typeBool: 8, typeColorARGB8: 9, typeColorRGB4: 12, typeDimension: 13, typeFraction: 14,
	}
	if v.Type == typeFloat {
		return message{}.bytes(7, message{}.fixed(3, v.Data))
	}
	return message{}.bytes(7, message{}.number(numbers[v.Type], uint64(v.Data)))
}

// proto writes a document as an XmlNode.
func (e *element) proto() message {
	m := message{}.text(3, e.Name)
	for _, a := range e.Attrs {
		written := message{}.text(2, a.Name)
		if a.Value.Type == typeString {
			written = written.text(3, a.Value.Text)
		} else {
			written = written.bytes(6, protoItemOf(a.Value))
		}
		m = m.bytes(4, written)
	}
	for _, c := range e.Children {
		m = m.bytes(5, message{}.text(2, "\n  ")) // white space between elements
		m = m.bytes(5, c.proto())
	}
	return message{}.bytes(1, m).bytes(3, message{}.number(1, 7))
}

// writtenProtoTable writes resources as a ResourceTable, each with a type of its
// own unless it follows one of the same type.
func writtenProtoTable(all ...resource) message {
	var types message
	for i := 0; i < len(all); {
		kind := all[i].id >> 16 & 0xff
		typ := message{}.bytes(1, message{}.number(1, uint64(kind))).text(2, "type")
		for i < len(all) && all[i].id>>16&0xff == kind {
			id := all[i].id
			entry := message{}.text(2, "entry")
			if id&0xffff != 0 {
				entry = entry.bytes(1, message{}.number(1, uint64(id&0xffff)))
			}
			for ; i < len(all) && all[i].id == id; i++ {
				entry = entry.bytes(6, protoConfigValue(all[i]))
			}
			typ = typ.bytes(3, entry)
		}
		types = types.bytes(3, typ)
	}
	pack := append(message{}.bytes(1, message{}.number(1, 0x7f)).text(2, "com.example.app"), types...)
	return message{}.bytes(1, message{}.bytes(1, []byte{1, 2, 3})).bytes(2, pack)
}

func protoConfigValue(r resource) message {
	var c message
	if r.config.Locale != "" {
		c = c.text(3, r.config.Locale)
	}
	if r.config.Night {
		c = c.number(17, 1)
	}
	if r.config.Density != 0 {
		c = c.number(18, uint64(r.config.Density))
	}
	if r.config.SDK != 0 {
		c = c.number(24, uint64(r.config.SDK))
	}
	if r.config.Other {
		c = c.number(15, 2) // landscape
	}
	v := message{}.bytes(4, protoItemOf(r.value))
	if r.bag {
		v = message{}.bytes(5, message{}.bytes(2, []byte{}))
	}
	return message{}.bytes(1, c).bytes(2, v)
}

// bundleManifest is a base manifest as an entry of a bundle.
func bundleManifest(root *element) packed {
	return packed{name: bundleManifestName, data: root.proto()}
}

func bundleConfig(version string) packed {
	return packed{name: bundleConfigName, data: message{}.bytes(1, message{}.text(2, version))}
}

func writtenBundle(t testing.TB, entries ...packed) []byte { return writtenAPK(t, nil, entries...) }
