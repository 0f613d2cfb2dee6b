// Package javascript finds the functions of a script: which one is around a place, and what V8
// would call it.
//
// Functions splits a text into tokens (token.go, markup.go) and finds the functions among them
// (finder.go, arrow.go, signature.go). It reads JavaScript, TypeScript, Flow and JSX, but it is no
// parser: it knows as much as is needed to see where a function begins and ends, and how it is
// named: by itself, as the member of a class or an object, or by what it is assigned to.
//
// A List has them in the order of their beginnings. Places count lines and columns from 0, columns
// in UTF-16 code units, as source maps do.
//
// What is not understood has no functions rather than wrong ones: Known is false where brackets do
// not match, where the text is longer than MaxText, and for names of files that are no scripts.
// What looks ahead or back has a budget of steps, so that no text takes longer than its length asks
// for.
package javascript

import (
	"path"
	"strings"
)

// MaxText bounds a source text whose functions are looked for: 2 MiB take about 50 ms.
const MaxText = 2 << 20

// maxFunctions bounds the functions of a source.
const maxFunctions = 1 << 16

// Anonymous is the name of a function that has none, as V8 writes it.
const Anonymous = "<anonymous>"

// What a brace is.
const (
	blockBrace = iota
	functionBrace
	classBrace
	objectBrace
	typeBrace
)

// Functions returns the functions of a JavaScript or TypeScript text; Known is false when it
// is not understood, and then nothing is known.
func Functions(text []byte, name string) *List {
	jsx, script := language(name)
	if !script || len(text) > MaxText {
		return &List{}
	}
	for {
		if tokens, ok := tokenize(text, jsx); ok {
			f := &finder{text: text, tokens: tokens, braces: make([]uint8, len(tokens)), classes: map[int]string{}, budget: 32*len(tokens) + 1000}
			if f.run() {
				return newList(text, f.spans)
			}
			return &List{}
		}
		if !jsx {
			return &List{}
		}
		jsx = false // < may be a type of Flow
	}
}

