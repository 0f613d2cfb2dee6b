package minidumptest

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// Exception is the record of the Exception stream.
type Exception struct {
	Code, Flags uint32
	Address     uint64
	Parameters  []uint64
}

// architecture and platform return the numbers of an architecture and of a system.
func architecture(name string) uint16 {
	return map[string]uint16{dump.X86: 0, dump.ARM: 5, dump.X86_64: 9, dump.ARM64: 12}[name]
}

func platform(name string) uint32 {
	return map[string]uint32{dump.Windows: 2, dump.MacOS: 0x8101, dump.IOS: 0x8102, dump.Linux: 0x8201, dump.Android: 0x8203}[name]
}

// Write returns a minidump of a dump in a byte order. The exception is nil for a dump without
// one; it is of the main thread, whose registers are those of the exception.
func Write(order Order, d *dump.Dump, e *Exception) []byte {
	return Fill(New(order), d, e).Bytes(d.Time)
}

// Fill adds the streams of a dump to a file.
func Fill(f *File, d *dump.Dump, e *Exception) *File {
	f.system(d)
	f.modules(d)
	f.threads(d)
	if e != nil {
		f.exception(d, e)
	}
	if len(d.Attributes) > 0 {
		f.annotations(d)
	}
	f.Stream(15, f.Numbers(24, 3, uint32(d.Process.ID), uint32(d.Process.Started), 0, 0))
	return f
}

func (f *File) system(d *dump.Dump) {
	s := d.System
	var version [3]int
	for i, part := range strings.SplitN(s.Version, ".", 3) {
		version[i], _ = strconv.Atoi(part)
	}
	f.Stream(7, f.Numbers(architecture(s.Arch), uint16(6), uint16(0x8e0c), byte(s.CPUs), byte(1), version[0], version[1], version[2],
		platform(s.OS), f.Text16(s.Build), uint16(0), uint16(0), make([]byte, 24)))
}

func (f *File) modules(d *dump.Dump) {
	list := f.Numbers(len(d.Modules))
	for _, m := range d.Modules {
		name := f.Text16(m.CodeFile)
		record := f.codeView(d, m)
		stamp := uint32(0)
		if len(m.CodeID) > 8 && d.System.OS == dump.Windows {
			n, _ := strconv.ParseUint(m.CodeID[:8], 16, 32)
			stamp = uint32(n)
		}
		info := make([]byte, 52)
		if parts := strings.Split(m.Version, "."); len(parts) == 4 {
			var v [4]uint16
			for i, part := range parts {
				n, _ := strconv.Atoi(part)
				v[i] = uint16(n)
			}
			copy(info, f.Numbers(uint32(0xfeef04bd), 0x10000, uint32(v[0])<<16|uint32(v[1]), uint32(v[2])<<16|uint32(v[3])))
		}
		list = append(list, f.Numbers(m.Start, uint32(m.Size), 0, stamp, name, info, len(record), f.Put(record), 0, 0, uint64(0), uint64(0))...)
	}
	f.Stream(4, list)
}

// codeView is RSDS for Windows and macOS, and the build id for others.
func (f *File) codeView(d *dump.Dump, m dump.Module) []byte {
	if m.DebugID == "" {
		return nil
	}
	if d.System.OS == dump.Linux || d.System.OS == dump.Android {
		id, _ := hex.DecodeString(m.CodeID)
		return append(f.Numbers(uint32(0x4270454c)), id...)
	}
	id, _ := hex.DecodeString(m.DebugID[:32])
	age, _ := strconv.ParseUint(m.DebugID[32:], 16, 32)
	guid := f.Numbers(binary.BigEndian.Uint32(id), binary.BigEndian.Uint16(id[4:]), binary.BigEndian.Uint16(id[6:]), id[8:])
	return append(f.Numbers(uint32(0x53445352), guid, uint32(age), []byte(m.DebugFile)), 0)
}

