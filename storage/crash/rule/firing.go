package rule

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// MaxMails is how many mails the rules of an organization write in an hour: more than anybody
// reads, and far below what a storm of new groups would write.
const MaxMails = 200

// Firing is a rule that fires for a group.
type Firing struct {
	Rule  *Rule
	Group *Candidate
	Count int // of users or reports; 0: the rule counts none
	Times int // how often it has fired for the group, with this

	report   *candidateReport
	assigned bool
}

// Crash is the report for which the rule fires: one of those that came.
func (f *Firing) Crash() uuid.UUID { return f.report.ID }

// Assigned reports whether the firing gave the group its assignee.
func (f *Firing) Assigned() bool { return f.assigned }

// Why says in a few words why the rule fires.
func (f *Firing) Why() string {
	switch f.Rule.Trigger {
	case WhenNew:
		return "new"
	case WhenRegressed:
		return "it is back after it was resolved"
	case WhenUsers:
		return fmt.Sprintf("more than %d users in %s", f.Rule.Above, minutesText(f.Rule.Minutes))
	}
	return fmt.Sprintf("more than %d reports in %s", f.Rule.Above, minutesText(f.Rule.Minutes))
}

func minutesText(minutes int) string {
	switch {
	case minutes == 1:
		return "a minute"
	case minutes%60 != 0:
		return fmt.Sprintf("%d minutes", minutes)
	case minutes == 60:
		return "an hour"
	}
	return fmt.Sprintf("%d hours", minutes/60)
}

// recordFirings lets of two evaluations of one group and rule one fire. A group that is gone, and a
// rule that is gone or disabled meanwhile, has no firing.
const recordFirings = `
insert into crash_rule_firings as f (rule_id, group_id)
select r.id, g.id from unnest($1::bigint[], $2::bigint[]) as n(rule_id, group_id)
join crash_rules r on r.id = n.rule_id and r.organization_id = $3 and r.enabled
join crash_groups g on g.id = n.group_id and g.organization_id = $3
order by r.id, g.id
on conflict (rule_id, group_id) do update set fired_at = now(), times = f.times + 1
where exists (select from crash_groups g, crash_rules r where g.id = f.group_id and r.id = f.rule_id
	and (g.reopened_at > f.fired_at or r.repeat_hours > 0 and f.fired_at <= now() - make_interval(hours => r.repeat_hours)))
returning rule_id, group_id, times`

const countFirings = `
update crash_rules r set fired = r.fired + n.fired, fired_at = now()
from (select id, count(*) as fired from unnest($1::bigint[]) as id group by id) n
where r.id = n.id and r.organization_id = $2`

// Fire records that rules fire, in the transaction of what follows from it, and returns those
// firings that are: each rule once for a group. It assigns the groups, and writes the events for
// webhooks; RecordHistory follows.
func Fire(ctx context.Context, tx *storage.Tx, organization int64, wanted []*Firing) ([]*Firing, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := lockFired(ctx, tx, organization, wanted); err != nil {
		return nil, err
	}
	by := map[Pair]*Firing{}
	var rules, groups []int64
	for _, f := range wanted {
		by[Pair{f.Rule.ID, f.Group.Group}] = f
		rules, groups = append(rules, f.Rule.ID), append(groups, f.Group.Group)
	}
	var rows []struct {
		Rule  int64 `db:"rule_id"`
		Group int64 `db:"group_id"`
		Times int   `db:"times"`
	}
	if err := tx.SelectContext(ctx, &rows, recordFirings, pq.Array(rules), pq.Array(groups), organization); err != nil {
		return nil, storage.Wrap(err, "record firings of crash rules")
	}
	var fired []*Firing
	var ids []int64
	for _, row := range rows {
		f := by[Pair{row.Rule, row.Group}]
		f.Times = row.Times
		fired, ids = append(fired, f), append(ids, row.Rule)
	}
	if len(fired) == 0 {
		return nil, nil
	}
	slices.SortFunc(fired, func(a, b *Firing) int {
		return cmp.Or(cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Group.Group, b.Group.Group))
	})
	if _, err := tx.ExecContext(ctx, countFirings, pq.Array(ids), organization); err != nil {
		return nil, storage.Wrap(err, "count firings of crash rules")
	}
	if err := assignByRules(ctx, tx, organization, fired); err != nil {
		return nil, err
	}
	return fired, emit(ctx, tx, organization, fired)
}

// Those who count reports lock groups in the order of their ids, and who deletes a group or a rule
// locks it before its firings.
const (
	lockFiredGroups = `select id from crash_groups where id = any($1) and organization_id = $2 order by id for no key update`
	lockFiredRules  = `select id from crash_rules where id = any($1) and organization_id = $2 order by id for no key update`
)

// lockFired locks the groups, then the rules.
func lockFired(ctx context.Context, tx *storage.Tx, organization int64, firings []*Firing) error {
	var groups, rules []int64
	for _, f := range firings {
		groups, rules = append(groups, f.Group.Group), append(rules, f.Rule.ID)
	}
	if _, err := tx.ExecContext(ctx, lockFiredGroups, pq.Array(groups), organization); err != nil {
		return storage.Wrap(err, "lock the groups of crash rules")
	}
	_, err := tx.ExecContext(ctx, lockFiredRules, pq.Array(rules), organization)
	return storage.Wrap(err, "lock crash rules")
}

