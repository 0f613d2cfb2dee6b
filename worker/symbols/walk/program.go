package walk

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// windowsRule is STACK WIN without its addresses. Sizes are in bytes.
type windowsRule struct {
	parameters, saved, locals uint64
	// program computes the registers, when there is one (type 4); else the function has FPO
	// data, and basePointer says that it uses ebp for something of its own.
	program     string
	basePointer bool
}

// parseWindowsRule reads: type, prologue, epilogue, parameters, saved registers, locals,
// maximum stack, has_program, and the program or whether ebp is used. Numbers are
// hexadecimal.
func parseWindowsRule(text string) (r windowsRule, ok bool) {
	if len(text) > maxRule {
		return r, false
	}
	fields := strings.Fields(text)
	if len(fields) < 8 {
		return r, false
	}
	var numbers [8]uint64
	for i := range numbers {
		n, err := strconv.ParseUint(fields[i], 16, 32)
		if err != nil {
			return r, false
		}
		numbers[i] = n
	}
	r.parameters, r.saved, r.locals = numbers[3], numbers[4], numbers[5]
	tail := fields[8:]
	if numbers[7] != 0 {
		r.program = strings.Join(tail, " ")
		return r, r.program != ""
	}
	r.basePointer = len(tail) > 0 && tail[0] != "0"
	return r, true
}

// Programs for functions with FPO data. The return address is the first word that looks
// like one behind the locals; ebp is where the function saved it, if it did.
const (
	programFPO         = "$eip .raSearchStart ^ = $esp .raSearchStart 4 + ="
	programBasePointer = "$eip .raSearchStart ^ = $ebp $esp .cbCalleeParams + .cbSavedRegs + 8 - ^ = $esp .raSearchStart 4 + ="
)

// byWindowsRule finds the caller by STACK WIN, as Breakpad does.
func (w *walker) byWindowsRule(text string, callee, grand *frame) (next *frame, end bool) {
	rule, ok := parseWindowsRule(text)
	esp, hasESP := callee.registers["esp"]
	ebp, hasEBP := callee.registers["ebp"]
	if !ok || !hasESP || !hasEBP {
		return nil, false
	}
	callee.parameters = rule.parameters
	pushed := uint64(0)
	if grand != nil {
		pushed = grand.parameters
	}
	search := wrap(esp+pushed+rule.locals+rule.saved, 4)
	// The stack may be aligned: the return address is up to three words further.
	if at, _, found := w.find(search, 3); found {
		search = at
	}
	program := rule.program
	switch {
	case program != "":
	case rule.basePointer:
		program = programBasePointer
	default:
		program = programFPO
	}
	v := map[string]uint64{"$esp": esp, "$ebp": ebp, ".cbCalleeParams": pushed, ".cbSavedRegs": rule.saved, ".cbLocals": rule.locals,
		".cbParams": rule.parameters, ".raSearch": search, ".raSearchStart": search}
	for _, name := range []string{"ebx", "esi", "edi"} {
		if value, ok := callee.registers[name]; ok {
			v["$"+name] = value
		}
	}
	if !w.run(program, v) {
		return nil, false
	}
	if _, ok := v["$eip"]; !ok {
		return nil, false
	}
	if v["$eip"] == 0 && v["$ebp"] == 0 {
		return nil, true
	}
	next = &frame{registers: map[string]uint64{}, trust: dump.TrustCFI}
	offset := uint64(0)
	if !w.returnsTo(v["$eip"]) {
		if at, address, found := w.find(search+4, w.reach(callee)); found {
			v["$eip"], v["$esp"] = address, wrap(at+4, 4)
			offset = at - search - 4
			next.trust = dump.TrustCFIScan
		}
	}
	if rule.program != "" || rule.basePointer {
		w.recoverEBP(v, callee, rule, pushed, next.trust == dump.TrustCFIScan && v["$ebp"] <= search+offset, offset)
	}
	for _, name := range []string{"eip", "esp", "ebp", "ebx", "esi", "edi"} {
		if value, ok := v["$"+name]; ok {
			next.registers[name] = value
		}
	}
	return next, false
}

// recoverEBP looks for the caller's ebp among the saved registers when what the program
// found does not point into the stack.
func (w *walker) recoverEBP(v map[string]uint64, callee *frame, rule windowsRule, pushed uint64, skipped bool, offset uint64) {
	if _, ok := w.pointer(v["$ebp"]); ok && !skipped {
		return
	}
	first := callee.registers["esp"] + pushed
	span := min(rule.saved+offset, 4<<10) // saved registers are a few words
	for at := first + span; at >= first && at >= 4; at -= 4 {
		candidate, ok := w.pointer(at)
		if !ok {
			return
		}
		if _, ok := w.pointer(candidate); ok {
			v["$ebp"] = candidate
			return
		}
	}
}

// operand is a value of a program: a number, or the name of a variable.
type operand struct {
	name  string
	value uint64
}

// run runs a program: a postfix notation with assignments, "$T0 $ebp = $eip $T0 4 + ^ =".
// Some toolchains glue the equals sign to what follows.
func (w *walker) run(program string, v map[string]uint64) bool {
	var stack []operand
	pop := func() (operand, bool) {
		n := len(stack) - 1
		if n < 0 {
			return operand{}, false
		}
		top := stack[n]
		stack = stack[:n]
		return top, true
	}
	number := func() (uint64, bool) {
		o, ok := pop()
		if !ok || o.name == "" {
			return o.value, ok
		}
		value, ok := v[o.name]
		return value, ok
	}
	for token := range strings.FieldsSeq(strings.ReplaceAll(program, "=", " = ")) {
		switch token {
		case "+", "-", "*", "/", "%", "@":
			b, ok := number()
			a, found := number()
			if !ok || !found {
				return false
			}
			value, ok := apply(token[0], a, b, 4)
			if !ok {
				return false
			}
			stack = append(stack, operand{value: value})
		case "^":
			a, ok := number()
			value, found := w.pointer(a)
			if !ok || !found {
				return false
			}
			stack = append(stack, operand{value: value})
		case "=":
			value, ok := number()
			target, found := pop()
			if !ok || !found || !strings.HasPrefix(target.name, "$") {
				return false
			}
			v[target.name] = value
		default:
			if len(stack) == maxDepth {
				return false
			}
			o, ok := token4(token)
			if !ok {
				return false
			}
			stack = append(stack, o)
		}
	}
	return len(stack) == 0
}

// token4 reads a variable or a number of 32 bits.
func token4(token string) (operand, bool) {
	if token[0] == '$' || token[0] == '.' {
		return operand{name: token}, true
	}
	value, ok := number(token, 4)
	return operand{value: value}, ok
}
