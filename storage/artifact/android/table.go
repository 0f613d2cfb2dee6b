package android

import (
	"context"
	"errors"
	"sort"
)

// Chunks of resources.arsc.
const (
	kindTable   = 0x0002
	kindPackage = 0x0200
	kindType    = 0x0201
)

// Flags of type chunks and of entries.
const (
	typeSparse   = 0x01 // pairs of index and offset in place of offsets
	typeOffset16 = 0x02 // offsets are 16 bits, in words
	entryComplex = 0x0001
	entryCompact = 0x0008 // key, flags with the value's type, and its data: 8 bytes
)

// Bounds of a table and of the lookups of one package. Large apps have some
// thousand type chunks; an icon needs some dozen lookups.
const (
	maxTypes    = 16_384
	maxLookups  = 500
	maxVariants = 1024 // of one resource

	// maxChunks bounds the chunks of a table of all kinds, and maxVisits the types that all
	// lookups together look into: each lookup looks into all configurations of a type, of
	// which large apps have some hundred.
	maxChunks = 65_536
	maxVisits = 200_000
)

var errNoTable = errors.New("not a resource table")

// table is resources.arsc: for each package and type a chunk for each
// configuration. Only the chunks' headers are read up front.
type table struct {
	ctx   context.Context
	file  *binaryFile
	pool  *stringPool
	types map[uint32][]typeChunk // by the upper half of the resource id
	known map[uint32][]candidate

	chunks, visits int
}

// typeChunk is the resources of one type in one configuration.
type typeChunk struct {
	chunk  chunk
	config config
}

// parseTable reads the headers of a table.
func parseTable(ctx context.Context, b *binaryFile) (*table, error) {
	root, ok := b.chunk(0, b.size)
	if !ok || root.kind != kindTable {
		return nil, errNoTable
	}
	t := &table{ctx: ctx, file: b, types: map[uint32][]typeChunk{}, known: map[uint32][]candidate{}}
	types := 0
	for c, ok := b.chunk(root.at+root.header, root.end); ok; c, ok = b.chunk(c.end, root.end) {
		if err := t.countChunk(); err != nil {
			return nil, err
		}
		switch {
		case c.kind == kindStringPool && t.pool == nil:
			t.pool = b.stringPool(c)
		case c.kind == kindPackage:
			if err := t.readPackage(c, &types); err != nil {
				return nil, err
			}
		}
	}
	if t.pool == nil {
		return nil, errNoTable
	}
	return t, nil
}

// countChunk refuses a table of too many chunks, and one that takes too long.
func (t *table) countChunk() error {
	if t.chunks++; t.chunks > maxChunks {
		return errors.New("the resource table has too many parts")
	}
	if t.chunks%256 == 0 {
		return t.ctx.Err()
	}
	return nil
}

func (t *table) readPackage(p chunk, types *int) error {
	id := t.file.u32(p.at+8) & 0xff
	var typeOffset uint32 // of the types of a feature, which continue the base's
	if p.header >= 288 {
		typeOffset = t.file.u32(p.at + 284)
	}
	for c, ok := t.file.chunk(p.at+p.header, p.end); ok; c, ok = t.file.chunk(c.end, p.end) {
		if err := t.countChunk(); err != nil {
			return err
		}
		if c.kind != kindType {
			continue
		}
		if *types++; *types > maxTypes {
			return errors.New("the resource table has too many types")
		}
		key := id<<8 | (uint32(t.file.u8(c.at+8))+typeOffset)&0xff
		t.types[key] = append(t.types[key], typeChunk{chunk: c, config: t.config(c.at + 20)})
	}
	return nil
}

// config reads a ResTable_config, which has grown with Android: its size comes
// first, and what lies after it is the default.
func (t *table) config(at int64) config {
	var raw [52]byte
	n := min(int(t.file.u32(at)), len(raw))
	copy(raw[:], t.file.slice(at, n))
	u16 := func(i int) uint16 { return uint16(raw[i]) | uint16(raw[i+1])<<8 }
	c := config{
		Density: u16(14),
		SDK:     u16(24),
		Night:   raw[29]&0x30 == 0x20,
	}
	if raw[8] != 0 {
		c.Locale = string(raw[8:10])
		if raw[10] != 0 {
			c.Locale += "-" + string(raw[10:12])
		}
	}
	other := u16(4) | u16(6) | // country and network
		u16(12) | u16(16) | u16(18) | // orientation, touch screen, keys
		u16(20) | u16(22) | u16(30) | u16(32) | u16(34) | // sizes
		uint16(raw[28]&0x3f) | uint16(raw[28]&0x80) | // screen layout but for left to right
		uint16(raw[29]&0x0f) | uint16(raw[48]&0x03) // car, television, watch; round
	c.Other = other != 0
	return c
}

// candidates implements resources.
func (t *table) candidates(id uint32) []candidate {
	if all, ok := t.known[id]; ok {
		return all
	}
	if len(t.known) >= maxLookups {
		return nil
	}
	var all []candidate
	for _, c := range t.types[id>>16] {
		if t.visits++; len(all) == maxVariants || t.visits > maxVisits || t.visits%256 == 0 && t.ctx.Err() != nil {
			break
		}
		if at, ok := t.entry(c.chunk, id&0xffff); ok {
			if v, ok := t.value(at, c.chunk.end); ok {
				all = append(all, candidate{Config: c.config, Value: v})
			}
		}
	}
	t.known[id] = all
	return all
}

// entry returns the offset of a type's entry.
func (t *table) entry(c chunk, index uint32) (int64, bool) {
	b := t.file
	flags, count := b.u8(c.at+9), b.u32(c.at+12)
	entries := c.at + int64(b.u32(c.at+16))
	offsets := c.at + c.header
	var offset int64
	switch {
	case flags&typeSparse != 0:
		count = min(count, uint32((c.end-offsets)/4))
		at := func(i int) int64 { return offsets + int64(i)*4 }
		i := sort.Search(int(count), func(i int) bool { return uint32(b.u16(at(i))) >= index })
		if i == int(count) || uint32(b.u16(at(i))) != index {
			return 0, false
		}
		offset = int64(b.u16(at(i)+2)) * 4
	case index >= count:
		return 0, false
	case flags&typeOffset16 != 0:
		at := offsets + int64(index)*2
		if offset = int64(b.u16(at)) * 4; offset == 0xffff*4 || at+2 > c.end {
			return 0, false
		}
	default:
		at := offsets + int64(index)*4
		if offset = int64(b.u32(at)); offset == 0xffffffff || at+4 > c.end {
			return 0, false
		}
	}
	at := entries + offset
	return at, at+8 <= c.end
}

// value reads the value of an entry; ok is false for a bag.
func (t *table) value(at, end int64) (v value, ok bool) {
	b := t.file
	size, flags := int64(b.u16(at)), b.u16(at+2)
	switch {
	case flags&entryCompact != 0:
		v = value{Type: valueType(flags >> 8), Data: b.u32(at + 4)}
		if v.Type == typeString {
			v = stringValue(t.pool.text(v.Data))
		}
	case flags&entryComplex != 0, size < 8, at+size+8 > end:
		return value{}, false
	default:
		v = b.value(at+size, t.pool)
	}
	return v, !v.isNone()
}
