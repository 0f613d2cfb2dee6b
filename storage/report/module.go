package report

// modules reads the loaded modules.
func (m *memberReader) modules() bool {
	entered, ok := m.optionalArray()
	if !entered {
		return ok
	}
	var at cursor
	for m.element(&at) {
		if at.n > m.limits.Modules {
			return m.tooMany("modules", m.limits.Modules)
		}
		if !m.module() {
			return m.inElement(at.n - 1)
		}
	}
	return m.err == nil
}

func (m *memberReader) module() bool {
	if m.token() != '{' {
		return m.wrongKind("must be an object")
	}
	m.pos++
	var (
		at                        cursor
		seen                      uint32
		start, size               text
		code, version, debug, uid text
		flag                      bool
	)
	for m.member(&at) {
		var ok bool
		switch string(at.key) {
		case "start":
			ok = m.first(&seen, 1<<0) && m.optionalInteger(&start, &flag)
		case "size":
			ok = m.first(&seen, 1<<1) && m.optionalInteger(&size, &flag)
		case "code_file":
			ok = m.first(&seen, 1<<2) && m.optionalText(&code)
		case "version":
			ok = m.first(&seen, 1<<3) && m.optionalText(&version)
		case "debug_file":
			ok = m.first(&seen, 1<<4) && m.optionalText(&debug)
		case "debug_identifier":
			ok = m.first(&seen, 1<<5) && m.optionalText(&uid)
		case "debug_file_exists":
			ok = m.first(&seen, 1<<6) && m.optionalBool(&flag)
		default:
			ok = m.unknownMember(at.key, 3)
		}
		if !ok {
			return m.inMember(at.key)
		}
	}
	if m.err == nil && m.out != nil {
		m.out.Modules = append(m.out.Modules, Module{
			Start:           start.String(),
			Size:            size.String(),
			CodeFile:        code.String(),
			Version:         version.String(),
			DebugFile:       debug.String(),
			DebugIdentifier: uid.String(),
		})
	}
	return m.err == nil
}

// memory reads the memory slices.
func (m *memberReader) memory() bool {
	entered, ok := m.optionalArray()
	if !entered {
		return ok
	}
	var at cursor
	for m.element(&at) {
		if at.n > m.limits.Slices {
			return m.tooMany("slices", m.limits.Slices)
		}
		if !m.slice() {
			return m.inElement(at.n - 1)
		}
	}
	return m.err == nil
}

// slice reads a memory slice: its start and, unless it brings the data, its
// size.
func (m *memberReader) slice() bool {
	if m.token() != '{' {
		return m.wrongKind("must be an object")
	}
	m.pos++
	var (
		at                cursor
		seen              uint32
		integer, data     text
		hasStart, hasSize bool
	)
	for m.member(&at) {
		var ok bool
		switch string(at.key) {
		case "start":
			ok = m.first(&seen, 1) && m.optionalInteger(&integer, &hasStart)
		case "size":
			ok = m.first(&seen, 2) && m.optionalInteger(&integer, &hasSize)
		case "data":
			ok = m.first(&seen, 4) && m.optionalText(&data)
			if ok && !isBase64(data.bytes()) {
				ok = m.invalidValue("must be Base64")
			}
		case "perms":
			ok = m.first(&seen, 8) && m.permissions()
		default:
			ok = m.unknownMember(at.key, 3)
		}
		if !ok {
			return m.inMember(at.key)
		}
	}
	switch {
	case m.err != nil:
		return false
	case !hasStart:
		m.invalidValue("is required")
		return m.inMember([]byte("start"))
	case !hasSize && data.raw == nil:
		m.invalidValue("is required when data is not given")
		return m.inMember([]byte("size"))
	}
	return true
}

func (m *memberReader) permissions() bool {
	entered, ok := m.optionalObject()
	if !entered {
		return ok
	}
	var (
		at   cursor
		seen uint32
		flag bool
	)
	for m.member(&at) {
		var ok bool
		switch string(at.key) {
		case "read":
			ok = m.first(&seen, 1) && m.optionalBool(&flag)
		case "write":
			ok = m.first(&seen, 2) && m.optionalBool(&flag)
		case "exec":
			ok = m.first(&seen, 4) && m.optionalBool(&flag)
		default:
			ok = m.unknownMember(at.key, 4)
		}
		if !ok {
			return m.inMember(at.key)
		}
	}
	return m.err == nil
}