func (f *File) threads(d *dump.Dump) {
	offsets := map[uint64]uint32{}
	memory := f.Numbers(len(d.Memory))
	for _, r := range d.Memory {
		offsets[r.Start] = f.Put(r.Data)
		memory = append(memory, f.Numbers(r.Start, len(r.Data), offsets[r.Start])...)
	}
	list, names, named := f.Numbers(len(d.Threads)), []byte(nil), 0
	for _, t := range d.Threads {
		context := f.context(d.System.Arch, t.Registers)
		list = append(list, f.Numbers(uint32(t.ID), 0, 0, 0, uint64(0), t.StackStart, uint32(t.StackEnd-t.StackStart), offsets[t.StackStart],
			len(context), f.Put(context))...)
		if t.Name != "" {
			named++
			names = append(names, f.Numbers(uint32(t.ID), uint64(f.Text16(t.Name)))...)
		}
	}
	f.Stream(3, list)
	f.Stream(5, memory)
	if named > 0 {
		f.Stream(24, append(f.Numbers(named), names...))
	}
}

func (f *File) exception(d *dump.Dump, e *Exception) {
	t := d.Threads[d.Main]
	context := f.context(d.System.Arch, t.Registers)
	at := f.Put(context)
	parameters := make([]byte, 0, 120)
	for _, p := range e.Parameters {
		parameters = f.order.AppendUint64(parameters, p)
	}
	parameters = append(parameters, make([]byte, 120-len(parameters))...)
	f.Stream(6, f.Numbers(uint32(t.ID), 0, e.Code, e.Flags, uint64(0), e.Address, len(e.Parameters), 0, parameters, len(context), at))
}

// context writes registers in the layout of the architecture; nil for none.
func (f *File) context(arch string, registers map[string]uint64) []byte {
	if registers == nil {
		return nil
	}
	switch arch {
	case dump.X86:
		b := make([]byte, 716)
		f.order.PutUint32(b, 0x1007f)
		for i, name := range []string{"edi", "esi", "ebx", "edx", "ecx", "eax", "ebp", "eip", "", "eflags", "esp"} {
			f.order.PutUint32(b[156+4*i:], uint32(registers[name]))
		}
		return b
	case dump.X86_64:
		b := make([]byte, 1232)
		f.order.PutUint32(b[48:], 0x10000b)
		for i, name := range []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11",
			"r12", "r13", "r14", "r15", "rip"} {
			f.order.PutUint64(b[120+8*i:], registers[name])
		}
		return b
	case dump.ARM:
		b := make([]byte, 368)
		f.order.PutUint32(b, 0x40000006)
		for i, name := range []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc", "cpsr"} {
			f.order.PutUint32(b[4+4*i:], uint32(registers[name]))
		}
		return b
	case dump.ARM64:
		b := make([]byte, 912)
		f.order.PutUint32(b, 0x400007)
		for i := range 33 {
			name := "x" + strconv.Itoa(i)
			if i >= 29 {
				name = []string{"fp", "lr", "sp", "pc"}[i-29]
			}
			f.order.PutUint64(b[8+8*i:], registers[name])
		}
		return b
	}
	return nil
}

// annotations writes the attributes as annotations of Crashpad: the first half of the
// process, the others of the first module, as objects.
func (f *File) annotations(d *dump.Dump) {
	half := (len(d.Attributes) + 1) / 2
	simple := f.Numbers(half)
	for _, a := range d.Attributes[:half] {
		simple = append(simple, f.Numbers(f.Text8(a.Key), f.Text8(a.Value))...)
	}
	objects := f.Numbers(len(d.Attributes) - half)
	for _, a := range d.Attributes[half:] {
		objects = append(objects, f.Numbers(f.Text8(a.Key), uint16(1), uint16(0), f.Text8(a.Value))...)
	}
	module := f.Numbers(1, 0, 0, 0, 0, len(objects), f.Put(objects))
	links := f.Numbers(1, 0, len(module), f.Put(module))
	f.Stream(0x43500001, f.Numbers(1, make([]byte, 32), len(simple), f.Put(simple), len(links), f.Put(links), 0, uint64(0)))
}
