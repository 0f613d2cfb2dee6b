package dwarf

import "github.com/slipway-qa/slipway/storage/symbol"

const (
	// maxHops bounds how many entries are asked for a name: an instance, what it is an
	// instance of, its declaration. Loops end there.
	maxHops = 16
	// keptNames bounds the names that are kept for other entries that refer to them.
	keptNames = 1 << 16
)

// names are those of a function: the linkage name is mangled.
type names struct{ linkage, plain string }

func (n names) complete() bool { return n.linkage != "" }

// best returns the name that an index has.
func (n names) best() string {
	if n.linkage != "" {
		return n.linkage
	}
	return n.plain
}

// naming are the attributes of an entry that name it.
type naming struct {
	name, linkage, origin, specification value
}

func (n *naming) field(name uint32) *value {
	switch name {
	case attrName:
		return &n.name
	case attrLinkageName, attrMIPSLinkage:
		return &n.linkage
	case attrAbstractOrigin:
		return &n.origin
	case attrSpecification:
		return &n.specification
	}
	return nil
}

// names returns the names of an entry: its own, else those of the declaration that it
// completes, else those of what it is an instance of.
func (u *unit) names(n *naming, hops int) (names, error) {
	var found names
	var err error
	if found.linkage, err = u.text(n.linkage); err != nil {
		return found, err
	}
	if found.plain, err = u.text(n.name); err != nil {
		return found, err
	}
	for _, ref := range []value{n.specification, n.origin} {
		if found.complete() || ref.form == 0 {
			continue
		}
		below, err := u.refer(ref, hops)
		if err != nil {
			return found, err
		}
		found.linkage = below.linkage
		if found.plain == "" {
			found.plain = below.plain
		}
	}
	return found, nil
}

// refer returns the names of the entry that an attribute refers to.
func (u *unit) refer(v value, hops int) (names, error) {
	f, offset := u.file, v.number
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		offset += u.offset
		if offset < u.first || offset >= u.end {
			return names{}, symbol.Invalid(symbol.Malformed, "a reference to %#x, outside of the unit", offset)
		}
		return u.namesAt(offset, hops)
	case formRefAddr:
	case formGNURefAlt, formRefSup4, formRefSup8:
		if f = f.reader.sup; f == nil {
			return names{}, nil
		}
	default:
		return names{}, nil // of a type unit: it holds no functions that have code
	}
	to := u
	if f != u.file || offset < u.first || offset >= u.end {
		to = f.unitOf(offset)
	}
	if to == nil {
		return names{}, symbol.Invalid(symbol.Malformed, "a reference to %#x, where there is no unit", offset)
	}
	if err := to.open(); err != nil {
		return names{}, err
	}
	return to.namesAt(offset, hops)
}

// namesAt returns the names of the entry at an offset.
func (u *unit) namesAt(offset uint64, hops int) (names, error) {
	f := u.file
	if found, ok := f.names[offset]; ok {
		return found, nil
	}
	if hops >= maxHops {
		return names{}, symbol.Invalid(symbol.Cyclic, "the entry at %#x refers to others without an end", offset)
	}
	if err := f.reader.budget.spend(16); err != nil {
		return names{}, err
	}
	var n naming
	err := u.at(offset, func(d *decoder, a *declaration) error {
		n = naming{}
		for i := range a.attributes {
			x := &a.attributes[i]
			v, err := u.form(d, x.form, x.implicit)
			if err != nil {
				return err
			}
			if field := n.field(x.name); field != nil {
				*field = v
			}
		}
		return nil
	})
	if err != nil {
		return names{}, err
	}
	found, err := u.names(&n, hops+1)
	if err != nil {
		return names{}, err
	}
	if len(f.names) >= keptNames {
		clear(f.names)
	}
	f.names[offset] = found
	return found, nil
}
