package dwarf

import (
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// maxDepth bounds how deep entries are nested: compilers stop below a hundred, but
// for functions that are inlined into one another.
const maxDepth = 4 << 10

// level is what an entry with children is for what is below it.
type level uint8

const (
	transparent level = iota
	ofFunction
	ofInline
)

// walker goes through the entries of a unit; its buffers serve again.
type walker struct {
	unit   *unit // whose entries are walked
	lines  *lineTable
	levels []level
	// open are the functions that the walk is in: one in another is a local function.
	open   []*function
	free   []*function
	ranges []native.Range
	buffer []byte
	split  []byte // bytes of a split unit
	out    emitter
}

// readUnit reports the functions of a unit.
func (r *reader) readUnit(u *unit) error {
	if err := u.open(); err != nil {
		return err
	}
	w := &r.walker
	if u.tag == tagPartialUnit || u.tag == tagTypeUnit {
		return nil // no code of their own
	}
	var err error
	if w.buffer, err = u.load(w.buffer); err != nil {
		return err
	}
	defer func() { u.data, u.root = nil, nil }()
	lines, err := u.file.lineTable(u)
	if err != nil {
		return err
	}
	w.unit, w.lines = u, lines
	found, err := r.split(u)
	if err != nil {
		return err
	}
	if found != nil {
		if w.split, err = found.load(w.split); err != nil {
			return err
		}
		w.unit = found
	}
	defer w.reset()
	w.out.begin(r, lines)
	if err := w.walk(r); err != nil {
		return err
	}
	return w.out.finish(u)
}

// reset forgets what was open when the walk ended early.
func (w *walker) reset() {
	if w.unit != nil {
		w.unit.data = nil
	}
	w.free = append(w.free, w.open...)
	w.open, w.unit, w.lines, w.levels = w.open[:0], nil, nil, w.levels[:0]
}

func (w *walker) walk(r *reader) error {
	u := w.unit
	table, err := u.file.abbrevs(u.abbrevOffset)
	if err != nil {
		return err
	}
	d := &decoder{data: u.data, at: int(u.first - u.offset), big: u.file.big}
	for d.at < len(d.data) {
		at := u.offset + uint64(d.at)
		code := d.uleb()
		if code == 0 {
			if err := w.up(); err != nil {
				return err
			}
			if len(w.levels) == 0 {
				break
			}
			continue
		}
		a := table.get(code)
		if a == nil {
			return symbol.Invalid(symbol.Malformed, "no abbreviation %d for the entry at %#x", code, at)
		}
		this, err := w.entry(d, a)
		if err != nil {
			return err
		}
		if d.bad {
			return symbol.Invalid(symbol.Truncated, "the entry at %#x is cut off", at)
		}
		if err := w.down(a, this); err != nil {
			return err
		}
		if len(w.levels) == 0 {
			break // a unit of one entry
		}
	}
	for len(w.levels) > 0 { // the ends are missing
		if err := w.up(); err != nil {
			return err
		}
	}
	return nil
}

// down goes to the children of an entry; one without has ended.
func (w *walker) down(a *declaration, this level) error {
	if len(w.levels) >= maxDepth {
		return symbol.Invalid(symbol.TooLarge, "entries are nested more than %d deep", maxDepth)
	}
	w.levels = append(w.levels, this)
	if a.children {
		return nil
	}
	return w.up()
}

// up ends the entry that the walk is in.
func (w *walker) up() error {
	if len(w.levels) == 0 {
		return nil
	}
	this := w.levels[len(w.levels)-1]
	w.levels = w.levels[:len(w.levels)-1]
	switch this {
	case ofInline:
		w.function().endInline()
	case ofFunction:
		f := w.function()
		w.open = w.open[:len(w.open)-1]
		w.free = append(w.free, f)
		return w.out.function(f)
	}
	return nil
}

func (w *walker) function() *function { return w.open[len(w.open)-1] }

// entry reads an entry, and begins a function or an inlined function if it is one with code.
func (w *walker) entry(d *decoder, a *declaration) (level, error) {
	switch {
	case a.role == subprogram && a.hasCode:
		return w.subprogram(d, a)
	case a.role == inlinedCall && len(w.open) > 0:
		return w.inlined(d, a)
	}
	return transparent, w.unit.skipForms(d, a)
}

func (w *walker) subprogram(d *decoder, a *declaration) (level, error) {
	var n naming
	var p placing
	u := w.unit
	for i := range a.attributes {
		x := &a.attributes[i]
		v, err := u.form(d, x.form, x.implicit)
		if err != nil {
			return transparent, err
		}
		if field := n.field(x.name); field != nil {
			*field = v
		} else if field := p.field(x.name); field != nil {
			*field = v
		}
	}
	if d.bad {
		return transparent, nil
	}
	var err error
	if w.ranges, err = u.place(&p, w.ranges[:0]); err != nil {
		return transparent, u.file.reader.damaged(err)
	}
	if len(w.ranges) == 0 {
		return transparent, nil
	}
	found, err := u.names(&n, 0)
	if err := u.file.reader.damaged(err); err != nil {
		return transparent, err
	}
	f := &function{}
	if k := len(w.free); k > 0 {
		f, w.free = w.free[k-1], w.free[:k-1]
	}
	f.reset(found.best(), w.ranges)
	w.open = append(w.open, f)
	return ofFunction, nil
}

func (w *walker) inlined(d *decoder, a *declaration) (level, error) {
	var n naming
	var p placing
	var x native.Inline
	var file uint64
	u := w.unit
	for i := range a.attributes {
		attribute := &a.attributes[i]
		v, err := u.form(d, attribute.form, attribute.implicit)
		if err != nil {
			return transparent, err
		}
		switch attribute.name {
		case attrCallFile:
			file = v.constant()
		case attrCallLine:
			x.CallLine = uint32(v.constant())
		case attrCallColumn:
			x.CallColumn = uint32(v.constant())
		default:
			if field := n.field(attribute.name); field != nil {
				*field = v
			} else if field := p.field(attribute.name); field != nil {
				*field = v
			}
		}
	}
	if d.bad {
		return transparent, nil
	}
	var err error
	if w.ranges, err = u.place(&p, w.ranges[:0]); err != nil {
		return transparent, u.file.reader.damaged(err)
	}
	found, err := u.names(&n, 0)
	if err := u.file.reader.damaged(err); err != nil {
		return transparent, err
	}
	x.Name = found.best()
	if x.CallFile, err = w.lines.file(file); err != nil {
		return transparent, err
	}
	return ofInline, w.function().beginInline(x, w.ranges)
}
