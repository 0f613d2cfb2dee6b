package report

// modules reads the loaded modules.
func (w *walker) modules() bool {
	entered, ok := w.optionalArray()
	if !entered {
		return ok
	}
	var m cursor
	for w.element(&m) {
		if m.n > w.limits.Modules {
			return w.tooMany("modules", w.limits.Modules)
		}
		if !w.module() {
			return w.inElement(m.n - 1)
		}
	}
	return w.err == nil
}

func (w *walker) module() bool {
	if w.token() != '{' {
		return w.wrongKind("must be an object")
	}
	w.pos++
	var (
		m                         cursor
		seen                      uint32
		start, size               text
		code, version, debug, uid text
		flag                      bool
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "start":
			ok = w.first(&seen, 1<<0) && w.optionalInteger(&start, &flag)
		case "size":
			ok = w.first(&seen, 1<<1) && w.optionalInteger(&size, &flag)
		case "code_file":
			ok = w.first(&seen, 1<<2) && w.optionalText(&code)
		case "version":
			ok = w.first(&seen, 1<<3) && w.optionalText(&version)
		case "debug_file":
			ok = w.first(&seen, 1<<4) && w.optionalText(&debug)
		case "debug_identifier":
			ok = w.first(&seen, 1<<5) && w.optionalText(&uid)
		case "debug_file_exists":
			ok = w.first(&seen, 1<<6) && w.optionalBool(&flag)
		default:
			ok = w.unknownMember(m.key, 3)
		}
		if !ok {
			return w.inMember(m.key)
		}
	}
	if w.err == nil && w.out != nil {
		w.out.Modules = append(w.out.Modules, Module{
			Start:           start.String(),
			Size:            size.String(),
			CodeFile:        code.String(),
			Version:         version.String(),
			DebugFile:       debug.String(),
			DebugIdentifier: uid.String(),
		})
	}
	return w.err == nil
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

// memory reads the memory slices.
func (w *walker) memory() bool {
	entered, ok := w.optionalArray()
	if !entered {
		return ok
	}
	var m cursor
	for w.element(&m) {
		if m.n > w.limits.Slices {
			return w.tooMany("slices", w.limits.Slices)
		}
		if !w.slice() {
			return w.inElement(m.n - 1)
		}
	}
	return w.err == nil
}

// slice reads a memory slice: its start and, unless it brings the data, its
// size.
func (w *walker) slice() bool {
	if w.token() != '{' {
		return w.wrongKind("must be an object")
	}
	w.pos++
	var (
		m                 cursor
		seen              uint32
		integer, data     text
		hasStart, hasSize bool
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "start":
			ok = w.first(&seen, 1) && w.optionalInteger(&integer, &hasStart)
		case "size":
			ok = w.first(&seen, 2) && w.optionalInteger(&integer, &hasSize)
		case "data":
			ok = w.first(&seen, 4) && w.optionalText(&data)
			if ok && !isBase64(data.bytes()) {
				ok = w.invalidValue("must be Base64")
			}
		case "perms":
			ok = w.first(&seen, 8) && w.permissions()
		default:
			ok = w.unknownMember(m.key, 3)
		}
		if !ok {
			return w.inMember(m.key)
		}
	}
	switch {
	case w.err != nil:
		return false
	case !hasStart:
		w.invalidValue("is required")
		return w.inMember([]byte("start"))
	case !hasSize && data.raw == nil:
		w.invalidValue("is required when data is not given")
		return w.inMember([]byte("size"))
	}
	return true
}

func (w *walker) permissions() bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	var (
		m    cursor
		seen uint32
		flag bool
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "read":
			ok = w.first(&seen, 1) && w.optionalBool(&flag)
		case "write":
			ok = w.first(&seen, 2) && w.optionalBool(&flag)
		case "exec":
			ok = w.first(&seen, 4) && w.optionalBool(&flag)
		default:
			ok = w.unknownMember(m.key, 4)
		}
		if !ok {
			return w.inMember(m.key)
		}
	}
	return w.err == nil
}
