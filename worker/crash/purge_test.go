package crash

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

func (w *world) purger() *Purge {
	return &Purge{Store: w.store, Ledger: w.ledger, Objects: w.objects, Log: slog.New(slog.DiscardHandler)}
}

func (w *world) purge(p tasks.CrashPurgePayload) int {
	w.t.Helper()
	id := w.insert(tasks.NewCrashPurge(w.org, "", p))
	require.NoError(w.t, w.purger().Handle(bounded(w.t), w.claim(tasks.CrashPurge, id)))
	var out PurgeResult
	w.result(id, &out)
	return out.Deleted
}

// facts are all counts of all groups, by title, for comparison.
func (w *world) facts() []string {
	w.t.Helper()
	var out []string
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &out, `
		select f from (
			select g.title || ' ' || g.count || ' ' || g.first_seen || ' ' || g.last_seen as f from crash_groups g
			union all select g.title || ' day ' || d.day || ' ' || d.count from crash_group_days d join crash_groups g on g.id = d.group_id
			union all select g.title || ' ' || v.kind || ' ' || v.value || ' ' || v.count from crash_group_values v
			join crash_groups g on g.id = v.group_id
			union all select 'keys ' || count(*) from crash_group_keys
			union all select 'version ' || v.version || ' ' || v.crashes from crash_versions v where v.crashes > 0
			union all select 'version day ' || d.version || ' ' || d.day || ' ' || d.crashes from crash_version_days d where d.crashes > 0
			union all select 'uuids ' || count(*) from crash_uuids u where not exists (select from crash_purged p where p.crash_id = u.crash_id)
			union all select 'crashes ' || count(*) from crashes
		) all_facts order by f`))
	return out
}

// After a purge everything is as if the person's reports had never come.
func TestPurgeIsExact(t *testing.T) {
	t.Parallel()
	with, without := newWorld(t), newWorld(t)
	now := time.Now().Truncate(time.Second)
	person := `"user":"ann@example.com","hostname":"ann"`
	var removed []uuid.UUID
	var kept []uuid.UUID
	for batch := range 12 {
		var docs, rest []doc
		for i := range 40 {
			d := doc{uuid: uuid.New(), function: fmt.Sprint("f", i%3), at: now.Add(-time.Duration(batch*7+i) * time.Hour),
				attributes: fmt.Sprintf(`"hostname":"h%d","version":"%d"`, i%5, batch%2)}
			if i%4 == 1 {
				d.attributes = person + `,"_mod_duplicate":"3"`
			}
			if i == 5 || i == 7 {
				d.function = "only" // a group of this person alone
				d.attributes = person
			}
			docs = append(docs, d)
			if !strings.Contains(d.attributes, "ann@") {
				rest = append(rest, d)
			}
		}
		ids := with.accept(docs...)
		for i, d := range docs {
			if strings.Contains(d.attributes, "ann@") {
				removed = append(removed, ids[i])
			} else {
				kept = append(kept, ids[i])
			}
		}
		without.accept(rest...)
	}
	with.process()
	without.process()
	// The two worlds received at different moments; nothing else differs.
	require.NotEqual(t, without.facts(), with.facts())

	n := with.purge(tasks.CrashPurgePayload{Key: "user", Value: "ann@example.com"})
	require.Equal(t, len(removed), n)
	require.Equal(t, without.facts(), with.facts())
	for _, id := range removed {
		_, err := reading.CrashByID(t.Context(), with.store, with.org, id)
		require.ErrorIs(t, err, storage.ErrNotFound)
		_, err = with.store.Explanation(t.Context(), id)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	for _, id := range kept {
		d, err := reading.CrashByID(t.Context(), with.store, with.org, id)
		require.NoError(t, err)
		require.Contains(t, string(d.Document), d.UUID.String(), "offsets still lead to the right document")
		require.NotNil(t, d.Explanation)
	}
	require.Zero(t, with.purge(tasks.CrashPurgePayload{Key: "user", Value: "ann@example.com"}), "again is nothing")
}

func TestPurgeOfWaitingFailedAndForeignReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	me := `"id":42`
	ids := w.accept(doc{function: "f", attributes: me}, doc{function: "f", attributes: `"id":43`})
	alone := w.accept(doc{function: "f", attributes: `"id":"42"`})
	n := w.purge(tasks.CrashPurgePayload{Key: "id", Value: "42"})
	require.Equal(t, 2, n, "accepted and not processed")
	require.EqualValues(t, 1, w.number(`select count(*) from crash_batches`), "an empty batch goes")
	require.EqualValues(t, 3, w.number(`select count(*) from crash_uuids`), "the uuids stay known")
	w.process()
	require.EqualValues(t, 1, w.number(`select count(*) from crashes`))
	for _, id := range []uuid.UUID{ids[0], alone[0]} {
		_, err := w.store.Document(t.Context(), w.org, id)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}

	// Failed: no attributes are indexed.
	w.accept(doc{function: "g", attributes: me}, doc{function: "g", attributes: `"id":1`})
	w.process()
	_, err := w.db.ExecContext(t.Context(), `update crashes set state = 'failed', key_id = null, attributes = '{}'
		where key_id in (select k.id from crash_group_keys k join crash_groups g on g.id = k.group_id where g.culprit like '%g%')`)
	require.NoError(t, err)
	// Of another organization, and of another project.
	other := w.newOrganization("two")
	foreign := w.incoming(doc{function: "f", attributes: me})
	foreign.OrganizationID, foreign.ProjectID = other, w.newProject(other)
	second := w.incoming(doc{function: "f", attributes: me})
	second.ProjectID = w.newProject(w.org)
	w.acceptAll(foreign, second)
	require.Equal(t, 1, w.purge(tasks.CrashPurgePayload{Key: "id", Value: "42.0", ProjectID: w.project}))
	require.Equal(t, 1, w.purge(tasks.CrashPurgePayload{Key: "id", Value: "42"}), "the other project's")
	require.EqualValues(t, 1, w.number(`select count(*) from crash_batches where organization_id = $1`, other))
}

