package report

import "slices"

// secretFinder looks for secrets in the parts of a report whose structure is not
// fixed: attributes, annotations and unknown members. It collects where they
// stand, in ascending order.
type secretFinder struct {
	valueReader
	ignore  bool // Parse skips these parts: Check has looked through them
	limit   int  // of secrets
	secrets []Span
	scratch []byte // decoded text of the string that is looked through
}

// annotation looks for secrets in one value. item is set for the elements of
// an array, where text may be an item of an environment, NAME=value.
func (f *secretFinder) annotation(depth int, item bool) bool {
	c := f.token()
	switch c {
	case '"':
		start := f.pos + 1
		t, ok := f.str()
		if ok && mayHoldSecret(t) {
			return f.maskText(t, start, item)
		}
		return ok
	case '{', '[':
	default:
		return f.scalar(c)
	}
	if depth >= f.maxDepth {
		return f.tooDeep()
	}
	f.pos++
	if c == '[' {
		return f.annotationItems(depth + 1)
	}
	return f.annotationMembers(depth + 1)
}

// annotationItems looks for secrets in an array. What follows a secret name
// there is its value: ["authorization", "..."], a flat list of headers, or
// arguments of a command.
func (f *secretFinder) annotationItems(depth int) bool {
	var m cursor
	named := public
	for f.element(&m) {
		c, start := f.token(), f.pos
		if named != public && (c == '"' || c == '[') {
			if !f.secretMember(named, depth) {
				return false
			}
			named = public
			continue
		}
		if !f.annotation(depth, true) {
			return false
		}
		named = public
		if c == '"' {
			named = f.nameIn(start, f.pos)
		}
	}
	return f.err == nil
}

// annotationMembers looks for secrets in an object. A name and a value may be
// separate members, in any order: {"name": "Authorization", "value": ...}.
// Of repeated ones the last counts, as for every reader.
func (f *secretFinder) annotationMembers(depth int) bool {
	var (
		m     cursor
		named = public
		value struct{ start, end, from, to int } // its offsets, and those of its spans
	)
	for f.member(&m) {
		kind := secretName(m.key, false)
		c, start, from := f.token(), f.pos, len(f.secrets)
		if kind != public && !f.secretMember(kind, depth) ||
			kind == public && !f.annotation(depth, false) {
			return false
		}
		switch pairMember(m.key) {
		case pairName:
			if c == '"' {
				named = f.nameIn(start, f.pos)
			}
		case pairValue:
			value.start, value.end, value.from, value.to = start, f.pos, from, len(f.secrets)
		}
	}
	if f.err != nil || named == public || value.end == 0 {
		return f.err == nil
	}
	span, hidden := secretSpan(f.buf[value.start:value.end], value.start, named)
	if !hidden {
		return true
	}
	f.secrets = slices.Replace(f.secrets, value.from, value.to, span)
	if len(f.secrets) > f.limit {
		return f.tooMany("secret values", f.limit)
	}
	return true
}

// nameIn returns the secrecy of the string between two offsets, quotes included,
// when it is nothing but a secret name.
func (f *secretFinder) nameIn(start, end int) secrecy {
	raw := f.buf[start+1 : end-1]
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

// pairMember returns which half of a pair a member is, in the spellings of HTTP
// archives and of the dictionaries of common languages.
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

// unknownMember reads a member that this package does not know, and looks for
// secrets in it as in an annotation. depth is the number of objects and arrays
// around it.
func (f *secretFinder) unknownMember(key []byte, depth int) bool {
	if f.ignore {
		return f.skip(depth)
	}
	if kind := secretName(key, false); kind != public {
		return f.secretMember(kind, depth)
	}
	return f.annotation(depth, false)
}

// secretMember reads the value of a member with a secret name and marks it.
func (f *secretFinder) secretMember(kind secrecy, depth int) bool {
	f.token()
	start := f.pos
	if !f.skip(depth) {
		return false
	}
	span, hidden := secretSpan(f.buf[start:f.pos], start, kind)
	return !hidden || f.mark(span)
}

// secretSpan returns the part of a value that must be masked. null, booleans, empty
// values and what is masked already disclose nothing.
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
