package proguard

import (
	"bytes"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// classLine is a line "original.Name -> obfuscated:".
type classLine struct{ original, renamed []byte }

// memberLine is a line "[from:to:]type name[(types)][:from[:to]] -> renamed".
type memberLine struct {
	method bool
	// signature is "type name(types)" of a method, "type name" of a field, without other
	// blanks.
	signature, renamed []byte
	// lines are those of the obfuscated program, original those of the source.
	lines, original lineRange
	// single: original is given as one number, as that of the caller of an inlined method.
	single bool
}

// lineRange is a range of lines, both ends included; from is -1 when there is none.
type lineRange struct{ from, to int32 }

var noRange = lineRange{-1, -1}

func (r lineRange) exists() bool          { return r.from >= 0 }
func (r lineRange) contains(n int32) bool { return r.from >= 0 && r.from <= n && n <= r.to }
func (r lineRange) span() int64           { return int64(r.to) - int64(r.from) + 1 }
func (r lineRange) single() bool          { return r.from == r.to }

func parseClass(line []byte) (classLine, bool) {
	c := &cursor{line: line}
	c.blanks()
	var l classLine
	l.original = c.name()
	c.blanks()
	arrow := c.take("->")
	c.blanks()
	l.renamed = c.name()
	c.blanks()
	colon := c.take(":")
	c.blanks()
	return l, arrow && colon && c.done() && isClassName(l.original) && isClassName(l.renamed)
}

func isClassName(name []byte) bool {
	return len(name) > 0 && !bytes.ContainsAny(name, "/[]")
}

// parseMember reads the line of a member. problem says what is wrong with one that is
// none; "" when it is one.
func parseMember(line []byte) (l memberLine, problem string) {
	c := &cursor{line: line}
	c.blanks()
	l.lines, l.original = noRange, noRange
	if problem = l.parseLines(c); problem != "" {
		return l, problem
	}
	c.blanks()
	from := c.at
	kind := c.name()
	if len(kind) == 0 {
		return l, "there is no type"
	}
	if !c.blanks() {
		return l, "there is no name after the type"
	}
	name := c.name()
	if len(name) == 0 {
		return l, "there is no name after the type"
	}
	if problem = l.parseSignature(c, from, kind, name); problem != "" {
		return l, problem
	}
	if problem = l.parseOriginal(c); problem != "" {
		return l, problem
	}
	if !c.take("->") {
		return l, `there is no "->"`
	}
	c.blanks()
	l.renamed = c.name()
	c.blanks()
	if len(l.renamed) == 0 || !c.done() {
		return l, `there is no name after "->"`
	}
	return l, ""
}

// parseLines reads "from:to:". A name may begin with a digit: one without a colon after
// its digits is no range.
func (l *memberLine) parseLines(c *cursor) string {
	i := c.at
	for i < len(c.line) && c.line[i]-'0' <= 9 {
		i++
	}
	digits := i > c.at
	for i < len(c.line) && isBlank(c.line[i]) {
		i++
	}
	if !digits || i >= len(c.line) || c.line[i] != ':' {
		return ""
	}
	from, ok := c.number()
	if !ok {
		return "the number of a line is too large"
	}
	c.at = i + 1
	c.blanks()
	to, ok := c.number()
	if !ok {
		return "there is no range of lines, like 1:2:"
	}
	c.blanks()
	if !c.take(":") {
		return "there is no range of lines, like 1:2:"
	}
	l.lines = ordered(from, to)
	return ""
}

// ordered returns a range of two ends in any order. Compilers have written 0 as the end of
// a range of one line.
func ordered(from, to int32) lineRange {
	switch {
	case from <= to:
		return lineRange{from, to}
	case to == 0:
		return lineRange{from, from}
	}
	return lineRange{to, from}
}

// parseSignature reads "(types)" and composes the signature, which mostly is a part of
// the line.
func (l *memberLine) parseSignature(c *cursor, from int, kind, name []byte) string {
	end := c.at
	plain := end-from == len(kind)+1+len(name)
	c.blanks()
	if !c.take("(") {
		l.signature = c.line[from:end]
		if !plain {
			l.signature = []byte(string(kind) + " " + string(name))
		}
		return ""
	}
	l.method = true
	plain = plain && c.at == end+1
	types := c.at
	for !c.take(")") {
		blank := c.blanks()
		size := len(c.name())
		blank = c.blanks() || blank
		plain = plain && !blank
		switch {
		case c.done():
			return "the types of the parameters are cut off"
		case size == 0 && c.line[c.at] != ')', c.line[c.at] != ')' && c.line[c.at] != ',':
			return "the types of the parameters cannot be read"
		case c.line[c.at] == ',':
			c.at++
		}
	}
	l.signature = c.line[from:c.at]
	if !plain {
		text := strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\v\f\ufeff", r) {
				return -1
			}
			return r
		}, string(c.line[types:c.at]))
		l.signature = []byte(string(kind) + " " + string(name) + "(" + text)
	}
	return ""
}

// parseOriginal reads ":from[:to]".
func (l *memberLine) parseOriginal(c *cursor) string {
	c.blanks()
	if !c.take(":") {
		return ""
	}
	c.blanks()
	from, ok := c.number()
	if !ok {
		return "there is no number of a line after the signature"
	}
	c.blanks()
	l.original, l.single = lineRange{from, from}, true
	if !c.take(":") {
		return ""
	}
	c.blanks()
	to, ok := c.number()
	if !ok {
		return "there is no number of a line after the signature"
	}
	l.original, l.single = ordered(from, to), false
	c.blanks()
	return ""
}

// excerpt returns the beginning of a line for the message of an error.
func excerpt(line []byte) string {
	text := strings.ToValidUTF8(strings.TrimSpace(string(line[:min(len(line), 120)])), "\ufffd")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}

// lineError returns the error of a line that cannot be read.
func (l *lineReader) lineError(line []byte, problem string) error {
	code := symbol.Malformed
	if l.ended {
		code = symbol.Truncated
	}
	return symbol.Invalid(code, "line %d of the mapping cannot be read, %s: %q", l.count, problem, excerpt(line))
}