// A purge reaches what people search by: their saved searches, and changes of many groups that
// were given up.
func TestPurgeReachesFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rival, second := w.newOrganization("two"), w.newProject(w.org)
	const ann = "ann+1@example.com"
	for org, name := range map[int64]string{w.org: "one", rival: "two"} {
		_, err := w.db.ExecContext(t.Context(), `with u as (
				insert into users (uuid, username, email) values (gen_random_uuid(), $2, $2 || '@example.com') returning id
			), m as (insert into memberships (organization_id, user_id, role) select $1, id, 'member' from u returning user_id)
			insert into saved_searches (organization_id, user_id, area, name, query)
			select $1, user_id, 'crash-groups', query, query from m, unnest($3::text[]) as query`, org, name, pq.Array([]string{
			url.Values{"attribute.user": {ann}, "state[]": {"open"}}.Encode(),
			url.Values{"search": {"ANN+1@example.com"}}.Encode(),
			url.Values{"attribute.user": {"bob@example.com"}}.Encode(),
			url.Values{"attribute.host": {ann}}.Encode(),
			url.Values{"attribute.user": {ann}, "project": {fmt.Sprint(second)}}.Encode(),
			"state=open",
		}))
		require.NoError(t, err)
	}
	resolved := crash.Resolved
	filter := reading.GroupFilter{MadeUntil: time.Now(), Attributes: []condition.Attribute{{Key: "user", Value: ann}}}
	change := func(org int64, state string, f reading.GroupFilter) uuid.UUID {
		writer := account.Writer{OrganizationID: org, Actor: account.CLI()}
		id := w.insert(tasks.NewCrashChange(writer, "", &bulk.GroupChange{Filter: f, Change: crash.GroupChange{State: &resolved}}))
		_, err := w.db.ExecContext(t.Context(),
			`update tasks set state = $2, finished_at = case when $2 <> 'queued' then now() end where id = $1`, id, state)
		require.NoError(t, err)
		return id
	}
	gone := []uuid.UUID{change(w.org, "dead", filter), change(w.org, "cancelled", filter), change(w.org, "queued", filter)}
	bob := reading.GroupFilter{MadeUntil: time.Now(), Attributes: []condition.Attribute{{Key: "user", Value: "bob@example.com"}}}
	kept := []uuid.UUID{change(w.org, "queued", bob), change(rival, "queued", filter), change(w.org, "dead", bob),
		change(rival, "dead", filter), change(rival, "cancelled", filter)}
	purge := func(org int64, state string, p tasks.CrashPurgePayload) uuid.UUID {
		id := w.insert(tasks.NewCrashPurge(org, "", p))
		_, err := w.db.ExecContext(t.Context(), `update tasks set state = $2, finished_at = now() where id = $1`, id, state)
		require.NoError(t, err)
		return id
	}
	narrow := tasks.CrashPurgePayload{Key: "user", Value: ann, ProjectID: w.project}
	whole := tasks.CrashPurgePayload{Key: "user", Value: ann}
	gonePurges := []uuid.UUID{purge(w.org, "dead", narrow), purge(w.org, "cancelled", narrow)}
	wide := purge(w.org, "dead", whole) // is of more than a purge of one project reaches
	kept = append(kept, purge(w.org, "dead", tasks.CrashPurgePayload{Key: "user", Value: "bob"}), purge(rival, "dead", whole))
	payload := func(id uuid.UUID) string {
		task, err := w.ledger.Get(t.Context(), ledger.Scope{}, id)
		require.NoError(t, err)
		return string(task.Payload)
	}
	before := map[uuid.UUID]string{}
	for _, id := range kept {
		before[id] = payload(id)
	}
	says := func(err error) {
		var public *tasks.PublicError
		require.ErrorAs(t, err, &public, "it is not tried with another filter")
		require.Contains(t, public.Text, "forgotten by a removal of crash reports")
		require.True(t, tasks.IsPermanent(err))
	}

	const deleted = `select sum((result->>'saved_searches')::int) from tasks where kind = 'crash:purge' and state = 'succeeded'`
	w.purge(tasks.CrashPurgePayload{Key: "user", Value: ann, ProjectID: w.project})
	require.EqualValues(t, 2, w.number(deleted), "people see that searches were deleted")
	require.EqualValues(t, 4, w.number(`select count(*) from saved_searches where organization_id = $1`, w.org),
		"of another person, key, project, and of none")
	require.EqualValues(t, 6, w.number(`select count(*) from saved_searches where organization_id = $1`, rival))
	for _, id := range gone {
		require.NotContains(t, payload(id), "ann")
		_, err := w.db.ExecContext(t.Context(), `update tasks set state = 'queued', run_at = now(), finished_at = null where id = $1`, id)
		require.NoError(t, err)
		says((&Change{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashChange, id)))
		_, err = w.db.ExecContext(t.Context(), `update tasks set state = 'dead', finished_at = now() where id = $1`, id)
		require.NoError(t, err)
	}
	for _, id := range gonePurges {
		require.NotContains(t, payload(id), "ann")
		_, err := w.db.ExecContext(t.Context(), `update tasks set state = 'queued', run_at = now(), finished_at = null where id = $1`, id)
		require.NoError(t, err)
		says(w.purger().Handle(t.Context(), w.claim(tasks.CrashPurge, id)))
		_, err = w.db.ExecContext(t.Context(), `update tasks set state = 'dead', finished_at = now() where id = $1`, id)
		require.NoError(t, err)
	}
	require.Contains(t, payload(wide), "ann")
	for _, id := range kept {
		require.Equal(t, before[id], payload(id))
	}
	w.purge(whole)
	require.NotContains(t, payload(wide), "ann")
	require.EqualValues(t, 3, w.number(`select count(*) from saved_searches where organization_id = $1`, w.org), "of all projects")
	require.EqualValues(t, 2+1, w.number(deleted))
}

