package pdb

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// https://llvm.org/docs/PDB/TpiStream.html and CodeViewTypes.html
const (
	leafFunction       = 0x1601 // LF_FUNC_ID
	leafMemberFunction = 0x1602 // LF_MFUNC_ID
	leafString         = 0x1605 // LF_STRING_ID
	leafClass          = 0x1504
	leafStructure      = 0x1505
	leafUnion          = 0x1506
	leafEnum           = 0x1507
	leafInterface      = 0x1519

	// maxTypes bounds the records whose places are held in memory (64 MiB).
	maxTypes = 16 << 20
	// maxCached bounds the names that are kept; then they are read again.
	maxCached = 64 << 10
	// maxName bounds a name; a record has at most 64 KiB.
	maxName = 64 << 10
)

// nameCaches keeps names by their offset or number.
type nameCaches struct{ files, inlines map[uint32]string }

func newNameCaches() nameCaches {
	return nameCaches{files: map[uint32]string{}, inlines: map[uint32]string{}}
}

func remember(cache map[uint32]string, key uint32, name string) string {
	if len(cache) >= maxCached {
		clear(cache)
	}
	cache[key] = name
	return name
}

// nameTable is the stream of names: texts after a head of 12 bytes.
type nameTable struct {
	stream *stream
	size   int64
}

// at returns the text at an offset; "" for one outside of the table.
func (t *nameTable) at(offset uint32, cache map[uint32]string) (string, error) {
	if name, ok := cache[offset]; ok {
		return name, nil
	}
	if int64(offset) >= t.size {
		return "", nil
	}
	for n := int64(256); ; n *= 4 {
		n = min(n, t.size-int64(offset))
		p, err := t.stream.read(12+int64(offset), int(n), "a name")
		if err != nil {
			return "", err
		}
		if bytes.IndexByte(p, 0) >= 0 || n >= maxName || n == t.size-int64(offset) {
			return remember(cache, offset, clean(textOf(p))), nil
		}
	}
}

// typeTable is a stream of types or of ids.
type typeTable struct {
	stream  *stream
	first   uint32
	offsets []uint32
}

// typeTable reads where the records of a stream are. A broken one has those up to there.
func (d *database) typeTable(number int) (*typeTable, error) {
	t := &typeTable{}
	s, err := d.msf.stream(number)
	if err != nil || s.size < 20 {
		return t, d.skip(err)
	}
	head, err := s.read(0, 20, "the head of a stream of types")
	if err != nil {
		return t, d.skip(err)
	}
	t.stream, t.first = s, binary.LittleEndian.Uint32(head[8:])
	from, bytes := int64(binary.LittleEndian.Uint32(head[4:])), int64(binary.LittleEndian.Uint32(head[16:]))
	if from > s.size || bytes > s.size-from {
		return t, d.skip(symbol.Invalid(symbol.Truncated, "stream %d states %d bytes of types and has %d", number, bytes, s.size))
	}
	records := newRecords(s, from, from+bytes)
	for {
		at := records.at
		_, _, ok, err := records.next()
		if err != nil {
			return t, d.skip(err)
		}
		if !ok {
			return t, nil
		}
		if len(t.offsets) >= maxTypes {
			return t, d.skip(symbol.Invalid(symbol.TooLarge, "stream %d has more than %d types", number, maxTypes))
		}
		t.offsets = append(t.offsets, uint32(at))
	}
}

// record returns the kind and content of a type; kind 0 when there is none.
func (t *typeTable) record(index uint32) (uint16, *cursor, error) {
	if index < t.first || int64(index-t.first) >= int64(len(t.offsets)) {
		return 0, &cursor{}, nil
	}
	at := int64(t.offsets[index-t.first])
	head, err := t.stream.read(at, 4, "a type")
	if err != nil {
		return 0, nil, err
	}
	p, err := t.stream.read(at+4, int(binary.LittleEndian.Uint16(head))-2, "a type")
	return binary.LittleEndian.Uint16(head[2:]), &cursor{p: p}, err
}

// inlineName returns the qualified name of a function by its id.
func (d *database) inlineName(id uint32) (string, error) {
	if name, ok := d.caches.inlines[id]; ok {
		return name, nil
	}
	if err := d.openTypes(); err != nil {
		return "", err
	}
	kind, c, err := d.ids.record(id)
	if err != nil {
		return "", d.onlyReading(err)
	}
	parent, _ := c.u32(), c.u32()
	name, scope := clean(c.text()), ""
	switch kind {
	case leafFunction:
		scope, err = d.scopeName(parent)
	case leafMemberFunction:
		scope, err = d.className(parent)
	default:
		name = ""
	}
	if err != nil {
		return "", err
	}
	if name == "" {
		name = "<name omitted>"
	} else if scope != "" {
		name = scope + "::" + name
	}
	return remember(d.caches.inlines, id, name), nil
}

func (d *database) onlyReading(err error) error {
	var invalid *symbol.InvalidError
	if errors.As(err, &invalid) {
		return nil
	}
	return err
}

// openTypes reads where types are when the first name is needed.
func (d *database) openTypes() (err error) {
	if d.ids != nil {
		return nil
	}
	if d.ids, err = d.typeTable(idStream); err != nil {
		return err
	}
	d.types, err = d.typeTable(typeStream)
	return err
}

// scopeName returns the namespace of a function: a string among the ids.
func (d *database) scopeName(id uint32) (string, error) {
	kind, c, err := d.ids.record(id)
	if err != nil || kind != leafString {
		return "", d.onlyReading(err)
	}
	c.u32()
	return clean(c.text()), nil
}

// className returns the name of a class, structure, union, interface or enumeration.
func (d *database) className(index uint32) (string, error) {
	kind, c, err := d.types.record(index)
	if err != nil {
		return "", d.onlyReading(err)
	}
	switch kind {
	case leafClass, leafStructure, leafInterface:
		c.take(16) // count, properties, fields, base, shape
		c.number()
	case leafUnion:
		c.take(8)
		c.number()
	case leafEnum:
		c.take(12)
	default:
		return "", nil
	}
	if c.failed {
		return "", nil
	}
	return clean(c.text()), nil
}

// number skips a number of the size that its first two bytes say.
func (c *cursor) number() {
	sizes := map[uint16]int{0x8000: 1, 0x8001: 2, 0x8002: 2, 0x8003: 4, 0x8004: 4, 0x8009: 8, 0x800a: 8}
	if kind := c.u16(); kind >= 0x8000 {
		c.take(sizes[kind])
	}
}
