package report

// sourceMap reads the source code entries.
func (m *memberReader) sourceMap() bool {
	entered, ok := m.optionalObject()
	if !entered {
		return ok
	}
	var at cursor
	for m.member(&at) {
		if at.n > m.limits.Sources {
			return m.tooMany("entries", m.limits.Sources)
		}
		if _, fresh := m.sources.add(at.key); !fresh {
			m.duplicate()
			return m.inMember(at.key)
		}
		if !m.source(at.key) {
			return m.inMember(at.key)
		}
	}
	return m.err == nil
}

// source reads a source code entry: text with the line at which it starts, or
// the path of a file. Two more shapes come from real clients and are accepted: an
// empty entry (or null), for a frame whose file is not known, and one with a member
// type, a panel of text (a log) that is not a part of any file and so has no first
// line.
func (m *memberReader) source(id []byte) bool {
	entered, ok := m.optionalObject()
	if !entered {
		return ok
	}
	var (
		at                   cursor
		seen                 uint32
		content, path, kind  text
		hasStart, hasInteger bool
	)
	for m.member(&at) {
		var ok bool
		switch string(at.key) {
		case "text":
			ok = m.first(&seen, 1<<0) && m.optionalText(&content)
		case "path":
			ok = m.first(&seen, 1<<1) && m.optionalText(&path)
		case "startLine":
			ok = m.first(&seen, 1<<2) && m.optionalCount(&hasStart)
		case "startColumn":
			ok = m.first(&seen, 1<<3) && m.optionalCount(&hasInteger)
		case "startPos":
			ok = m.first(&seen, 1<<4) && m.optionalCount(&hasInteger)
		case "tabWidth":
			ok = m.first(&seen, 1<<5) && m.optionalCount(&hasInteger)
		case "type":
			ok = m.first(&seen, 1<<6) && m.optionalText(&kind)
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
	case at.n == 0:
		return true
	case len(kind.raw) > 0:
	case len(content.raw) > 0 && !hasStart:
		m.invalidValue("is required when text is given")
		return m.inMember([]byte("startLine"))
	case len(content.raw) == 0 && len(path.raw) == 0:
		m.invalidValue("is required when text is not given")
		return m.inMember([]byte("path"))
	}
	if m.out != nil {
		if m.out.Sources == nil {
			m.out.Sources = make(map[string]string)
		}
		m.out.Sources[string(id)] = path.String()
	}
	return true
}
