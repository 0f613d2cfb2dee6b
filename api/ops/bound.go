package ops

import (
	"slices"
	"strings"
	"sync"
)

// other stands for the label values beyond a bound.
const other = "other"

const (
	// The bounds are some times what the product has; they only ever bite when
	// a caller passes something that is not one of a fixed set, a raw path in
	// place of a route pattern for example.
	maxRoutes  = 512
	maxKinds   = 128
	maxReasons = 64
	maxStates  = 16
	maxQueues  = 32
	maxLabel   = 200 // bytes of one value
)

// bound lets the first most distinct values through and turns the rest into
// "other", so that no caller can grow the registry without end.
type bound struct {
	most int
	mu   sync.RWMutex
	seen map[string]bool
}

func newBound(most int) *bound { return &bound{most: most, seen: map[string]bool{}} }

// value returns the label for v: valid UTF-8, which the registry insists on,
// never empty, and one of a bounded set.
func (b *bound) value(v string) string {
	if v == "" || len(v) > maxLabel {
		return other
	}
	v = strings.ToValidUTF8(v, "?")
	b.mu.RLock()
	known := b.seen[v]
	b.mu.RUnlock()
	if known {
		return v
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.seen[v] {
		if len(b.seen) >= b.most {
			return other
		}
		b.seen[v] = true
	}
	return v
}

// methodLabel keeps the methods that routes have: clients may send any word.
func methodLabel(method string) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, method) {
		return method
	}
	return other
}
