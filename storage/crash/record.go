package crash

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// StackKeySize is how much of the key over a whole stack is kept: enough to tell stacks
// of one group apart.
const StackKeySize = 16

// Crash is what a worker stores of one report. Texts must be valid UTF-8 without
// NUL, Attributes a JSON object that PostgreSQL takes.
type Crash struct {
	ID         uuid.UUID
	ProjectID  int64
	UUID       uuid.UUID
	ConflictOf *uuid.UUID
	State      State // Processed, Stored or Failed
	Format     string
	Error      string
	OccurredAt time.Time
	ReceivedAt time.Time
	// Sent is when the client sent it, as Entry has it.
	Sent       int64
	Lang       string
	Agent      string
	Classifier string
	Message    string
	Version    string
	Host       string
	// Duplicates is how many occurrences the report stands for, at least 1.
	Duplicates int
	Attributes string
	// Build is what the report contains of its build; zero: nothing.
	Build BuildRef
	build int64 // as Lock found it; 0: none
	// Group is nil unless the state is Processed.
	Group *Grouping
	// StackKey begins the key over the whole stack (16 bytes), by which a group can be
	// split: crashes of one group differ by it when different ways led to the error. nil:
	// there is none.
	StackKey []byte
	// Explanation is the JSON document that explains the key.
	Explanation []byte
	// Session and User are the ids that the report names, "" when it names none. A
	// Notice is a report that is no crash, such as a message: no session ended by it.
	Session, User string
	Notice        bool
	// Severity is what it is of; only a crash counts in the crash-free figures.
	Severity Severity
	// Affected is whom the report affects, as AffectedUser returns it; "": nobody is named.
	Affected string
	// Symbols are what symbols made of it; nil: nothing was looked up.
	Symbols *Symbolication

	facets []facet     // of Attributes
	found  *facetState // of its group, as Record found it; nil: it has no facets
}

// Grouping is the key of a crash, and what a new group of that key is called.
type Grouping struct {
	Key        [32]byte
	Algorithm  int
	Title      string
	Culprit    string
	Classifier string
	// Explanation is that of the key: its frames name the functions by which a new group is
	// found. Functions name them where it has no frames, since the client chose the key.
	Explanation []byte
	Functions   []string
	// Places are the paths and modules of the stack, innermost first: their owners are
	// assigned to a new group.
	Places []string
}

// Record writes processed crashes of one organization and counts them in their
// groups, in the caller's transaction. Every crash is written once: the caller
// ends the ledger rows of their batches in the same transaction.
func Record(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) error {
	return record(ctx, tx, nil, organization, crashes)
}

// Record is Record with the memory of the store, which spares most reads: Committed
// follows the commit.
func (s *Store) Record(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) error {
	return record(ctx, tx, s.facets, organization, crashes)
}

func record(ctx context.Context, tx *storage.Tx, known *facetMemory, organization int64, crashes []Crash) error {
	Facets(organization, crashes)
	if err := shareProjects(ctx, tx, crashes); err != nil {
		return err
	}
	keys, err := ensureKeys(ctx, tx, organization, crashes)
	if err != nil {
		return err
	}
	if err := splitOff(ctx, tx, keys, crashes); err != nil {
		return err
	}
	if err := insertCrashes(ctx, tx, organization, keys, crashes); err != nil {
		return err
	}
	if err := recordSymbolications(ctx, tx, insertSymbolications, organization, crashes); err != nil {
		return err
	}
	// Last what locks rows that others wait for: groups are few and hot.
	gated, err := countBuilds(ctx, tx, crashes)
	if err != nil {
		return err
	}
	if err := count(ctx, tx, organization, keys, crashes); err != nil {
		return err
	}
	if err := writeFacets(ctx, tx, known, keys, crashes); err != nil {
		return err
	}
	used := usageOf(crashes)
	if err := usage.CountVersions(ctx, tx, used); err != nil {
		return err
	}
	if err := usage.CountSessions(ctx, tx, used); err != nil {
		return err
	}
	return countGated(ctx, tx, gated, crashes)
}

// usageOf is what crashes count of their versions: what could not be read counts nowhere.
func usageOf(crashes []Crash) []usage.Crash {
	used := make([]usage.Crash, 0, len(crashes))
	for i := range crashes {
		if c := &crashes[i]; c.State != Failed {
			used = append(used, usage.Crash{ProjectID: c.ProjectID, Version: c.Version, OccurredAt: c.OccurredAt, Duplicates: c.Duplicates,
				Session: c.Session, User: c.User, Ended: !c.Notice && c.Severity.IsCrash()})
		}
	}
	return used
}

