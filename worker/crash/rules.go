package crash

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/rule"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
	"github.com/slipway-qa/slipway/worker"
)

// Rules is the handler of crash:rules. It looks at the groups to which the reports of recorded
// batches came, and lets the rules of the organization fire for them.
//
// What is read comes before the transaction that ends the task; that one records the firings, each
// rule once for a group, and with them assigns groups and writes mails, events and history. A second
// evaluation of the same reports, or one that runs beside it, fires nothing again.
//
// A rule that counts is evaluated when reports come: for groups that get none, nothing is above
// anything. Of many groups that could be counted some are, by lot, and the others with their next
// reports.
type Rules struct {
	Store   *crash.Store
	Links   link.Links
	Letters *letter.Writer
	Log     *slog.Logger
}

// RulesResult is the task's result.
type RulesResult struct {
	Groups int `json:"groups"` // that were looked at
	Fired  int `json:"fired"`  // rules, each for a group
	Mails  int `json:"mails"`
}

const (
	// ruleCounts bounds the statements that count reports in one evaluation, rulePlaces the
	// groups whose stacks are read for conditions on places.
	ruleCounts = 100
	rulePlaces = 200
	// ruleFirings bounds what fires in one evaluation, and with it the rows of its transaction: one
	// rule for all groups that are looked at, while fifty rules would write a million.
	ruleFirings = 20_000
	// ruleMailGroups bounds the groups that a mail names.
	ruleMailGroups = 10
)

// Handle evaluates the rules.
func (h *Rules) Handle(ctx context.Context, claim *worker.Claim) error {
	var batches rule.Batches
	for i := range claim.Tasks {
		payload, err := worker.Payload[tasks.CrashRulesPayload](claim.Tasks[i])
		if err != nil {
			return err
		}
		for _, id := range payload.BatchIDs {
			batches.IDs, batches.Times = append(batches.IDs, id), append(batches.Times, claim.Tasks[i].CreatedAt)
		}
	}
	db, organization := h.Store.DB(), claim.OrganizationID()
	rules, err := rule.Enabled(ctx, db, organization)
	if err != nil {
		return err
	}
	if len(rules) == 0 {
		return claim.Finish(ctx, nil, nil)
	}
	groups, err := rule.Candidates(ctx, db, organization, rules, batches)
	if err != nil {
		return err
	}
	firings, err := h.firings(ctx, organization, rules, groups)
	if err != nil {
		return err
	}
	return claim.Finish(ctx, nil, func(tx *storage.Tx) error {
		result := RulesResult{Groups: len(groups)}
		fired, err := rule.Fire(ctx, tx, organization, firings)
		if err != nil {
			return err
		}
		result.Fired = len(fired)
		if result.Mails, err = h.mail(ctx, tx, claim, rules, fired); err != nil {
			return err
		}
		if result.Fired == 0 {
			return nil
		}
		return claim.SaveResult(ctx, tx, result)
	})
}

// firings are the rules that are to fire, each for a group.
func (h *Rules) firings(ctx context.Context, organization int64, rules []rule.Rule, groups []*rule.Candidate) ([]*rule.Firing, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	last, err := rule.LastFirings(ctx, h.Store.DB(), rules, groups)
	if err != nil {
		return nil, err
	}
	var list []*rule.Firing
	for i := range rules {
		for _, g := range groups {
			at, fired := last[rule.Pair{Rule: rules[i].ID, Group: g.Group}]
			if fired && !rules[i].MayFire(g, at) {
				continue
			}
			if f := rules[i].Match(g); f != nil {
				list = append(list, f)
			}
		}
	}
	if list, err = h.counted(ctx, list); err != nil {
		return nil, err
	}
	if list, err = h.placed(ctx, organization, list); err != nil {
		return nil, err
	}
	return list[:min(len(list), ruleFirings)], nil // by lot, as counted has left them
}

// counted leaves out the firings of rules that count and have not counted enough.
func (h *Rules) counted(ctx context.Context, list []*rule.Firing) ([]*rule.Firing, error) {
	// Groups in front would be counted each time, and those behind them never.
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	counted := 0
	var enough []*rule.Firing
	for _, f := range list {
		if f.Rule.Minutes == 0 {
			enough = append(enough, f)
			continue
		}
		if counted++; counted > ruleCounts {
			continue
		}
		n, err := f.Rule.Count(ctx, h.Store.DB(), f.Group.Group)
		if err != nil {
			return nil, err
		}
		if f.Count = n; n > f.Rule.Above {
			enough = append(enough, f)
		}
	}
	return enough, nil
}

