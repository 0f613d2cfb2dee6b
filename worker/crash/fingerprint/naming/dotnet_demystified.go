package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// demystified brings a frame that Ben.Demystifier wrote in the words of C# to the form of the
// runtime's: without modifiers and the type that it returns, a lambda and a local function behind
// the method that contains it.
//
//	async Task<int> Shop.Cart.PayAsync(int id)     ->  Shop.Cart.PayAsync
//	void Shop.Cart.Pay(int id)+(string s) => { }   ->  Shop.Cart.Pay.lambda
//	int Shop.Cart.Pay(int id)+Total(int n)         ->  Shop.Cart.Pay.Total
//	new Shop.Cart(int id)                          ->  Shop.Cart..ctor
func (n dotnetNamer) demystified(s string) string {
	open := argumentList(s)
	if open <= 0 {
		return s
	}
	head, tail := strings.TrimRight(s[:open], " "), s[scan.BracketEnd(s, open):]
	words := splitOutsideBrackets(head)
	name := words[len(words)-1]
	constructor, known := "", len(words) > 1
	for _, w := range words[:len(words)-1] {
		switch w {
		case "new":
			constructor = "..ctor"
		case "static":
			if len(words) == 2 {
				constructor = "..cctor"
			}
		}
	}
	// F# has names with blanks in them: there the first word has the namespace.
	if known && constructor == "" && (strings.IndexByte(name, '.') < 0 || len(words) > maxModifiers) {
		return s
	}
	inner, nested := strings.CutPrefix(tail, "+")
	if !known && !nested {
		return s
	}
	n.noteRule(rule.ReturnType)
	name += constructor
	for range maxClosures {
		if !nested {
			break
		}
		n.noteRule(rule.DotNetLambda)
		list := argumentList(inner)
		if list < 0 {
			break
		}
		switch local := lastWord(inner[:list]); local {
		case "MoveNext": // an iterator is in the method that made it
		case "", "async", "static":
			return name + ".lambda"
		default:
			name += "." + local
		}
		inner, nested = strings.CutPrefix(inner[scan.BracketEnd(inner, list):], "+")
	}
	return name
}

// maxModifiers bounds the words before the arguments of a method: public static async, a
// reference's two, the type, the name.
const maxModifiers = 6

// argumentList returns where the arguments of the method begin, -1 for none: the first round
// bracket that is no tuple before the name.
func argumentList(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '[':
			i = scan.BracketEnd(s, i) - 1
		case '(':
			end := scan.BracketEnd(s, i)
			if end < len(s) && (s[end] == ' ' || s[end] == '[') && end+1 < len(s) && scan.IsLetter(s[end+1]) && !strings.HasPrefix(s[end:], " in ") {
				i = end - 1 // a tuple that is returned
				continue
			}
			return i
		}
	}
	return -1
}

// splitOutsideBrackets splits at the blanks that are in no bracket.
func splitOutsideBrackets(s string) []string {
	var words []string
	from := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '[', '(':
			i = scan.BracketEnd(s, i) - 1
		case ' ':
			if i > from {
				words = append(words, s[from:i])
			}
			from = i + 1
		}
	}
	return append(words, s[from:])
}

func lastWord(s string) string {
	words := splitOutsideBrackets(strings.TrimSpace(s))
	return words[len(words)-1]
}
