package native

import (
	"encoding/hex"
	"strings"
)

// nimName returns the name of a routine of Nim of the one that its compiler has it in C under:
// total__shopZcart_u12 is cart.total, and dollar___system_2724 is system.$. Before version 2 the
// number at the end had no u; such a name may as well be one of C, and is read when its source is
// known to be Nim.
func nimName(symbol string, known bool) (string, bool) {
	symbol = strings.TrimPrefix(symbol, "_")
	at := strings.LastIndex(symbol, "__")
	if at <= 0 {
		return "", false
	}
	name, place := symbol[:at], symbol[at+2:]
	module, number, ok := strings.Cut(place, "_")
	if !ok || module == "" || !isNimModule(module) {
		return "", false
	}
	digits, new := strings.CutPrefix(number, "u")
	if !new && !known || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	if i := strings.LastIndexByte(module, 'Z'); i >= 0 {
		module = module[i+1:] // of the path, the file
	}
	if operator, ok := strings.CutSuffix(name, "_"); ok {
		name = nimOperator(operator)
	}
	if module == "" || name == "" || strings.Trim(name, "_") == "" {
		return "", false
	}
	return module + "." + name, true
}

// isNimModule reports whether a text is the path of a module: Z is the slash and O the point.
func isNimModule(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != 'Z' && c != 'O' {
			return false
		}
	}
	return true
}

// nimWords are the names of the characters of operators, the longer ones first where one
// begins as another.
var nimWords = []struct{ word, char string }{
	{"backslash", `\`}, {"percent", "%"}, {"dollar", "$"}, {"emark", "!"}, {"minus", "-"}, {"qmark", "?"}, {"slash", "/"},
	{"tilde", "~"}, {"colon", ":"}, {"plus", "+"}, {"roof", "^"}, {"star", "*"}, {"amp", "&"}, {"bar", "|"}, {"dot", "."},
	{"eq", "="}, {"gt", ">"}, {"lt", "<"}, {"at", "@"},
}

// nimOperator reads the name of an operator (plusemark), or of a hook (eqdestroy); any other stays.
func nimOperator(text string) string {
	var b strings.Builder
	for rest := text; rest != ""; {
		char, left := nimChar(rest)
		if char == "" {
			if b.String() == "=" {
				return "=" + rest
			}
			return text
		}
		b.WriteString(char)
		rest = left
	}
	return b.String()
}

// nimChar reads one character of an operator; "" when the text does not begin with one.
func nimChar(text string) (char, rest string) {
	for _, w := range nimWords {
		if rest, ok := strings.CutPrefix(text, w.word); ok {
			return w.char, rest
		}
	}
	if text[0] != 'X' || len(text) < 3 {
		return "", text
	}
	code, err := hex.DecodeString(text[1:3])
	if err != nil || code[0] <= ' ' || code[0] > '~' {
		return "", text
	}
	return string(code), text[3:]
}