// A purge lets a change that runs by the value end first, and reaches it when it waits again.
func TestPurgeWaitsForRunningChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	resolved, writer := crash.Resolved, account.Writer{OrganizationID: w.org, Actor: account.CLI()}
	change := w.insert(tasks.NewCrashChange(writer, "", &bulk.GroupChange{Change: crash.GroupChange{State: &resolved},
		Filter: reading.GroupFilter{MadeUntil: time.Now(), Attributes: []condition.Attribute{{Key: "user", Value: "ann"}}}}))
	w.claim(tasks.CrashChange, change)
	id := w.insert(tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
	claim := w.claim(tasks.CrashPurge, id)
	var snooze *tasks.SnoozeError
	require.ErrorAs(t, w.purger().Handle(t.Context(), claim), &snooze)
	require.EqualValues(t, 1,
		w.number(`select count(*) from tasks where payload::text like '%"ann"%' and state = 'running' and id = $1`, id), "it is not over")
	_, err := w.db.ExecContext(t.Context(),
		`update tasks set state = 'queued', run_at = now(), worker = null, heartbeat_at = null where id = $1`, change)
	require.NoError(t, err)
	require.NoError(t, w.purger().Handle(t.Context(), claim))
	require.Zero(t, w.number(`select count(*) from tasks where payload::text like '%"ann"%'`))
	var public *tasks.PublicError
	require.ErrorAs(t, (&Change{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashChange, change)), &public)
}

