package report

import "slices"

// annotations reads the free-form data, in which secrets are looked for at
// every depth.
func (w *walker) annotations() bool {
	switch w.token() {
	case '{', '[', '"', 'n':
	default:
		return w.wrongKind("must be an array, an object or a string")
	}
	if w.out != nil {
		return w.skip(1)
	}
	return w.annotation(1, false)
}

// annotation looks for secrets in one value. item is set for the elements of
// an array, where text may be an item of an environment, NAME=value.
func (w *walker) annotation(depth int, item bool) bool {
	c := w.token()
	switch c {
	case '"':
		start := w.pos + 1
		t, ok := w.str()
		if ok && mayHoldSecret(t) {
			return w.maskText(t, start, item)
		}
		return ok
	case '{', '[':
	default:
		return w.scalar(c)
	}
	if depth >= w.maxDepth {
		return w.tooDeep()
	}
	w.pos++
	if c == '[' {
		return w.annotationItems(depth + 1)
	}
	return w.annotationMembers(depth + 1)
}

// annotationItems looks for secrets in an array. What follows a secret name
// there is its value: ["authorization", "..."], a flat list of headers, or
// arguments of a command.
func (w *walker) annotationItems(depth int) bool {
	var m cursor
	named := public
	for w.element(&m) {
		c, start := w.token(), w.pos
		if named != public && (c == '"' || c == '[') {
			if !w.secretMember(named, depth) {
				return false
			}
			named = public
			continue
		}
		if !w.annotation(depth, true) {
			return false
		}
		named = public
		if c == '"' {
			named = w.nameIn(start, w.pos)
		}
	}
	return w.err == nil
}

// annotationMembers looks for secrets in an object. A name and a value may be
// members of their own, in any order: {"name": "Authorization", "value": ...}.
// Of repeated ones the last counts, as for every reader.
func (w *walker) annotationMembers(depth int) bool {
	var (
		m     cursor
		named = public
		value struct{ start, end, from, to int } // where it stands, and its spans
	)
	for w.member(&m) {
		kind := secretName(m.key, false)
		c, start, from := w.token(), w.pos, len(w.head.Secrets)
		if kind != public && !w.secretMember(kind, depth) ||
			kind == public && !w.annotation(depth, false) {
			return false
		}
		switch pairMember(m.key) {
		case pairName:
			if c == '"' {
				named = w.nameIn(start, w.pos)
			}
		case pairValue:
			value.start, value.end, value.from, value.to = start, w.pos, from, len(w.head.Secrets)
		}
	}
	if w.err != nil || named == public || value.end == 0 {
		return w.err == nil
	}
	span, hidden := secretSpan(w.buf[value.start:value.end], value.start, named)
	if !hidden {
		return true
	}
	w.head.Secrets = slices.Replace(w.head.Secrets, value.from, value.to, span)
	if len(w.head.Secrets) > w.limits.Secrets {
		return w.tooMany("secret values", w.limits.Secrets)
	}
	return true
}

// nameIn tells whether the string between two offsets, quotes included, is
// nothing but a secret name.
func (w *walker) nameIn(start, end int) secrecy {
	raw := w.buf[start+1 : end-1]
	if len(raw) < 2 || len(raw) > maxName {
		return public
	}
	for _, c := range raw {
		if !isNameByte(c) {
			return public
		}
	}
	return secretName(raw, false)
}

type pairRole int

const (
	pairNone pairRole = iota
	pairName
	pairValue
)

// pairMember tells which half of a pair a member holds, in the spellings of
// HTTP archives and of the dictionaries of common languages.
func pairMember(key []byte) pairRole {
	if len(key) < 3 || len(key) > 6 {
		return pairNone
	}
	switch string(key) {
	case "name", "Name", "key", "Key", "header", "Header", "field":
		return pairName
	case "value", "Value", "values", "Values", "val":
		return pairValue
	}
	return pairNone
}

// unknownMember reads a member that the contract does not name, and looks for
// secrets in it as in an annotation. depth is the number of objects and arrays
// around it.
func (w *walker) unknownMember(key []byte, depth int) bool {
	if w.out != nil {
		return w.skip(depth)
	}
	if kind := secretName(key, false); kind != public {
		return w.secretMember(kind, depth)
	}
	return w.annotation(depth, false)
}

// unknownBody looks for secrets in a member body that is not the report. It is
// known to be foreign only at the end of the document.
func (w *walker) unknownBody() bool {
	w.pos = w.bodyAt
	if !w.annotation(0, false) {
		return false
	}
	slices.SortFunc(w.head.Secrets, func(a, b Span) int { return a.Start - b.Start })
	return true
}

// secretMember reads the value that stands under a secret name and marks it.
func (w *walker) secretMember(kind secrecy, depth int) bool {
	w.token()
	start := w.pos
	if !w.skip(depth) {
		return false
	}
	span, hidden := secretSpan(w.buf[start:w.pos], start, kind)
	return !hidden || w.mark(span)
}

// secretSpan gives what of a value must be masked. null, booleans, empty
// values and what is masked already give nothing away.
func secretSpan(value []byte, start int, kind secrecy) (Span, bool) {
	end := start + len(value)
	switch c := value[0]; {
	case c == '"':
		if len(value) > 2 && string(value[1:len(value)-1]) != mask {
			return Span{Start: start + 1, End: end - 1}, true
		}
	case c == '{' || c == '[':
		if len(value) > 2 {
			return Span{Start: start, End: end, Unquoted: true}, true
		}
	case c == '-' || c-'0' <= 9:
		if kind == secret {
			return Span{Start: start, End: end, Unquoted: true}, true
		}
	}
	return Span{}, false
}