// language says by the name of a source whether it is a script, and may have JSX.
func language(name string) (jsx, script bool) {
	switch strings.ToLower(path.Ext(name[strings.LastIndexAny(name, `/\`)+1:])) {
	case ".ts", ".mts", ".cts":
		return false, true
	case ".js", ".jsx", ".mjs", ".cjs", ".tsx", ".es6", ".es", ".flow", "", ".bundle", ".jsbundle":
		return true, true
	}
	return false, false
}

// finder finds the functions among tokens whose brackets match.
type finder struct {
	text    []byte
	tokens  []token
	braces  []uint8        // what each { is, 0 for not yet known, else 1 more
	classes map[int]string // names of classes by their {
	spans   []span
	budget  int // steps that are left: what looks ahead or back must not be quadratic
	open    []int
}

func (f *finder) word(i int) string {
	if i < 0 || i >= len(f.tokens) || f.tokens[i].kind != wordToken {
		return ""
	}
	return string(f.text[f.tokens[i].from:f.tokens[i].to])
}

func (f *finder) kind(i int) kind {
	if i < 0 || i >= len(f.tokens) {
		return 0
	}
	return f.tokens[i].kind
}

func (f *finder) step() bool {
	f.budget--
	return f.budget > 0
}

func (f *finder) mark(i int, brace uint8) { f.braces[i] = brace + 1 }

// inside returns the innermost open brace and what it is; -1 for none, or when a
// parenthesis is in between.
func (f *finder) inside() (int, uint8) {
	if len(f.open) == 0 {
		return -1, blockBrace
	}
	i := f.open[len(f.open)-1]
	if f.tokens[i].kind != '{' || f.tokens[i].inserted {
		return -1, blockBrace
	}
	return i, f.braces[i] - 1
}

// add keeps a function from token a up to the end of token b; name "" is none.
func (f *finder) add(a, b int, name string, nameToken int) {
	s := span{from: int(f.tokens[a].from), to: int(f.tokens[b].to), name: name, token: -1}
	if nameToken >= 0 {
		s.token = int(f.tokens[nameToken].from)
	}
	if name == "" {
		s.name = Anonymous
	}
	f.spans = append(f.spans, s)
}

func (f *finder) run() bool {
	for i := 0; i < len(f.tokens); i++ {
		if !f.step() || len(f.spans) > maxFunctions {
			return false
		}
		t := &f.tokens[i]
		switch t.kind {
		case '(':
			f.method(i)
			f.open = append(f.open, i)
		case '[':
			f.open = append(f.open, i)
		case '{':
			f.brace(i)
			if f.braces[i] == typeBrace+1 {
				i = int(t.partner)
				continue
			}
			f.open = append(f.open, i)
		case ')', ']', '}':
			f.open = f.open[:len(f.open)-1]
		case arrowToken:
			f.arrow(i)
		case wordToken:
			if f.kind(i-1) != '.' {
				i = f.keyword(i)
			}
		}
	}
	return f.budget > 0
}

// keyword looks at a word and returns the token to go on behind.
func (f *finder) keyword(i int) int {
	switch w := f.word(i); w {
	case "function":
		if k := f.kind(i + 1); k == '(' || k == '*' || k == wordToken || k == '<' {
			f.function(i)
		}
	case "class":
		if k := f.kind(i + 1); k == wordToken || k == '{' || k == '<' {
			f.class(i)
		}
	case "interface", "enum":
		if f.kind(i+1) == wordToken {
			for j := i + 2; j < len(f.tokens) && f.step(); j++ {
				if k := f.kind(j); k == '{' {
					f.mark(j, typeBrace)
					break
				} else if k == ';' || k == '(' || k == '=' {
					break
				}
			}
		}
	case "type", "opaque":
		before := f.kind(i - 1)
		begins := i == 0 || before == ';' || before == '}' || before == '{' || f.tokens[i].line || f.word(i-1) == "export" ||
			f.word(i-1) == "declare"
		if k := f.kind(i + 2); begins && f.kind(i+1) == wordToken && !f.tokens[i+1].line && (k == '=' || k == '<') {
			return f.expressionEnd(i + 3)
		}
	}
	return i
}

// function looks at the keyword at token i.
func (f *finder) function(i int) {
	j := i + 1
	if f.kind(j) == '*' {
		j++
	}
	name, at := "", -1
	if f.kind(j) == wordToken {
		name, at = f.word(j), j
		j++
	}
	if f.kind(j) == '<' {
		j = f.angle(j) + 1
	}
	if f.kind(j) != '(' {
		return
	}
	body := f.body(int(f.tokens[j].partner))
	if body < 0 {
		return
	}
	f.mark(body, functionBrace)
	if name == "" {
		start := i
		if f.word(i-1) == "async" && f.kind(i-2) != '.' {
			start--
		}
		name, at = f.inferred(start)
	}
	f.add(j, int(f.tokens[body].partner), name, at)
}

// class looks at the keyword at token i.
func (f *finder) class(i int) {
	j := i + 1
	name := ""
	if w := f.word(j); w != "" && w != "extends" && w != "implements" {
		name = w
		j++
	} else {
		name, _ = f.inferred(i)
	}
	for ; j < len(f.tokens) && f.step(); j++ {
		switch f.kind(j) {
		case '{':
			f.mark(j, classBrace)
			f.classes[j] = name
			end := int(f.tokens[j].partner)
			f.spans = append(f.spans, span{from: int(f.tokens[j].from), to: int(f.tokens[end].to), unknown: true, token: -1})
			return
		case '(', '[':
			j = int(f.tokens[j].partner)
		case '<':
			if j = f.angle(j); j < 0 {
				return
			}
		case ';', ')', ']', '}', ',', '=':
			return
		}
	}
}

// method looks at the parenthesis at token i: whether it begins the parameters of one.
func (f *finder) method(i int) {
	brace, what := f.inside()
	if brace < 0 || what != classBrace && what != objectBrace {
		return
	}
	p := i - 1
	if f.kind(p) == '>' {
		p = f.angleBack(p) - 1
	}
	if f.kind(p) == '?' {
		p--
	}
	name, known := f.memberName(p)
	if !known {
		return
	}
	first := p
	if f.kind(p) == ']' {
		first = int(f.tokens[p].partner)
	}
	before := first - 1
	for f.kind(before) == '*' || f.modifier(before, brace) {
		before--
	}
	switch k := f.kind(before); k {
	case '{', ',':
	case ';', '}', ')', wordToken, stringToken, numberToken, ']', templateToken, regexToken, '>':
		if what != classBrace || f.word(before) == "new" {
			return
		}
	default:
		return
	}
	body := f.body(int(f.tokens[i].partner))
	if body < 0 {
		return
	}
	f.mark(body, functionBrace)
	at := p
	if what == classBrace {
		class := f.classes[brace]
		switch {
		case name == "constructor":
			if name = "new " + class; class == "" {
				name = "new " + Anonymous
			}
		case class != "" && name != "" && name[0] != '#': // as V8 writes them
			name = class + "." + name
		}
	}
	f.add(i, int(f.tokens[body].partner), name, at)
}

// modifier reports whether a token is a word before the name of a member.
func (f *finder) modifier(i, brace int) bool {
	if i <= brace {
		return false
	}
	switch f.word(i) {
	case "get", "set", "async", "static", "public", "private", "protected", "readonly", "override", "abstract", "accessor", "declare":
		return true
	}
	return false
}

// memberName returns the name of a member whose last token is i; "" for one that is
// computed; false when it is none.
func (f *finder) memberName(i int) (string, bool) {
	switch f.kind(i) {
	case wordToken:
		switch w := f.word(i); w {
		case "if", "for", "while", "switch", "with", "function", "catch", "super", "return", "await":
			_, what := f.inside()
			return w, what == classBrace || what == objectBrace
		default:
			return w, true
		}
	case stringToken, numberToken:
		t := f.tokens[i]
		return strings.Trim(string(f.text[t.from:t.to]), `"'`), true
	case ']':
		open := int(f.tokens[i].partner)
		if i-open == 4 && f.word(open+1) == "Symbol" && f.kind(open+2) == '.' {
			return "[Symbol." + f.word(open+3) + "]", true
		}
		if i-open == 2 && f.kind(open+1) == stringToken {
			return f.memberName(open + 1)
		}
		return "", true
	}
	return "", false
}
