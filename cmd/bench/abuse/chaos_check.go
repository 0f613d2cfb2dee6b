package abuse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/schedule"
)

// chaosStored is what is there after the kills.
type chaosStored struct {
	Accepted []uuid.UUID // uuids of reports that are stored, counted or not
	Crashes  []uuid.UUID // those that are counted
	Groups   []chaosGroup
	Builds   []chaosBuild
	Webhooks []chaosWebhook
	Events   []chaosEvent // deliveries that the service calls delivered
	// Received are the deliveries that the receiver has seen, by webhook-id.
	Received []string
	Runs     []chaosRun
	Dead     []uuid.UUID // tasks that failed for good
}

// chaosGroup is a group with its count, and the crashes that are in it.
type chaosGroup struct {
	ID      int64 `db:"id"`
	Count   int   `db:"count"`
	Crashes int   `db:"crashes"`
}

// chaosBuild is a build of an organization.
type chaosBuild struct {
	ID           int64 `db:"id"`
	Organization int64 `db:"organization_id"`
}

// chaosWebhook is a webhook of an organization.
type chaosWebhook struct {
	ID           int64 `db:"id"`
	Organization int64 `db:"organization_id"`
}

// chaosEvent is a delivery of the event of a build to a webhook.
type chaosEvent struct {
	Delivery string `db:"delivery"`
	Build    int64  `db:"build"`
	Webhook  int64  `db:"webhook"`
}

// chaosRun is a run with its state.
type chaosRun struct {
	ID    uuid.UUID `db:"id"`
	State string    `db:"state"`
}

// readChaos reads what is there.
func readChaos(ctx context.Context, f *schedule.Fleet) (*chaosStored, error) {
	s := &chaosStored{}
	for query, into := range map[string]any{
		`select uuid from crash_uuids where not conflict`:    &s.Accepted,
		`select uuid from crashes where state = 'processed'`: &s.Crashes,
		`select g.id, g.count, (select count(*) from crashes c join crash_group_keys k on k.id = c.key_id
			where k.group_id = g.id and c.state = 'processed') as crashes from crash_groups g`: &s.Groups,
		`select id, organization_id from builds`:   &s.Builds,
		`select id, organization_id from webhooks`: &s.Webhooks,
		`select d.id::text as delivery, e.build_id as build, d.webhook_id as webhook from webhook_deliveries d join events e on e.id = d.event_id
			where d.action = 'upload' and d.status = 'delivered' and e.build_id is not null`: &s.Events,
		`select id, state from test_runs`:                                            &s.Runs,
		`select id from tasks where state not in ('queued', 'running', 'succeeded')`: &s.Dead,
	} {
		if err := f.DB.SelectContext(ctx, into, query); err != nil {
			return nil, fmt.Errorf("%.40s: %w", query, err)
		}
	}
	return s, nil
}

// chaosRow is a comparison: what was measured, and the ids of what is wrong.
type chaosRow struct {
	what, measured string
	ids            []string
	met            bool
}

func (r *chaosRow) text() string { return strings.Join(append([]string{r.measured}, r.ids...), "; ") }

// compareChaos compares ids: what was answered must be there once, and each build has one
// delivered event for each webhook of its organization that was there before it. Where
// nothing was answered, nothing was compared, and the row is missed.
func compareChaos(answered *chaosAnswered, stored *chaosStored) []chaosRow {
	var builds []int64
	for _, b := range stored.Builds {
		builds = append(builds, b.ID)
	}
	expected, events, wrongEvents := compareEvents(answered, stored)
	groups := compareGroups(stored)
	counted := 0
	for _, g := range stored.Groups {
		counted += g.Count
	}
	crashes := compareIDs(answered.Crashes, stored.Crashes)
	lost := compareIDs(crashes.missing, stored.Accepted).missing
	waiting := compareIDs(crashes.missing, lost).missing
	crashes.missing = lost
	rows := []chaosRow{
		{what: "crashes answered with 200; stored, processed, counted by their groups",
			measured: fmt.Sprintf("%d; %d, %d, %d", len(answered.Crashes), len(stored.Accepted), len(stored.Crashes), counted),
			ids:      slices.Concat(crashes.names(), nameIDs("stored, not processed", waiting), groups),
			met:      crashes.empty() && len(waiting) == 0 && len(groups) == 0 && counted == len(answered.Crashes) && counted > 0},
	}
	kept := compareIDs(answered.Builds, builds)
	rows = append(rows,
		chaosRow{what: "builds answered with 200; stored", measured: fmt.Sprintf("%d; %d", len(answered.Builds), len(builds)), ids: kept.names(),
			met: kept.empty() && len(answered.Builds) > len(answered.Earlier)},
		chaosRow{what: "events of builds expected; delivered, received", measured: events, ids: wrongEvents,
			met: len(wrongEvents) == 0 && expected > 0},
	)
	return append(rows, compareRuns(answered, stored))
}

