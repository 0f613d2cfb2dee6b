package ops

import "time"

// SymbolLookup counts a search for the symbols of a crash by how it ended.
func (o *Observer) SymbolLookup(outcome string) {
	o.lookups.WithLabelValues(o.outcomes.value(outcome)).Inc()
}

// SymbolFetch counts a read of an index in the object store.
func (o *Observer) SymbolFetch(bytes int64, took time.Duration, failed bool) {
	outcome := "read"
	if failed {
		outcome = "failed"
	}
	o.fetches.WithLabelValues(outcome).Observe(took.Seconds())
	o.fetched.Add(float64(max(bytes, 0)))
}

// SymbolFileRead counts a symbol file that a worker read, or whose index it reused.
func (o *Observer) SymbolFileRead(kind, outcome string, _ int64, _ time.Duration) {
	o.symbolFiles.WithLabelValues(o.symbolKinds.value(kind), o.outcomes.value(outcome)).Inc()
}
