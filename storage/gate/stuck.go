package gate

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// noteStuck returns the gates that a notification waits for and that nothing under way decides,
// each once, and notes the channels by which gates are kept.
func noteStuck(ctx context.Context, tx *storage.Tx, list []outcome) ([]Change, error) {
	var builds []int64
	var channels []string
	var told []bool
	var changes []Change
	for i := range list {
		o := &list[i]
		channel, stuck := o.GateChannel, o.stuck()
		if o.policy != nil && o.policy.Covers(o.Channel) {
			channel = o.Channel
		}
		if stuck {
			c := o.change(Unknown, Unknown, o.lacks())
			c.Stuck = true
			changes = append(changes, c)
		}
		if stuck || channel != o.GateChannel {
			builds, channels, told = append(builds, o.BuildID), append(channels, channel), append(told, stuck)
		}
	}
	if len(builds) == 0 {
		return nil, nil
	}
	_, err := tx.ExecContext(ctx, `
		update gates g set channel = n.channel, told_at = case when n.told then now() else g.told_at end
		from unnest($1::bigint[], $2::text[], $3::boolean[]) as n(build_id, channel, told) where g.build_id = n.build_id`,
		ids(builds), pq.Array(channels), pq.Array(told))
	return changes, storage.Wrap(err, "note whose gates are stuck")
}

// stuck reports whether somebody waits for a gate that stays unknown unless people do something:
// a suite that it asks for did not start, or no time is left in which crashes or testers count.
func (o *outcome) stuck() bool {
	if o.HeldAt == nil || o.ToldAt != nil || o.effective(o.state) != Unknown || o.releases(Unknown) {
		return false
	}
	timed := o.policy.any(func(c *Condition) bool { return c.window() > 0 })
	return timed && o.next.IsZero() || o.policy.any(o.refused)
}

// lacks are the reasons of all conditions that are unknown.
func (o *outcome) lacks() string {
	var list []string
	for i := range o.conditions {
		if r := &o.conditions[i]; r.State == Unknown {
			list = append(list, r.Name+": "+r.Reason)
		}
	}
	return storage.Cut(strings.Join(list, "; "), maxWhy)
}

// refused reports whether a condition asks for a suite that did not start.
func (f *facts) refused(c *Condition) bool {
	for _, id := range c.SuiteIDs {
		if _, ran := f.suites[id]; !ran && f.notStarted[id.String()] != "" {
			return true
		}
	}
	return false
}
