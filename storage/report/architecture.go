package report

// registerUse is a frame's registers, kept until the architecture is known, which
// may come after the threads.
type registerUse struct {
	at     int // offset of the object's first member
	thread []byte
	frame  int
}

// architecture reads the name of the architecture and the types of its
// registers.
func (w *walker) architecture() bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	w.arch = new(nameSet)
	var (
		m    cursor
		seen uint32
		name text
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "name":
			ok = w.first(&seen, 1) && w.optionalText(&name)
		case "registers":
			ok = w.first(&seen, 2) && w.registerTypes()
		default:
			ok = w.unknownMember(m.key, 2)
		}
		if !ok {
			return w.inMember(m.key)
		}
	}
	return w.err == nil
}

func (w *walker) registerTypes() bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	var m cursor
	for w.member(&m) {
		if m.n > w.limits.Registers {
			return w.tooMany("registers", w.limits.Registers)
		}
		if !w.registerType(m.key) {
			return w.inMember(m.key)
		}
	}
	return w.err == nil
}

func (w *walker) registerType(name []byte) bool {
	if _, fresh := w.arch.add(name); !fresh {
		return w.duplicate()
	}
	t, ok := w.text()
	if !ok {
		return false
	}
	switch string(t.bytes()) {
	case "i32", "u32", "i64", "u64", "f32", "string":
		return true
	}
	return w.invalidValue("must be i32, u32, i64, u64, f32 or string")
}

// frameRegisters reads the register values of a frame: numbers, or text for
// integers of 64 bits and for registers of the type string. Whether the names
// match the architecture is checked at the end, by registerNames.
func (w *walker) frameRegisters(thread []byte, frame int) bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	start := w.pos
	var m cursor
	for w.member(&m) {
		if m.n > w.limits.Registers {
			return w.tooMany("registers", w.limits.Registers)
		}
		var value text
		if !w.optionalScalar(&value) {
			return w.inMember(m.key)
		}
	}
	if w.err == nil && m.n > 0 {
		w.registers = append(w.registers, registerUse{at: start, thread: thread, frame: frame})
	}
	return w.err == nil
}

// registerNames compares the names of a frame's registers with those of the
// architecture.
func (w *walker) registerNames(use registerUse) bool {
	if w.arch == nil {
		w.invalidValue("is required to send registers")
		return w.inMember([]byte("arch"))
	}
	w.pos = use.at
	var m cursor
	for w.member(&m) {
		if w.arch.index(m.key) >= 0 {
			w.skip(6)
			continue
		}
		w.invalidValue("is not a register of arch")
		w.inMember(m.key)
		w.inMember([]byte("registers"))
		w.inElement(use.frame)
		w.inMember([]byte("stack"))
		w.inMember(use.thread)
		return w.inMember([]byte("threads"))
	}
	return w.err == nil
}
