// Package dump is a native crash dump, whatever format it came in: the system, the
// modules, the threads with their registers, what of their memory a stack walk needs,
// and why the process ended.
//
// Readers (minidump, plcrash, engine) return a Dump. It is plain data and goes through JSON,
// so that it can be read in a process of its own, which may be killed, and be walked
// and symbolicated in another. Package walk fills in the frames of the threads; Report
// makes the result an ordinary report (storage/report).
//
// One rule holds for the addresses of frames: that of the first frame of a thread is
// the instruction at which it stood, that of every other frame is a return address,
// which belongs to the instruction behind the call. Whoever looks up a function or a
// line takes one off the address of every frame but the first.
//
// A dump that is damaged in parts is read as far as it goes: Warnings say what is
// missing. The package is a leaf.
package dump

import (
	"sort"
)

// The systems, as in System.OS.
const (
	Windows = "Windows"
	MacOS   = "macOS"
	IOS     = "iOS"
	Linux   = "Linux"
	Android = "Android"
)

// The architectures, as in System.Arch.
const (
	X86    = "x86"
	X86_64 = "x86_64"
	ARM    = "arm"
	ARM64  = "arm64"
)

// Dump is what a dump says.
type Dump struct {
	// Format is "minidump", "plcrash", "unreal" or "unity".
	Format string `json:"format"`
	// Time is when the dump was written, in UTC seconds; 0 when unknown.
	Time    int64   `json:"time"`
	System  System  `json:"system"`
	Process Process `json:"process"`
	// Reason is nil for a dump that was taken of a process that went on.
	Reason *Reason `json:"reason"`
	// Main is the index in Threads of the thread that crashed, or that asked for the dump;
	// -1 when there is no thread.
	Main    int      `json:"main"`
	Threads []Thread `json:"threads"`
	// Modules in the order of their addresses, and those that were unloaded before.
	Modules  []Module `json:"modules"`
	Unloaded []Module `json:"unloaded"`
	// Executable is where code was mapped, in the order of the addresses; nil when unknown.
	Executable []Range `json:"executable"`
	// Memory in the order of the addresses, without overlap.
	Memory []Region `json:"memory"`
	// Attributes are indexed keys and values, in order; annotations are for reading.
	Attributes  []Attribute    `json:"attributes"`
	Annotations map[string]any `json:"annotations"`
	// Warnings say what could not be read.
	Warnings []string `json:"warnings"`
}

// System is where the process ran.
type System struct {
	// OS is one of the constants, or the name that the dump has for another one.
	OS string `json:"os"`
	// Version is that of the system: "10.0.19045"; Build tells more: its build or kernel.
	Version string `json:"version"`
	Build   string `json:"build"`
	// Arch is one of the constants, or the name of another one, which is not walked.
	Arch string `json:"arch"`
	// CPUInfo names the processor: "family 6 model 142 stepping 12".
	CPUInfo string `json:"cpu_info"`
	CPUs    int    `json:"cpus"`
}

