package admission

import (
	"cmp"
	"slices"
)

// Stats are the figures of a room. Admitted, Refused and Evicted count from the start of
// the process; the others are those of the moment.
type Stats struct {
	Name     string
	Capacity int64
	Held     int64
	Waiting  int
	Admitted int64
	Refused  int64
	Evicted  int64
	// Organizations are those that hold most, or wait, at most as many as were asked for.
	Organizations []Usage
}

// Usage is what an organization has of a room; 0 are the callers without a key.
type Usage struct {
	Organization int64
	Held         int64
	Waiting      int
}

// Stats returns the figures of the room, with the most organizations that hold most.
func (r *Room) Stats(most int) Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Stats{Name: r.cfg.Name, Capacity: r.cfg.Capacity, Held: r.held, Waiting: r.waiting,
		Admitted: r.admitted.Load(), Refused: r.refused.Load(), Evicted: r.evicted.Load()}
	for _, o := range r.organizations {
		s.Organizations = append(s.Organizations, Usage{o.id, o.held, o.callers})
	}
	slices.SortFunc(s.Organizations, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(b.Held, a.Held), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Organization, b.Organization))
	})
	s.Organizations = s.Organizations[:min(len(s.Organizations), most)]
	return s
}
