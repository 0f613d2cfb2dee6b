package report

// sourceMap reads the source code entries.
func (w *walker) sourceMap() bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	var m cursor
	for w.member(&m) {
		if m.n > w.limits.Sources {
			return w.tooMany("entries", w.limits.Sources)
		}
		if _, fresh := w.sources.add(m.key); !fresh {
			w.duplicate()
			return w.inMember(m.key)
		}
		if !w.source(m.key) {
			return w.inMember(m.key)
		}
	}
	return w.err == nil
}

// source reads a source code entry: text with the line at which it starts, or
// the path of a file. Two shapes beside the contract come from real clients
// and pass: an empty entry (or null), for a frame whose file is not known,
// and one with a member type, a panel of text (a log) that is not a part of
// any file and so has no first line.
func (w *walker) source(id []byte) bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	var (
		m                    cursor
		seen                 uint32
		content, path, kind  text
		integer              text
		hasStart, hasInteger bool
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "text":
			ok = w.first(&seen, 1<<0) && w.optionalText(&content)
		case "path":
			ok = w.first(&seen, 1<<1) && w.optionalText(&path)
		case "startLine":
			ok = w.first(&seen, 1<<2) && w.optionalInteger(&integer, &hasStart)
		case "startColumn":
			ok = w.first(&seen, 1<<3) && w.optionalInteger(&integer, &hasInteger)
		case "startPos":
			ok = w.first(&seen, 1<<4) && w.optionalInteger(&integer, &hasInteger)
		case "tabWidth":
			ok = w.first(&seen, 1<<5) && w.optionalInteger(&integer, &hasInteger)
		case "type":
			ok = w.first(&seen, 1<<6) && w.optionalText(&kind)
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
	case m.n == 0:
		return true
	case len(kind.raw) > 0:
	case len(content.raw) > 0 && !hasStart:
		w.invalidValue("is required when text is given")
		return w.inMember([]byte("startLine"))
	case len(content.raw) == 0 && len(path.raw) == 0:
		w.invalidValue("is required when text is not given")
		return w.inMember([]byte("path"))
	}
	if w.out != nil {
		if w.out.Sources == nil {
			w.out.Sources = make(map[string]string)
		}
		w.out.Sources[string(id)] = path.String()
	}
	return true
}
