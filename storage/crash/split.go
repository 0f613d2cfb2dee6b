package crash

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/ledger"
)

const (
	// maxSplits bounds the rules of one group: each report of its keys is compared with
	// all of them.
	maxSplits = 50
	// maxProjectSplits bounds those of a crash project: a group with many parts has each
	// rule once for each of them.
	maxProjectSplits = 2000
	// SplitStep is how many crashes one transaction moves: some tens of milliseconds,
	// in which the project counts nothing else.
	SplitStep = 200
)

// SplitBy is what sets crashes apart: one of some stacks, or the value of an attribute.
type SplitBy struct {
	Stacks    [][]byte
	Attribute *condition.Attribute
}

// Validate refuses what sets nothing apart.
func (b SplitBy) Validate() error {
	switch {
	case (len(b.Stacks) == 0) == (b.Attribute == nil):
		return &storage.InvalidError{Field: "body", Msg: "must have either stacks or attribute"}
	case b.Attribute != nil:
		return b.Attribute.Validate()
	case len(b.Stacks) > maxSplits:
		return &storage.InvalidError{Field: "stacks", Msg: fmt.Sprintf("at most %d", maxSplits)}
	}
	for i, s := range b.Stacks {
		if len(s) != StackKeySize {
			return &storage.InvalidError{Field: fmt.Sprintf("stacks[%d]", i), Msg: "must be 32 hexadecimal digits"}
		}
	}
	return nil
}

// condition is true for the crashes that are set apart.
func (b SplitBy) condition(c *condition.List) string {
	if b.Attribute == nil {
		return "c.stack_key = any(" + c.Arg(byteaArray(b.Stacks)) + "::bytea[])"
	}
	inner := &condition.List{Args: c.Args}
	inner.Attributes("c.attributes", []condition.Attribute{*b.Attribute})
	c.Args = inner.Args
	return inner.Conds[0]
}

func byteaArray(list [][]byte) any {
	texts := make([]string, len(list))
	for i, b := range list {
		texts[i] = array.Bytea(b)
	}
	return pq.Array(texts)
}

// SplitPlan is a split that was found possible, outside of any transaction: looking
// through a large group takes its time.
type SplitPlan struct {
	organization, root int64
	by                 SplitBy
	crashes            []uuid.UUID // the first to be moved
}

// PlanSplit looks for the crashes of a group that match. ErrNotFound for the group;
// *storage.InvalidError when none match, for one of the stacks or for the attribute, or
// when all do.
func PlanSplit(ctx context.Context, q storage.Querier, organization, group int64, by SplitBy) (*SplitPlan, error) {
	by.Stacks = uniqueStacks(by.Stacks)
	if err := by.Validate(); err != nil {
		return nil, err
	}
	at, err := placeOf(ctx, q, organization, group)
	if err != nil {
		return nil, err
	}
	keys, err := keysOfGroup(ctx, q, at.RootID)
	if err != nil {
		return nil, err
	}
	if err := by.checkStacks(ctx, q, organization, keys); err != nil {
		return nil, err
	}
	p := &SplitPlan{organization: organization, root: at.RootID, by: by}
	c := &condition.List{}
	c.Add("c.organization_id = " + c.Arg(organization))
	c.Add("c.key_id = any(" + c.Arg(pq.Array(keys)) + ")")
	same := &condition.List{Args: c.Args, Conds: slices.Clone(c.Conds)}
	same.Add(by.condition(same))
	err = q.SelectContext(ctx, &p.crashes, `select c.id from crashes c`+same.Where()+` limit `+same.Arg(SplitStep), same.Args...)
	if err != nil {
		return nil, storage.Wrap(err, "find crashes to split off")
	}
	if len(p.crashes) == 0 {
		return nil, by.nothing()
	}
	other := &condition.List{Args: c.Args, Conds: slices.Clone(c.Conds)}
	other.Add("(" + by.condition(other) + ") is not true")
	var rest bool
	if err := q.GetContext(ctx, &rest, `select exists (select from crashes c`+other.Where()+`)`, other.Args...); err != nil {
		return nil, storage.Wrap(err, "find crashes that stay")
	}
	if !rest {
		return nil, &storage.InvalidError{Field: by.field(), Msg: "every report of the group matches: nothing would stay"}
	}
	return p, nil
}

func (b SplitBy) field() string {
	if b.Attribute != nil {
		return "attribute"
	}
	return "stacks"
}

func (b SplitBy) nothing() error {
	if b.Attribute == nil {
		return &storage.InvalidError{Field: "stacks", Msg: "no report of the group has one of these stacks"}
	}
	return &storage.InvalidError{Field: "attribute", Msg: fmt.Sprintf("no report of the group has %.255s = %.255s",
		b.Attribute.Key, b.Attribute.Value)}
}

