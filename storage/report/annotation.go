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
	// command is set inside of members that hold command lines, programs in lists of
	// arguments: the kinds of the programs so far.
	command  bool
	programs programs
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
	former := f.programs
	defer func() { f.programs = former }()
	var m cursor
	named, flag := public, byte(0)
	for f.element(&m) {
		c, start := f.token(), f.pos
		if flag != 0 && c == '"' {
			if !f.flagItem(flag) {
				return false
			}
			named, flag = public, 0
			continue
		}
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
		named, flag = public, 0
		if c == '"' {
			named = f.nameIn(start, f.pos)
			f.programs |= programOf(f.buf[start+1 : f.pos-1])
			if named == public {
				flag = f.flagIn(start, f.pos)
			}
		}
	}
	return f.err == nil
}

// flagIn returns what the string between two offsets, quotes included, says as an
// argument of the next one: 'u' before name:password, another letter before a password,
// else 0.
func (f *secretFinder) flagIn(start, end int) byte {
	raw := f.buf[start+1 : end-1]
	if len(raw) < 2 || raw[0] != '-' || len(raw) > maxName {
		return 0
	}
	switch string(raw) {
	case "-u", "-U", "--user", "--proxy-user", "--userpwd":
		if f.command || f.programs&programUser != 0 {
			return 'u'
		}
	case "-p", "-P", "-a", "-w":
		if f.programs&flagProgram(raw[1]) != 0 {
			return raw[1]
		}
	}
	return 0
}

// flagItem looks for the secret in an argument that stands behind a flag.
func (f *secretFinder) flagItem(flag byte) bool {
	start := f.pos + 1
	t, ok := f.str()
	if !ok || len(t.raw) == 0 {
		return ok
	}
	if flag != 'u' && t.raw[0] != '-' && (flag != 'p' || !isPortNumber(t.raw)) {
		if string(t.raw) == mask {
			return true
		}
		return f.mark(Span{Start: start, End: start + len(t.raw)})
	}
	if h, found := (&flagFinder{s: t.raw}).user(0); flag == 'u' && found {
		if string(t.raw[h.valueStart:]) == mask {
			return true
		}
		return f.mark(Span{Start: start + h.valueStart, End: start + len(t.raw)})
	}
	return !mayHoldSecret(t) || f.maskText(t, start, true)
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
			kind == public && !f.memberOf(m.key, depth) {
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
	return f.memberOf(key, depth)
}

// memberOf looks for secrets in the value of a member, which may hold command lines by
// its name.
func (f *secretFinder) memberOf(key []byte, depth int) bool {
	command := f.command
	f.command = command || commandName(key)
	ok := f.annotation(depth, false)
	f.command = command
	return ok
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
