package breakpad

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	// maxDeltas bounds the rows of one function.
	maxDeltas = 1 << 18
	// maxRules bounds the text of a row, so that a short change to long rules, repeated,
	// makes no index without end. Real rows have some two hundred bytes.
	maxRules = 2 << 10
)

// unwinding is a STACK CFI INIT record with the changes that follow it.
type unwinding struct {
	start, end uint64
	rules      string
	deltas     []delta
	open       bool
}

type delta struct {
	address uint64
	rules   string
}

// stack reads STACK CFI INIT, STACK CFI and STACK WIN.
func (x *reader) stack(rest []byte) error {
	if err := x.endFunction(); err != nil {
		return err
	}
	kind, rest := word(rest)
	switch string(kind) {
	case "CFI":
		return x.cfi(rest)
	case "WIN":
		return x.windows(rest)
	}
	x.summary.Unknown++
	return nil
}

func (x *reader) cfi(rest []byte) error {
	first, after := word(rest)
	if string(first) == "INIT" {
		return x.cfiInit(after)
	}
	address, ok := hexadecimal(first)
	u := &x.unwind
	switch {
	case !ok || len(after) == 0 || len(after) > maxRules:
		x.skip("STACK CFI has no address and rules")
	case !u.open || address < u.start || address >= u.end:
		x.skip("STACK CFI %x belongs to no STACK CFI INIT", address)
	case len(u.deltas) >= maxDeltas:
		x.skip("STACK CFI INIT %x has more than %d changes", u.start, maxDeltas)
	default:
		u.deltas = append(u.deltas, delta{address: address, rules: clean(after)})
	}
	return nil
}

// cfiInit reads address size rules.
func (x *reader) cfiInit(rest []byte) error {
	if err := x.endUnwind(); err != nil {
		return err
	}
	address, rest, ok := place(rest)
	digits, rules := word(rest)
	size, sized := hexadecimal(digits)
	if !ok || !sized || size == 0 || address+size < address || len(rules) == 0 || len(rules) > maxRules {
		x.skip("STACK CFI INIT has no address, size and rules")
		return nil
	}
	x.unwind = unwinding{start: address, end: address + size, rules: clean(rules), deltas: x.unwind.deltas[:0], open: true}
	return nil
}

// endUnwind reports the rows of the function that was read: each with all rules in force.
func (x *reader) endUnwind() error {
	u := &x.unwind
	if !u.open {
		return nil
	}
	u.open = false
	slices.SortStableFunc(u.deltas, func(a, b delta) int {
		if a.address < b.address {
			return -1
		}
		if a.address > b.address {
			return 1
		}
		return 0
	})
	var rules ruleSet
	if !rules.change(u.rules) {
		x.skip("STACK CFI INIT %x has broken rules", u.start)
		return nil
	}
	start := u.start
	for _, d := range u.deltas {
		if d.address > start {
			if err := x.reportUnwind(native.Unwind{Start: start, End: d.address, Rules: rules.text()}); err != nil {
				return err
			}
			start = d.address
		}
		if !rules.change(d.rules) {
			x.skip("STACK CFI %x has broken rules", d.address)
		}
	}
	return x.reportUnwind(native.Unwind{Start: start, End: u.end, Rules: rules.text()})
}

func (x *reader) reportUnwind(u native.Unwind) error {
	if u.End <= u.Start || len(u.Rules) > maxRules {
		return nil
	}
	x.summary.Unwinds++
	return x.sink.Unwind(u)
}

// ruleSet is the rules in force, in the order in which registers were named first.
type ruleSet struct{ names, values []string }

// change sets the rules of a text "REGISTER: EXPRESSION ..."; false when it is none.
func (r *ruleSet) change(text string) bool {
	fields := strings.Fields(text)
	for i := 0; i < len(fields); {
		name, ok := strings.CutSuffix(fields[i], ":")
		end := i + 1
		for end < len(fields) && !strings.HasSuffix(fields[end], ":") {
			end++
		}
		if !ok || name == "" || end == i+1 {
			return false
		}
		value := strings.Join(fields[i+1:end], " ")
		if at := slices.Index(r.names, name); at >= 0 {
			r.values[at] = value
		} else {
			r.names, r.values = append(r.names, name), append(r.values, value)
		}
		i = end
	}
	return len(fields) > 0
}

func (r *ruleSet) text() string {
	var b strings.Builder
	for i, name := range r.names {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
		b.WriteString(": ")
		b.WriteString(r.values[i])
	}
	return b.String()
}

// windows reads type rva code_size and what native.Unwind keeps as it is: prologue_size
// epilogue_size parameter_size saved_register_size local_size max_stack_size
// has_program_string, and the program or allocates_base_pointer.
func (x *reader) windows(rest []byte) error {
	kind, rest := word(rest)
	address, rest, ok := place(rest)
	digits, rest := word(rest)
	size, sized := hexadecimal(digits)
	_, typed := hexadecimal(kind)
	if !ok || !sized || !typed || size == 0 || address+size < address || len(rest) > maxRules {
		x.skip("STACK WIN has no type, address and size")
		return nil
	}
	fields := strings.Fields(string(rest))
	if len(fields) < 8 {
		x.skip("STACK WIN has %d fields, less than 11", len(fields)+3)
		return nil
	}
	return x.reportUnwind(native.Unwind{Start: address, End: address + size, Windows: clean(kind) + " " + strings.Join(fields, " ")})
}