type projectKey struct {
	project int64
	key     [32]byte
}

type keyRow struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"crash_project_id"`
	Key       []byte `db:"key"`
	GroupID   int64  `db:"group_id"`
	RootID    int64  `db:"root_id"` // the group that is shown: GroupID, or what that is a part of
	Split     bool   `db:"split"`   // the group has rules, as selectKeys reads it
	Owned     bool   `db:"owned"`   // the crash project has owners
	// FacetsAt names the facets of the group; nil: it has none yet.
	FacetsAt *time.Time `db:"facets_at"`
}

const selectKeys = `
select k.id, k.crash_project_id, k.key, k.group_id, coalesce(g.root_id, g.id) as root_id, g.facets_at,
	exists (select from crash_group_splits s where s.group_id = k.group_id) as split,
	exists (select from crash_owners o where o.crash_project_id = k.crash_project_id) as owned
from crash_group_keys k
join unnest($1::bigint[], $2::bytea[]) as want(crash_project_id, key)
	on want.crash_project_id = k.crash_project_id and want.key = k.key
join crash_groups g on g.id = k.group_id`

// insertKeys inserts a group with each new key. When another transaction created the same key
// first, the group created here has no key and is removed.
const insertKeys = `
with made as (
	insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit,
		classifier, count, first_seen, last_seen, facets_at, severity)
	select $1, crash_project_id, key, algorithm, title, culprit, classifier, 0, 'infinity', '-infinity', now(), severity
	from unnest($2::bigint[], $3::bytea[], $4::int[], $5::text[], $6::text[], $7::text[], $9::smallint[])
		as new(crash_project_id, key, algorithm, title, culprit, classifier, severity)
	returning id, crash_project_id, fingerprint, algorithm, title, culprit, classifier
), keyed as (
	insert into crash_group_keys (crash_project_id, key, algorithm, group_id)
	select crash_project_id, fingerprint, algorithm, id from made order by crash_project_id, fingerprint
	on conflict do nothing
	returning group_id
), titled as (
	insert into crash_group_titles (group_id, organization_id, text, functions)
	select m.id, $1, concat_ws(E'\n', m.title, m.culprit, m.classifier, nullif(f.functions, '')), true
	from made m join unnest($2::bigint[], $3::bytea[], $8::text[]) as f(crash_project_id, key, functions)
		on f.crash_project_id = m.crash_project_id and f.key = m.fingerprint
)
select id from made where id not in (select group_id from keyed)`

// ensureKeys finds or creates the key of every grouped crash.
func ensureKeys(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (map[projectKey]keyRow, error) {
	want, worst := map[projectKey]*Grouping{}, map[projectKey]int64{}
	for i := range crashes {
		if c := &crashes[i]; c.Group != nil {
			pk := projectKey{c.ProjectID, c.Group.Key}
			if want[pk] == nil {
				want[pk] = c.Group
			}
			worst[pk] = max(worst[pk], c.Severity.Rank())
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	have, err := readKeys(ctx, tx, want)
	if err != nil || len(have) == len(want) {
		return have, err
	}
	missing := map[projectKey]*Grouping{}
	for pk, g := range want {
		if _, ok := have[pk]; !ok {
			missing[pk] = g
		}
	}
	projects, keys := keyArrays(missing)
	var algorithms, severities []int64
	var titles, culprits, classifiers, functions []string
	for _, pk := range sortedKeys(missing) {
		g := missing[pk]
		algorithms, severities = append(algorithms, int64(g.Algorithm)), append(severities, worst[pk])
		titles, culprits = append(titles, g.Title), append(culprits, g.Culprit)
		classifiers, functions = append(classifiers, g.Classifier), append(functions, g.functions())
	}
	var orphans []int64
	err = tx.SelectContext(ctx, &orphans, insertKeys, organization, projects, keys,
		pq.Array(algorithms), pq.Array(titles), pq.Array(culprits), pq.Array(classifiers), pq.Array(functions), pq.Array(severities))
	if err != nil {
		return nil, storage.Wrap(err, "make crash groups")
	}
	if len(orphans) > 0 {
		if _, err := tx.ExecContext(ctx, `delete from crash_groups where id = any($1)`, pq.Array(orphans)); err != nil {
			return nil, storage.Wrap(err, "remove crash groups made twice")
		}
	}
	if have, err = readKeys(ctx, tx, want); err != nil {
		return nil, err
	}
	var made []owned
	for pk, g := range missing {
		if k := have[pk]; k.Owned {
			made = append(made, owned{pk.project, k.GroupID, g.Places})
		}
	}
	return have, assignOwners(ctx, tx, organization, made, false)
}

func readKeys(ctx context.Context, tx *storage.Tx, want map[projectKey]*Grouping) (map[projectKey]keyRow, error) {
	projects, keys := keyArrays(want)
	var rows []keyRow
	if err := tx.SelectContext(ctx, &rows, selectKeys, projects, keys); err != nil {
		return nil, storage.Wrap(err, "read crash group keys")
	}
	have := make(map[projectKey]keyRow, len(rows))
	for _, r := range rows {
		have[projectKey{r.ProjectID, [32]byte(r.Key)}] = r
	}
	return have, nil
}

func sortedKeys(m map[projectKey]*Grouping) []projectKey {
	keys := make([]projectKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b projectKey) int {
		return cmp.Or(cmp.Compare(a.project, b.project), bytes.Compare(a.key[:], b.key[:]))
	})
	return keys
}

func keyArrays(m map[projectKey]*Grouping) (projects, keys any) {
	var p []int64
	var k []string
	for _, pk := range sortedKeys(m) {
		p, k = append(p, pk.project), append(k, array.Bytea(pk.key[:]))
	}
	return pq.Array(p), pq.Array(k)
}

const insertCrash = `
insert into crashes (id, organization_id, crash_project_id, key_id, uuid, uuid_conflict_of, state, format,
	error, occurred_at, received_at, lang, agent, classifier, message, version, host, duplicates, attributes, build_id,
	stack_key, severity)
