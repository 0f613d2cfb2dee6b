package report

import "slices"

// memberReader reads the members of a report that need no other one: attributes,
// source code, modules, memory and the like.
type memberReader struct {
	secretFinder
	limits  Limits
	out     *Report // nil when the report is only checked
	sources nameSet
}

// requiredText reads a string into a field of the report.
func (m *memberReader) requiredText(field func(*Report) *string) bool {
	t, ok := m.text()
	if ok && m.out != nil {
		*field(m.out) = t.String()
	}
	return ok
}

func (w *walker) uuid() bool {
	t, ok := w.text()
	if !ok {
		return false
	}
	if w.head.UUID, ok = parseUUID(t.bytes()); !ok {
		return w.invalidValue("must be a UUID: 32 hexadecimal digits, with or without dashes")
	}
	return true
}

func (w *walker) timestamp() bool {
	if c := w.token(); c != '-' && c-'0' > 9 {
		return w.wrongKind("must be an integer, UTC seconds")
	}
	raw, ok := w.number()
	if !ok {
		return false
	}
	if w.head.Timestamp, ok = parseInteger(raw); !ok {
		return w.invalidValue("must be an integer, UTC seconds")
	}
	return true
}

func (w *walker) symbolication() bool {
	var t text
	if !w.optionalText(&t) {
		return false
	}
	switch string(t.bytes()) {
	case "":
	case "minidump":
		w.head.Symbolication = "minidump"
	case "sourcemap":
		w.head.Symbolication = "sourcemap"
	case "proguard":
		w.head.Symbolication = "proguard"
	default:
		return w.invalidValue("must be minidump, sourcemap or proguard")
	}
	return true
}

func (w *walker) fingerprint() bool {
	var t text
	if !w.optionalText(&t) || t.raw == nil {
		return w.err == nil
	}
	id, ok := decodeFingerprint(t.bytes())
	if !ok {
		return w.invalidValue("must be 32 bytes in Base64")
	}
	if w.out != nil {
		w.out.Fingerprint = id
	}
	return true
}

// classifiers reads an array of strings; null items, which some clients send
// for errors without a class, are dropped.
func (m *memberReader) classifiers() bool {
	entered, ok := m.optionalArray()
	if !entered {
		return ok
	}
	var at cursor
	for m.element(&at) {
		var t text
		if !m.optionalText(&t) {
			return m.inElement(at.n - 1)
		}
		if at.n > m.limits.Classifiers {
			return m.tooMany("classifiers", m.limits.Classifiers)
		}
		if m.out != nil && t.raw != nil {
			m.out.Classifiers = append(m.out.Classifiers, t.String())
		}
	}
	return m.err == nil
}

// annotations reads the free-form data, and looks for secrets in it at every depth.
func (m *memberReader) annotations() bool {
	switch m.token() {
	case '{', '[', '"', 'n':
	default:
		return m.wrongKind("must be an array, an object or a string")
	}
	if m.ignore {
		return m.skip(1)
	}
	return m.annotation(1, false)
}

// unknownBody looks for secrets in a member body that is not the report. It is
// known not to be the report only at the end of the document.
func (w *walker) unknownBody() bool {
	w.pos = w.bodyAt
	if !w.annotation(0, false) {
		return false
	}
	slices.SortFunc(w.secrets, func(a, b Span) int { return a.Start - b.Start })
	return true
}
