package report

import (
	"math"
	"strconv"
)

// threadMap reads the threads; at least one.
func (w *walker) threadMap() bool {
	if w.token() != '{' {
		return w.wrongKind("must be an object")
	}
	w.pos++
	var m cursor
	for w.member(&m) {
		if !w.thread(m.key, m.n) {
			return w.inMember(m.key)
		}
	}
	if w.err == nil && m.n == 0 {
		return w.invalidValue("must hold a thread")
	}
	return w.err == nil
}

func (w *walker) thread(id []byte, n int) bool {
	if n > w.limits.Threads {
		return w.invalidValue("more than " + strconv.Itoa(w.limits.Threads) + " threads")
	}
	if len(id) > w.limits.Key {
		return w.invalidValue("the id is longer than " + strconv.Itoa(w.limits.Key) + " bytes")
	}
	if _, fresh := w.threads.add(id); !fresh {
		return w.duplicate()
	}
	if w.token() != '{' {
		return w.wrongKind("must be an object")
	}
	w.pos++
	var (
		m      cursor
		seen   uint32
		name   text
		thread Thread
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "name":
			ok = w.first(&seen, 1) && w.optionalText(&name)
		case "fault":
			ok = w.first(&seen, 2) && w.optionalBool(&thread.Fault)
		case "stack":
			ok = w.first(&seen, 4) && w.stack(id, &thread)
		default:
			ok = w.unknownMember(m.key, 3)
		}
		if !ok {
			return w.inMember(m.key)
		}
	}
	if w.err == nil && w.out != nil {
		thread.ID, thread.Name = string(id), name.String()
		w.out.Threads = append(w.out.Threads, thread)
	}
	return w.err == nil
}

func (w *walker) stack(id []byte, thread *Thread) bool {
	entered, ok := w.optionalArray()
	if !entered {
		return ok
	}
	var m cursor
	for w.element(&m) {
		if m.n > w.limits.FramesPerThread {
			return w.tooMany("frames", w.limits.FramesPerThread)
		}
		if !w.frame(id, m.n-1, thread) {
			return w.inElement(m.n - 1)
		}
	}
	return w.err == nil
}

// frame reads a stack frame. One that has no function name needs an address;
// an empty name or address counts as none.
func (w *walker) frame(id []byte, index int, thread *Thread) bool {
	if w.token() != '{' {
		return w.wrongKind("must be an object")
	}
	w.pos++
	var (
		m                        cursor
		seen                     uint32
		function, address        text
		line, column             text
		source, library, debugID text
		token, il                text
		guessed, faulted         bool
	)
	for w.member(&m) {
		var ok bool
		switch string(m.key) {
		case "funcName":
			ok = w.first(&seen, 1<<0) && w.optionalText(&function)
		case "address":
			ok = w.first(&seen, 1<<1) && w.optionalScalar(&address)
		case "line":
			ok = w.first(&seen, 1<<2) && w.optionalScalar(&line)
		case "column":
			ok = w.first(&seen, 1<<3) && w.optionalScalar(&column)
		case "sourceCode":
			ok = w.first(&seen, 1<<4) && w.optionalText(&source)
		case "library":
			ok = w.first(&seen, 1<<5) && w.optionalText(&library)
		case "debug_identifier":
			ok = w.first(&seen, 1<<6) && w.optionalText(&debugID)
		case "guessed_frame":
			ok = w.first(&seen, 1<<7) && w.optionalBool(&guessed)
		case "faulted":
			ok = w.first(&seen, 1<<8) && w.optionalBool(&faulted)
		case "metadata_token":
			ok = w.first(&seen, 1<<10) && w.optionalScalar(&token)
		case "il":
			ok = w.first(&seen, 1<<11) && w.optionalScalar(&il)
		case "registers":
			ok = w.first(&seen, 1<<9) && w.frameRegisters(id, index)
		default:
			ok = w.unknownMember(m.key, 5)
		}
		if !ok {
			return w.inMember(m.key)
		}
	}
	if w.err != nil {
		return false
	}
	if len(function.raw) == 0 && len(address.raw) == 0 {
		w.invalidValue("is required when funcName is not given")
		return w.inMember([]byte("address"))
	}
	if w.out != nil {
		thread.Frames = append(thread.Frames, Frame{
			Function:        function.String(),
			Address:         address.String(),
			Line:            parsePosition(line.bytes()),
			Column:          parsePosition(column.bytes()),
			SourceCode:      source.String(),
			Library:         library.String(),
			DebugIdentifier: debugID.String(),
			Guessed:         guessed,
			Faulted:         faulted,
		})
		thread.Frames[len(thread.Frames)-1].setManaged(token.bytes(), il.bytes())
	}
	return true
}

// setManaged sets the place in a method of .NET, when both numbers of it are there.
func (f *Frame) setManaged(token, il []byte) {
	method, ok := parseInteger(token)
	offset, known := parseInteger(il)
	if ok && known && method > 0 && method <= math.MaxUint32 && offset >= 0 {
		f.MethodToken, f.ILOffset = uint32(method), offset
	}
}
