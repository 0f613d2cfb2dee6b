package walk

import (
	"math/bits"
	"strconv"
	"strings"
)

// Bounds of rules. Compilers write some hundred bytes and a depth of four.
const (
	maxRule  = 4 << 10
	maxDepth = 64
)

// outcome is what came of a rule.
type outcome int

const (
	failed    outcome = iota // it cannot be evaluated: another way may
	evaluated                // the caller's registers are known
	outermost                // the return address is undefined: there is no caller
)

// evaluator evaluates the rules of one frame. Numbers wrap at the width of a register.
type evaluator struct {
	width    int
	register func(name string) (uint64, bool)
	load     func(address uint64) (uint64, bool)

	cfa, ra uint64
	hasCFA  bool
	// undefined are the registers that a rule says are lost, by their names in it.
	undefined map[string]bool
}

// rules evaluates "REGISTER: EXPRESSION ...". It returns the registers besides .cfa and
// .ra, by their names in the rule. A register whose expression fails is left out.
func (e *evaluator) rules(text string) (map[string]uint64, outcome) {
	if len(text) > maxRule {
		return nil, failed
	}
	expressions := map[string][]string{}
	fields := strings.Fields(text)
	for i := 0; i < len(fields); {
		name, ok := strings.CutSuffix(fields[i], ":")
		if !ok || name == "" {
			return nil, failed
		}
		end := i + 1
		for end < len(fields) && !strings.HasSuffix(fields[end], ":") {
			end++
		}
		expressions[name] = fields[i+1 : end]
		i = end
	}
	var ok bool
	if e.cfa, ok = e.value(expressions[".cfa"]); !ok {
		return nil, failed
	}
	e.hasCFA = true
	ra := expressions[".ra"]
	if len(ra) == 1 && ra[0] == ".undef" {
		return nil, outermost
	}
	if e.ra, ok = e.value(ra); !ok {
		return nil, failed
	}
	delete(expressions, ".cfa")
	delete(expressions, ".ra")
	values := make(map[string]uint64, len(expressions))
	e.undefined = map[string]bool{}
	for name, expression := range expressions {
		name = strings.TrimPrefix(name, "$")
		if v, ok := e.value(expression); ok {
			values[name] = v
			continue
		}
		e.undefined[name] = true
	}
	return values, evaluated
}

// value evaluates a postfix expression, which leaves one value.
func (e *evaluator) value(tokens []string) (uint64, bool) {
	var room [8]uint64
	stack := room[:0]
	for _, token := range tokens {
		switch token {
		case "+", "-", "*", "/", "%", "@":
			n := len(stack) - 2
			if n < 0 {
				return 0, false
			}
			v, ok := apply(token[0], stack[n], stack[n+1], e.width)
			if !ok {
				return 0, false
			}
			stack = append(stack[:n], v)
		case "^":
			n := len(stack) - 1
			if n < 0 {
				return 0, false
			}
			v, ok := e.load(stack[n])
			if !ok {
				return 0, false
			}
			stack[n] = v
		default:
			v, ok := e.operand(token)
			if !ok || len(stack) == maxDepth {
				return 0, false
			}
			stack = append(stack, v)
		}
	}
	if len(stack) != 1 {
		return 0, false
	}
	return stack[0], true
}

func (e *evaluator) operand(token string) (uint64, bool) {
	switch {
	case token == ".cfa":
		return e.cfa, e.hasCFA
	case token == ".undef":
		return 0, false
	}
	if v, ok := number(token, e.width); ok {
		return v, true
	}
	return e.register(token)
}

// number reads a decimal number with or without a sign.
func number(token string, width int) (uint64, bool) {
	if c := token[0]; c != '-' && c != '+' && (c < '0' || c > '9') {
		return 0, false
	}
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		return wrap(uint64(n), width), true
	}
	n, err := strconv.ParseUint(token, 10, 64)
	return wrap(n, width), err == nil
}

// wrap cuts a number to the width of a register.
func wrap(v uint64, width int) uint64 {
	if width == 4 {
		return v & (1<<32 - 1)
	}
	return v
}

// apply applies a binary operator. "@" rounds a down to a multiple of b, a power of two.
func apply(operator byte, a, b uint64, width int) (uint64, bool) {
	switch operator {
	case '+':
		return wrap(a+b, width), true
	case '-':
		return wrap(a-b, width), true
	case '*':
		return wrap(a*b, width), true
	case '/':
		if b == 0 {
			return 0, false
		}
		return a / b, true
	case '%':
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case '@':
		if bits.OnesCount64(b) != 1 {
			return 0, false
		}
		return a &^ (b - 1), true
	}
	return 0, false
}
