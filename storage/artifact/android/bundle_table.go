package android

import (
	"context"
	"errors"
)

// Bounds of a table in protobuf form. The largest apps have 20 MB, with 100,000
// entries in some 30 types.
const (
	maxProtoTable = 64 << 20
	maxProtoTypes = 4096
	maxCandidates = 2000 // of one resource: locales times densities

	// maxScanned bounds the bytes that all lookups together may scan. A lookup
	// reads the type of its resource, which has a few megabytes.
	maxScanned = 128 << 20
)

// protoTable is a ResourceTable. A lookup scans the entries of a type: an icon
// and a label take some ten lookups, and an index over all entries would take
// longer than these.
type protoTable struct {
	types   []protoType
	scanned int
	ctx     context.Context
	found   map[uint32][]candidate
}

// protoType is a Type message with its part of its entries' ids.
type protoType struct {
	id   uint32 // package and type, where they stand in a resource id
	data []byte
}

// parseProtoTable finds the types: ResourceTable.package is 2, Package.package_id 1
// and type 3, Type.type_id 1; an id is field 1 of a message. A table that
// breaks off has what precedes the break.
func parseProtoTable(ctx context.Context, data []byte) (*protoTable, error) {
	t := &protoTable{ctx: ctx, found: map[uint32][]candidate{}}
	err := eachField(data, func(f field) bool {
		if f.number != 2 {
			return true
		}
		pkg := uint32(field{bytes: f.message(1)}.value(1))
		eachField(f.bytes, func(f field) bool {
			if f.number == 3 && len(t.types) < maxProtoTypes {
				id := uint32(field{bytes: f.message(1)}.value(1))
				t.types = append(t.types, protoType{pkg<<24 | id&0xff<<16, f.bytes})
			}
			return true
		})
		return len(t.types) < maxProtoTypes
	})
	if err != nil {
		return t, err
	}
	if len(t.types) == maxProtoTypes {
		return t, errors.New("there are too many types")
	}
	return t, nil
}

// candidates returns the values of a resource: Type.entry is 3, Entry.entry_id
// 1 and config_value 6.
func (t *protoTable) candidates(id uint32) []candidate {
	if all, ok := t.found[id]; ok {
		return all
	}
	var all []candidate
	for _, typ := range t.types {
		if typ.id != id&0xffff0000 {
			continue
		}
		if t.scanned += len(typ.data); t.scanned > maxScanned {
			break
		}
		fields := 0
		eachField(typ.data, func(f field) bool {
			if fields++; fields%4096 == 0 && t.ctx.Err() != nil {
				return false
			}
			if f.number == 3 && uint32(field{bytes: f.message(1)}.value(1)) == id&0xffff {
				all = append(all, protoCandidates(f, maxCandidates-len(all))...)
			}
			return len(all) < maxCandidates
		})
	}
	t.found[id] = all
	return all
}

// protoCandidates reads the values of an entry: ConfigValue is config 1 and value
// 2; Value has an item in 4, or a bag, which has no candidate.
func protoCandidates(entry field, most int) (all []candidate) {
	eachField(entry.bytes, func(f field) bool {
		if f.number != 6 {
			return true
		}
		v := protoItem(field{bytes: f.message(2)}.message(4))
		if !v.isNone() {
			all = append(all, candidate{Config: protoConfig(f.message(1)), Value: v})
		}
		return len(all) < most
	})
	return all
}

// protoConfig reads a Configuration: locale 3, ui_mode_night 17 (1 is night),
// density 18, sdk_version 24. Everything else is another qualifier.
func protoConfig(data []byte) (c config) {
	eachField(data, func(f field) bool {
		switch f.number {
		case 3:
			c.Locale = clean(string(f.bytes))
		case 17:
			c.Night = f.bits == 1
		case 18:
			c.Density = uint16(f.bits)
		case 24:
			c.SDK = uint16(f.bits)
		case 25: // a product that aapt2 has already chosen
		default:
			c.Other = c.Other || f.bits != 0
		}
		return true
	})
	return c
}
