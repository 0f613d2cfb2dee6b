package css

import (
	"strings"
	"unicode/utf8"
)

// replacements say what to use instead of the pseudo-classes of other tools.
var replacements = map[string]string{}

func init() {
	for instead, names := range map[string]string{
		"hasText, or the type text, finds elements by their text":                                      "contains has-text text text-is text-matches icontains",
		"index says which of several elements is meant":                                                "eq first last gt lt even odd nth nth-match",
		"actions wait for an element that can be seen, and the matchers visible and hidden look at it": "visible hidden",
		"the type of a control is an attribute, as in [type=checkbox]":                                 "button checkbox file image input password radio reset submit",
		"use :checked": "selected",
	} {
		for name := range strings.FieldsSeq(names) {
			replacements[name] = ": " + instead
		}
	}
}

func instead(name string) string { return replacements[name] }

// prefixes are what other tools write before a selector, with its type here.
var prefixes = map[string]string{"text": "text", "xpath": "xpath", "css": "css", "role": "role", "data-testid": "testId"}

// unexpected is the error of a character that cannot stand where it does.
func (p *parser) unexpected() *Error {
	rest := p.Text[p.At:]
	switch {
	case rest == "":
		return p.Fail(p.At, "the selector ends too early")
	case strings.HasPrefix(rest, "/*"):
		p.At = len(p.Text)
		return p.Fail(len(p.Text)-len(rest), "the comment is not closed")
	case strings.HasPrefix(rest, "/deep/"), endsWithChild(p.Text[:p.At]) && strings.HasPrefix(rest, ">>"):
		return p.Fail(p.At, "css looks into open shadow roots by itself, with a space between host and element")
	case endsWithChild(p.Text[:p.At]) && rest[0] == '>':
		return p.Fail(p.At, "a selector in another one is written as within")
	case strings.HasPrefix(rest, "/"):
		return p.Fail(p.At, "/ is of XPath, whose type is xpath")
	case rest[0] == '@':
		return p.Fail(p.At, "@ is of XPath; an attribute is [name] or [name=\"value\"]")
	case strings.HasPrefix(rest, "!="):
		return p.Fail(p.At, "!= is not of CSS: use :not([name=\"value\"])")
	case rest[0] == '=' && prefixes[p.Text[:p.At]] != "":
		return p.Fail(p.At, "what other tools write as %s= is the type %s", p.Text[:p.At], prefixes[p.Text[:p.At]])
	case p.At > 0 && (isNameStart(rest[0]) || rest[0] == '*'):
		return p.Fail(p.At, "the name of an element stands before all else, or behind a space")
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return p.Fail(p.At, "%q cannot stand here", r)
}

// endsWithChild reports whether a > was the last that was read.
func endsWithChild(read string) bool { return strings.HasSuffix(strings.TrimRight(read, " "), ">") }

// missing is the error of a place where a selector must begin.
func (p *parser) missing() *Error {
	switch c := p.Next(); {
	case p.At == len(p.Text) && strings.TrimSpace(p.Text[:p.At]) == "":
		return p.Fail(p.At, "the selector is empty")
	case p.At == len(p.Text), c == ',', c == ')':
		return p.Fail(p.At, "a selector is missing")
	case p.At == 0 && isCombinator(c):
		return p.Fail(p.At, "a selector cannot begin with %c; within says in what it is", c)
	}
	return p.unexpected()
}

// badName is the error of a name that is missing, or begins as none can.
func (p *parser) badName(what, behind string) *Error {
	c := p.Next()
	digit := c
	if c == '-' {
		digit = p.Peek(1)
	}
	switch {
	case '0' <= digit && digit <= '9':
		return p.Fail(p.At, "%s cannot begin with a digit: write \\3%c and a space instead of %c, or [name=\"value\"]", what, digit, digit)
	case p.At == len(p.Text), isSpace(c):
		return p.Fail(p.At, "%s is missing behind %s", what, behind)
	}
	return p.unexpected()
}
