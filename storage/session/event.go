package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Event is one thing that happened in a session, as it is stored.
type Event struct {
	Type string          `json:"type"` // log, event, screen, checkpoint, crash
	Time time.Time       `json:"time"` // as the device said, within bounds
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// TypeCrash is the type of the event by which an app says that it crashes.
const TypeCrash = "crash"

// TypeLog is the type of a line of the app's log.
const TypeLog = "log"

// EventTypes are all types.
func EventTypes() []string { return []string{TypeLog, "event", "screen", "checkpoint", TypeCrash} }

// Batch are some events of a session, in one request.
type Batch struct {
	ProjectID int64
	ClientID  uuid.UUID // of the session
	// Seq is chosen by the SDK: of a session, each batch has its own.
	Seq     int64
	Events  int
	Bytes   int    // of the JSON
	Body    []byte // packed
	LastAt  time.Time
	Crashed bool
}

// NewBatch packs events, whose times are within bounds.
func (s *Store) NewBatch(projectID int64, client uuid.UUID, seq int64, events []Event) (Batch, error) {
	var text bytes.Buffer
	// "<" stays a byte: in HTML's form events would have six times the bytes that came.
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(events); err != nil {
		return Batch{}, fmt.Errorf("pack events: %w", err)
	}
	doc := bytes.TrimSpace(text.Bytes())
	b := Batch{ProjectID: projectID, ClientID: client, Seq: seq, Events: len(events), Bytes: len(doc), Body: s.enc.EncodeAll(doc, nil)}
	for i := range events {
		if events[i].Time.After(b.LastAt) {
			b.LastAt = events[i].Time
		}
		b.Crashed = b.Crashed || events[i].Type == TypeCrash
	}
	return b, nil
}

// Added is what became of a batch. At most one of the first three is true.
type Added struct {
	Unknown  bool // the app has no such session
	Late     bool // the session ended more than EventGrace ago
	Repeated bool // the batch was there before
	// Dropped is how many of its events were beyond the bounds of the session: they
	// are counted, and not stored.
	Dropped int
}

// addEvents locks the session's row before its counts are compared with the bounds, so the
// counts are exact. The limit keeps each look-up a probe of the index. A batch that does not
// fit is a row without events: sent again, it is not counted twice. Beyond the number of rows
// nothing is stored, and what comes is counted each time.
const addEvents = `
with incoming as materialized (
	select * from unnest($1::int[], $2::bigint[], $3::uuid[], $4::bigint[], $5::int[], $6::int[], $7::int[], $8::int[], $9::bigint[],
		$10::boolean[]) as i(n, project_id, client_id, seq, events, bytes, start, length, last_event, crashed)
), named as materialized (
	select i.n, f.id from incoming i cross join lateral (
		select s.id from app_sessions s where s.project_id = i.project_id and s.client_id = i.client_id limit 1
	) f
), locked as materialized (
	select s.id, s.ended_at, s.batches, s.events, s.event_bytes from app_sessions s
	where s.id = any(array(select distinct id from named)) order by s.id for no key update
), judged as materialized (
	select i.*, l.id as session_id, coalesce(l.ended_at < now() - $11::bigint * interval '1 second', false) as late,
		l.batches + row_number() over w <= $12::bigint as room,
		l.events + sum(i.events) over w <= $13::bigint and l.event_bytes + sum(i.bytes) over w <= $14::bigint as fits
	from incoming i join named d on d.n = i.n join locked l on l.id = d.id
	window w as (partition by l.id order by i.n rows unbounded preceding)
), stored as (
	insert into app_session_batches (session_id, seq, events, dropped, bytes, body)
	select session_id, seq, case when fits then events else 0 end, case when fits then 0 else events end,
		case when fits then bytes else 0 end, case when fits then substring($15::bytea from start + 1 for length) else ''::bytea end
	from judged where room and not late order by session_id, seq
	on conflict (session_id, seq) do nothing
	returning session_id, seq, events, dropped, bytes
), fresh as materialized (
	select j.n, j.session_id, s.seq is not null as stored, coalesce(s.events, 0) as events, coalesce(s.dropped, j.events) as dropped,
		coalesce(s.bytes, 0) as bytes, j.last_event, j.crashed
	from judged j left join stored s on s.session_id = j.session_id and s.seq = j.seq
	where not j.late and (s.seq is not null or not j.room)
), counted as (
	update app_sessions s set batches = s.batches + w.batches, events = s.events + w.events, dropped = s.dropped + w.dropped,
		event_bytes = s.event_bytes + w.bytes, last_at = now(), crashed = s.crashed or w.crashed,
		last_event_at = greatest(s.last_event_at, to_timestamp(w.last_event / 1000.0))
	from (select session_id, count(*) filter (where stored) as batches, sum(events) as events, sum(dropped) as dropped, sum(bytes) as bytes,
		max(last_event) as last_event, bool_or(crashed) as crashed from fresh group by session_id) w
	where s.id = w.session_id
)
select j.n, j.late, f.n is null and not j.late as repeated, coalesce(f.dropped, 0) as dropped
from judged j left join fresh f on f.n = j.n`

// AddEvents stores batches by one statement, which commits by itself. After an
// unknown outcome it is called again, and finds Repeated what was stored.
func (s *Store) AddEvents(ctx context.Context, in []Batch) ([]Added, error) {
	out := make([]Added, len(in))
	var c batchColumns
	first := map[string]int{}
	twin := map[int]int{}
	for i := range in {
		key := fmt.Sprint(in[i].ProjectID, in[i].ClientID, in[i].Seq)
		if n, ok := first[key]; ok {
			twin[i] = n
			continue
		}
		first[key] = i
		out[i].Unknown = true
		c.add(i, &in[i])
	}
	var rows []struct {
		N        int  `db:"n"`
		Late     bool `db:"late"`
		Repeated bool `db:"repeated"`
		Dropped  int  `db:"dropped"`
	}
	err := s.db.SelectSingleStatement(ctx, &rows, addEvents, pq.Array(c.n), pq.Array(c.projects), storage.UUIDs(c.clients), pq.Array(c.seqs),
		pq.Array(c.events), pq.Array(c.bytes), pq.Array(c.starts), pq.Array(c.lengths), pq.Array(c.lasts), pq.Array(c.crashed),
		int64(EventGrace/time.Second), s.bounds.Batches, s.bounds.Events, s.bounds.Bytes, c.body)
	if err != nil {
		return nil, storage.Wrap(err, "store events")
	}
	for _, row := range rows {
		out[row.N] = Added{Late: row.Late, Repeated: row.Repeated, Dropped: row.Dropped}
	}
	for i, n := range twin {
		out[i] = out[n]
		out[i].Repeated, out[i].Dropped = !out[n].Unknown && !out[n].Late, 0
	}
	return out, nil
}

// batchColumns are batches as the statement takes them.
type batchColumns struct {
	n, projects, seqs, events, bytes, starts, lengths, lasts []int64
	clients                                                  []uuid.UUID
	crashed                                                  []bool
	body                                                     []byte
}

func (c *batchColumns) add(n int, b *Batch) {
	c.n, c.projects, c.seqs = append(c.n, int64(n)), append(c.projects, b.ProjectID), append(c.seqs, b.Seq)
	c.events, c.bytes = append(c.events, int64(b.Events)), append(c.bytes, int64(b.Bytes))
	c.starts, c.lengths = append(c.starts, int64(len(c.body))), append(c.lengths, int64(len(b.Body)))
	c.lasts, c.crashed = append(c.lasts, b.LastAt.UnixMilli()), append(c.crashed, b.Crashed)
	c.clients, c.body = append(c.clients, b.ClientID), append(c.body, b.Body...)
}

// End is the end of a session, as its app says it.
type End struct {
	ProjectID int64
	ClientID  uuid.UUID
	Duration  *time.Duration // nil: from the start to the last event
	Crashed   bool
}

// endSession replaces an end by silence by the app's own, and leaves the app's first one.
const endSession = `
with ended as (
	update app_sessions set ended_by = 'app', ended_at = coalesce(ended_at, now()), last_at = now(), crashed = crashed or $4,
		duration_ms = coalesce($3::bigint, ` + silentDuration + `)
	where project_id = $1 and client_id = $2 and ended_by <> 'app'
	returning id, crashed, duration_ms
)
select id, crashed, duration_ms from ended
union all
select id, crashed, duration_ms from app_sessions where project_id = $1 and client_id = $2 and ended_by = 'app'
limit 1`

// silentDuration is the length of a session whose app does not say it: up to its
// last event, else to what arrived last.
const silentDuration = `least(greatest(0, extract(epoch from coalesce(last_event_at, last_at) - started_at) * 1000), 604800000)::bigint`

// Ended is a session that has ended.
type Ended struct {
	ID         int64 `db:"id"`
	Crashed    bool  `db:"crashed"`
	DurationMS int64 `db:"duration_ms"`
}

// EndSession ends a session, and returns what its first end said when it has ended
// before; storage.ErrNotFound when the app has no such session.
func EndSession(ctx context.Context, q storage.Querier, e End) (*Ended, error) {
	var duration any
	if e.Duration != nil {
		duration = clampDuration(*e.Duration).Milliseconds()
	}
	var row Ended
	// Of two ends at the same moment the second one's statement sees neither the row
	// as it was nor as it is: it looks again.
	for range 2 {
		err := storage.Wrap(q.GetContext(ctx, &row, endSession, e.ProjectID, e.ClientID, duration, e.Crashed), "end session")
		if err == nil {
			return &row, nil
		}
		if !isNotFound(err) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("session %s: %w", e.ClientID, storage.ErrNotFound)
}