// A report that is being processed while the purge runs is found once it is
// recorded.
func TestPurgeWaitsForRunningBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(doc{function: "f", attributes: `"user":"ann"`})
	running := w.claim(tasks.CrashProcess, uuid.Nil)
	id := w.insert(tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
	claim := w.claim(tasks.CrashPurge, id)
	done := make(chan error, 1)
	go func() { done <- w.purger().Handle(bounded(t), claim) }()
	select {
	case err := <-done:
		t.Fatalf("the purge ended before the batch: %v", err)
	case <-time.After(3 * purgePoll):
	}
	require.NoError(t, w.processor().Handle(t.Context(), running))
	require.NoError(t, <-done)
	require.Zero(t, w.number(`select count(*) from crashes`))
	require.Zero(t, w.number(`select count(*) from crash_groups`))
	require.Equal(t, w.number(`select count(*) from crash_purged`), w.number(`select count(*) from crash_uuids`))
	var out PurgeResult
	w.result(id, &out)
	require.Equal(t, 1, out.Deleted)
}

// A worker that lost its claim between two steps writes nothing more; the next
// attempt goes on, and the sum is right.
func TestPurgeIsFencedAndResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var docs []doc
	for range 250 {
		docs = append(docs, doc{function: "f", attributes: `"user":"ann"`})
	}
	w.accept(docs[:125]...)
	w.accept(docs[125:]...)
	w.process()
	id := w.insert(tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
	first := w.claim(tasks.CrashPurge, id)

	// One step of the first attempt.
	ids, err := crash.Carriers(t.Context(), w.store.DB(), w.org, 0, condition.Attribute{Key: "user", Value: "ann"}, 1000)
	require.NoError(t, err)
	require.Len(t, ids, 250)
	plan, done, err := w.store.PlanRemoval(t.Context(), w.org, ids[:100])
	require.NoError(t, err)
	require.Equal(t, 100, done)
	attempt := &purgeAttempt{Purge: w.purger(), claim: first, organization: w.org}
	require.NoError(t, attempt.apply(t.Context(), plan))
	require.ErrorIs(t, attempt.apply(t.Context(), plan), storage.ErrConflict, "a plan fits once")

	_, err = w.db.ExecContext(t.Context(), `update tasks set heartbeat_at = now() - interval '1 hour' where id = $1`, id)
	require.NoError(t, err)
	rescued, err := w.ledger.Rescue(t.Context(), time.Minute)
	require.NoError(t, err)
	require.Len(t, rescued, 1)
	second := w.claim(tasks.CrashPurge, id)
	require.ErrorIs(t, w.purger().Handle(t.Context(), first), storage.ErrStale)
	require.EqualValues(t, 150, w.number(`select count(*) from crashes`), "the lost claim wrote nothing")
	require.NoError(t, w.purger().Handle(bounded(t), second))
	var out PurgeResult
	w.result(id, &out)
	require.Equal(t, 250, out.Deleted)
	require.Zero(t, w.number(`select count(*) from crash_groups`))
}

