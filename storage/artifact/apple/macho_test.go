package apple

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func id(b byte) string {
	h := strings.ToUpper(fmt.Sprintf("%02x", b))
	r := func(n int) string { return strings.Repeat(h, n) }
	return strings.Join([]string{r(4), r(2), r(2), r(2), r(6)}, "-")
}

// readers returns a file as a stored and as a compressed entry.
func readers(t *testing.T, raw []byte, reach int64) map[string]*forwardReader {
	t.Helper()
	_, a := opened(t, file{name: "stored", data: raw, stored: true}, file{name: "packed", data: raw})
	e := a.Entries()
	return map[string]*forwardReader{"stored": openForward(a, e[0], reach), "packed": openForward(a, e[1], reach)}
}

func TestReadMachO(t *testing.T) {
	t.Parallel()
	le, be := binary.LittleEndian, binary.BigEndian
	arm64, armv7 := thin(cpuARM64, 0, 0xab, le), thin(cpuARM, 9, 0xcd, le)
	// A file whose first eight bytes are ambiguous: real ones are checked with the
	// standard library.
	_, err := macho.NewFile(bytes.NewReader(arm64))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		raw  []byte
		want []slice
	}{
		"arm64":         {arm64, []slice{{arch: "arm64", uuid: id(0xab)}}},
		"arm64e":        {thin(cpuARM64, 0x80000002, 1, le), []slice{{arch: "arm64e", uuid: id(1)}}},
		"armv7":         {armv7, []slice{{arch: "armv7", uuid: id(0xcd)}}},
		"x86_64":        {thin(cpuX64, 3, 2, le), []slice{{arch: "x86_64", uuid: id(2)}}},
		"x86_64h":       {thin(cpuX64, 8, 2, le), []slice{{arch: "x86_64h", uuid: id(2)}}},
		"i386":          {thin(7, 3, 3, le), []slice{{arch: "i386", uuid: id(3)}}},
		"arm64_32":      {thin(0x0200000c, 1, 3, le), []slice{{arch: "arm64_32", uuid: id(3)}}},
		"big-endian":    {thin(18, 0, 4, be), []slice{{arch: "ppc", uuid: id(4)}}},
		"big-endian 64": {thin(0x01000012, 0, 4, be), []slice{{arch: "ppc64", uuid: id(4)}}},
		"unknown":       {thin(0x55, 0, 4, le), []slice{{arch: "cpu-55", uuid: id(4)}}},
		"fat": {fat(false, part{cpuARM, 9, 4096, armv7}, part{cpuARM64, 0, 16384, arm64}),
			[]slice{{arch: "armv7", uuid: id(0xcd)}, {arch: "arm64", uuid: id(0xab)}}},
		"fat, backwards": {fat(false, part{cpuARM64, 0, 16384, arm64}, part{cpuARM, 9, 4096, armv7}),
			[]slice{{arch: "armv7", uuid: id(0xcd)}, {arch: "arm64", uuid: id(0xab)}}},
		"fat 64": {fat(true, part{cpuARM64, 0, 16384, arm64}), []slice{{arch: "arm64", uuid: id(0xab)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, r := range readers(t, c.raw, executableReach) {
				got, err := readMachO(r)
				require.NoError(t, err, how)
				require.Equal(t, c.want, got, how)
			}
		})
	}
}

func TestReadMachORefuses(t *testing.T) {
	t.Parallel()
	good := thin(cpuARM64, 0, 1, binary.LittleEndian)
	for name, raw := range map[string][]byte{
		"empty":             nil,
		"text":              []byte("#!/bin/sh\nexit 0\n"),
		"magic alone":       good[:4],
		"half a header":     good[:20],
		"java class":        {0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 1, 2, 3, 4, 5, 6, 7, 8},
		"fat of nothing":    {0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0},
		"fat, table is cut": {0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2, 1, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, r := range readers(t, raw, executableReach) {
				_, err := readMachO(r)
				require.Error(t, err, how)
			}
		})
	}
}

