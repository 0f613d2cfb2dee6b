package pdb

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func words(list ...uint32) []byte {
	var p []byte
	for _, w := range list {
		p = binary.LittleEndian.AppendUint32(p, w)
	}
	return p
}

func subsection(kind uint32, body []byte) []byte {
	return append(words(kind, uint32(len(body))), body...)
}

// crossScoped is a PDB with two modules: into a function of the first a function was inlined whose id
// the second exports.
func crossScoped(inlinee uint32, imports, exports []byte) []byte {
	const names, ids = 8, 4
	information := append(info()[:28], words(7)...)
	information = append(append(information, "/names\x00"...), words(1, 1, 1, 1, 0, 0, names)...)
	symbols := append([]byte{4, 0, 0, 0}, procedureRecord(1, 0x10, 0x20, "first")...)
	// At 4 bytes behind its start 8 bytes were inlined: ChangeCodeOffset 4, ChangeCodeLength 8.
	symbols = append(symbols, record(kindInline, append(words(0, 0, inlinee), 3, 4, 4, 8))...)
	symbols = append(symbols, record(kindInlineEnd, nil)...)
	symbols = append(symbols, record(kindProcEnd, nil)...)
	lines := append(subsection(subsectionImports, imports), subsection(subsectionInlinees, words(0, inlinee, 0, 30))...)
	other := append([]byte{4, 0, 0, 0}, subsection(subsectionExports, exports)...)
	dbi := debugInfo(len(symbols))
	binary.LittleEndian.PutUint32(dbi[dbiSize+44:], uint32(len(lines)))
	second := make([]byte, moduleHead)
	binary.LittleEndian.PutUint16(second[34:], 9)
	binary.LittleEndian.PutUint32(second[36:], 4)
	binary.LittleEndian.PutUint32(second[44:], uint32(len(other)-4))
	second = append(second, "B.obj\x00b.lib\x00"...)
	end := dbiSize + int(binary.LittleEndian.Uint32(dbi[24:]))
	dbi = append(append(bytes.Clone(dbi[:end]), second...), dbi[end:]...)
	binary.LittleEndian.PutUint32(dbi[24:], uint32(end-dbiSize+len(second)))
	function := append(record(leafFunction, append(words(0, 0), "other\x00"...)), record(leafFunction, append(words(0, 0), "price\x00"...))...)
	types := append(words(20040203, 20, 0x1000, 0x1002, uint32(len(function))), function...)
	texts := append(words(0xeffeeffe, 1, 12), "\x00b.OBJ\x00c.obj"...)
	return file(nil, information, nil, dbi, types, sectionHeader(0x1000, 0x2000), append(symbols, lines...), nil, texts, other)
}

func TestNamesOfOtherModules(t *testing.T) {
	t.Parallel()
	exports := words(9, 0x1001, 7, 0x1000)
	imports := words(7, 1, 5, 1, 2, 7, 9) // of c.obj one id, of b.obj two
	for inlinee, want := range map[uint32]string{
		crossScope | 1<<20 | 1: "price", crossScope | 1<<20: "other", 0x1001: "price",
		crossScope | 1<<20 | 2: "<name omitted>", crossScope: "<name omitted>", crossScope | 2<<20: "<name omitted>",
	} {
		p := crossScoped(inlinee, imports, exports)
		var k kept
		s, err := Read(bytes.NewReader(p), int64(len(p)), &k)
		require.NoError(t, err)
		require.Zero(t, s.Skipped, s.Reason)
		require.Len(t, k.functions, 1)
		require.Len(t, k.functions[0].Inlines, 1)
		require.Equal(t, want, k.functions[0].Inlines[0].Name, "%#x", inlinee)
	}
	for _, broken := range [][]byte{nil, words(7), words(7, 1000, 1), words(1, 1<<31)} {
		p := crossScoped(crossScope, broken, exports)
		var k kept
		_, err := Read(bytes.NewReader(p), int64(len(p)), &k)
		require.NoError(t, err)
		require.Equal(t, "<name omitted>", k.functions[0].Inlines[0].Name)
	}
}
