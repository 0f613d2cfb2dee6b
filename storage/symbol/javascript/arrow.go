package javascript

// arrow looks at the => at token i: an arrow function, or a type.
func (f *finder) arrow(i int) {
	start := f.arrowStart(i)
	if start < 0 {
		return
	}
	first := start
	if f.kind(start-1) == '>' && f.kind(start) == '(' {
		open := f.angleBack(start - 1)
		if open < 0 {
			return
		}
		start = open
	}
	if f.word(start-1) == "async" && f.kind(start-2) != '.' {
		start--
	}
	if f.typeArrow(start) {
		return
	}
	name, at := f.inferred(start)
	if f.kind(i+1) == '{' && !f.tokens[i+1].inserted {
		f.mark(i+1, functionBrace)
		f.add(first, int(f.tokens[i+1].partner), name, at)
		return
	}
	end := f.expressionEnd(i + 1)
	if end <= i {
		return
	}
	f.add(first, end, name, at)
}

// arrowStart returns the first token of the parameters before the => at token i, which a
// return type may follow; -1 when there are none.
func (f *finder) arrowStart(i int) int {
	p := i - 1
	end := f.typeBack(p)
	if f.kind(end) == ':' && f.kind(end-1) == ')' {
		open := int(f.tokens[end-1].partner)
		before := open - 1
		if f.kind(before) == '>' {
			before = f.angleBack(before) - 1
		}
		switch k := f.kind(before); {
		case k == '?', k == ')', k == ']', k == '.': // a condition, or a call in one
		case k == wordToken && !beforeParameters(f.word(before)): // the parameters of a function
		case k == arrowToken && f.condition(end):
		default:
			return open
		}
	}
	switch f.kind(p) {
	case wordToken:
		return p
	case ')':
		return int(f.tokens[p].partner)
	}
	return -1
}

// beforeParameters reports whether a word may stand before the parenthesis of parameters.
func beforeParameters(w string) bool {
	return beforeOperand[w] || w == "async" || w == "of"
}

// typeBack goes back over the tokens of a type that ends at token i, and returns the one
// before it.
func (f *finder) typeBack(i int) int {
	for ; i >= 0 && f.step(); i-- {
		switch f.kind(i) {
		case ')', ']', '}':
			i = int(f.tokens[i].partner)
		case '>':
			if i = f.angleBack(i); i < 0 {
				return -1
			}
		case wordToken, '.', '|', '&', stringToken, numberToken, arrowToken, templateToken:
		default:
			return i
		}
	}
	return -1
}

// typeArrow reports whether the => whose parameters begin at token i belongs to a type.
func (f *finder) typeArrow(i int) bool {
	switch k := f.kind(i - 1); k {
	case '|', '&', '<':
		return true
	case ':':
		if _, what := f.inside(); what == objectBrace {
			return false
		}
		return !f.condition(i - 1)
	case wordToken:
		switch f.word(i - 1) {
		case "as", "is", "keyof", "infer", "satisfies", "extends":
			return true
		case "new":
			return f.kind(i) == '(' || f.kind(i) == '<'
		}
	}
	return false
}

// condition reports whether the colon at token i is that of a condition (a ? b : c).
func (f *finder) condition(i int) bool {
	if f.kind(i-1) == '?' {
		return false
	}
	for i--; i >= 0 && f.step(); i-- {
		switch f.kind(i) {
		case ')', ']', '}':
			i = int(f.tokens[i].partner)
		case '?':
			return true
		case '(', '[', '{', ';', ',':
			return false
		}
	}
	return false
}

// expressionEnd returns the last token of the expression, or the type, that begins at
// token i: it goes up to a comma, a semicolon or a closing bracket, or to the end of a
// line behind which a semicolon is inserted
// (https://tc39.es/ecma262/#sec-automatic-semicolon-insertion).
func (f *finder) expressionEnd(i int) int {
	from, conditions := i, 0
	for ; i < len(f.tokens) && f.step(); i++ {
		t := &f.tokens[i]
		switch t.kind {
		case ',', ';', ')', ']', '}':
			return i - 1
		case '?':
			conditions++
		case ':':
			if conditions--; conditions < 0 { // the arrow function is the first part of a condition
				return i - 1
			}
		}
		if i > from && t.line && f.endsOperand(i-1) && f.beginsOperand(i) {
			return i - 1
		}
		if t.kind == '(' || t.kind == '[' || t.kind == '{' {
			i = int(t.partner)
		}
	}
	return min(i, len(f.tokens)) - 1
}

