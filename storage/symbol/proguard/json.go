package proguard

import (
	"strconv"
	"unicode/utf8"
)

// maxNesting bounds how deep the values of a JSON comment nest. Known ones nest twice.
const maxNesting = 16

// jsonCursor reads the JSON of comments. Compilers have written it with single quotes and
// with names that are not quoted, so both are read, as R8 does.
type jsonCursor struct {
	text []byte
	at   int
}

func (j *jsonCursor) blanks() {
	for j.at < len(j.text) && j.text[j.at] <= ' ' {
		j.at++
	}
}

func (j *jsonCursor) take(c byte) bool {
	j.blanks()
	if j.at < len(j.text) && j.text[j.at] == c {
		j.at++
		return true
	}
	return false
}

// object reads an object and calls member for each name, which reads the value. It
// reports whether all of it could be read.
func (j *jsonCursor) object(member func(name string) bool) bool {
	if !j.take('{') {
		return false
	}
	if j.take('}') {
		return true
	}
	for {
		name, ok := j.scalar()
		if !ok || !j.take(':') || !member(name) {
			return false
		}
		if j.take('}') {
			return true
		}
		if !j.take(',') {
			return false
		}
	}
}

// texts reads an array of texts.
func (j *jsonCursor) texts() (all []string, ok bool) {
	if !j.take('[') {
		return nil, false
	}
	if j.take(']') {
		return nil, true
	}
	for {
		text, ok := j.scalar()
		if !ok {
			return nil, false
		}
		all = append(all, text)
		if j.take(']') {
			return all, true
		}
		if !j.take(',') {
			return nil, false
		}
	}
}

// skip reads a value of any kind.
func (j *jsonCursor) skip(depth int) bool {
	j.blanks()
	if depth > maxNesting || j.at >= len(j.text) {
		return false
	}
	switch j.text[j.at] {
	case '{':
		return j.object(func(string) bool { return j.skip(depth + 1) })
	case '[':
		j.at++
		if j.take(']') {
			return true
		}
		for j.skip(depth + 1) {
			if j.take(']') {
				return true
			}
			if !j.take(',') {
				return false
			}
		}
		return false
	}
	_, ok := j.scalar()
	return ok
}

// scalar reads a text in either quotes, a number, or a word, as its text.
func (j *jsonCursor) scalar() (string, bool) {
	j.blanks()
	if j.at >= len(j.text) {
		return "", false
	}
	if c := j.text[j.at]; c == '"' || c == '\'' {
		j.at++
		return j.quoted(c)
	}
	from := j.at
	for j.at < len(j.text) {
		switch c := j.text[j.at]; {
		case c <= ' ', c == ',', c == ':', c == '{', c == '}', c == '[', c == ']', c == '"', c == '\'':
			return string(j.text[from:j.at]), j.at > from
		}
		j.at++
	}
	return string(j.text[from:j.at]), j.at > from
}

func (j *jsonCursor) quoted(quote byte) (string, bool) {
	from := j.at
	for i := from; i < len(j.text); i++ {
		switch j.text[i] {
		case quote:
			j.at = i + 1
			return string(j.text[from:i]), true
		case '\\':
			return j.escaped(quote, append([]byte(nil), j.text[from:i]...), i)
		}
	}
	return "", false
}

// escapes are the escapes of one letter.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// escaped reads the rest of a text that has escapes.
func (j *jsonCursor) escaped(quote byte, text []byte, at int) (string, bool) {
	for i := at; i < len(j.text); i++ {
		c := j.text[i]
		switch {
		case c == quote:
			j.at = i + 1
			return string(text), true
		case c != '\\':
			text = append(text, c)
			continue
		case i+1 >= len(j.text):
			return "", false
		}
		i++
		if j.text[i] != 'u' {
			letter, ok := escapes[j.text[i]]
			if !ok {
				letter = j.text[i]
			}
			text = append(text, letter)
			continue
		}
		if i+5 > len(j.text) {
			return "", false
		}
		code, err := strconv.ParseUint(string(j.text[i+1:i+5]), 16, 16)
		if err != nil {
			return "", false
		}
		text = utf8.AppendRune(text, rune(code))
		i += 4
	}
	return "", false
}
