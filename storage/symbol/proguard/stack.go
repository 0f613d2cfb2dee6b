package proguard

import "strings"

// Frame is a frame of a stack.
type Frame struct {
	// Class is the name of the class with its package: "com.example.Main$Inner".
	Class  string
	Method string
	// Residual restricts the lookup of a frame to the methods with a signature in the
	// obfuscated program, as the virtual machine writes it: "(ILa/b;)V". Empty is any.
	Residual string
	// File is the source file: that of the mapping, else the one inferred from the class.
	File string
	// Line is the line in File; 0 when there is none.
	Line int
	// Result and Parameters are the types of the method, as Java writes them; empty when the
	// mapping does not know the method.
	Result     string
	Parameters []string
	// Inlined: the compiler inlined the method into that of the next frame.
	Inlined bool
	// Synthetic: only the compiler knows the frame.
	Synthetic bool
}

// Signature returns the method with its types, "void run(int,java.lang.String)"; only its
// name when the types are not known.
func (f *Frame) Signature() string {
	if f.Result == "" {
		return f.Method
	}
	return f.Result + " " + f.Method + "(" + strings.Join(f.Parameters, ",") + ")"
}

// Retraced is what a frame was retraced to.
type Retraced struct {
	// ClassKnown: the mapping has the class. Found: it has the method too.
	ClassKnown, Found bool
	// Alternatives are the frames that it may stand for, each innermost first. There are more
	// than one when the mapping does not say which it is. A frame that the mapping does not
	// have is its own only alternative. There is none when all of it is the compiler's, and
	// the frame should not be shown.
	Alternatives [][]Frame
	// Truncated: there are more alternatives than are listed (256).
	Truncated bool
}

// Stack retraces the frames of a stack, the innermost first. exception is the class of the
// exception that was thrown, as the obfuscated program names it, and "" when there
// is none: for some, frames that the original program would not have are left out.
//
// Frames that only the compiler knows are left out, too, but when the stack has no others.
func (m *Mapping) Stack(exception string, frames []Frame) ([]Retraced, error) {
	all, shown, err := m.stack(exception, frames, false)
	if err != nil || shown {
		return all, err
	}
	all, _, err = m.stack(exception, frames, true)
	return all, err
}

// stack reports also whether any frame is shown.
func (m *Mapping) stack(exception string, frames []Frame, hidden bool) (all []Retraced, shown bool, err error) {
	p := newPrinter(m, true)
	p.state = state{exception: exception}
	all = make([]Retraced, len(frames))
	for i := range frames {
		f := &frames[i]
		all[i] = p.retraced(f, hidden)
		shown = shown || len(all[i].Alternatives) > 0
	}
	return all, shown, p.err
}

// retraced retraces a frame.
func (p *printer) retraced(f *Frame, hidden bool) Retraced {
	line := int32(-1)
	if f.Line > 0 && f.Line <= maxLineNumber {
		line = int32(f.Line)
	}
	residual := ""
	if f.Residual != "" {
		if text, ok := residualMethod(f.Residual, f.Method); ok {
			residual = text
		}
	}
	r := &p.result
	t := p.target(f.Class, f.Method)
	p.retrace(p.state, &t, residual, line, hidden)
	if r.classKnown && !r.found {
		r.addOriginal([]byte(f.Method), p.state)
	}
	if r.found {
		p.settle(f.File, line)
		r.distinct(true, line)
		p.state = r.next()
		r.sort()
	} else {
		p.settle(f.File, line)
	}
	return r.exported(f)
}

// exported returns the result for the frame that it is of.
func (r *result) exported(f *Frame) Retraced {
	out := Retraced{ClassKnown: r.classKnown, Found: r.found, Truncated: r.truncated}
	if !r.classKnown {
		out.Alternatives = [][]Frame{{*f}}
		return out
	}
	for _, a := range r.alternatives {
		var frames []Frame
		for i := range r.frames[a.from:a.to] {
			frames = append(frames, r.frames[a.from+i].exported())
		}
		for i := range frames[:max(len(frames)-1, 0)] {
			frames[i].Inlined = true
		}
		if frames != nil {
			out.Alternatives = append(out.Alternatives, frames)
		}
	}
	return out
}

func (f *frame) exported() Frame {
	out := Frame{Class: string(f.class), Method: string(f.method), File: string(f.file), Line: int(max(f.line, 0)), Synthetic: f.hidden}
	if f.known {
		out.Result = string(f.result)
		if len(f.types) > 0 {
			out.Parameters = strings.Split(string(f.types), ",")
		}
	}
	return out
}

// Class returns the original name of a class; false when the mapping does not have it.
func (m *Mapping) Class(obfuscated string) (string, bool, error) {
	p := newPrinter(m, false)
	name, known := p.name(obfuscated)
	return name, known, p.err
}

// Member is a method or a field of the original program.
type Member struct {
	Class, Name string
	// Type is the type of a field, the type of the result of a method.
	Type       string
	Parameters []string
	Synthetic  bool
}

// Methods returns the methods that have a name in a class of the obfuscated program. residual
// restricts them to those with a signature there, "(ILa/b;)V"; "" does not.
func (m *Mapping) Methods(class, name, residual string) ([]Member, error) {
	x := &access{m: m}
	c, ok := x.class(class)
	if !ok {
		return nil, x.err
	}
	want := ""
	if residual != "" {
		if want, ok = residualMethod(residual, name); !ok {
			return nil, nil
		}
	}
	var all []Member
	seen := map[uint32]bool{}
	at, count := x.member(&c, false, name)
	for i := int64(0); i < count && len(all) < maxAlternatives && x.err == nil; i++ {
		o := x.overload(at, i)
		if want != "" && !x.is(o.residual, want) {
			continue
		}
		original := o.original
		if o.count > 0 && count > 1 {
			last := x.row(&o, o.count-1)
			original = last.signature
		}
		if seen[original] {
			continue
		}
		seen[original] = true
		all = append(all, x.exportedMember(&c, original, o.flags&(memberSynthetic|memberOutline) != 0))
	}
	return all, x.err
}

// Fields returns the fields that have a name in a class of the obfuscated program. residual
// restricts them to those with a type there, as the virtual machine writes it:
// "Ljava/lang/Object;". Empty is any.
func (m *Mapping) Fields(class, name, residual string) ([]Member, error) {
	x := &access{m: m}
	c, ok := x.class(class)
	if !ok {
		return nil, x.err
	}
	want, rest := "", ""
	if residual != "" {
		if want, rest, ok = cutType(residual); !ok || rest != "" {
			return nil, nil
		}
	}
	var all []Member
	at, count := x.member(&c, true, name)
	for i := int64(0); i < count && len(all) < maxAlternatives && x.err == nil; i++ {
		p := x.bytes(&m.data, int64(at)+4*fieldSize*i, 4*fieldSize)
		if p != nil && (want == "" || x.is(numberAt(p, 2), want)) {
			all = append(all, x.exportedMember(&c, numberAt(p, 0), numberAt(p, 1)&flagSynthetic != 0))
		}
	}
	return all, x.err
}

func (x *access) exportedMember(c *classRecord, ref uint32, synthetic bool) Member {
	s := parseSignature(x.text(ref))
	if len(s.class) == 0 {
		s.class = x.text(c.original)
	}
	m := Member{Class: string(s.class), Name: string(s.name), Type: string(s.result), Synthetic: synthetic}
	if len(s.types) > 0 {
		m.Parameters = strings.Split(string(s.types), ",")
	}
	return m
}
