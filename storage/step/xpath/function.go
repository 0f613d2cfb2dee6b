package xpath

import "github.com/slipway-qa/slipway/storage/step/grammar"

// function is what a function takes and returns.
type function struct {
	least, most int // arguments
	of          kind
	takesNodes  bool // its arguments must find nodes
}

const unbounded = 1 << 10

var functions = map[string]function{
	"last": {0, 0, number, false}, "position": {0, 0, number, false}, "count": {1, 1, number, true}, "id": {1, 1, nodes, false},
	"local-name": {0, 1, text, true}, "namespace-uri": {0, 1, text, true}, "name": {0, 1, text, true},
	"string": {0, 1, text, false}, "concat": {2, unbounded, text, false}, "starts-with": {2, 2, boolean, false},
	"contains": {2, 2, boolean, false}, "substring-before": {2, 2, text, false}, "substring-after": {2, 2, text, false},
	"substring": {2, 3, text, false}, "string-length": {0, 1, number, false}, "normalize-space": {0, 1, text, false},
	"translate": {3, 3, text, false}, "boolean": {1, 1, boolean, false}, "not": {1, 1, boolean, false},
	"true": {0, 0, boolean, false}, "false": {0, 0, boolean, false}, "lang": {1, 1, boolean, false},
	"number": {0, 1, number, false}, "sum": {1, 1, number, true}, "floor": {1, 1, number, false},
	"ceiling": {1, 1, number, false}, "round": {1, 1, number, false},
}

// replacements say how to do without functions of later versions.
var replacements = map[string]string{
	"ends-with":  "substring(a, string-length(a) - string-length(b) + 1) = b",
	"lower-case": "translate(a, 'ABC...', 'abc...')",
	"upper-case": "translate(a, 'abc...', 'ABC...')",
	"matches":    "contains() or starts-with()",
	"exists":     "boolean()",
	"empty":      "not()",
	"has-class":  "contains(concat(' ', @class, ' '), ' name ')",
}

func instead(name string) string {
	if replacements[name] == "" {
		return ""
	}
	return ", which browsers do not have: use " + replacements[name]
}

// call reads the arguments of a function and the space behind them.
func (p *parser) call(start int, name string) (kind, *Error) {
	f, ok := functions[name]
	if !ok {
		return 0, p.Fail(start, "there is no function %s() in XPath 1.0%s", grammar.Shorten(name), instead(name))
	}
	count := 0
	err := p.brackets(')', func() *Error {
		if p.Next() == ')' {
			return nil
		}
		for {
			at := p.At
			found, err := p.expression()
			if err != nil {
				return err
			}
			count++
			if f.takesNodes && found != nodes {
				return p.Fail(at, "is %s, where %s() needs nodes", found, name)
			}
			if count > f.most {
				return p.Fail(at, "%s() takes no more than %s", name, arguments(f.most))
			}
			if !p.Take(',') {
				return nil
			}
			p.space()
		}
	})
	switch {
	case err != nil:
		return 0, err
	case count < f.least:
		return 0, p.Fail(start, "%s() needs %s", name, arguments(f.least))
	}
	return f.of, nil
}

func arguments(n int) string {
	return [...]string{"no argument", "one argument", "two arguments", "three arguments"}[n]
}