// eventKey names the event of a build at a webhook.
type eventKey struct{ build, webhook int64 }

// String is what a cell of the table says.
func (k eventKey) String() string { return fmt.Sprintf("%d at webhook %d", k.build, k.webhook) }

// compareEvents compares deliveries with what builds and webhooks let expect. The two are
// counted apart: what the service calls delivered, and what the receiver has seen.
func compareEvents(answered *chaosAnswered, stored *chaosStored) (expected int, measured string, wrong []string) {
	seen := map[string]bool{}
	for _, id := range stored.Received {
		seen[id] = true
	}
	var delivered []eventKey
	var unseen []string
	for _, e := range stored.Events {
		delivered = append(delivered, eventKey{e.Build, e.Webhook})
		if !seen[e.Delivery] {
			unseen = append(unseen, e.Delivery)
		}
	}
	earlier := map[int64]bool{}
	for _, id := range answered.Earlier {
		earlier[id] = true
	}
	var want []eventKey
	for _, b := range stored.Builds {
		for _, w := range stored.Webhooks {
			if w.Organization == b.Organization && !earlier[b.ID] {
				want = append(want, eventKey{b.ID, w.ID})
			}
		}
	}
	d := compareIDs(want, delivered)
	wrong = slices.Concat(nameIDs("without an event", d.missing), nameIDs("with an event too many", d.twice),
		nameIDs("with an event that nobody awaits", d.unknown),
		nameIDs("delivered, but not received", unseen))
	return len(want), fmt.Sprintf("%d; %d, %d", len(want), len(stored.Events), len(stored.Events)-len(unseen)), wrong
}

// compareGroups names groups whose count is not that of their crashes.
func compareGroups(stored *chaosStored) []string {
	var wrong []string
	for _, g := range stored.Groups {
		if g.Count != g.Crashes {
			wrong = append(wrong, fmt.Sprintf("%d (counts %d, has %d)", g.ID, g.Count, g.Crashes))
		}
	}
	return nameIDs("groups that count otherwise", wrong)
}

// compareRuns compares runs. A start without a response may have stored a run that no client
// knows, one and no more: it must end like the others.
func compareRuns(answered *chaosAnswered, stored *chaosStored) chaosRow {
	var ids []uuid.UUID
	var otherwise []string
	passed := 0
	for _, r := range stored.Runs {
		ids = append(ids, r.ID)
		if r.State == "PASSED" {
			passed++
			continue
		}
		otherwise = append(otherwise, r.ID.String()+" "+r.State)
	}
	c := compareIDs(answered.Runs, ids)
	if len(c.unknown) <= answered.Unanswered {
		c.unknown = nil
	}
	return chaosRow{what: "runs answered with success, starts without a response; stored, passed",
		measured: fmt.Sprintf("%d, %d; %d, %d", len(answered.Runs), answered.Unanswered, len(stored.Runs), passed),
		ids:      append(c.names(), nameIDs("ended otherwise, or not", otherwise)...), met: c.empty() && len(otherwise) == 0 &&
			len(answered.Runs) > 0}
}

// difference is how two lists of ids differ.
type difference[T comparable] struct{ missing, twice, unknown []T }

func (d *difference[T]) empty() bool { return len(d.missing)+len(d.twice)+len(d.unknown) == 0 }

func (d *difference[T]) names() []string {
	return slices.Concat(nameIDs("missing", d.missing), nameIDs("twice", d.twice), nameIDs("stored without an answer", d.unknown))
}

// compareIDs compares what was answered with what is stored.
func compareIDs[T comparable](answered, stored []T) difference[T] {
	var d difference[T]
	times, told := map[T]int{}, map[T]bool{}
	for _, id := range stored {
		times[id]++
	}
	for _, id := range answered {
		told[id] = true
		if times[id] == 0 {
			d.missing = append(d.missing, id)
		}
	}
	for id, n := range times {
		if n > 1 {
			d.twice = append(d.twice, id)
		}
		if !told[id] {
			d.unknown = append(d.unknown, id)
		}
	}
	for _, list := range [][]T{d.twice, d.unknown} {
		slices.SortFunc(list, func(a, b T) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return d
}

// shownIDs are the ids that a cell of the table names; of more it says how many.
const shownIDs = 5

// nameIDs names what is wrong; of nothing it says nothing.
func nameIDs[T any](what string, ids []T) []string {
	if len(ids) == 0 {
		return nil
	}
	var text []string
	for _, id := range ids[:min(len(ids), shownIDs)] {
		text = append(text, fmt.Sprint(id))
	}
	if more := len(ids) - shownIDs; more > 0 {
		text = append(text, fmt.Sprintf("and %d more", more))
	}
	return []string{what + ": " + strings.Join(text, ", ")}
}
