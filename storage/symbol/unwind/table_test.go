package unwind

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	container "github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// assembled assembles a text and links it for Windows.
func assembled(t *testing.T, target, text string) *rows {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.s"), []byte(text), 0o600))
	run(t, dir, "clang", "-target", target, "-c", "p.s", "-o", "p.obj")
	run(t, dir, "lld-link", "/nodefaultlib", "/entry:first", "/subsystem:console", "/out:p.exe", "p.obj")
	r, s := readFile(t, filepath.Join(dir, "p.exe"))
	require.Zero(t, s.Skipped, s.Reason)
	return r
}

// said returns the rows from an address on, as text.
func (r *rows) said() []string {
	var all []string
	for _, u := range r.all {
		all = append(all, u.Rules)
	}
	return all
}

func TestWindowsX64(t *testing.T) {
	t.Parallel()
	r := assembled(t, "x86_64-pc-windows-msvc", `
	.text
	.globl first
	.seh_proc first
first:
	pushq %rbx
	.seh_pushreg %rbx
	subq $0x200, %rsp
	.seh_stackalloc 0x200
	movq %rsi, 0x100(%rsp)
	.seh_savereg %rsi, 0x100
	.seh_endprologue
	nop
	addq $0x200, %rsp
	popq %rbx
	ret
	.seh_endproc
leaf:
	nop
	ret
	.p2align 4
	.seh_proc framed
framed:
	pushq %rbp
	.seh_pushreg %rbp
	subq $32, %rsp
	.seh_stackalloc 32
	leaq 16(%rsp), %rbp
	.seh_setframe %rbp, 16
	movq %rdi, 24(%rsp)
	.seh_savereg %rdi, 24
	.seh_endprologue
	nop
	ret
	.seh_endproc
	.seh_proc trap
trap:
	.seh_pushframe @code
	pushq %r12
	.seh_pushreg %r12
	.seh_endprologue
	nop
	ret
	.seh_endproc
`)
	ra := " .ra: .cfa -8 + ^"
	require.Equal(t, []string{
		".cfa: $rsp 8 +" + ra,
		".cfa: $rsp 16 +" + ra + " $rbx: .cfa -16 + ^",
		".cfa: $rsp 528 +" + ra + " $rbx: .cfa -16 + ^",
		".cfa: $rsp 528 +" + ra + " $rsi: .cfa -272 + ^ $rbx: .cfa -16 + ^",
		".cfa: $rsp 8 +" + ra, // the leaf, and the first byte of framed
		".cfa: $rsp 16 +" + ra + " $rbp: .cfa -16 + ^",
		".cfa: $rsp 48 +" + ra + " $rbp: .cfa -16 + ^",
		".cfa: $rbp 32 +" + ra + " $rbp: .cfa -16 + ^",
		".cfa: $rbp 32 +" + ra + " $rdi: .cfa -24 + ^ $rbp: .cfa -16 + ^",
		".cfa: $rsp 32 + ^ .ra: $rsp 8 + ^",
		".cfa: $rsp 40 + ^ .ra: $rsp 16 + ^ $r12: $rsp 0 + ^",
	}, r.said())
}

func TestWindowsARM64(t *testing.T) {
	t.Parallel()
	r := assembled(t, "aarch64-pc-windows-msvc", `
	.text
	.globl first
	.seh_proc first
first:
	stp x19, x20, [sp, #-32]!
	.seh_save_regp_x x19, 32
	str x21, [sp, #16]
	.seh_save_reg x21, 16
	stp x29, x30, [sp, #-16]!
	.seh_save_fplr_x 16
	mov x29, sp
	.seh_set_fp
	sub sp, sp, #64
	.seh_stackalloc 64
	.seh_endprologue
	nop
	.seh_startepilogue
	mov sp, x29
	.seh_set_fp
	ldp x29, x30, [sp], #16
	.seh_save_fplr_x 16
	ldr x21, [sp, #16]
	.seh_save_reg x21, 16
	ldp x19, x20, [sp], #32
	.seh_save_regp_x x19, 32
	.seh_endepilogue
	ret
	.seh_endfunclet
	.seh_endproc
`)
	require.Equal(t, []string{
		".cfa: sp 0 + .ra: x30",
		".cfa: sp 32 + .ra: x30 x19: .cfa -32 + ^ x20: .cfa -24 + ^",
		".cfa: sp 32 + .ra: x30 x21: .cfa -16 + ^ x19: .cfa -32 + ^ x20: .cfa -24 + ^",
		".cfa: sp 48 + .ra: .cfa -40 + ^ x29: .cfa -48 + ^ x21: .cfa -16 + ^ x19: .cfa -32 + ^ x20: .cfa -24 + ^",
		".cfa: x29 48 + .ra: .cfa -40 + ^ x29: .cfa -48 + ^ x21: .cfa -16 + ^ x19: .cfa -32 + ^ x20: .cfa -24 + ^",
	}, r.said())
}

