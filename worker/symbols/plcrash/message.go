package plcrash

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

func (x *reader) system(b []byte) error {
	legacy := map[uint64]string{0: dump.X86, 1: dump.X86_64, 2: dump.ARM, 3: "ppc", 4: "ppc64", 5: dump.ARM}
	systems := map[uint64]string{0: dump.MacOS, 1: dump.IOS, 2: dump.IOS, 4: "tvOS"}
	return each(b, "system info", func(f field) error {
		s := &x.d.System
		switch f.number {
		case 1:
			s.OS = systems[f.value]
			if f.value == 2 {
				x.d.Set("device.simulator", "true")
			}
		case 2:
			s.Version = f.text()
		case 3:
			if x.host == "" {
				x.host = legacy[f.value]
			}
		case 4:
			x.d.Time = int64(f.value)
		case 5:
			s.Build = f.text()
		}
		return nil
	})
}

func (x *reader) application(b []byte) error {
	return each(b, "application info", func(f field) error {
		switch f.number {
		case 1:
			x.d.Set("application.identifier", f.text())
		case 2:
			x.d.Set("application.build", f.text())
			if x.d.Process.Version == "" {
				x.d.Process.Version = f.text()
			}
		case 3:
			x.d.Process.Version = f.text()
		}
		return nil
	})
}

func (x *reader) process(b []byte) error {
	return each(b, "process info", func(f field) error {
		p := &x.d.Process
		switch f.number {
		case 1:
			p.Name = f.text()
		case 2:
			p.ID = int64(uint32(f.value))
		case 3:
			p.Path = f.text()
		case 4:
			x.d.Set("process.parent.name", f.text())
		case 6:
			if f.value == 0 {
				x.d.Set("process.emulated", "true")
			}
		case 7:
			p.Started = int64(f.value)
		}
		return nil
	})
}

func (x *reader) machine(b []byte) error {
	return each(b, "machine info", func(f field) error {
		switch f.number {
		case 1:
			x.d.Set("device.model", f.text())
		case 2:
			arch, err := processor(f.bytes)
			if arch != "" {
				x.host = arch
			}
			return err
		case 3:
			x.d.Set("cpu.cores", strconv.FormatUint(uint64(uint32(f.value)), 10))
		case 4:
			x.d.System.CPUs = int(uint32(f.value) & 0xffff)
		}
		return nil
	})
}

// processor returns the architecture by the CPU types of mach/machine.h; "" for others.
func processor(b []byte) (string, error) {
	encoding, kind := uint64(0), uint64(0)
	err := each(b, "processor", func(f field) error {
		switch f.number {
		case 1:
			encoding = f.value
		case 2:
			kind = f.value
		}
		return nil
	})
	if encoding != 1 {
		return "", err
	}
	return map[uint64]string{7: dump.X86, 0x01000007: dump.X86_64, 12: dump.ARM, 0x0100000c: dump.ARM64,
		0x0200000c: "arm64_32", 18: "ppc", 0x01000012: "ppc64"}[kind], err
}

func (x *reader) info(b []byte) error {
	return each(b, "report info", func(f field) error {
		switch f.number {
		case 1:
			x.requested = f.value != 0
		case 2:
			if len(f.bytes) == 16 {
				x.d.Set("plcrash.report_id", hex.EncodeToString(f.bytes))
			}
		}
		return nil
	})
}

func (x *reader) thread(b []byte) error {
	t := dump.Thread{}
	crashed := false
	err := each(b, "thread", func(f field) error {
		switch f.number {
		case 1:
			t.ID = uint64(uint32(f.value))
		case 2:
			return x.frame(&t.Frames, &t.Cut, f.bytes)
		case 3:
			crashed = f.value != 0
		case 4:
			return register(&t, f.bytes)
		}
		return nil
	})
	if crashed && x.crashed < 0 {
		x.crashed = len(x.d.Threads)
	}
	x.d.Threads = append(x.d.Threads, t)
	return err
}

// frame reads a frame and appends it, unless there are enough.
func (x *reader) frame(frames *[]dump.Frame, cut *bool, b []byte) error {
	if len(*frames) == maxFrames || x.frames == maxTotal {
		*cut = true
		return nil
	}
	frame := dump.Frame{Trust: dump.TrustGiven}
	err := each(b, "frame", func(f field) error {
		switch f.number {
		case 3:
			frame.Address = f.value
		case 6:
			return each(f.bytes, "symbol", func(f field) error {
				if f.number == 1 {
					frame.Symbol = f.text()
				}
				return nil
			})
		}
		return nil
	})
	x.frames++
	*frames = append(*frames, frame)
	return err
}

func register(t *dump.Thread, b []byte) error {
	name, value := "", uint64(0)
	err := each(b, "register", func(f field) error {
		switch f.number {
		case 1:
			name = strings.ToLower(f.text())
		case 2:
			value = f.value
		}
		return nil
	})
	if t.Registers == nil {
		t.Registers = map[string]uint64{}
	}
	if name != "" && len(name) <= 16 && len(t.Registers) < maxRegisters {
		t.Registers[name] = value
	}
	return err
}

func (x *reader) binaryImage(b []byte) error {
	m := dump.Module{}
	arch := ""
	err := each(b, "binary image", func(f field) (err error) {
		switch f.number {
		case 1:
			m.Start = f.value
		case 2:
			m.Size = f.value
		case 3:
			m.CodeFile = f.text()
		case 4:
			m.DebugID = normal(symbol.DebugID, hex.EncodeToString(f.bytes))
			m.CodeID = normal(symbol.CodeID, hex.EncodeToString(f.bytes))
		case 5:
			arch, err = processor(f.bytes)
		}
		return err
	})
	if x.image == "" {
		x.image = arch
	}
	m.DebugFile = m.CodeFile
	if m.Size > 0 && m.Start+m.Size > m.Start {
		x.d.Modules = append(x.d.Modules, m)
	}
	return err
}

// normal spells an identifier as it is stored; "" for one that cannot be.
func normal(kind symbol.IdentifierType, value string) string {
	id, ok := symbol.Identifier{Type: kind, Value: value}.Normalize()
	if !ok {
		return ""
	}
	return id.Value
}

func (x *reader) exceptionInfo(b []byte) error {
	x.exception = &exception{}
	cut := false
	return each(b, "exception", func(f field) error {
		switch f.number {
		case 1:
			x.exception.name = f.text()
		case 2:
			x.exception.reason = f.text()
		case 3:
			return x.frame(&x.exception.frames, &cut, f.bytes)
		}
		return nil
	})
}

func (x *reader) signalInfo(b []byte) error {
	return each(b, "signal", func(f field) error {
		switch f.number {
		case 1:
			x.signal.name = f.text()
		case 2:
			x.signal.code = f.text()
		case 3:
			x.signal.address = f.value
		case 4:
			x.signal.isMach = true
			return each(f.bytes, "Mach exception", x.machException)
		}
		return nil
	})
}

func (x *reader) machException(f field) error {
	switch {
	case f.number == 1:
		x.signal.mach = f.value
	case f.number == 2 && len(x.signal.codes) < 4:
		x.signal.codes = append(x.signal.codes, f.value)
	}
	return nil
}
