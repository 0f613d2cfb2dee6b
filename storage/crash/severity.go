package crash

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Severity is what a report is of. Only crashes count in the crash-free figures.
type Severity string

// The severities, the worst first.
const (
	SevereCrash Severity = "crash"         // the program ended; also the zero value
	OutOfMemory Severity = "out_of_memory" // the program was ended, or an allocation failed
	Hang        Severity = "hang"          // the program did not respond (ANR)
	Handled     Severity = "error"         // an error that the program caught, or a message
)

// Severities are all of them, the worst first.
func Severities() []Severity { return []Severity{SevereCrash, OutOfMemory, Hang, Handled} }

// Validate refuses an unknown severity.
func (s Severity) Validate() error {
	if !slices.Contains(Severities(), s) {
		var names []string
		for _, known := range Severities() {
			names = append(names, string(known))
		}
		return storage.Invalid("severity", "must be %s", strings.Join(names, ", "))
	}
	return nil
}

// Rank is how a severity is stored: the larger, the worse, so that a group has the largest of
// its reports.
func (s Severity) Rank() int64 {
	if at := slices.Index(Severities(), s); at >= 0 {
		return int64(len(Severities()) - at)
	}
	return SevereCrash.Rank()
}

// Value stores the rank.
func (s Severity) Value() (driver.Value, error) { return s.Rank(), nil }

// Scan reads a rank.
func (s *Severity) Scan(stored any) error {
	rank, ok := stored.(int64)
	all := Severities()
	if !ok || rank < 1 || rank > int64(len(all)) {
		return fmt.Errorf("severity %v is not known", stored)
	}
	*s = all[int64(len(all))-rank]
	return nil
}

// IsCrash reports whether the program ended.
func (s Severity) IsCrash() bool { return s.Rank() == SevereCrash.Rank() }

// worstOfMembers is the severity of a group g with its parts: the worst of the reports that are
// kept. Of a member with 500 or more, some of which are read, it only rises; of one without any
// it stays.
const worstOfMembers = `
	select max(case when kept.n between 1 and 499 then kept.worst else greatest(kept.worst, p.severity) end)
	from crash_groups p cross join lateral (
		select max(c.severity) as worst, count(*) as n from (
			select c.severity from crash_group_keys k join crashes c on c.key_id = k.id where k.group_id = p.id limit 500) c
	) kept where p.id = g.id or p.root_id = g.id`

// raiseSeverities raises the severity that groups have of their own, parts too, to that of
// reports that came to them. The groups that are shown in their place are locked.
func raiseSeverities(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	var ids, severities []int64
	for _, t := range tallies {
		ids, severities = append(ids, t.group), append(severities, t.severity)
	}
	_, err := tx.ExecContext(ctx, `update crash_groups g set severity = new.severity
		from unnest($1::bigint[], $2::smallint[]) as new(id, severity) where g.id = new.id and g.severity < new.severity`,
		pq.Array(ids), pq.Array(severities))
	return storage.Wrap(err, "raise the severity of crash groups")
}
