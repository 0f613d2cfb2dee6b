package proguard

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// formatVersion is a version of R8's mapping format, major times 1000 and minor. Comments
// that belong to a later version than that of the mapping mean nothing.
type formatVersion int

// The versions from which on comments are known. Source files need none.
const (
	version1  formatVersion = 1000 // synthesized
	version2  formatVersion = 2000 // rewriteFrame, outline, outlineCallsite
	version22 formatVersion = 2002 // residualsignature
	// versionNewest stands for "experimental": all comments are known.
	versionNewest formatVersion = 1 << 30
)

// parseVersion reads a version; 0, before all, when it is none.
func parseVersion(text string) formatVersion {
	if text == "experimental" {
		return versionNewest
	}
	major, minor, dotted := strings.Cut(text, ".")
	m, err := strconv.ParseUint(major, 10, 16)
	n := uint64(0)
	if dotted && err == nil {
		n, err = strconv.ParseUint(minor, 10, 16)
	}
	if err != nil || m > 999 || n > 999 {
		return 0
	}
	return formatVersion(m*1000 + n)
}

// The ids of comments.
const (
	idVersion    = "com.android.tools.r8.mapping"
	idSynthetic  = "com.android.tools.r8.synthesized"
	idRewrite    = "com.android.tools.r8.rewriteFrame"
	idOutline    = "com.android.tools.r8.outline"
	idCallsite   = "com.android.tools.r8.outlineCallsite"
	idResidual   = "com.android.tools.r8.residualsignature"
	idSourceFile = "sourceFile"
)

// info is what a JSON comment says.
type info struct {
	id, version, file, signature string
	conditions, actions          []string
	positions                    []position
}

// position says that a line of an outlined method stands for a line of its caller.
type position struct{ from, to int32 }

// parseInfo reads a comment "# {...}"; false when the line is none, or not readable:
// such comments mean nothing.
func parseInfo(line []byte) (*info, bool) {
	text := bytes.TrimLeft(line, " \t\v\f\ufeff")
	if len(text) == 0 || text[0] != '#' {
		return nil, false
	}
	j := &jsonCursor{text: bytes.TrimLeft(text[1:], " \t\v\f")}
	if len(j.text) == 0 || j.text[0] != '{' {
		return nil, false
	}
	x := &info{}
	ok := j.object(func(name string) (ok bool) {
		switch name {
		case "id":
			x.id, ok = j.scalar()
		case "version":
			x.version, ok = j.scalar()
		case "fileName":
			x.file, ok = j.scalar()
		case "signature":
			x.signature, ok = j.scalar()
		case "conditions":
			x.conditions, ok = j.texts()
		case "actions":
			x.actions, ok = j.texts()
		case "positions":
			x.positions, ok = j.positions()
		default:
			ok = j.skip(0)
		}
		return ok
	})
	return x, ok && x.id != ""
}

// positions reads the object of an outline's positions, sorted by the line within the
// outline. Of a line given twice the last counts.
func (j *jsonCursor) positions() (all []position, ok bool) {
	ok = j.object(func(name string) bool {
		value, read := j.scalar()
		from, err := strconv.ParseInt(name, 10, 32)
		if err != nil || !read {
			return false
		}
		to, err := strconv.ParseInt(value, 10, 32)
		all = append(all, position{int32(from), int32(to)})
		return err == nil
	})
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b position) int { return cmp.Compare(a.from, b.from) })
	return slices.CompactFunc(all, func(a, b position) bool { return a.from == b.from }), ok
}

// rowInfo is what the comments below a line say of its frame.
type rowInfo struct {
	synthetic, outline bool
	// remove is how many inner frames are left out when all exceptions were thrown; 0 none.
	remove     int32
	exceptions []string
	positions  []position
}

// Flags of an encoded rowInfo.
const (
	flagSynthetic = 1 << iota
	flagOutline
	flagRewrite
	flagCallsite
)

// rewrite takes a comment rewriteFrame. One whose conditions or actions are not known is
// left out: to keep frames is the safe side.
func (r *rowInfo) rewrite(x *info) {
	var remove int64
	var exceptions []string
	for _, condition := range x.conditions {
		class, ok := strings.CutPrefix(condition, "throws(L")
		class, closed := strings.CutSuffix(class, ";)")
		if !ok || !closed {
			return
		}
		exceptions = append(exceptions, strings.ReplaceAll(class, "/", "."))
	}
	for _, action := range x.actions {
		count, ok := strings.CutPrefix(action, "removeInnerFrames(")
		count, closed := strings.CutSuffix(count, ")")
		n, err := strconv.ParseUint(count, 10, 31)
		if !ok || !closed || err != nil {
			return
		}
		remove = min(remove+int64(n), maxLineNumber)
	}
	r.remove, r.exceptions = int32(remove), exceptions
}

func (r *rowInfo) empty() bool {
	return !r.synthetic && !r.outline && r.remove == 0 && r.positions == nil
}

// encode returns flags (1 byte), and for a rewriting: frames to remove, count of
// exceptions, each with its length; for a call of an outline: count of positions, pairs
// of lines. Numbers are varints.
func (r *rowInfo) encode() []byte {
	out := []byte{0}
	if r.synthetic {
		out[0] |= flagSynthetic
	}
	if r.outline {
		out[0] |= flagOutline
	}
	if r.remove > 0 {
		out[0] |= flagRewrite
		out = binary.AppendUvarint(out, uint64(r.remove))
		out = binary.AppendUvarint(out, uint64(len(r.exceptions)))
		for _, class := range r.exceptions {
			out = binary.AppendUvarint(out, uint64(len(class)))
			out = append(out, class...)
		}
	}
	if r.positions != nil {
		out[0] |= flagCallsite
		out = binary.AppendUvarint(out, uint64(len(r.positions)))
		for _, p := range r.positions {
			out = binary.AppendVarint(out, int64(p.from))
			out = binary.AppendVarint(out, int64(p.to))
		}
	}
	return out
}

// residualMethod returns the signature "type name(types)" of a method's descriptor
// "(ILa/b;)V"; false when it is none.
func residualMethod(descriptor, name string) (string, bool) {
	rest, ok := strings.CutPrefix(descriptor, "(")
	if !ok {
		return "", false
	}
	var types []string
	for !strings.HasPrefix(rest, ")") {
		var one string
		if one, rest, ok = cutType(rest); !ok || one == "void" {
			return "", false
		}
		types = append(types, one)
	}
	result, rest, ok := cutType(rest[1:])
	if !ok || rest != "" {
		return "", false
	}
	return result + " " + name + "(" + strings.Join(types, ",") + ")", true
}

// primitives are the types of one letter.
var primitives = map[byte]string{'V': "void", 'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short",
	'I': "int", 'J': "long", 'F': "float", 'D': "double"}

// cutType reads the first type of a descriptor as Java writes it.
func cutType(text string) (name, rest string, ok bool) {
	rest = strings.TrimLeft(text, "[")
	arrays := len(text) - len(rest)
	if rest == "" || arrays > 255 { // as many dimensions as an array can have
		return "", "", false
	}
	name, ok = primitives[rest[0]]
	rest, class := rest[1:], rest[0] == 'L'
	if class {
		name, rest, ok = strings.Cut(rest, ";")
		name = strings.ReplaceAll(name, "/", ".")
	}
	return name + strings.Repeat("[]", arrays), rest, ok && name != ""
}