func (w *world) withFile(d doc, key string) uuid.UUID {
	w.t.Helper()
	_, err := object.Put(w.t.Context(), w.objects, key, strings.NewReader("bytes"), 5, object.WriteOptions{})
	require.NoError(w.t, err)
	in := w.incoming(d)
	in.Attachments = []received.Attachment{{ID: uuid.New(), Name: "a.txt", Size: 5, ObjectKey: key}}
	return w.acceptAll(in)[0]
}

func TestPurgeTakesAttachments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withFile(doc{function: "f", attributes: `"user":"ann"`}, "attachments/ann")
	w.withFile(doc{function: "f", attributes: `"user":"bob"`}, "attachments/bob")
	w.process()
	require.Equal(t, 1, w.purge(tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
	_, err := w.objects.Stat(t.Context(), "attachments/ann")
	require.ErrorIs(t, err, object.ErrNotFound)
	_, err = w.objects.Stat(t.Context(), "attachments/bob")
	require.NoError(t, err)
	require.EqualValues(t, 1, w.number(`select count(*) from crash_attachments`))
}

func TestPurgeRefusesNonsense(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.insert(tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: strings.Repeat("k", 300), Value: "v"}))
	err := w.purger().Handle(context.Background(), w.claim(tasks.CrashPurge, id))
	require.True(t, tasks.IsPermanent(err))
}