func uniqueStacks(stacks [][]byte) [][]byte {
	var once [][]byte
	for _, s := range stacks {
		if !slices.ContainsFunc(once, func(o []byte) bool { return string(o) == string(s) }) {
			once = append(once, s)
		}
		if len(once) > maxSplits {
			break // refused by its number
		}
	}
	return once
}

// checkStacks requires a report of the keys for each of the stacks.
func (b SplitBy) checkStacks(ctx context.Context, q storage.Querier, organization int64, keys []int64) error {
	if len(b.Stacks) == 0 {
		return nil
	}
	var there []string
	err := q.SelectContext(ctx, &there, `
		select encode(s.stack, 'hex') from unnest($1::bytea[]) as s(stack)
		where exists (select from crashes c where c.key_id = any($2) and c.organization_id = $3 and c.stack_key = s.stack)`,
		byteaArray(b.Stacks), pq.Array(keys), organization)
	if err != nil {
		return storage.Wrap(err, "find stacks of a crash group")
	}
	for _, s := range b.Stacks {
		if text := hex.EncodeToString(s); !slices.Contains(there, text) {
			return &storage.InvalidError{Field: "stacks", Msg: "no report of the group has the stack " + text}
		}
	}
	return nil
}

// keysOfGroup are the keys of a group that is shown and of its parts.
func keysOfGroup(ctx context.Context, q storage.Querier, root int64) ([]int64, error) {
	var keys []int64
	err := q.SelectContext(ctx, &keys, `select k.id from crash_group_keys k join crash_groups g on g.id = k.group_id
		where g.id = $1 or g.root_id = $1 order by k.id`, root)
	return keys, storage.Wrap(err, "keys of a crash group")
}

const insertSplitGroup = `
with made as (
	insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit,
		classifier, count, first_seen, last_seen, facets_at, severity)
	select organization_id, crash_project_id, $2, 0, title, culprit, classifier, 0, 'infinity', '-infinity', now(), severity
	from crash_groups where id = $1
	returning id, organization_id, crash_project_id, fingerprint, title, culprit, classifier
), titled as (
	insert into crash_group_titles (group_id, organization_id, text, functions)
	select m.id, m.organization_id, coalesce(t.text, concat_ws(E'\n', m.title, m.culprit, m.classifier)), coalesce(t.functions, false)
	from made m left join crash_group_titles t on t.group_id = $1
)
insert into crash_group_keys (crash_project_id, key, algorithm, group_id)
select crash_project_id, fingerprint, 0, id from made
returning id, crash_project_id, group_id`

// insertSplitRules gives the rule to each group that has reports of the root: what is taken
// out of it keeps the rule, and what was split off.
const insertSplitRules = `
insert into crash_group_splits (crash_project_id, group_id, target_key_id, kind, stack, attribute, value)
select g.crash_project_id, g.id, $2, $3, s.stack, $5, $6
from crash_groups g cross join (
	select unnest($4::bytea[]) as stack union all select null where $3 = 'attribute') s
where (g.id = $1 or g.root_id = $1) and (s.stack is not null or $3 = 'attribute')
order by g.id`

// Split makes a group for the crashes that match, moves the first of them there and
// inserts the task that moves the rest; reports that are counted from now on go there at
// once. It writes the audit row, which names no value of an attribute: nobody could
// remove it. The new group's id is returned. ErrConflict when the group was changed since
// the plan was made; *storage.InvalidError for what was split off before and at the
// bounds.
//
// The project is locked alone: a report that is counted knows the rules, or was there
// before them and is moved.
func (p *SplitPlan) Split(ctx context.Context, tx *storage.Tx, w account.Writer, task func(targetKey int64) *ledger.NewTask) (int64,
	*ledger.NewTask, error) {
	at, err := lockPlace(ctx, tx, p.organization, p.root)
	switch {
	case err != nil:
		return 0, nil, err
	case at.ID != p.root || at.RootID != p.root:
		return 0, nil, fmt.Errorf("split a group that was merged: %w", storage.ErrConflict)
	}
	if err := p.checkRules(ctx, tx, at.ProjectID); err != nil {
		return 0, nil, err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return 0, nil, fmt.Errorf("key of a split: %w", err)
	}
	var target struct {
		ID        int64 `db:"id"`
		ProjectID int64 `db:"crash_project_id"`
		GroupID   int64 `db:"group_id"`
	}
	if err := tx.GetContext(ctx, &target, insertSplitGroup, p.root, key); err != nil {
		return 0, nil, storage.Wrap(err, "make the group of a split")
	}
	detail := map[string]any{"group_id": target.GroupID}
	kind, attribute, value := "stack", (*string)(nil), (*string)(nil)
	if a := p.by.Attribute; a != nil {
		kind, attribute, value = "attribute", &a.Key, &a.Value
		detail["attribute"] = a.Key
	} else {
		texts := make([]string, len(p.by.Stacks))
		for i, s := range p.by.Stacks {
			texts[i] = hex.EncodeToString(s)
		}
		detail["stacks"] = texts
	}
	_, err = tx.ExecContext(ctx, insertSplitRules, p.root, target.ID, kind, byteaArray(p.by.Stacks), attribute, value)
	if err != nil {
		return 0, nil, storage.Wrap(err, "insert the rules of a split")
	}
	moved, err := moveSplit(ctx, tx, p.organization, target.ID, p.crashes)
	if err != nil {
		return 0, nil, err
	}
	if moved == 0 {
		return 0, nil, fmt.Errorf("the crashes to split off are gone: %w", storage.ErrConflict)
	}
	t := task(target.ID)
	if _, err := ledger.Insert(ctx, tx, t); err != nil {
		return 0, nil, err
	}
	return target.GroupID, t, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupSplit,
		Actor: w.Actor, Subject: groupSubject(p.root), Detail: detail})
}

