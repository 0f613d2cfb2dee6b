package message

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// quotedText returns the position after a quoted text that begins at i, or 0.
// A quote after a letter is an apostrophe, and so is one before it.
func quotedText(s string, i int) int {
	const longest = 256 // a quote that stays open must not swallow the message
	end := ""
	switch s[i] {
	case '\'', '"', '`':
		end = s[i : i+1]
	case 0xE2:
		if strings.HasPrefix(s[i:], "“") {
			end = "”"
		} else if strings.HasPrefix(s[i:], "‘") {
			end = "’"
		}
	case 0xC2:
		if strings.HasPrefix(s[i:], "«") {
			end = "»"
		}
	}
	if end == "" || i > 0 && scan.IsIdent(s[i-1]) && s[i-1] < 0x80 {
		return 0
	}
	from := i + 1
	for from < len(s) && s[from]&0xC0 == 0x80 {
		from++
	}
	window := s[from:min(len(s), from+longest)]
	for k := 0; k < len(window); {
		p := strings.Index(window[k:], end)
		if p < 0 && end == "`" {
			// `name' is the quotation of older compilers and shells.
			p = strings.Index(window[k:], "'")
		}
		if p < 0 {
			return 0
		}
		after := from + k + p + len(end)
		if len(end) > 1 || after >= len(s) || !scan.IsIdent(s[after]) {
			return after
		}
		k += p + 1
	}
	return 0
}

// maxQuotedName bounds a quoted text that can be a name.
const maxQuotedName = 80

// isQuotedName reports whether a quoted text is a name in the program and no value
// that it handled: a key, a column, a field, a variable. It has the form of an
// identifier, and the words before or after it say what it names, or it is the
// whole message of an error that is about names.
//
//	KeyError: 'user_id'
//	column "price" does not exist
//	name 'x' is not defined
func isQuotedName(inner, before, after, class string) bool {
	if len(inner) > maxQuotedName || !isNameForm(inner) {
		return false
	}
	if isNameClass(class) || scan.ContainsAny(inner, "::", "()") {
		return true
	}
	last := previousWord(before)
	if isNamingWord(last) {
		return true
	}
	// "a key named 'x'", "property of type 'X'", "is missing 'x'".
	if scan.IsOneOf(last, "named", "called", "type", "of", "missing", "required", "unknown", "undefined", "undeclared",
		"unexpected", "positional") {
		rest := strings.TrimRight(before, " :=(")
		if isNamingWord(previousWord(strings.TrimSuffix(rest, last))) {
			return true
		}
		if scan.IsOneOf(last, "undefined", "undeclared", "missing") {
			return true
		}
	}
	after = strings.TrimLeft(after, " ")
	if scan.HasPrefixAny(after, "is not defined", "is undefined", "of undefined", "of null", "is not a function", "is required",
		"is a required", "is missing", "is not a constructor", "has no attribute", "has no member", "was not declared",
		"on null", "on undefined", "because", "violates", "already defined", "cannot be null", "may not be null",
		"must not be null", "can not be null", "object is not", "object has no", "cannot be interpreted") {
		return true
	}
	if isCompound(inner) && scan.HasPrefixAny(after, "could not be found", "was not found", "not found", "cannot be found",
		"is not registered", "has not been registered", "is not installed", "is not available", "could not be resolved",
		"is not exported", "does not exist", "could not be loaded") {
		return true
	}
	next, _, _ := strings.Cut(after, " ")
	return isNamingWord(strings.ToLower(strings.TrimRight(next, ".,:;)")))
}

// isCompound reports whether a text is written as programs join words, which people
// seldom do: RNCamera, cartView, cart_view.
func isCompound(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '_' || s[i] >= 'A' && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

// isNameForm reports whether a text is written as names are in programs: words
// with underscores, points and the like, no blanks, and no long numbers.
func isNameForm(s string) bool {
	if s == "" || isMail(s) || isUUID(s) || isHostName(s) || isAddress(s) || isPath(s) || isIdentifier(s) {
		return false
	}
	digits := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if scan.IsDigit(c) {
			if digits++; digits > 3 {
				return false
			}
			continue
		}
		digits = 0
		if !scan.IsLetter(c) && strings.IndexByte("_.$-:[]()<>*#@?!&/", c) < 0 {
			return false
		}
	}
	return !scan.IsDigit(s[0])
}

// isNameClass reports whether errors of a class are about a name: their messages
// quote it.
func isNameClass(class string) bool {
	switch ShortClass(class) {
	case "keyerror", "nameerror", "attributeerror", "unboundlocalerror", "modulenotfounderror", "importerror",
		"nomethoderror", "undefinedfunctionerror", "keynotfoundexception", "missingfieldexception", "missingmethodexception",
		"nosuchfielderror", "nosuchmethoderror", "nosuchfieldexception", "nosuchmethodexception",
		"noclassdeffounderror", "classnotfoundexception", "referenceerror", "improperlyconfigured", "multivaluedictkeyerror",
		"badmethodcallexception", "fielderror", "undefinedcolumn", "undefinedtable", "argumentnullexception",
		"unknownattributeerror", "missingpropertyexception", "missingmethod":
		return true
	}
	return false
}

// isNamingWord reports whether a word says that a name stands beside it.
func isNamingWord(w string) bool {
	switch w {
	case "key", "keys", "column", "columns", "field", "fields", "property", "properties", "attribute", "attributes",
		"parameter", "param", "argument", "arguments", "option", "variable", "constant", "module", "package", "class",
		"struct", "interface", "enum", "trait",
		"method", "function", "func", "procedure", "relation", "table", "view", "schema", "constraint", "index", "trigger",
		"sequence", "member", "symbol", "identifier", "name", "header", "setting", "config", "directive", "element",
		"component", "plugin", "extension", "library",
		"selector", "slot", "prop", "hook", "route", "command", "event", "service", "bean", "provider", "annotation",
		"keyword", "type", "object", "instance", "macro", "template", "partial", "filter", "import", "env", "flag",
		"operator", "permission", "feature":
		return true
	}
	return false
}

// previousWord returns the last word of s in small letters, past blanks and what
// stands between a word and the thing it names.
func previousWord(s string) string {
	s = strings.TrimRight(s, " :=([{#-\"'`")
	start := len(s)
	for start > 0 && (scan.IsLetter(s[start-1]) || s[start-1] == '_') {
		start--
	}
	return strings.ToLower(s[start:])
}

// ShortClass returns a class without its package or namespace, in small letters.
func ShortClass(class string) string {
	class = strings.TrimLeft(class, "*&\\")
	class = class[strings.LastIndexAny(class, `.:\/`)+1:]
	return strings.ToLower(strings.TrimRight(class, "!"))
}
