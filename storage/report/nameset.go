package report

import (
	"bytes"
	"encoding/binary"
)

// nameSet numbers distinct names in the order of their arrival. Up to
// len(keys) names it is a scan over 32-bit digests inside the set itself,
// without an allocation, which covers nearly all reports; beyond that it is a
// map, so that thousands of names, chosen by an attacker or not, take no more
// than linear time.
type nameSet struct {
	n       int
	digests [48]uint32
	keys    [48][]byte
	more    map[string]int
}

// add returns the number of a name, and whether it is new.
func (s *nameSet) add(key []byte) (index int, fresh bool) {
	if i := s.index(key); i >= 0 {
		return i, false
	}
	if s.n < len(s.keys) {
		s.digests[s.n], s.keys[s.n] = digest(key), key
	} else {
		if s.more == nil {
			s.more = make(map[string]int, 2*len(s.keys))
		}
		s.more[string(key)] = s.n
	}
	s.n++
	return s.n - 1, true
}

// index returns the number of a name, or -1.
func (s *nameSet) index(key []byte) int {
	d := digest(key)
	for i, other := range s.digests[:min(s.n, len(s.keys))] {
		if other == d && bytes.Equal(s.keys[i], key) {
			return i
		}
	}
	if s.more != nil {
		if i, ok := s.more[string(key)]; ok {
			return i
		}
	}
	return -1
}

// digest mixes the length and both ends of a name.
func digest(key []byte) uint32 {
	const odd = 0x9E3779B97F4A7C15
	h := uint64(len(key))
	if len(key) >= 8 {
		h ^= binary.LittleEndian.Uint64(key)
		h = h*odd ^ binary.LittleEndian.Uint64(key[len(key)-8:])
	} else {
		for _, c := range key {
			h = h<<8 | uint64(c)
		}
	}
	return uint32(h * odd >> 32)
}