// Process is the process that the dump is of. Zero values are unknown.
type Process struct {
	ID      int64 `json:"id"`
	Started int64 `json:"started"` // UTC seconds
	// Name is that of the program, Version its own.
	Name    string `json:"name"`
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Reason is why the process ended.
type Reason struct {
	// Name in the system's terms: "SIGSEGV / SEGV_MAPERR", "EXCEPTION_ACCESS_VIOLATION_READ".
	Name string `json:"name"`
	// Address is the memory that could not be accessed, else the instruction.
	Address    uint64 `json:"address"`
	HasAddress bool   `json:"has_address"`
	// Message is what the program itself said last: an exception's reason, an assertion.
	Message string `json:"message"`
}

// Thread is a thread.
type Thread struct {
	ID   uint64 `json:"id"`
	Name string `json:"name"`
	// Registers by their lower-case names; nil when they are unknown.
	Registers map[string]uint64 `json:"registers"`
	// StackStart and StackEnd bound its stack's memory, as far as the dump says.
	StackStart uint64 `json:"stack_start"`
	StackEnd   uint64 `json:"stack_end"`
	// Skip is why the thread is not walked: it wrote the dump.
	Skip   string  `json:"skip"`
	Frames []Frame `json:"frames"`
	// Cut says that there were more frames than are kept.
	Cut bool `json:"cut"`
}

// Frame is a stack frame, the innermost first.
type Frame struct {
	// Address is the instruction for the first frame of a thread, else the return address.
	Address uint64 `json:"address"`
	// Module is an index in Modules; -1 for none.
	Module int `json:"module"`
	// Symbol is the function as the client named it, who knows public symbols only; "" for
	// frames that were walked here.
	Symbol string `json:"symbol"`
	// Trust is how the frame was found: one of the constants.
	Trust string `json:"trust"`
	// Registers are those that are known in this frame.
	Registers map[string]uint64 `json:"registers"`
}

// How a frame was found, as in Frame.Trust.
const (
	TrustContext      = "context"       // the registers of the thread
	TrustCFI          = "cfi"           // call frame information
	TrustCFIScan      = "cfi_scan"      // call frame information, and a search near its result
	TrustFramePointer = "frame_pointer" // the chain of frame pointers
	TrustScan         = "scan"          // something on the stack that looks like a return address
	TrustGiven        = "given"         // the client walked the stack itself
)

// Guessed reports whether a frame was found without call frame information.
func (f Frame) Guessed() bool {
	switch f.Trust {
	case TrustScan, TrustCFIScan, TrustFramePointer:
		return true
	}
	return false
}

// Module is a loaded program or library.
type Module struct {
	Start uint64 `json:"start"`
	Size  uint64 `json:"size"`
	// CodeFile and DebugFile are paths or names, as the dump has them.
	CodeFile  string `json:"code_file"`
	DebugFile string `json:"debug_file"`
	Version   string `json:"version"`
	// DebugID and CodeID are identifiers as symbol.Identifier has them; "" when unknown.
	DebugID string `json:"debug_id"`
	CodeID  string `json:"code_id"`
}

// Range is from Start up to End, which does not belong to it.
type Range struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

// Region is memory of the process.
type Region struct {
	Start uint64 `json:"start"`
	Data  []byte `json:"data"`
}

// Attribute is an indexed key and value.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Set adds an attribute. The first value of a key stays; an empty value is none.
func (d *Dump) Set(key, value string) {
	if value == "" || key == "" {
		return
	}
	d.Attributes = append(d.Attributes, Attribute{Key: key, Value: value})
}

// ModuleAt returns the index of the module that an address belongs to; -1 for none.
func (d *Dump) ModuleAt(address uint64) int {
	n := sort.Search(len(d.Modules), func(i int) bool { return d.Modules[i].Start > address }) - 1
	if n < 0 || address-d.Modules[n].Start >= d.Modules[n].Size {
		return -1
	}
	return n
}

// MayExecute reports whether code may be at an address: where it was mapped, or anywhere
// when that is not known.
func (d *Dump) MayExecute(address uint64) bool {
	if d.Executable == nil {
		return true
	}
	n := sort.Search(len(d.Executable), func(i int) bool { return d.Executable[i].Start > address }) - 1
	return n >= 0 && address < d.Executable[n].End
}

// SortExecutable brings the ranges of code in order, and joins those that touch.
func (d *Dump) SortExecutable() {
	sort.Slice(d.Executable, func(i, j int) bool { return d.Executable[i].Start < d.Executable[j].Start })
	kept := d.Executable[:0]
	for _, r := range d.Executable {
		if n := len(kept); n > 0 && r.Start <= kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, r.End)
			continue
		}
		kept = append(kept, r)
	}
	d.Executable = kept
}

// SortModules brings the modules in the order of their addresses and drops those that
// begin where another one does.
func (d *Dump) SortModules() {
	sort.SliceStable(d.Modules, func(i, j int) bool { return d.Modules[i].Start < d.Modules[j].Start })
	kept := d.Modules[:0]
	for _, m := range d.Modules {
		if n := len(kept); n > 0 && kept[n-1].Start == m.Start {
			continue
		}
		kept = append(kept, m)
	}
	d.Modules = kept
}

// SortMemory brings the memory in the order of its addresses, and cuts off what
// overlaps.
func (d *Dump) SortMemory() {
	sort.SliceStable(d.Memory, func(i, j int) bool { return d.Memory[i].Start < d.Memory[j].Start })
	kept := d.Memory[:0]
	var end uint64
	for _, r := range d.Memory {
		if uint64(len(r.Data)) > -r.Start-1 {
			r.Data = r.Data[:-r.Start-1] // up to the end of the address space
		}
		if len(kept) > 0 && r.Start < end {
			if end-r.Start >= uint64(len(r.Data)) {
				continue
			}
			r.Data, r.Start = r.Data[end-r.Start:], end
		}
		if len(r.Data) == 0 {
			continue
		}
		end = r.Start + uint64(len(r.Data))
		kept = append(kept, r)
	}
	d.Memory = kept
}

// Bytes returns up to n bytes of the memory at an address, fewer at the end of a
// region, none where the dump has no memory. They belong to the dump.
func (d *Dump) Bytes(address uint64, n int) []byte {
	i := sort.Search(len(d.Memory), func(i int) bool { return d.Memory[i].Start > address }) - 1
	if i < 0 {
		return nil
	}
	r := &d.Memory[i]
	at := address - r.Start
	if at >= uint64(len(r.Data)) {
		return nil
	}
	return r.Data[at:min(uint64(len(r.Data)), at+uint64(n))]
}

// Pointer returns the pointer in little-endian memory at an address; width is 4 or 8.
func (d *Dump) Pointer(address uint64, width int) (uint64, bool) {
	b := d.Bytes(address, width)
	if len(b) < width {
		return 0, false
	}
	var v uint64
	for i := width - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, true
}