// placed leaves out the firings whose rules want other places than the stack of their report has.
func (h *Rules) placed(ctx context.Context, organization int64, list []*rule.Firing) ([]*rule.Firing, error) {
	var ids []uuid.UUID
	for _, f := range list {
		if f.Rule.OfPlaces() && len(ids) < rulePlaces && !slices.Contains(ids, f.Crash()) {
			ids = append(ids, f.Crash())
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	places, err := h.places(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(f *rule.Firing) bool { return !f.Rule.HoldsAt(places[f.Crash()]) }), nil
}

// places reads the paths, modules and functions of the stacks of crashes, as symbols made them. A
// report that is gone, or cannot be read, has none.
func (h *Rules) places(ctx context.Context, organization int64, ids []uuid.UUID) (map[uuid.UUID][]string, error) {
	stored, err := h.Store.Symbolications(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	places := map[uuid.UUID][]string{}
	err = h.Store.EachBatch(ctx, organization, ids, func(b *received.Batch, ids []uuid.UUID) error {
		for _, id := range ids {
			_, n := received.SplitID(id)
			if n >= len(b.Entries) || b.Entries[n].Deleted {
				continue
			}
			places[id] = h.placesOf(ctx, b, n, stored[id])
		}
		return ctx.Err()
	})
	return places, err
}

func (h *Rules) placesOf(ctx context.Context, b *received.Batch, entry int, stored *crash.Symbolication) (places []string) {
	defer func() {
		if v := recover(); v != nil {
			h.Log.WarnContext(ctx, "a report cannot be read for a rule", "batch_id", b.ID, "entry", entry, "error", fmt.Sprint(v))
		}
	}()
	doc, err := b.Document(entry)
	if err != nil {
		return nil
	}
	if stored != nil && stored.Report != nil { // that of a dump
		doc = stored.Report
	}
	p, err := report.Parse(doc)
	if err != nil {
		return nil
	}
	p, _ = appliedReport(p, stored)
	return placesOf(p)
}

// mail writes the mails of firings, one for each rule and person, and the history of the groups.
func (h *Rules) mail(ctx context.Context, tx *storage.Tx, claim *worker.Claim, rules []rule.Rule, fired []*rule.Firing) (int, error) {
	if len(fired) == 0 {
		return 0, nil
	}
	organization := claim.OrganizationID()
	readers, err := rule.Readers(ctx, tx, organization, rules)
	if err != nil {
		return 0, err
	}
	var letters []letter.Letter
	var of [][]*rule.Firing // the firings of a letter
	for from := 0; from < len(fired); {
		some := sameRule(fired[from:])
		from += len(some)
		content := h.content(some)
		for _, user := range some[0].Rule.People {
			if p, may := readers[user]; may {
				letters = append(letters, letter.Letter{OrganizationID: organization, UserID: user, Recipient: p.Email, Content: content,
					DedupeKey: fmt.Sprintf("crash-rule %s %d %d", claim.Tasks[0].ID, some[0].Rule.ID, user)})
				of = append(of, some)
			}
		}
	}
	sent, left := map[*rule.Firing]int{}, map[*rule.Firing]bool{}
	granted := 0
	if len(letters) > 0 {
		if granted, err = rule.TakeMails(ctx, tx, organization, len(letters)); err != nil {
			return 0, err
		}
	}
	outcomes, err := h.Letters.WriteAll(ctx, tx, letters[:granted])
	if err != nil {
		return 0, err
	}
	mails := 0
	for i := range letters {
		switch {
		case i >= granted:
			for _, f := range of[i] {
				left[f] = true
			}
		case outcomes[i].ID != uuid.Nil:
			mails++
			for _, f := range of[i] {
				sent[f]++
			}
		}
	}
	return mails, rule.RecordHistory(ctx, tx, fired, sent, left)
}

// sameRule are the first firings, which are of one rule.
func sameRule(fired []*rule.Firing) []*rule.Firing {
	n := slices.IndexFunc(fired, func(f *rule.Firing) bool { return f.Rule.ID != fired[0].Rule.ID })
	if n < 0 {
		return fired
	}
	return fired[:n]
}

// content is the mail of the firings of one rule.
func (h *Rules) content(fired []*rule.Firing) mailtemplate.CrashRule {
	first := fired[0]
	c := mailtemplate.CrashRule{Rule: first.Rule.Name, CrashProject: first.Group.Project, Title: first.Group.Title, Reason: first.Why(),
		Total: len(fired), Link: h.Links.Path(fmt.Sprintf("/console/crashes/groups/%d", first.Group.Group))}
	for _, f := range fired[:min(len(fired), ruleMailGroups)] {
		c.Groups = append(c.Groups, mailtemplate.DigestItem{Title: f.Group.Title,
			Detail: fmt.Sprintf("%s, %d reports, %d users", f.Group.Project, f.Group.Count, f.Group.Users)})
	}
	return c
}
