package unwind

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// emit reports the rules in force from the location up to an address.
func (m *machine) emit(to uint64) error {
	if to <= m.location {
		return nil
	}
	text, err := m.rules(nil)
	if errors.Is(err, errNeedsPC) {
		return m.emitStepped(to)
	}
	if err != nil {
		m.skip("section %s: the function at %#x: %v", m.name, m.location, err)
		return nil
	}
	return m.report(m.location, to, text)
}

// emitStepped reports rules that depend on the address, for one address after the other.
func (m *machine) emitStepped(to uint64) error {
	if to-m.location > maxStepped-min(maxStepped, m.stepped) {
		m.skip("section %s: the function at %#x has %d addresses with rules of their own", m.name, m.location, to-m.location)
		return nil
	}
	m.stepped += to - m.location
	for pc := m.location; pc < to; pc++ {
		text, err := m.rules(&pc)
		if err != nil {
			m.skip("section %s: the function at %#x: %v", m.name, m.location, err)
			return nil
		}
		if err := m.report(pc, pc+1, text); err != nil {
			return err
		}
	}
	return nil
}

// rules returns the text of the state.
func (m *machine) rules(pc *uint64) (string, error) {
	var text strings.Builder
	switch c := m.state.cfa; c.kind {
	case registerPlus:
		name := m.registerName(c.register)
		if name == "" {
			return "", fmt.Errorf("%w: the CFA needs register %d", errUnsaid, c.register)
		}
		text.WriteString(".cfa: " + plus(name, c.offset))
	case isExpression:
		v, err := m.evaluate(c.expression, nil, pc)
		if err != nil {
			return "", err
		}
		text.WriteString(".cfa: " + v.String())
	default:
		return "", fmt.Errorf("%w: there is no CFA", errUnsaid)
	}
	returns, err := m.returnRule(pc)
	if err != nil {
		return "", err
	}
	text.WriteString(" .ra: " + returns)
	for i, r := range m.state.registers {
		name := m.registerName(uint64(i))
		if name == "" || uint64(i) == m.common.returns || int64(i) == m.arch.pc {
			continue
		}
		rule, err := m.ruleText(r, name, pc)
		if errors.Is(err, errNeedsPC) {
			return "", err
		}
		if rule != "" && text.Len() < maxRuleLength {
			text.WriteString(" " + name + ": " + rule)
		}
	}
	return text.String(), nil
}

// returnRule returns the rule for the return address. Where nothing is said about its column
// it is still in the register, and undefined means that there is no caller.
func (m *machine) returnRule(pc *uint64) (string, error) {
	var r rule
	if m.common.returns < columns {
		r = m.state.registers[m.common.returns]
	}
	name := m.registerName(m.common.returns)
	switch {
	case r.kind == undefined:
		return ".undef", nil
	case r.kind != unspecified && r.kind != sameValue:
		text, err := m.ruleText(r, name, pc)
		if text == "" && err == nil {
			err = errUnsaid
		}
		return text, err
	case name == "" || int64(m.common.returns) == m.arch.pc:
		return "", fmt.Errorf("%w: nothing says where the return address is", errUnsaid)
	}
	return name, nil
}

// ruleText returns the rule of a register; "" where there is none.
func (m *machine) ruleText(r rule, name string, pc *uint64) (string, error) {
	switch r.kind {
	case undefined:
		return ".undef", nil
	case sameValue:
		return name, nil
	case atOffset:
		return plus(".cfa", r.offset) + " ^", nil
	case isOffset:
		return plus(".cfa", r.offset), nil
	case inRegister:
		return m.registerName(r.register), nil
	case atExpression, isExpression:
		v, err := m.evaluate(r.expression, []value{{text: ".cfa"}}, pc)
		if err != nil {
			return "", err
		}
		if r.kind == atExpression {
			return v.String() + " ^", nil
		}
		return v.String(), nil
	}
	return "", nil
}

func plus(text string, offset int64) string {
	return text + " " + strconv.FormatInt(offset, 10) + " +"
}

// registerName returns the name of a register. On 32-bit x86, Apple's .eh_frame has the
// numbers of the stack and frame pointers exchanged.
func (m *machine) registerName(n uint64) string {
	if m.swapped && (n == 4 || n == 5) {
		n = 9 - n
	}
	return m.arch.name(n)
}