func TestPackedARM64(t *testing.T) {
	t.Parallel()
	// RegI 3, CR 1 (lr is saved), no floats, 64 bytes: stp x19,x20 / stp x21,lr / sub sp.
	data := uint32(1 | 16<<2 | 3<<16 | 1<<21 | 4<<23)
	steps := packedSteps(data)
	require.Len(t, steps, 3)
	require.Equal(t, ".cfa: sp 64 + .ra: .cfa -8 + ^ x21: .cfa -16 + ^ x19: .cfa -32 + ^ x20: .cfa -24 + ^", armRules(steps))
	require.Equal(t, ".cfa: sp 32 + .ra: x30 x19: .cfa -32 + ^ x20: .cfa -24 + ^", armRules(steps[2:]))
	// RegI 2, CR 3 (a chain of frames), 48 bytes: stp x19,x20,[sp,#-16]! / stp x29,lr,[sp,#-32]! / mov x29,sp.
	data = uint32(1 | 16<<2 | 2<<16 | 3<<21 | 3<<23)
	require.Equal(t, ".cfa: x29 48 + .ra: .cfa -40 + ^ x29: .cfa -48 + ^ x19: .cfa -16 + ^ x20: .cfa -8 + ^", armRules(packedSteps(data)))
	// save_next: two pairs by one code; end_c: what follows was done elsewhere.
	all, err := armCodes([]byte{0xe6, 0xcc, 0x03, 0xe5, 0x81, 0xe4})
	require.NoError(t, err)
	require.Equal(t, 2, all.own)
	require.Equal(t, ".cfa: sp 48 + .ra: .cfa -8 + ^ x19: .cfa -48 + ^ x20: .cfa -40 + ^ x21: .cfa -32 + ^ x22: .cfa -24 + ^ x29: "+
		".cfa -16 + ^", armRules(all.steps))
	for _, wrong := range [][]byte{nil, {0xc8}, {0xe8, 0xe4}, {0x01}} {
		_, err := armCodes(wrong)
		require.ErrorIs(t, err, errFunction)
	}
}

func TestCompactUnwind(t *testing.T) {
	t.Parallel()
	for arch, c := range map[string]struct{ text, want string }{
		"x86_64": {`
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %r14
	pushq %rbx
	.cfi_offset %rbx, -32
	.cfi_offset %r14, -24
	ret
`, ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $rbx: .cfa -32 + ^ $r14: .cfa -24 + ^"},
		"arm64": {`
	stp x20, x19, [sp, #-32]!
	stp x29, x30, [sp, #16]
	add x29, sp, #16
	.cfi_def_cfa w29, 16
	.cfi_offset w30, -8
	.cfi_offset w29, -16
	.cfi_offset w19, -24
	.cfi_offset w20, -32
	ret
`, ".cfa: x29 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^"},
	} {
		dir := t.TempDir()
		text := "\t.text\n\t.globl _first\n\t.p2align 2\n_first:\n\t.cfi_startproc\n" + c.text + "\t.cfi_endproc\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.s"), []byte(text), 0o600))
		run(t, dir, "clang", "-target", arch+"-apple-macos11", "-c", "p.s", "-o", "p.o")
		run(t, dir, "ld64.lld", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "-dylib", "-undefined",
			"dynamic_lookup", "p.o", "-o", "p")
		r, s := readFile(t, filepath.Join(dir, "p"))
		require.Zero(t, s.Skipped, s.Reason)
		require.Contains(t, r.said(), c.want, arch)
	}
}

