package dwarf

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/stretchr/testify/require"
)

// held are sections that a test has in memory.
type held map[string][]byte

func (h held) Section(name string) (io.ReaderAt, int64, error) {
	return bytes.NewReader(h[name]), int64(len(h[name])), nil
}

// image is a program as a test sees it.
type image struct {
	sections held
	base     uint64
	code     []native.Range
	symbols  map[string]uint64
	publics  []native.Public
}

func openELF(t testing.TB, name string) *image {
	t.Helper()
	f, err := elf.Open(name)
	require.NoError(t, err)
	defer f.Close()
	x := &image{sections: held{}, base: ^uint64(0), symbols: map[string]uint64{}}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			x.code = append(x.code, native.Range{Start: s.Addr, End: s.Addr + s.Size})
		}
		if strings.Contains(s.Name, "debug") {
			data, err := s.Data()
			require.NoError(t, err)
			x.sections[strings.Replace(s.Name, ".zdebug", ".debug", 1)] = data
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			x.base = min(x.base, p.Vaddr&^0xfff)
		}
	}
	if x.base == ^uint64(0) {
		x.base = 0
	}
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if f.Machine == elf.EM_ARM && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			s.Value &^= 1 // the mode
		}
		x.symbols[s.Name] = s.Value
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			x.publics = append(x.publics, native.Public{Address: s.Value - x.base, Size: s.Size, Name: s.Name})
		}
	}
	return x
}

func openMachO(t testing.TB, name string) *image {
	t.Helper()
	f, err := macho.Open(name)
	require.NoError(t, err)
	defer f.Close()
	x := &image{sections: held{}, symbols: map[string]uint64{}}
	if text := f.Segment("__TEXT"); text != nil {
		x.base = text.Addr
	}
	for _, s := range f.Sections {
		if s.Name == "__text" {
			x.code = append(x.code, native.Range{Start: s.Addr, End: s.Addr + s.Size})
		}
		if plain, ok := strings.CutPrefix(s.Name, "__"); ok && s.Seg == "__DWARF" {
			data, err := s.Data()
			require.NoError(t, err)
			x.sections["."+strings.Replace(plain, "debug_str_offs", "debug_str_offsets", 1)] = data
		}
	}
	return x
}

func openPE(t testing.TB, name string) *image {
	t.Helper()
	f, err := pe.Open(name)
	require.NoError(t, err)
	defer f.Close()
	x := &image{sections: held{}, symbols: map[string]uint64{}}
	if h, ok := f.OptionalHeader.(*pe.OptionalHeader64); ok {
		x.base = h.ImageBase
	}
	for _, s := range f.Symbols {
		x.symbols[s.Name] = uint64(s.Value) + 1
	}
	for _, s := range f.Sections {
		if s.Characteristics&pe.IMAGE_SCN_MEM_EXECUTE != 0 {
			from := x.base + uint64(s.VirtualAddress)
			x.code = append(x.code, native.Range{Start: from, End: from + uint64(s.VirtualSize)})
		}
		if strings.HasPrefix(s.Name, ".debug") {
			data, err := s.Data()
			require.NoError(t, err)
			x.sections[s.Name] = data[:min(len(data), int(s.VirtualSize))]
		}
	}
	return x
}

// indexed reads an image into an index.
func indexed(t testing.TB, x *image, o Options) (*native.Index, *Summary) {
	t.Helper()
	b := native.NewBuilder(t.TempDir())
	o.Base, o.Code = x.base, x.code
	s, err := Read(x.sections, b, o)
	require.NoError(t, err)
	for _, p := range x.publics {
		require.NoError(t, b.Public(p))
	}
	var out bytes.Buffer
	_, err = b.Finish(&out)
	require.NoError(t, err)
	f, err := symbol.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	index, err := native.Open(f)
	require.NoError(t, err)
	return index, s
}
