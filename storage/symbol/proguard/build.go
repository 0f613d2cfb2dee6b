package proguard

import (
	"encoding/binary"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Bounds of the strings that are known again. Beyond them the next class begins anew: a
// string is then in the index more than once.
const (
	maxStrings     = 1 << 18
	maxStringBytes = 32 << 20
)

// classRow and sourceRow are rows of the tables.
type classRow struct {
	hash   uint64
	record uint32
}

type sourceRow struct {
	hash           uint64
	original, file uint32
}

// builder writes the section "data" and collects the tables.
type builder struct {
	out     *symbol.Writer
	offset  int64
	version formatVersion
	class   class
	open    bool // a class is read
	classes []classRow
	sources []sourceRow
	summary Summary

	refs      map[string]uint32
	texts     map[uint32]string
	textBytes int
	classText int // bytes of strings that the class added
	order     []int32
	scratch   []byte
}

func newBuilder(out *symbol.Writer) *builder {
	b := &builder{out: out}
	b.class.reset()
	b.forget()
	return b
}

// forget begins with no known strings.
func (b *builder) forget() {
	b.refs, b.texts, b.textBytes = map[string]uint32{}, map[uint32]string{}, 0
}

// write adds bytes to the section and returns their offset.
func (b *builder) write(p []byte) (uint32, error) {
	at := b.offset
	if at+int64(len(p)) > maxData {
		return 0, symbol.Invalid(symbol.TooLarge, "the index of the mapping would be larger than %d bytes", int64(maxData))
	}
	b.offset += int64(len(p))
	_, err := b.out.Write(p)
	return uint32(at), err
}

// ref returns the offset of a string, which is written once.
func (b *builder) ref(text []byte) (uint32, error) {
	if ref, ok := b.refs[string(text)]; ok {
		return ref, nil
	}
	if b.classText += len(text); b.classText > maxClassText {
		return 0, symbol.Invalid(symbol.TooLarge, "class %q of the mapping has names of more than %d bytes",
			excerpt([]byte(b.text(b.class.original))), maxClassText)
	}
	b.scratch = append(binary.AppendUvarint(b.scratch[:0], uint64(len(text))), text...)
	ref, err := b.write(b.scratch)
	if err != nil {
		return 0, err
	}
	key := string(text)
	b.refs[key], b.texts[ref] = ref, key
	b.textBytes += len(key)
	return ref, nil
}

// text returns a string that is known.
func (b *builder) text(ref uint32) string { return b.texts[ref] }

// beginClass ends the class before and begins one.
func (b *builder) beginClass(l *classLine) error {
	if err := b.endClass(); err != nil {
		return err
	}
	if len(b.classes) >= maxClasses {
		return symbol.Invalid(symbol.TooLarge, "the mapping has more than %d classes", maxClasses)
	}
	if len(b.refs) > maxStrings || b.textBytes > maxStringBytes {
		b.forget()
	}
	b.class.reset()
	b.classText, b.open = 0, true
	var err error
	if b.class.original, err = b.ref(l.original); err != nil {
		return err
	}
	b.class.originalHash, b.class.renamedHash = hash(l.original), hash(l.renamed)
	b.class.renamed, err = b.ref(l.renamed)
	return err
}

// endClass writes the record of the class.
func (b *builder) endClass() error {
	if !b.open {
		return nil
	}
	b.open = false
	if err := b.endMember(); err != nil {
		return err
	}
	names, err := b.methodNames()
	if err != nil {
		return err
	}
	fields, err := b.fieldNames()
	if err != nil {
		return err
	}
	c := &b.class
	flags := uint32(0)
	if c.synthetic {
		flags = flagSynthetic
	}
	numbers := []uint32{c.renamed, c.original, c.source, flags, uint32(len(names)), uint32(len(fields))}
	for _, n := range append(names, fields...) {
		numbers = append(numbers, n[:]...)
	}
	at, err := b.writeNumbers(numbers)
	b.classes = append(b.classes, classRow{c.renamedHash, at})
	b.summary.Classes++
	return err
}

// writeNumbers writes numbers of 4 bytes and returns their offset.
func (b *builder) writeNumbers(numbers []uint32) (uint32, error) {
	p := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		p = binary.LittleEndian.AppendUint32(p, n)
	}
	return b.write(p)
}