// assignByRules assigns the groups for which rules with an assignee fired, the first rule first.
// What somebody assigned stays, and who may not read crashes any more gets nothing.
func assignByRules(ctx context.Context, tx *storage.Tx, organization int64, fired []*Firing) error {
	var users []int64
	for _, f := range fired {
		if a := f.Rule.AssigneeID; a != nil {
			users = append(users, *a)
		}
	}
	readers, err := readersAmong(ctx, tx, organization, users)
	if err != nil || len(readers) == 0 {
		return err
	}
	by := map[int64]*Firing{}
	var ids, assignees []int64
	for _, f := range fired {
		a := f.Rule.AssigneeID
		if a == nil || by[f.Group.Group] != nil || !slices.ContainsFunc(readers, func(r Reader) bool { return r.ID == *a }) {
			continue
		}
		by[f.Group.Group] = f
		ids, assignees = append(ids, f.Group.Group), append(assignees, *a)
	}
	if len(ids) == 0 {
		return nil
	}
	assigned, err := crash.AssignFree(ctx, tx, ids, assignees, true)
	if err != nil {
		return storage.Wrap(err, "assign crash groups by rules")
	}
	for _, id := range assigned {
		by[id].assigned = true
	}
	return nil
}

// RecordHistory writes into the history of groups which rules fired for them, with how many mails
// were written for each, and whether some were left out by the bound of an hour.
func RecordHistory(ctx context.Context, tx *storage.Tx, fired []*Firing, mails map[*Firing]int, left map[*Firing]bool) error {
	var entries []crash.HistoryEntry
	for _, f := range fired {
		detail := map[string]any{"rule": f.Rule.ID, "rule_name": f.Rule.Name, "trigger": f.Rule.Trigger}
		if f.Rule.Trigger.counts() {
			detail["above"], detail["minutes"] = f.Rule.Above, f.Rule.Minutes
		}
		if f.assigned {
			detail["assignee"] = *f.Rule.AssigneeID
		}
		if n := mails[f]; n > 0 {
			detail["mails"] = n
		}
		if left[f] {
			detail["mails_left_out"] = true
		}
		if f.Rule.Webhook {
			detail["webhook"] = true
		}
		entries = append(entries, crash.HistoryEntry{Group: f.Group.Group, Detail: detail})
	}
	if len(entries) == 0 {
		return nil
	}
	return crash.RecordHistory(ctx, tx, account.Actor{Name: account.ActorRules}, uuid.Nil, entries...)
}

const takeMails = `
insert into crash_rule_rates as r (organization_id, hour, mails) values ($1, date_trunc('hour', now()), least($2::int, $3::int))
on conflict (organization_id) do update set hour = excluded.hour,
	mails = case when r.hour = excluded.hour then least(r.mails + $2::int, $3::int) else excluded.mails end
returning mails`

const readMails = `
select coalesce(max(mails), 0) from (
	select mails from crash_rule_rates where organization_id = $1 and hour = date_trunc('hour', now()) for update) r`

// TakeMails takes of the mails that the rules of an organization may write in this hour, and
// returns how many of those that are wanted there were.
func TakeMails(ctx context.Context, tx *storage.Tx, organization int64, wanted int) (int, error) {
	if _, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock(hashtextextended('crash rule mails ' || $1::text, 0))`,
		organization); err != nil {
		return 0, storage.Wrap(err, "lock the mails of crash rules")
	}
	var before, after int
	if err := tx.GetContext(ctx, &before, readMails, organization); err != nil {
		return 0, storage.Wrap(err, "read the mails of crash rules")
	}
	if before >= MaxMails {
		return 0, nil
	}
	err := tx.GetContext(ctx, &after, takeMails, organization, wanted, MaxMails)
	return after - before, storage.Wrap(err, "count the mails of crash rules")
}

// firedEvent are the own members of the event crash-rule.
type firedEvent struct {
	RuleID       int64     `json:"ruleId"`
	Rule         string    `json:"rule"`
	Trigger      Trigger   `json:"trigger"`
	Above        int       `json:"above,omitempty"`
	Minutes      int       `json:"minutes,omitempty"`
	Reason       string    `json:"reason"`
	GroupID      int64     `json:"groupId"`
	CrashProject string    `json:"crashProject"`
	Title        string    `json:"title"`
	Culprit      string    `json:"culprit"`
	Classifier   string    `json:"classifier"`
	Count        int64     `json:"count"`
	Users        int64     `json:"users"`
	CrashID      uuid.UUID `json:"crashId"`
	AppName      string    `json:"appName,omitempty"`
	Version      string    `json:"version,omitempty"`
}

// emit writes the events of the firings whose rules ask for it.
func emit(ctx context.Context, tx *storage.Tx, organization int64, fired []*Firing) error {
	var events []webhook.Event
	for _, f := range fired {
		if !f.Rule.Webhook {
			continue
		}
		g, report := f.Group, f.report
		e := firedEvent{RuleID: f.Rule.ID, Rule: f.Rule.Name, Trigger: f.Rule.Trigger, Above: f.Rule.Above, Minutes: f.Rule.Minutes,
			Reason: f.Why(), GroupID: g.Group, CrashProject: g.Project, Title: g.Title, Culprit: g.Culprit, Classifier: g.Classifier,
			Count: g.Count, Users: g.Users, CrashID: report.ID}
		if report.Build == 0 {
			e.Version = report.Version
		}
		if g.App == 0 {
			e.AppName = g.Project
		}
		events = append(events, webhook.Event{OrganizationID: organization, Action: webhook.CrashRule, ProjectID: g.App, BuildID: report.Build,
			Key: fmt.Sprintf("crash-rule %d %d %d", f.Rule.ID, g.Group, f.Times), Data: e})
	}
	return webhook.Emit(ctx, tx, events...)
}