func TestCompactWithoutFrame(t *testing.T) {
	t.Parallel()
	table := compactTable{reader: &reader{file: &container.File{Arch: "x86_64"}, arch: registersOf["x86_64"]}}
	// 5 words, three registers: rbx, r14, rbp is permutation 0*20 + 2*4 + 3.
	rules, err := table.rules(2<<24|5<<16|3<<10|11, 0)
	require.NoError(t, err)
	require.Equal(t, ".cfa: $rsp 40 + .ra: .cfa -8 + ^ $rbx: .cfa -32 + ^ $r14: .cfa -24 + ^ $rbp: .cfa -16 + ^", rules)
	rules, err = table.rules(2<<24|5<<16|7<<10, 0)
	require.NoError(t, err)
	require.Empty(t, rules, "seven registers")
	order, ok := permutation(6, 0)
	require.True(t, ok)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6}, order)
	require.Equal(t, ".cfa: sp 48 + .ra: x30", compactARM64(2<<24|3<<12))
	require.Empty(t, compactARM64(3<<24), "DWARF has it")
}

func TestARMInstructions(t *testing.T) {
	t.Parallel()
	for codes, want := range map[string]string{
		"\xb0":                     ".cfa: sp 0 + .ra: lr",
		"\xab\xb0":                 ".cfa: sp 20 + .ra: .cfa -4 + ^ r4: .cfa -20 + ^ r5: .cfa -16 + ^ r6: .cfa -12 + ^ r7: .cfa -8 + ^",
		"\x03\x84\x08\xb0":         ".cfa: sp 24 + .ra: .cfa -4 + ^ r7: .cfa -8 + ^",
		"\x9b\x41\x84\x80\xb0":     ".cfa: r11 0 + .ra: .cfa -4 + ^ r11: .cfa -8 + ^",
		"\xb2\x04\xb0":             ".cfa: sp 532 + .ra: lr",
		"\xc9\x83\xa8\xb0":         ".cfa: sp 40 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^",
		"\xb1\x0f\x84\x00\xb0":     ".cfa: sp 20 + .ra: .cfa -4 + ^ r0: .cfa -20 + ^ r1: .cfa -16 + ^ r2: .cfa -12 + ^ r3: .cfa -8 + ^",
		"\xb4\xd1\xbb\xc7\x03\xb0": ".cfa: sp 64 + .ra: lr",
	} {
		got, err := armInstructions([]byte(codes))
		require.NoError(t, err)
		require.Equal(t, want, got, "%x", codes)
	}
	for _, wrong := range []string{"", "\x80\x00", "\x9d", "\x9f", "\xb1\x00", "\xb2", "\xca", "\xc7\x00", "\x84"} {
		_, err := armInstructions([]byte(wrong))
		require.Error(t, err, "%x", wrong)
	}
}

// The index of ARM exceptions agrees with .debug_frame where a function has done all its
// prologue.
func TestARMIndexAgainstFrames(t *testing.T) {
	t.Parallel()
	path := built(t, "arm-linux-gnueabihf-gcc", "-O2", "-funwind-tables")
	p, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := container.Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	var frames, index rows
	r := &reader{file: f, sink: &frames, arch: registersOf["arm"], left: 1 << 20}
	require.NoError(t, r.debugFrame())
	r = &reader{file: f, sink: &index, arch: registersOf["arm"], left: 1 << 20}
	require.NoError(t, r.exidx())
	equal := 0
	for _, entry := range index.all {
		for _, row := range frames.all {
			if row.Start >= entry.Start && row.End <= entry.End && sameRules(row.Rules, entry.Rules) {
				equal++
				break
			}
		}
	}
	require.NotEmpty(t, frames.all)
	require.GreaterOrEqual(t, equal, 4, "%v\n%v", frames.all, index.all)
}

func sameRules(a, b string) bool {
	one, other := rulesOf(a), rulesOf(b)
	for name, rule := range one {
		if other[name] != rule {
			return false
		}
	}
	return len(one) == len(other)
}