func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 45 {
		w.accept(doc{function: "f"}, doc{function: fmt.Sprint("f", i%2)})
	}
	w.withFile(doc{function: "f"}, "attachments/old")
	w.process()
	unread := w.accept(doc{function: "never"})
	_, err := w.db.ExecContext(t.Context(), `update tasks set state = 'dead' where id = $1`, unread[0])
	require.NoError(t, err)
	before := w.number(`select sum(count) from crash_groups`)

	run := func(days int, now time.Time) (out RetentionResult) {
		r, err := NewRetention(w.store, w.objects, days, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		r.Now = func() time.Time { return now }
		id := w.insert(tasks.NewMaintenance(tasks.CrashRetention))
		claimed, err := w.ledger.Claim(t.Context(), ledger.ClaimRequest{ID: id, Kind: tasks.CrashRetention.Name, Worker: "test"})
		require.NoError(t, err)
		require.NoError(t, r.Handle(bounded(t), worker.NewClaim(w.db, claimed)))
		w.result(id, &out)
		return out
	}
	require.Equal(t, RetentionResult{}, run(90, time.Now()))

	// A group whose crashes are old but which was seen lately is history.
	_, err = w.db.ExecContext(t.Context(), `update crash_groups set last_seen = now() + interval '91 days' where culprit like '%f1%'`)
	require.NoError(t, err)
	out := run(90, time.Now().AddDate(0, 0, 91))
	require.Equal(t, RetentionResult{Batches: 47, Crashes: 91, Groups: 2, Facets: 1}, out)
	for _, table := range []string{"crashes", "crash_batches", "crash_uuids", "crash_attachments", "crash_explanations"} {
		require.Zero(t, w.number(`select count(*) from `+table), table)
	}
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups`))
	require.Less(t, w.number(`select sum(count) from crash_groups`), before)
	require.Positive(t, w.number(`select sum(count) from crash_groups`), "history stays")
	_, err = w.objects.Stat(t.Context(), "attachments/old")
	require.ErrorIs(t, err, object.ErrNotFound)

	_, err = NewRetention(w.store, w.objects, 0, nil)
	require.Error(t, err)
}

// Reports come in and are processed while a purge runs: the counts fit the
// crashes at the end, and nothing deadlocks.
func TestPurgeWhileProcessing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- func() error {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return nil
				default:
				}
				var in []received.Incoming
				for i := range 20 {
					in = append(in, w.incoming(doc{function: fmt.Sprint("f", i%4), attributes: fmt.Sprintf(`"user":"u%d"`, (round+i)%3)}))
				}
				if _, _, err := w.store.Accept(t.Context(), in, tasks.NewCrashProcess); err != nil {
					return err
				}
				claimed, err := w.ledger.Claim(t.Context(), ledger.ClaimRequest{Kind: tasks.CrashProcess.Name, OrganizationID: w.org,
					Worker: "p", Batch: 1 + round%3, MaxWeight: 1000})
				if err != nil || len(claimed) == 0 {
					return err
				}
				p := &Process{Store: w.store, Log: slog.New(slog.DiscardHandler)}
				if err := p.Handle(t.Context(), worker.NewClaim(w.db, claimed)); err != nil {
					return err
				}
			}
		}()
	}()
	for range 6 {
		w.purge(tasks.CrashPurgePayload{Key: "user", Value: "u1"})
	}
	close(stop)
	require.NoError(t, <-done)
	w.process()
	w.purge(tasks.CrashPurgePayload{Key: "user", Value: "u1"})
	require.Zero(t, w.number(`select count(*) from crashes where attributes @> '{"user":"u1"}'`))
	crashes := w.number(`select count(*) from crashes`)
	require.Positive(t, crashes)
	require.Equal(t, crashes, w.number(`select sum(count) from crash_groups`))
	require.Equal(t, crashes, w.number(`select sum(count) from crash_group_days`))
	require.Equal(t, crashes, w.number(`select (select count(*) from crash_uuids) - (select count(*) from crash_purged)`))
	require.Equal(t, crashes, w.number(`select count(*) from crash_batches b, jsonb_array_elements(b.entries) e
		where not coalesce((e->>'deleted')::boolean, false)`))
}

// What was purged is not kept by the task that purged it.
func TestPurgeForgetsTheValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.insert(tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: "user", Value: "ann@example.com"}))
	require.NoError(t, w.purger().Handle(bounded(t), w.claim(tasks.CrashPurge, id)))
	task, err := w.ledger.Get(t.Context(), ledger.Scope{}, id)
	require.NoError(t, err)
	require.Equal(t, ledger.Succeeded, task.State)
	require.JSONEq(t, `{"key":"user","value":""}`, string(task.Payload))
	require.Zero(t, w.number(`select count(*) from tasks where tasks::text like '%ann@example%'`))
	require.ErrorIs(t, ledger.Redact(t.Context(), w.db,
		w.insert(tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: "user", Value: "x"})), 1), storage.ErrStale)
}

// Every attribute that is accepted can be purged, by its whole value only.
func TestPurgeOfLongAndManyAttributes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var many strings.Builder
	for i := range 4999 {
		fmt.Fprintf(&many, `"k%d":%d,`, i, i)
	}
	long := strings.Repeat("v", condition.MaxAttributeValue)
	key := strings.Repeat("k", condition.MaxAttributeKey)
	w.accept(doc{function: "f", attributes: many.String() + `"user":"ann"`},
		doc{function: "f", attributes: `"user":"` + long + `"`},
		doc{function: "f", attributes: `"user":"` + long + `x"`},
		doc{function: "f", attributes: `"user":"` + long + `y"`},
		doc{function: "f", attributes: `"` + key + `x":"a"`},
		doc{function: "f", attributes: `"` + key + `y":"a"`})
	w.process()
	require.Equal(t, map[string]int{"processed": 6}, w.seen)
	for _, tt := range []struct {
		key, value string
		want       int
	}{{key, "a", 0}, {"user", long, 1}, {"user", long, 0}, {"user", "ann", 1}} {
		require.Equal(t, tt.want, w.purge(tasks.CrashPurgePayload{Key: tt.key, Value: tt.value}))
	}
	for _, f := range []condition.Attribute{{Key: "user", Value: long + "x"}, {Key: "user", Value: long + "y"}, {Key: key + "x", Value: "a"}} {
		ids, err := crash.Carriers(t.Context(), w.store.DB(), w.org, 0, f, 10)
		require.NoError(t, err)
		require.Len(t, ids, 1)
	}
}