select id, $1, crash_project_id, nullif(key_id, 0), uuid, nullif(conflict, '')::uuid, state, format,
	nullif(error, ''), occurred_at, received_at, lang, agent, classifier, message, version, host,
	duplicates, attributes, nullif(build, 0), nullif(stack_key, ''), severity
from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::text[],
	$9::text[], $10::timestamptz[], $11::timestamptz[], $12::text[], $13::text[], $14::text[],
	$15::text[], $16::text[], $17::text[], $18::int[], $19::jsonb[], $20::bigint[],
	$21::bytea[], $22::smallint[])
	as new(id, crash_project_id, key_id, uuid, conflict, state, format, error, occurred_at, received_at,
		lang, agent, classifier, message, version, host, duplicates, attributes, build,
		stack_key, severity)`

func insertCrashes(ctx context.Context, tx *storage.Tx, organization int64, keys map[projectKey]keyRow, crashes []Crash) error {
	n := len(crashes)
	texts := func(get func(c *Crash) string) any {
		out := make([]string, n)
		for i := range crashes {
			out[i] = get(&crashes[i])
		}
		return pq.Array(out)
	}
	numbers := func(get func(c *Crash) int64) any {
		out := make([]int64, n)
		for i := range crashes {
			out[i] = get(&crashes[i])
		}
		return pq.Array(out)
	}
	_, err := tx.ExecContext(ctx, insertCrash, organization,
		texts(func(c *Crash) string { return c.ID.String() }),
		numbers(func(c *Crash) int64 { return c.ProjectID }),
		numbers(func(c *Crash) int64 {
			if c.Group == nil {
				return 0
			}
			return keys[projectKey{c.ProjectID, c.Group.Key}].ID
		}),
		texts(func(c *Crash) string { return c.UUID.String() }),
		texts(func(c *Crash) string {
			if c.ConflictOf == nil {
				return ""
			}
			return c.ConflictOf.String()
		}),
		texts(func(c *Crash) string { return string(c.State) }),
		texts(func(c *Crash) string { return c.Format }),
		texts(func(c *Crash) string { return c.Error }),
		texts(func(c *Crash) string { return array.Time(c.OccurredAt) }),
		texts(func(c *Crash) string { return array.Time(c.ReceivedAt) }),
		texts(func(c *Crash) string { return c.Lang }),
		texts(func(c *Crash) string { return c.Agent }),
		texts(func(c *Crash) string { return c.Classifier }),
		texts(func(c *Crash) string { return c.Message }),
		texts(func(c *Crash) string { return c.Version }),
		texts(func(c *Crash) string { return c.Host }),
		numbers(func(c *Crash) int64 { return int64(c.Duplicates) }),
		texts(func(c *Crash) string { return c.Attributes }),
		numbers(func(c *Crash) int64 { return c.build }),
		texts(func(c *Crash) string { return array.Bytea(c.StackKey) }),
		numbers(func(c *Crash) int64 { return c.Severity.Rank() }))
	return storage.Wrap(err, "insert crashes")
}