// elfOf is an ELF file of 32 or 64 bits with sections of content at addresses from 0x1000.
func elfOf(machine uint16, wide bool, sections map[string][]byte) []byte {
	order := binary.LittleEndian
	names := "\x00"
	head, each := 52, 40
	if wide {
		head, each = 64, 64
	}
	body := make([]byte, head)
	copy(body, "\x7fELF\x01\x01\x01")
	order.PutUint16(body[16:], 3)
	order.PutUint16(body[18:], machine)
	table := make([]byte, each)
	add := func(name string, content []byte) {
		at := len(table)
		table = append(table, make([]byte, each)...)
		p := table[at:]
		order.PutUint32(p, uint32(len(names)))
		names += name + "\x00"
		order.PutUint32(p[4:], 1)
		values := []uint64{4, 0x1000 + uint64(len(body)), uint64(len(body)), uint64(len(content))}
		for i, v := range values {
			if wide {
				order.PutUint64(p[8+8*i:], v)
			} else {
				order.PutUint32(p[8+4*i:], uint32(v))
			}
		}
		body = append(body, content...)
	}
	for _, name := range []string{".text", ".eh_frame", ".debug_frame", ".ARM.exidx", ".ARM.extab"} {
		if sections[name] != nil {
			add(name, sections[name])
		}
	}
	names += ".shstrtab\x00"
	size := len(names)
	names = strings.TrimSuffix(names, ".shstrtab\x00")
	add(".shstrtab", append([]byte(names+".shstrtab\x00"), make([]byte, 0)...)[:size])
	if wide {
		body[4] = 2
		order.PutUint64(body[40:], uint64(len(body)))
		order.PutUint16(body[58:], uint16(each))
		order.PutUint16(body[60:], uint16(len(table)/each))
		order.PutUint16(body[62:], uint16(len(table)/each-1))
	} else {
		order.PutUint32(body[32:], uint32(len(body)))
		order.PutUint16(body[46:], uint16(each))
		order.PutUint16(body[48:], uint16(len(table)/each))
		order.PutUint16(body[50:], uint16(len(table)/each-1))
	}
	return append(body, table...)
}

// peOf is a PE32+ file with .text, .pdata and .xdata at 0x1000, 0x2000 and 0x10000.
func peOf(machine uint16, pdata, xdata []byte) []byte {
	order := binary.LittleEndian
	head := make([]byte, 64+24+112+3*40)
	copy(head, "MZ")
	order.PutUint32(head[60:], 64)
	copy(head[64:], "PE\x00\x00")
	order.PutUint16(head[68:], machine)
	order.PutUint16(head[70:], 3)
	order.PutUint16(head[84:], 112)
	order.PutUint16(head[88:], 0x20b)
	body := head
	for i, s := range []struct {
		name    string
		address uint32
		content []byte
		flags   uint32
	}{{".text", 0x1000, make([]byte, 64), 0x60000020}, {".pdata", 0x2000, pdata, 0x40000040}, {".xdata", 0x10000, xdata, 0x40000040}} {
		p := head[64+24+112+40*i:]
		copy(p[:8], s.name)
		order.PutUint32(p[8:], uint32(len(s.content)))
		order.PutUint32(p[12:], s.address)
		order.PutUint32(p[16:], uint32(len(s.content)))
		order.PutUint32(p[20:], uint32(len(body)))
		order.PutUint32(p[36:], s.flags)
		body = append(body, s.content...)
		head = body
	}
	return body
}

// machOf is a 64-bit Mach-O with __TEXT,__unwind_info.
func machOf(cpu uint32, content []byte) []byte {
	order := binary.LittleEndian
	p := make([]byte, 32+72+80)
	order.PutUint32(p, 0xfeedfacf)
	order.PutUint32(p[4:], cpu)
	order.PutUint32(p[12:], 6)
	order.PutUint32(p[16:], 1)
	order.PutUint32(p[20:], 72+80)
	c := p[32:]
	order.PutUint32(c, 0x19)
	order.PutUint32(c[4:], 72+80)
	copy(c[8:], "__TEXT")
	order.PutUint64(c[48:], uint64(len(content)))
	order.PutUint32(c[64:], 1)
	s := c[72:]
	copy(s, "__unwind_info")
	copy(s[16:], "__TEXT")
	order.PutUint64(s[40:], uint64(len(content)))
	order.PutUint32(s[48:], uint32(len(p)))
	return append(p, content...)
}

