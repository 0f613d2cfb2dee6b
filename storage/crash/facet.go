package crash

import (
	"encoding/json"
	"hash/fnv"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// A group's facets say which values the attributes of its reports have, so that the
// list of groups by an attribute reads no report. They are written by the worker with
// the reports, nearly never: a value that is there already costs a look into memory.
// Values of reports that were removed go from them in the same transaction, those of
// reports that went with age within a day.

const (
	// maxFacetValues bounds the values of an attribute that a group remembers: most
	// attributes have fewer, and of those with more, such as ids of users, a group has
	// nearly as many as reports.
	maxFacetValues = 50
	// maxFacetKeys bounds the attributes: clients send tens.
	maxFacetKeys = 200
	// otherKeys is the key of the row that stands for the attributes beyond the bound.
	otherKeys = 0
)

// facet is an attribute and a value by their hashes, which name the organization too.
type facet struct{ key, value int64 }

// The kinds of values, which never equal one of another kind.
const (
	textValue    = 's'
	numberValue  = 'n'
	literalValue = 'b' // true, false and null
)

// facetOf hashes a value of an attribute. The hash is not one that withstands an
// attacker: who provokes equal ones finds a group too many in the own lists.
func facetOf(organization int64, key string, kind byte, text string) facet {
	h := fnv.New64a()
	var head [9]byte
	for i := range 8 {
		head[i] = byte(organization >> (8 * i))
	}
	head[8] = kind
	_, _ = h.Write(head[:8]) // a hash never fails
	_, _ = h.Write([]byte(key))
	k := int64(h.Sum64())
	if k == otherKeys {
		k++
	}
	if kind == numberValue {
		text = plainDigits(text)
	}
	_, _ = h.Write([]byte{0, kind})
	_, _ = h.Write([]byte(text))
	return facet{k, int64(h.Sum64())}
}

// FacetHashes returns the hash of the key of an attribute, and those of the values of which a
// report that the filter selects has one.
func FacetHashes(organization int64, f condition.Attribute) (key int64, values []int64) {
	name, text := condition.IndexedKey(f.Key), condition.IndexedValue(f.Value)
	first := facetOf(organization, name, textValue, text)
	values = []int64{first.value}
	switch {
	case f.Value == "true" || f.Value == "false":
		values = append(values, facetOf(organization, name, literalValue, f.Value).value)
	case condition.IndexedNumber(f.Value):
		values = append(values, facetOf(organization, name, numberValue, f.Value).value)
	}
	return first.key, values
}

// plainDigits writes numbers of the same value in the same way. What is indexed has a
// small exponent.
func plainDigits(number string) string {
	digits := strings.TrimPrefix(number, "-")
	if digits == "0" || digits != "" && digits[0] != '0' && strings.Trim(digits, "0123456789") == "" {
		return number
	}
	if r, ok := new(big.Rat).SetString(number); ok {
		return r.RatString()
	}
	return number
}

// facetsOf reads the attributes of a crash, a JSON object of scalars.
func facetsOf(organization int64, attributes string) []facet {
	facets := make([]facet, 0, strings.Count(attributes, ":"))
	ok := eachScalar(attributes, func(key string, kind byte, text string) {
		facets = append(facets, facetOf(organization, key, kind, text))
	})
	if ok {
		return facets
	}
	// Escapes, or no object of scalars: the slow way.
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(attributes), &members) != nil {
		return nil // the database will refuse it
	}
	facets = facets[:0]
	for key, raw := range members {
		kind, text := scalarOf(string(raw))
		facets = append(facets, facetOf(organization, key, kind, text))
	}
	return facets
}

// scalarOf reads a JSON value.
func scalarOf(raw string) (kind byte, text string) {
	switch {
	case strings.HasPrefix(raw, `"`):
		if json.Unmarshal([]byte(raw), &text) != nil {
			text = raw
		}
		return textValue, text
	case raw == "true" || raw == "false" || raw == "null":
		return literalValue, raw
	}
	return numberValue, raw
}

// eachScalar visits the members of an object of scalars without escapes and reports
// whether the text is one.
func eachScalar(doc string, visit func(key string, kind byte, text string)) bool {
	if strings.IndexByte(doc, '\\') >= 0 {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(doc), "{")
	rest = strings.TrimLeft(rest, " ")
	for ok && rest != "}" {
		var key, value string
		if rest, ok = strings.CutPrefix(rest, `"`); !ok {
			break
		}
		if key, rest, ok = strings.Cut(rest, `"`); !ok {
			break
		}
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ":"); !ok {
			break
		}
		rest = strings.TrimLeft(rest, " ")
		if text, isText := strings.CutPrefix(rest, `"`); isText {
			if value, rest, ok = strings.Cut(text, `"`); ok {
				visit(key, textValue, value)
			}
		} else {
			end := strings.IndexAny(rest, ",}")
			if end < 0 || strings.ContainsAny(rest[:end], `{["`) {
				return false
			}
			value, rest = strings.TrimRight(rest[:end], " "), rest[end:]
			kind, text := scalarOf(value)
			visit(key, kind, text)
		}
		rest = strings.TrimLeft(rest, " ")
		if more, another := strings.CutPrefix(rest, ","); another {
			rest = strings.TrimLeft(more, " ")
		} else if rest != "}" {
			return false
		}
	}
	return ok
}

// maxKnown bounds the values that the worker remembers, some 40 bytes each.
const maxKnown = 500_000

// facetMemory remembers which values groups have, as they were committed. Safe for
// concurrent use.
type facetMemory struct {
	mu     sync.Mutex
	groups map[int64]*knownFacets
	size   int
}

// knownFacets is what is known of a group since its facets lost values for the last
// time.
type knownFacets struct {
	since  time.Time
	values map[facet]struct{}
	many   map[int64]struct{} // keys whose values are not to be written any more
}

func newFacetMemory() *facetMemory { return &facetMemory{groups: map[int64]*knownFacets{}} }

// unknown returns those of the facets of a group that may not be stored.
func (m *facetMemory) unknown(group int64, since time.Time, facets []facet) []facet {
	if m == nil {
		return facets
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.groups[group]
	if k == nil || !k.since.Equal(since) {
		return facets
	}
	var unknown []facet
	for _, f := range facets {
		if _, full := k.many[f.key]; full {
			continue
		}
		if _, there := k.values[f]; !there {
			unknown = append(unknown, f)
		}
	}
	return unknown
}

// add remembers facets that are stored. Groups make room in any order.
func (m *facetMemory) add(group int64, since time.Time, facets []facet, many []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.groups[group]
	if k == nil || !k.since.Equal(since) {
		m.drop(group)
		k = &knownFacets{since: since, values: map[facet]struct{}{}, many: map[int64]struct{}{}}
		m.groups[group] = k
	}
	before := len(k.values) + len(k.many)
	for _, key := range many {
		k.many[key] = struct{}{}
	}
	for _, f := range facets {
		if _, full := k.many[f.key]; !full {
			k.values[f] = struct{}{}
		}
	}
	m.size += len(k.values) + len(k.many) - before
	for other := range m.groups {
		if m.size <= maxKnown {
			break
		}
		m.drop(other)
	}
}

func (m *facetMemory) drop(group int64) {
	if k := m.groups[group]; k != nil {
		m.size -= len(k.values) + len(k.many)
		delete(m.groups, group)
	}
}
