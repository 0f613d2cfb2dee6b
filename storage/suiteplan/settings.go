package suiteplan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Columns are those of test_suites, under the alias c, that Row has.
const (
	Columns = `c.filter_tags, c.filter_not_tags, c.filter_all_teams, c.max_duration`
	// Details are what single suites have besides.
	Details = `c.run_order, c.depends_on, array(select m.case_id from test_suite_cases m where m.suite_id = c.id order by m.case_id) as shared`
)

// Row is a row of Columns, and of Details where these were read.
type Row struct {
	Tags        pq.StringArray `db:"filter_tags"`
	NotTags     pq.StringArray `db:"filter_not_tags"`
	AllTeams    bool           `db:"filter_all_teams"`
	MaxDuration *int           `db:"max_duration"`
	Order       pq.StringArray `db:"run_order"`
	DependsOn   []byte         `db:"depends_on"`
	Shared      pq.StringArray `db:"shared"`
}

// Settings returns the settings of the row.
func (r *Row) Settings() (s Settings, err error) {
	s.MaxDuration, s.Order = r.MaxDuration, r.Order
	if r.Tags != nil {
		s.Filter = &Filter{Tags: r.Tags, NotTags: r.NotTags, AllTeams: r.AllTeams}
	}
	if r.DependsOn != nil {
		if err := json.Unmarshal(r.DependsOn, &s.DependsOn); err != nil {
			return s, fmt.Errorf("dependencies of a test suite: %w", err)
		}
	}
	return s, nil
}

const settingsOf = `select ` + Columns + `, ` + Details + ` from test_suites c where c.id = $1`

func read(ctx context.Context, q storage.Querier, suiteID uuid.UUID) (Settings, error) {
	var row Row
	if err := q.GetContext(ctx, &row, settingsOf, suiteID); err != nil {
		return Settings{}, storage.Wrap(err, "settings of test suite "+suiteID.String())
	}
	return row.Settings()
}

const write = `
update test_suites set filter_tags = $2, filter_not_tags = $3, filter_all_teams = $4, max_duration = $5, run_order = $6, depends_on = $7
where id = $1`

// Write changes the settings of a suite, which is new or locked, and reports whether that changes
// anything. *InvalidError.
func Write(ctx context.Context, tx *storage.Tx, organizationID int64, suiteID uuid.UUID, c Change) (changed bool, err error) {
	if c == (Change{}) {
		return false, nil
	}
	before, err := read(ctx, tx, suiteID)
	if err != nil {
		return false, err
	}
	after, err := c.applied(before)
	if err != nil {
		return false, err
	}
	if err := checkCases(ctx, tx, organizationID, before, after); err != nil {
		return false, err
	}
	if same(before, after) {
		return false, nil
	}
	f := after.Filter
	if f == nil {
		f = &Filter{}
	}
	var needs *string
	if len(after.DependsOn) > 0 {
		doc, err := json.Marshal(after.DependsOn)
		if err != nil {
			return false, fmt.Errorf("dependencies of a test suite: %w", err)
		}
		text := string(doc)
		needs = &text
	}
	_, err = tx.ExecContext(ctx, write, suiteID, optional(f.Tags, after.Filter != nil), optional(f.NotTags, after.Filter != nil),
		f.AllTeams, after.MaxDuration, optional(after.Order, len(after.Order) > 0), needs)
	return true, storage.Wrap(err, "change the settings of test suite "+suiteID.String())
}

// optional is an array, or null.
func optional(list []string, there bool) any {
	if !there {
		return nil
	}
	if list == nil {
		list = []string{}
	}
	return pq.Array(list)
}

func same(a, b Settings) bool {
	equal := func(x, y []string) bool { return slices.Equal(x, y) }
	return a.Filter.Same(b.Filter) && (a.MaxDuration == nil) == (b.MaxDuration == nil) &&
		(a.MaxDuration == nil || *a.MaxDuration == *b.MaxDuration) && slices.Equal(a.Order, b.Order) &&
		maps.EqualFunc(a.DependsOn, b.DependsOn, equal)
}

// applied returns the settings with the change.
func (c Change) applied(s Settings) (Settings, error) {
	if c.Filter != nil {
		s.Filter = nil
		if len(c.Filter.Tags) > MaxTags || len(c.Filter.NotTags) > MaxTags {
			return s, storage.Invalid("filter", "must have at most %d tags, and as many notTags", MaxTags)
		}
		if !c.Filter.Empty() {
			s.Filter = c.Filter
		}
	}
	if c.MaxDuration != nil {
		if s.MaxDuration = nil; *c.MaxDuration != 0 {
			s.MaxDuration = c.MaxDuration
		}
		if err := CheckDuration("maxDuration", s.MaxDuration); err != nil {
			return s, err
		}
	}
	if c.Order != nil {
		if len(*c.Order) > MaxCases {
			return s, storage.Invalid("order", "must be at most %d", MaxCases)
		}
		s.Order = unique(*c.Order)
	}
	if c.DependsOn != nil {
		s.DependsOn = nil
		for id, needs := range *c.DependsOn {
			if list := unique(needs); len(list) > 0 {
				if s.DependsOn == nil {
					s.DependsOn = map[string][]string{}
				}
				s.DependsOn[id] = list
			}
		}
	}
	return s, nil
}

// unique leaves the first of those that stand twice.
func unique(list []string) (out []string) {
	seen := make(map[string]bool, len(list))
	for _, id := range list {
		if !seen[id] {
			seen[id], out = true, append(out, id)
		}
	}
	return out
}

// all are the cases that the settings name.
func (s *Settings) all() map[string]bool {
	ids := map[string]bool{}
	for _, id := range s.Order {
		ids[id] = true
	}
	for id, needs := range s.DependsOn {
		ids[id] = true
		for _, need := range needs {
			ids[need] = true
		}
	}
	return ids
}

// maxShown bounds the ids that an error names.
const maxShown = 5

// checkCases refuses an order and dependencies of cases that do not exist, but for those that
// stood there before, and cycles.
func checkCases(ctx context.Context, tx *storage.Tx, organizationID int64, before, after Settings) error {
	ids := after.all()
	if len(ids) == 0 {
		return nil
	}
	var found []struct {
		ID   string `db:"id"`
		Name string `db:"name"`
	}
	err := tx.SelectContext(ctx, &found, `select id, name from test_cases where organization_id = $1 and id = any($2::text[])`,
		organizationID, pq.Array(slices.Collect(maps.Keys(ids))))
	if err != nil {
		return storage.Wrap(err, "look for test cases")
	}
	names := make(map[string]string, len(found))
	for _, one := range found {
		names[one.ID] = one.Name
	}
	known := before.all()
	for _, part := range []struct {
		field string
		of    Settings
	}{{"order", Settings{Order: after.Order}}, {"dependsOn", Settings{DependsOn: after.DependsOn}}} {
		var missing []string
		for _, id := range slices.Sorted(maps.Keys(part.of.all())) {
			if _, there := names[id]; !there && !known[id] {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			return storage.Invalid(part.field, "names test cases that do not exist: %s", strings.Join(missing[:min(len(missing), maxShown)], ", "))
		}
	}
	return checkNeeds(after.DependsOn, names)
}
