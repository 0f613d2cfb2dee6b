package javascript

// body returns the { of a body behind the parameters that end at token i, after a return
// type if there is one; -1 for none.
func (f *finder) body(i int) int {
	i++
	if f.kind(i) != ':' {
		if f.kind(i) == '{' && !f.tokens[i].inserted {
			return i
		}
		return -1
	}
	operand := true // a type is expected
	for i++; i < len(f.tokens) && f.step(); i++ {
		switch k := f.kind(i); k {
		case '{':
			if !operand {
				return i
			}
			i = int(f.tokens[i].partner)
			operand = false
		case '(', '[':
			i = int(f.tokens[i].partner)
			operand = false
		case '|', '&', arrowToken, '.', '?', ':':
			operand = true
		case '<':
			if i = f.angle(i); i < 0 {
				return -1
			}
			operand = false
		case wordToken:
			switch f.word(i) {
			case "is", "asserts", "keyof", "typeof", "readonly", "infer", "extends", "unique", "new":
				operand = true
			default:
				operand = false
			}
		case stringToken, numberToken, templateToken, '*':
			operand = false
		default:
			return -1
		}
	}
	return -1
}

// angle returns the > that ends the type parameters at token i; -1 for none.
func (f *finder) angle(i int) int {
	depth := 0
	for ; i < len(f.tokens) && f.step(); i++ {
		switch f.kind(i) {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i
			}
		case '(', '[', '{':
			i = int(f.tokens[i].partner)
		case ')', ']', '}', ';':
			return -1
		}
	}
	return -1
}

// angleBack returns the < of the type parameters that end at token i; -1 for none.
func (f *finder) angleBack(i int) int {
	depth := 0
	for ; i >= 0 && f.step(); i-- {
		switch f.kind(i) {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 {
				return i
			}
		case ')', ']', '}':
			i = int(f.tokens[i].partner)
		case '(', '[', '{', ';':
			return -1
		}
	}
	return -1
}
