package export

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
)

var notInName = regexp.MustCompile(`[^A-Za-z0-9_]`)

// odd are names that begin with a digit, which none may, or with an underscore: Python has a
// meaning of its own for __a, and Java for _. With the prefix arg_ they stay among the odd ones.
var odd = regexp.MustCompile(`^(arg_)*[0-9_]`)

// variableName turns the name of a parameter, of lower-case letters, digits and underscores, into
// that of a variable. Two never become one: 2nd becomes arg_2nd and arg_2nd becomes arg_arg_2nd,
// class becomes class_ and class_ becomes class__.
func variableName(name string, taken []string) string {
	name = notInName.ReplaceAllString(name, "_")
	if odd.MatchString(name) {
		name = "arg_" + name
	}
	if slices.Contains(taken, strings.TrimRight(name, "_")) {
		name += "_"
	}
	return name
}

// pythonTaken are the keywords, and what the statements of a test call by its bare name.
var pythonTaken = []string{
	"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
	"from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with",
	"yield", "alt", "alt_text", "condition", "css", "env", "int", "label", "len", "placeholder", "re", "role", "self", "suppress",
	"test_id", "text", "time", "title", "urljoin", "xpath",
}

// javaTaken are the keywords, and the fields of a test. Its methods have names of their own.
var javaTaken = []string{
	"abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue", "default", "do", "double",
	"else", "enum", "extends", "false", "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof", "int",
	"interface", "long", "native", "new", "null", "package", "private", "protected", "public", "record", "return", "short", "static",
	"strictfp", "super", "switch", "synchronized", "this", "throw", "throws", "transient", "true", "try", "var", "void", "volatile",
	"while", "yield", "driver", "folder", "hosts", "row", "timeout",
}

func pythonParameter(name string) string { return variableName(name, pythonTaken) }

func javaParameter(name string) string { return variableName(name, javaTaken) }

// listedParameters are the parameters of a function, each written by one.
func listedParameters(f *script.Function, one func(name string) string) string {
	list := make([]string, len(f.Parameters))
	for i, name := range f.Parameters {
		list[i] = one(name)
	}
	return strings.Join(list, ", ")
}

// listedValues are the values of a call, each written by one.
func listedValues(c *script.Call, one func(a script.Argument) string) string {
	list := make([]string, len(c.Given))
	for i, a := range c.Given {
		list[i] = one(a)
	}
	return strings.Join(list, ", ")
}

// javaScriptCall is a call with the values as members of an object.
func javaScriptCall(c *script.Call) string { return c.Function + "(" + givenObject(c) + ");" }

// givenObject are the values of a call as members of an object of JavaScript.
func givenObject(c *script.Call) string {
	if len(c.Given) == 0 {
		return ""
	}
	var o language.Members
	for _, a := range c.Given {
		o.Add(language.JavaScriptName(a.Name), language.JavaScriptText(a.Value))
	}
	return o.String()
}
