package sourcemap

import (
	"encoding/binary"

	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

func readScope(t *table, i uint32) (originalScope, error) {
	p, err := t.bytes(int64(i)*scopeSize, scopeSize)
	if err != nil {
		return originalScope{}, err
	}
	u := func(n int) uint32 { return binary.LittleEndian.Uint32(p[4*n:]) }
	return originalScope{source: u(0), from: javascript.Place{Line: u(1), Column: u(2)},
		to: javascript.Place{Line: u(3), Column: u(4)}, name: u(5), parent: u(6), frame: u(7)&1 != 0}, nil
}

func readRange(t *table, i uint32) (generatedRange, error) {
	p, err := t.bytes(int64(i)*rangeSize, rangeSize)
	if err != nil {
		return generatedRange{}, err
	}
	u := func(n int) uint32 { return binary.LittleEndian.Uint32(p[4*n:]) }
	return generatedRange{from: javascript.Place{Line: u(0), Column: u(1)},
		to: javascript.Place{Line: u(2), Column: u(3)}, definition: u(4), parent: u(5), frame: u(6)&1 != 0,
		hidden:  u(6)&2 != 0,
		inlined: u(6)&4 != 0, callSource: u(7), call: javascript.Place{Line: u(8), Column: u(9)}}, nil
}

// lastWith returns the last i of n with a property that holds up to some i; -1 for none.
func lastWith(n int, holds func(i uint32) (bool, error)) (int, error) {
	lo, hi := 0, n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		ok, err := holds(uint32(mid))
		if err != nil {
			return -1, err
		}
		if ok {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1, nil
}

// scopeFrames returns the frames that the generated ranges around a place tell; none when
// they tell nothing.
func (m *Map) scopeFrames(at Position, gen javascript.Place) ([]Frame, error) {
	i, err := lastWith(int(m.ranges.size/rangeSize), func(i uint32) (bool, error) {
		r, err := readRange(&m.ranges, i)
		return !gen.Before(r.from), err
	})
	if err != nil || i < 0 {
		return nil, err
	}
	var frames []Frame
	present := Frame{Position: at}
	scope := uint32(0) // the innermost original scope since the last frame
	next := uint32(i) + 1
	for range maxScopeDepth + maxScopes {
		if next == 0 {
			break
		}
		r, err := readRange(&m.ranges, next-1)
		if err != nil {
			return nil, err
		}
		next = r.parent
		if !gen.Before(r.to) {
			continue // ended before the place
		}
		if scope == 0 {
			scope = r.definition
		}
		if r.inlined || r.frame && scope != 0 {
			if present.Function, err = m.scopeFunction(scope); err != nil {
				return nil, err
			}
			present.Method, present.Inlined, present.Hidden = FromScopes, r.inlined, r.hidden
			frames = append(frames, present)
		}
		if !r.inlined {
			if r.frame {
				return frames, nil
			}
			continue
		}
		if present.Position, err = m.Source(int(r.callSource)); err != nil {
			return nil, err
		}
		present.Line, present.Column = int(r.call.Line)+1, int(r.call.Column)+1
		scope = 0
	}
	if len(frames) == 0 && scope == 0 {
		return nil, nil
	}
	present.Inlined, present.Hidden, present.Method = false, false, FromScopes
	if present.Function, err = m.scopeFunction(scope); err != nil {
		return nil, err
	}
	if present.Function == "" {
		present.Method = None
	}
	return append(frames, present), nil
}

// scopeFunction returns the name of the innermost function around a scope, which is 1 more
// than its index; "" for code in none.
func (m *Map) scopeFunction(scope uint32) (string, error) {
	for range maxScopeDepth {
		if scope == 0 {
			break
		}
		s, err := readScope(&m.scopes, scope-1)
		if err != nil {
			return "", err
		}
		if s.frame {
			if s.name == 0 {
				return javascript.Anonymous, nil
			}
			return m.string(&m.names, &m.allNames, int(s.name-1))
		}
		scope = s.parent
	}
	return "", nil
}

// fromScopes finds the function by the original scopes alone; false when the source has
// none.
func (m *Map) fromScopes(f *Frame) (bool, error) {
	if m.scopes.size == 0 {
		return false, nil
	}
	source, at := uint32(f.Index), javascript.Place{Line: uint32(f.Line - 1), Column: uint32(f.Column - 1)}
	i, err := lastWith(int(m.scopes.size/scopeSize), func(i uint32) (bool, error) {
		s, err := readScope(&m.scopes, i)
		return s.source < source || s.source == source && !at.Before(s.from), err
	})
	if err != nil {
		return false, err
	}
	for next := uint32(i + 1); next > 0; {
		s, err := readScope(&m.scopes, next-1)
		if err != nil || s.source != source {
			return false, err
		}
		if at.Before(s.to) {
			name, err := m.scopeFunction(next)
			if name != "" {
				f.Function, f.Method = name, FromScopes
			}
			return true, err
		}
		next = s.parent
	}
	return false, nil
}
