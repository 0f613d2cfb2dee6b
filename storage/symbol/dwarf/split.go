package dwarf

import (
	"encoding/binary"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// splitBases sets the bases that a split unit does not state: its tables begin after the header
// of its contribution.
func (u *unit) splitBases(v *rootValues) {
	if u.kind != unitSplitCompile && u.skeleton == nil {
		return
	}
	from := u.contribution
	header := uint64(8)
	if u.wide {
		header = 16
	}
	u.strOffsetsBase = from.strOffsets
	if u.version >= 5 {
		u.strOffsetsBase += header
		if v.rnglists.form == 0 {
			u.rnglistsBase = from.rnglists + header + 4
		} else {
			u.rnglistsBase += from.rnglists
		}
	}
}

// split returns the split unit of a skeleton; nil if there is none or it was not found.
func (r *reader) split(u *unit) (*unit, error) {
	if !u.declaresDwoName {
		return nil, nil
	}
	if r.Split == nil {
		r.missing(u)
		return nil, nil
	}
	sections, err := r.Split(u.splitName(), u.id)
	if err != nil {
		return nil, err
	}
	if sections == nil {
		r.missing(u)
		return nil, nil
	}
	f, err := r.splitFile(sections)
	if err != nil {
		return nil, err
	}
	found, err := f.splitUnit(u)
	if err == nil && found == nil {
		r.missing(u)
	}
	return found, err
}

// splitFile opens a .dwo or .dwp file. The one that was opened last is not read anew: it
// may hold the units of many skeletons.
func (r *reader) splitFile(from Sections) (*file, error) {
	same := reflect.TypeOf(from).Comparable()
	if same && r.splitFrom == from {
		return r.splitLast, nil
	}
	f, err := openFile(r, from, ".dwo")
	if err == nil && same {
		r.splitFrom, r.splitLast = from, f
	}
	return f, err
}

// maxMissing bounds the ids of split units that are listed as missing.
const maxMissing = 1 << 16

func (r *reader) missing(u *unit) {
	r.summary.Missing++
	r.summary.warn("the split unit %s with the id %016x was not found", u.dwoName, u.id)
	if len(r.summary.MissingUnits) < maxMissing {
		r.summary.MissingUnits = append(r.summary.MissingUnits, u.id)
	}
}

// splitUnit returns the unit of a skeleton in a file of split units; nil if it is not there.
func (f *file) splitUnit(skeleton *unit) (*unit, error) {
	if f.packed != nil {
		from, ok, err := f.packed.find(skeleton.id)
		if err != nil || !ok {
			return nil, err
		}
		u, err := f.header(from.info)
		if err != nil {
			return nil, err
		}
		u.contribution = from
		u.abbrevOffset += from.abbrev
		return f.adopt(u, skeleton)
	}
	units, err := f.splitUnits()
	if u := units[skeleton.id]; err == nil && u != nil {
		return f.adopt(u, skeleton)
	}
	return nil, err
}

// splitUnits returns the units of a .dwo file by their ids: the first of each.
func (f *file) splitUnits() (map[uint64]*unit, error) {
	if f.byID != nil {
		return f.byID, nil
	}
	f.byID = map[uint64]*unit{}
	for _, u := range f.units {
		if u.kind == unitSplitType || u.kind == unitType {
			continue
		}
		// Before version 5 the id is an attribute. A unit that cannot be opened has none.
		var invalid *symbol.InvalidError
		if u.version < 5 {
			if err := u.open(); err != nil && (!errors.As(err, &invalid) || errors.Is(err, errBudget)) {
				return nil, err
			}
		}
		if f.byID[u.id] == nil {
			f.byID[u.id] = u
		}
	}
	return f.byID, nil
}

// SplitUnits returns the ids of the units in a .dwo or .dwp file, each once, in rising
// order: those by which the skeletons in executables name them. A file that is neither has
// none. It returns a *symbol.InvalidError for a file that cannot be read, and errors of the
// sections as they are.
func SplitUnits(sections Sections, order binary.ByteOrder) ([]uint64, error) {
	f, err := openFile(&reader{Options: Options{Order: order}}, sections, ".dwo")
	if err != nil {
		return nil, err
	}
	if f.packed != nil {
		return f.packed.ids()
	}
	units, err := f.splitUnits()
	return slices.Sorted(maps.Keys(units)), err
}

func (f *file) adopt(u, skeleton *unit) (*unit, error) {
	u.skeleton, u.root = skeleton, nil
	f.names = map[uint64]names{}
	if f.packed != nil {
		f.units = []*unit{u}
	}
	return u, u.open()
}
