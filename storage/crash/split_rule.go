package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// A split stands between a key and the group that counts its reports: reports of the
// keys of one group (itself, not the one that is shown in its place) that match a rule
// belong to another key. That key was made for them, with a group of its own, and
// stays theirs wherever that group is merged. A group that was split off may be split
// again.

// splitsOfGroup are the rules that lead from g, a group that is shown, or one of its parts
// to another group. Such a group stays while the other does, without a crash too: its key
// and its rules are the way on which the other gets its reports.
const splitsOfGroup = `select from crash_group_splits s join crash_group_keys k on k.id = s.target_key_id
	join crash_groups t on t.id = k.group_id
	where s.group_id in (` + MembersOfGroup + `) and coalesce(t.root_id, t.id) <> g.id`

// splitRule is a row of crash_group_splits with where its key is now.
type splitRule struct {
	ID          int64      `db:"id"`
	GroupID     int64      `db:"group_id"`
	Stack       []byte     `db:"stack"`
	Attribute   string     `db:"attribute"`
	Value       string     `db:"value"`
	ProjectID   int64      `db:"crash_project_id"`
	TargetKey   []byte     `db:"key"`
	TargetKeyID int64      `db:"target_key_id"`
	TargetGroup int64      `db:"target_group_id"`
	TargetRoot  int64      `db:"root_id"`
	FacetsAt    *time.Time `db:"facets_at"`
}

func (r *splitRule) target() keyRow {
	return keyRow{ID: r.TargetKeyID, ProjectID: r.ProjectID, Key: r.TargetKey, GroupID: r.TargetGroup, RootID: r.TargetRoot,
		FacetsAt: r.FacetsAt}
}

const splitRuleColumns = `s.id, s.group_id, s.stack, coalesce(s.attribute, '') as attribute, coalesce(s.value, '') as value,
	s.crash_project_id, s.target_key_id, k.key, k.group_id as target_group_id, coalesce(g.root_id, g.id) as root_id,
	g.facets_at`

const splitRuleTables = ` join crash_group_keys k on k.id = s.target_key_id join crash_groups g on g.id = k.group_id`

// selectSplitRules reads the rules of groups, and of the groups to which these lead.
const selectSplitRules = `
with recursive reached as (
	select id, group_id, target_key_id from crash_group_splits where group_id = any($1)
	union
	select s.id, s.group_id, s.target_key_id
	from reached r join crash_group_keys k on k.id = r.target_key_id
	join crash_group_splits s on s.group_id = k.group_id
)
select ` + splitRuleColumns + ` from reached join crash_group_splits s on s.id = reached.id` + splitRuleTables + `
order by s.id`

// readSplitRules reads the rules of groups, and those to which they lead, by group.
func readSplitRules(ctx context.Context, q storage.Querier, groups []int64) (map[int64][]splitRule, error) {
	var rows []splitRule
	if err := q.SelectContext(ctx, &rows, selectSplitRules, pq.Array(groups)); err != nil {
		return nil, storage.Wrap(err, "read what was split off")
	}
	rules := map[int64][]splitRule{}
	for _, r := range rows {
		rules[r.GroupID] = append(rules[r.GroupID], r)
	}
	return rules, nil
}

// splitOff moves the crashes that match a rule of their group to the key of the rule,
// and adds these keys to keys. It asks nothing where no key has rules.
func splitOff(ctx context.Context, tx *storage.Tx, keys map[projectKey]keyRow, crashes []Crash) error {
	var groups []int64
	for _, k := range keys {
		if k.Split && !slices.Contains(groups, k.GroupID) {
			groups = append(groups, k.GroupID)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	rules, err := readSplitRules(ctx, tx, groups)
	if err != nil {
		return err
	}
	for i := range crashes {
		c := &crashes[i]
		if c.Group == nil {
			continue
		}
		at := keys[projectKey{c.ProjectID, c.Group.Key}]
		to, moved := follow(rules, at.GroupID, c)
		if !moved {
			continue
		}
		group := *c.Group // the caller may have given it to several crashes
		copy(group.Key[:], to.Key)
		c.Group = &group
		keys[projectKey{c.ProjectID, group.Key}] = to
	}
	return nil
}

// maxSplitsInRow bounds how often a report is passed on. A split leads to a group that is
// made for it, so there are no circles; more in a row than this nobody makes.
const maxSplitsInRow = 100

// follow applies rules to a crash of a group until none matches.
func follow(rules map[int64][]splitRule, group int64, c *Crash) (to keyRow, moved bool) {
	m := splitMatch{crash: c}
	for range maxSplitsInRow {
		rule := m.first(rules[group])
		if rule == nil {
			break
		}
		to, group, moved = rule.target(), rule.TargetGroup, true
	}
	return to, moved
}

// splitMatch compares a crash with rules; its attributes are read once at most.
type splitMatch struct {
	crash      *Crash
	attributes map[string]json.RawMessage
}

// first returns the first of the rules that matches, or nil.
func (m *splitMatch) first(rules []splitRule) *splitRule {
	for i := range rules {
		if m.matches(&rules[i]) {
			return &rules[i]
		}
	}
	return nil
}

func (m *splitMatch) matches(r *splitRule) bool {
	if r.Attribute == "" {
		return len(r.Stack) > 0 && bytes.Equal(r.Stack, m.crash.StackKey)
	}
	if m.attributes == nil {
		m.attributes = map[string]json.RawMessage{}
		if json.Unmarshal([]byte(m.crash.Attributes), &m.attributes) != nil {
			return false // PostgreSQL will refuse them
		}
	}
	return condition.Attribute{Key: r.Attribute, Value: r.Value}.MatchesIndexed(m.attributes)
}

// ForgetSplits removes the rules of an organization that name a value of an attribute,
// which is to be forgotten. Project 0 is every project.
func ForgetSplits(ctx context.Context, tx *storage.Tx, organization, project int64, f condition.Attribute) error {
	var rules []struct {
		ID    int64  `db:"id"`
		Value string `db:"value"`
	}
	err := tx.SelectContext(ctx, &rules, `
		select s.id, s.value from crash_projects p join crash_group_splits s on s.crash_project_id = p.id
		where p.organization_id = $1 and ($2 = 0 or p.id = $2) and s.attribute = $3`, organization, project, f.Key)
	if err != nil {
		return storage.Wrap(err, "splits by an attribute")
	}
	var ids []int64
	for _, r := range rules {
		if r.Value == f.Value || condition.SameNumber(r.Value, f.Value) {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, `delete from crash_group_splits where id = any($1)`, pq.Array(ids))
	return storage.Wrap(err, "forget splits by an attribute")
}
