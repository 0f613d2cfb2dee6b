package crash

import (
	"context"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/span"
)

// The messages of a group are those of its reports: the search finds the group by any of
// them, and the group shows the most frequent.

const (
	// MaxMessages bounds the distinct messages that a group remembers: where each report
	// has a message of its own, these are examples.
	MaxMessages = 500
	// maxMessage bounds a message in bytes.
	maxMessage = 500
)

// messageLine returns the message as it is remembered: its first line that has text.
func messageLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if line = strings.TrimSpace(line); len(line) > maxMessage {
		line = line[:maxMessage]
	}
	return strings.ToValidUTF8(line, "")
}

const addToMessages = `
with new as (
	select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
		as n(group_id, message, count, first, last)
), held as (
	select m.group_id, count(*) as n from crash_group_messages m
	where m.group_id in (select group_id from new) group by 1
), ranked as (
	select new.*, m.message is not null as known,
		row_number() over (partition by new.group_id, m.message is null order by new.message) as turn
	from new left join crash_group_messages m using (group_id, message)
)
insert into crash_group_messages as m (group_id, organization_id, message, count, first_seen, last_seen)
select r.group_id, $6, r.message, r.count, r.first, r.last
from ranked r left join held using (group_id)
where r.known or coalesce(held.n, 0) + r.turn <= $7
on conflict (group_id, message) do update set count = m.count + excluded.count,
	first_seen = least(m.first_seen, excluded.first_seen),
	last_seen = greatest(m.last_seen, excluded.last_seen)`

func countMessages(ctx context.Context, tx *storage.Tx, organization int64, tallies []*tally) error {
	groups, messages, counts, first, last := messageArrays(tallies)
	if len(groups) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, addToMessages, pq.Array(groups), pq.Array(messages), pq.Array(counts),
		pq.Array(first), pq.Array(last), organization, MaxMessages)
	return storage.Wrap(err, "count messages")
}

func messageArrays(tallies []*tally) (groups []int64, messages []string, counts []int64, first, last []string) {
	for _, t := range tallies {
		for message, v := range t.messages {
			groups, messages, counts = append(groups, t.group), append(messages, message), append(counts, v.count)
			first, last = append(first, array.Time(v.seen.First)), append(last, array.Time(v.seen.Last))
		}
	}
	return groups, messages, counts, first, last
}

// uncountMessages is the inverse of countMessages; see takeFromValues.
func uncountMessages(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	groups, messages, counts, _, last := messageArrays(tallies)
	if len(groups) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		update crash_group_messages m set count = m.count - gone.count
		from unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[]) as gone(group_id, message, count, last)
		where m.group_id = gone.group_id and m.message = gone.message and gone.last >= m.first_seen`,
		pq.Array(groups), pq.Array(messages), pq.Array(counts), pq.Array(last))
	if err != nil {
		return storage.Wrap(err, "uncount messages")
	}
	_, err = tx.ExecContext(ctx, `delete from crash_group_messages where group_id = any($1) and count <= 0`, pq.Array(groups))
	return storage.Wrap(err, "delete empty messages")
}

// addTo adds occurrences to the tally of a value.
func addTo[K comparable](tallies map[K]*valueTally, key K, at time.Time, n int64) {
	v := tallies[key]
	if v == nil {
		v = &valueTally{seen: span.At(at)}
		tallies[key] = v
	}
	v.count += n
	v.seen = v.seen.With(at)
}