func (f *finder) endsOperand(i int) bool {
	switch f.kind(i) {
	case wordToken:
		return f.kind(i-1) == '.' || !beforeOperand[f.word(i)]
	case numberToken, stringToken, templateToken, regexToken, markupToken, ')', ']', '}', stepToken, '>':
		return true
	}
	return false
}

func (f *finder) beginsOperand(i int) bool {
	switch f.kind(i) {
	case wordToken:
		switch f.word(i) {
		case "in", "instanceof", "of", "as", "satisfies", "is", "extends":
			return false
		}
		return true
	case numberToken, stringToken, regexToken, markupToken, '{', '@', stepToken, spreadToken:
		return true
	}
	return false
}

// brace says what the { at token i is, unless that is known.
func (f *finder) brace(i int) {
	if f.braces[i] != 0 {
		return
	}
	what := uint8(blockBrace)
	t := &f.tokens[i]
	switch f.kind(i - 1) {
	case '(', ',', '[', '=', '?', operatorToken, spreadToken, '!', '|', '&', '<', '*', '.':
		what = objectBrace
	case ':':
		if _, outer := f.inside(); outer == objectBrace || f.inGroup() || f.condition(i-1) {
			what = objectBrace
		}
	case wordToken:
		switch f.word(i - 1) {
		case "return", "typeof", "case", "in", "of", "instanceof", "new", "void", "delete", "throw", "yield", "await", "default", "extends":
			if f.kind(i-2) != '.' && (!t.line || f.word(i-1) != "return") {
				what = objectBrace
			}
		case "static":
			if brace, outer := f.inside(); outer == classBrace && brace >= 0 {
				end := int(t.partner)
				f.spans = append(f.spans, span{from: int(t.from), to: int(f.tokens[end].to), unknown: true, token: -1})
			}
		}
	}
	if t.inserted {
		what = blockBrace
	}
	f.mark(i, what)
}

// inGroup reports whether the innermost bracket is a parenthesis or a list.
func (f *finder) inGroup() bool {
	return len(f.open) > 0 && f.kind(f.open[len(f.open)-1]) != '{'
}

// inferred returns the name that a function or class without one has from where it is
// assigned (https://tc39.es/ecma262/#sec-isfunctiondefinition), and its token.
func (f *finder) inferred(start int) (string, int) {
	b := start - 1
	switch f.kind(b) {
	case '=':
		return f.target(b - 1)
	case ':':
		if brace, what := f.inside(); brace >= 0 && what == objectBrace && !f.condition(b) {
			name, _ := f.memberName(b - 1)
			return name, b - 1
		}
	case wordToken:
		if f.word(b) == "default" && f.word(b-1) == "export" {
			return "default", b
		}
	}
	return "", -1
}

// target returns the name of what is assigned to, which ends at token i.
func (f *finder) target(i int) (string, int) {
	if f.kind(i) == wordToken {
		switch f.kind(f.pathStart(i) - 1) {
		case ':', '|', '&', arrowToken, '<': // it may be a type
		default:
			return f.property(i), i
		}
	}
	if f.kind(i) == ']' && f.kind(i-1) == stringToken && f.kind(i-2) == '[' && f.kind(i-3) != ':' {
		name, _ := f.memberName(i - 1)
		return name, i - 1
	}
	colon := f.typeBack(i) // name: Type = function
	if f.kind(colon) != ':' {
		return "", -1
	}
	at := colon - 1
	if f.kind(at) == '?' || f.kind(at) == '!' {
		at--
	}
	if f.kind(at) != wordToken {
		return "", -1
	}
	return f.word(at), at
}

// pathStart returns the first token of a.b.c that ends at token i.
func (f *finder) pathStart(i int) int {
	for f.kind(i-1) == '.' && f.kind(i-2) == wordToken && f.step() {
		i -= 2
	}
	return i
}

// property returns the name of a variable or a property: of X.prototype.name it is X.name,
// as V8 writes it.
func (f *finder) property(i int) string {
	name := f.word(i)
	if f.kind(i-1) == '.' && f.word(i-2) == "prototype" && f.kind(i-3) == '.' && f.word(i-4) != "" {
		return f.word(i-4) + "." + name
	}
	return name
}