func FuzzRead(f *testing.F) {
	entry := []byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
		20, 0, 0, 0, 28, 0, 0, 0, 0, 1, 0, 0, 0x40, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x0f, 3, 0x77, 8, 6, 0, 0, 0}
	frame := append([]byte{12, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16, 0}, entry[24:]...)
	f.Add(byte(0), entry, []byte{})
	f.Add(byte(1), frame, []byte{})
	f.Add(byte(2), []byte{0, 0, 0, 0x7f, 0xb0, 0xab, 0xb0, 0x80, 8, 0, 0, 0x7f, 1, 0, 0, 0}, []byte{0, 0xab, 0x84, 0x80})
	f.Add(byte(3), []byte{0, 0x10, 0, 0, 0x40, 0x10, 0, 0, 0, 0, 1, 0}, []byte{1, 8, 2, 5, 8, 3, 4, 0x32, 1, 0x50, 0, 0})
	f.Add(byte(4), []byte{0, 0x10, 0, 0, 0, 0, 1, 0, 0x40, 0x10, 0, 0, 0x41, 0, 0x23, 2}, []byte{8, 0, 0x20, 0x08, 0xe1, 0x81, 0xe4, 0xe4})
	compact := make([]byte, 28+24+16)
	for i, n := range []uint32{1, 28, 0, 28, 0, 28, 2, 0x100, 52, 0, 0x200, 0, 0, 2, 1<<16 | 8, 0x100, 0x04000001} {
		binary.LittleEndian.PutUint32(compact[4*i:], n)
	}
	f.Add(byte(5), compact, []byte{})
	f.Add(byte(6), compact, []byte{})
	f.Fuzz(func(t *testing.T, kind byte, table, more []byte) {
		if len(table) > 1<<16 || len(more) > 1<<16 {
			return
		}
		var p []byte
		switch kind % 7 {
		case 0:
			p = elfOf(62, true, map[string][]byte{".text": make([]byte, 64), ".eh_frame": table})
		case 1:
			p = elfOf(183, true, map[string][]byte{".debug_frame": table, ".eh_frame": more})
		case 2:
			p = elfOf(40, false, map[string][]byte{".text": make([]byte, 64), ".ARM.exidx": table, ".ARM.extab": more})
		case 3:
			p = peOf(0x8664, table, more)
		case 4:
			p = peOf(0xaa64, table, more)
		case 5:
			p = machOf(0x01000007, table)
		case 6:
			p = machOf(0x0100000c, table)
		}
		file, err := container.Open(bytes.NewReader(p), int64(len(p)))
		require.NoError(t, err)
		var r rows
		s, err := Read(file, &r)
		if err == nil {
			require.Len(t, r.all, s.Rows)
		}
		for _, u := range r.all {
			require.Less(t, u.Start, u.End)
			require.NotEmpty(t, u.Rules)
			require.Less(t, len(u.Rules), 4*maxRuleLength)
		}
	})
}

// The seeds of the fuzz target are read as they are meant.
func TestContainersOfTests(t *testing.T) {
	t.Parallel()
	p := peOf(0x8664, []byte{0, 0x10, 0, 0, 0x40, 0x10, 0, 0, 0, 0, 1, 0}, []byte{1, 8, 2, 0, 8, 0x32, 4, 0x50, 0, 0})
	f, err := container.Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	var r rows
	_, err = Read(f, &r)
	require.NoError(t, err)
	require.Equal(t, []native.Unwind{
		{Start: 0x1000, End: 0x1004, Rules: ".cfa: $rsp 8 + .ra: .cfa -8 + ^"},
		{Start: 0x1004, End: 0x1008, Rules: ".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^"},
		{Start: 0x1008, End: 0x1040, Rules: ".cfa: $rsp 48 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^"},
	}, r.all)
}