// checkRules refuses a rule that is there already, and more rules than the bounds.
func (p *SplitPlan) checkRules(ctx context.Context, tx *storage.Tx, project int64) error {
	var all, groups int
	err := tx.GetContext(ctx, &all, `select count(*) from crash_group_splits where crash_project_id = $1`, project)
	if err != nil {
		return storage.Wrap(err, "count splits of a crash project")
	}
	err = tx.GetContext(ctx, &groups, `select count(*) from crash_groups where id = $1 or root_id = $1`, p.root)
	if err != nil {
		return storage.Wrap(err, "count the parts of a crash group")
	}
	rules, err := Splits(ctx, tx, p.organization, p.root)
	if err != nil {
		return err
	}
	count := map[int64]int{}
	for _, r := range rules {
		count[r.SourceID]++
		if p.by.names(&r) {
			return &storage.InvalidError{Field: p.by.field(), Msg: fmt.Sprintf("was split off already, to group %d", r.GroupID)}
		}
	}
	added := max(len(p.by.Stacks), 1)
	most := 0
	for _, n := range count {
		most = max(most, n)
	}
	switch {
	case most+added > maxSplits:
		return &storage.InvalidError{Field: p.by.field(), Msg: fmt.Sprintf("a group can be split by at most %d rules", maxSplits)}
	case all+added*groups > maxProjectSplits:
		return &storage.InvalidError{Field: p.by.field(),
			Msg: fmt.Sprintf("a crash project can have at most %d rules that split groups", maxProjectSplits)}
	}
	return nil
}

func (b SplitBy) names(s *Split) bool {
	if b.Attribute != nil {
		return s.Attribute != nil && *s.Attribute == b.Attribute.Key && *s.Value == b.Attribute.Value
	}
	return slices.ContainsFunc(b.Stacks, func(stack []byte) bool { return string(stack) == string(s.Stack) })
}

// Split is a rule of a group.
type Split struct {
	ID        int64   `db:"id"`
	SourceID  int64   `db:"source_id"` // the group itself whose reports it takes
	Stack     []byte  `db:"stack"`
	Attribute *string `db:"attribute"`
	Value     *string `db:"value"`
	GroupID   int64   `db:"group_id"`  // to which the reports go
	ShownID   int64   `db:"shown_id"`  // the group that is shown in its place
	KeyID     int64   `db:"target_id"` // of the key
}

// Same reports whether another rule asks for the same.
func (s *Split) Same(other Split) bool {
	if s.Attribute == nil || other.Attribute == nil {
		return s.Attribute == other.Attribute && string(s.Stack) == string(other.Stack)
	}
	return *s.Attribute == *other.Attribute && *s.Value == *other.Value
}

// Splits lists the rules of a group that is shown and of its parts, in their order.
func Splits(ctx context.Context, q storage.Querier, organization, root int64) ([]Split, error) {
	list := []Split{}
	err := q.SelectContext(ctx, &list, `
		select s.id, s.group_id as source_id, s.stack, s.attribute, s.value, k.group_id,
			coalesce(t.root_id, t.id) as shown_id, k.id as target_id
		from crash_groups g join crash_group_splits s on s.group_id = g.id
		join crash_group_keys k on k.id = s.target_key_id join crash_groups t on t.id = k.group_id
		where (g.id = $2 or g.root_id = $2) and g.organization_id = $1
		order by s.id limit $3`, organization, root, maxProjectSplits)
	return list, storage.Wrap(err, "rules of a crash group")
}