// A broken part is not known; the others are.
func TestReadMachOInParts(t *testing.T) {
	t.Parallel()
	arm64 := thin(cpuARM64, 0, 1, binary.LittleEndian)
	many := bytes.Clone(arm64)
	binary.LittleEndian.PutUint32(many[20:], maxCommands+1)
	short := bytes.Clone(arm64)
	binary.LittleEndian.PutUint32(short[32+4:], 4) // a command shorter than its header
	none := bytes.Clone(arm64)
	binary.LittleEndian.PutUint32(none[16:], 1) // the first command only
	for name, c := range map[string]struct {
		raw     []byte
		failing bool
	}{
		"too many commands": {many, true},
		"cut in commands":   {arm64[:60], true},
		"short command":     {short, false},
		"no UUID":           {none, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, r := range readers(t, c.raw, executableReach) {
				got, err := readMachO(r)
				require.NoError(t, err, how)
				require.Len(t, got, 1)
				require.Equal(t, "arm64", got[0].arch)
				require.Empty(t, got[0].uuid)
				require.Equal(t, c.failing, got[0].err != nil, how)
			}
		})
	}
	for name, second := range map[string]part{
		"outside":     {cpuX64, 3, 0, nil},
		"overlapping": {cpuX64, 3, 4100, arm64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := fat(false, part{cpuARM64, 0, 4096, arm64}, second)
			if second.at == 0 {
				binary.BigEndian.PutUint32(raw[8+20+8:], 0x7fffffff)
			}
			for how, r := range readers(t, raw, executableReach) {
				got, err := readMachO(r)
				require.NoError(t, err, how)
				require.Equal(t, []string{"arm64", "x86_64"}, []string{got[0].arch, got[1].arch}, how)
				// What is stored can be read twice.
				require.Equal(t, name == "outside" || how == "packed", got[1].err != nil, how)
			}
		})
	}
}

func TestReachOfExecutables(t *testing.T) {
	arm64, armv7 := thin(cpuARM64, 0, 1, binary.LittleEndian), thin(cpuARM, 9, 2, binary.LittleEndian)
	raw := fat(false, part{cpuARM, 9, 4096, armv7}, part{cpuARM64, 0, 32 << 20, arm64})
	_, a := opened(t, file{name: "stored", data: raw, stored: true}, file{name: "packed", data: raw})
	e := a.Entries()
	bounded(t, func() {
		got, err := readMachO(openForward(a, e[1], executableReach))
		require.NoError(t, err)
		require.Equal(t, id(2), got[0].uuid)
		require.ErrorIs(t, got[1].err, errReach)
		require.Equal(t, "arm64", got[1].arch)
	})
	bounded(t, func() {
		got, err := readMachO(openForward(a, e[0], executableReach))
		require.NoError(t, err)
		require.Equal(t, id(1), got[1].uuid)
	})
}

func FuzzMachO(f *testing.F) {
	arm64 := thin(cpuARM64, 0, 1, binary.LittleEndian)
	f.Add(arm64)
	f.Add(fat(false, part{cpuARM64, 0, 64, arm64}, part{cpuX64, 0, 512, arm64}))
	f.Add(fat(true, part{cpuARM64, 0, 64, arm64}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		stored, err := readMachO(&forwardReader{at: bytes.NewReader(raw), reach: 1 << 62})
		packed, packedErr := readMachO(&forwardReader{stream: bytes.NewReader(raw), reach: executableReach})
		require.Equal(t, err == nil, packedErr == nil)
		require.Len(t, packed, len(stored))
		for i, s := range packed {
			require.NotEmpty(t, s.arch)
			if s.uuid != "" {
				require.Len(t, s.uuid, 36)
				require.Equal(t, stored[i].arch, s.arch)
			}
		}
	})
}
