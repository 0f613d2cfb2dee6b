package report

// Readers of one value, shared by all parts of the report. Each leaves the
// position after the value and refuses a wrong type by naming the right one.

// wrongKind refuses the value at the current position: as a member of a wrong
// type if it is a value, else as not JSON.
func (w *walker) wrongKind(msg string) bool {
	return w.skip(0) && w.invalidValue(msg)
}

// text reads a string.
func (w *walker) text() (text, bool) {
	switch w.token() {
	case '"':
		return w.str()
	case 'n':
		return text{}, w.wrongKind("must be a string, not null")
	}
	return text{}, w.wrongKind("must be a string")
}

// optionalText reads a string or null, which leaves t as it is.
func (w *walker) optionalText(t *text) (ok bool) {
	switch w.token() {
	case '"':
		*t, ok = w.str()
		return ok
	case 'n':
		return w.literal("null")
	}
	return w.wrongKind("must be a string")
}

// optionalScalar reads a string, a number or null, which leaves t as it is.
func (w *walker) optionalScalar(t *text) bool {
	switch c := w.token(); {
	case c == '-' || c-'0' <= 9:
		raw, ok := w.number()
		t.raw = raw
		return ok
	case c == '"' || c == 'n':
		return w.optionalText(t)
	}
	return w.wrongKind("must be a string or a number")
}

// optionalBool reads a boolean or null.
func (w *walker) optionalBool(b *bool) bool {
	switch w.token() {
	case 't':
		*b = true
		return w.literal("true")
	case 'f':
		*b = false
		return w.literal("false")
	case 'n':
		return w.literal("null")
	}
	return w.wrongKind("must be a boolean")
}

// optionalInteger reads an integer, as a number or as text, or null. given is
// set unless it is null or empty text.
func (w *walker) optionalInteger(t *text, given *bool) bool {
	number := w.token() != '"'
	if !w.optionalScalar(t) {
		return false
	}
	if len(t.raw) == 0 {
		return true
	}
	*given = true
	if number {
		// Any size passes: memory addresses are unsigned.
		if !isWhole(t.raw) {
			return w.invalidValue("must be an integer")
		}
		return true
	}
	if !isIntegerText(t.bytes()) {
		return w.invalidValue("must be an integer")
	}
	return true
}

// optionalObject enters an object, or passes null: then entered is false.
func (w *walker) optionalObject() (entered, ok bool) { return w.enter('{', "must be an object") }

// optionalArray enters an array, or passes null: then entered is false.
func (w *walker) optionalArray() (entered, ok bool) { return w.enter('[', "must be an array") }

func (w *walker) enter(open byte, msg string) (entered, ok bool) {
	switch w.token() {
	case open:
		w.pos++
		return true, true
	case 'n':
		return false, w.literal("null")
	}
	return false, w.wrongKind(msg)
}

// requiredText reads a string into a field of the report.
func (w *walker) requiredText(field func(*Report) *string) bool {
	t, ok := w.text()
	if ok && w.out != nil {
		*field(w.out) = t.String()
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
func (w *walker) classifiers() bool {
	entered, ok := w.optionalArray()
	if !entered {
		return ok
	}
	var m cursor
	for w.element(&m) {
		var t text
		if !w.optionalText(&t) {
			return w.inElement(m.n - 1)
		}
		if m.n > w.limits.Classifiers {
			return w.tooMany("classifiers", w.limits.Classifiers)
		}
		if w.out != nil && t.raw != nil {
			w.out.Classifiers = append(w.out.Classifiers, t.String())
		}
	}
	return w.err == nil
}
