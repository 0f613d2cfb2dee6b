package crash

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/tasks"
)

// madeGroups inserts groups of a project, without reports.
func (w *world) madeGroups(org, project int64, state string, n int) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title,
			culprit, classifier, state, count, first_seen, last_seen)
		select $1, $2, sha256(n::text::bytea), 1, 'title', 'culprit', 'class', $3, 1, now(), now() from generate_series(1, $4::int) n`,
		org, project, state, n)
	require.NoError(w.t, err)
}

// requestChange asks for a change of all open groups.
func (w *world) requestChange(f reading.GroupFilter, c crash.GroupChange) (plan *bulk.GroupChange, task uuid.UUID) {
	w.t.Helper()
	f.OrganizationID = w.org
	plan, err := bulk.Plan(w.t.Context(), w.db, f, c)
	require.NoError(w.t, err)
	writer := account.Writer{OrganizationID: w.org, Actor: account.CLI()}
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		task, err = plan.Request(w.t.Context(), tx, writer, tasks.NewCrashChange(writer, "", plan))
		return err
	}))
	return plan, task
}

// A worker that is killed between two steps leaves the rest to the next; each group is
// changed once, and those of others and of later are left alone.
func TestChangeSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rival := w.newOrganization("two")
	w.madeGroups(w.org, w.project, "open", 130)
	w.madeGroups(w.org, w.newProject(w.org), "open", 120)
	w.madeGroups(w.org, w.project, "ignored", 1)
	w.madeGroups(rival, w.newProject(rival), "open", 1)
	resolved := crash.Resolved
	plan, id := w.requestChange(reading.GroupFilter{States: []crash.GroupState{crash.Open}},
		crash.GroupChange{State: &resolved, InVersion: "2.1"})
	require.Equal(t, storage.Total{Rows: 250, Exact: true}, plan.Matching)
	w.madeGroups(w.org, w.project, "open", 1)

	handler := &Change{Store: w.store}
	first := w.claim(tasks.CrashChange, id)
	matching, err := bulk.Find(t.Context(), w.db, plan.Filter)
	require.NoError(t, err)
	ids, err := matching.After(t.Context(), w.db, 0, 100)
	require.NoError(t, err)
	payload := tasks.CrashChangePayload{GroupChange: *plan, Actor: "admin-cli"}
	half, err := changePart(t.Context(), first, matching, &payload, ChangeResult{Total: 250, TotalIsExact: true}, ids)
	require.NoError(t, err)
	require.Equal(t, 100, half.Changed)
	require.EqualValues(t, 100, w.number(`select (result->>'changed')::int from tasks where id = $1`, id), "people see how far it is")
	// Somebody decides about one that is still to come.
	_, err = w.db.ExecContext(t.Context(), `update crash_groups set state = 'ignored' where id = (select max(id) from crash_groups
		where organization_id = $1 and created_at <= $2)`, w.org, plan.Filter.MadeUntil)
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, handler.Handle(gone, first))

	_, err = w.db.ExecContext(t.Context(),
		`update tasks set state = 'queued', run_at = now(), worker = null, heartbeat_at = null where id = $1`, id)
	require.NoError(t, err)
	second := w.claim(tasks.CrashChange, id)
	require.NoError(t, handler.Handle(t.Context(), second))
	require.ErrorIs(t, handler.Handle(t.Context(), first), storage.ErrStale)
	var shown ChangeResult
	w.result(id, &shown)
	changed := w.number(`select count(*) from crash_groups where organization_id = $1 and state = 'resolved' and resolved_in = '2.1'`, w.org)
	require.EqualValues(t, shown.Changed, changed)
	require.GreaterOrEqual(t, changed, int64(249))
	require.EqualValues(t, changed, w.number(`select count(*) from crash_group_changes`), "each once")
	require.EqualValues(t, changed, w.number(`select count(*) from crash_group_changes where task_id = $1 and actor = 'admin-cli'
		and state = 'resolved' and detail->>'former_state' = 'open' and detail->>'in_version' = '2.1'`, id))
	require.EqualValues(t, 1, w.number(`select count(*) from audit_events where action = 'crash_groups.changed' and organization_id = $1
		and (detail->>'matching')::int = 250 and detail->'filter'->'state' = '["open"]' and detail->'change'->>'state' = 'resolved'`, w.org))
	require.Zero(t, w.number(`select count(*) from audit_events where action = 'crash_group.updated'`))
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups where organization_id = $1 and state = 'open'`, w.org),
		"the one of later")
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups where organization_id = $1 and state = 'open'`, rival))
}

// The next version is the same for all groups, whatever is reported between two steps and
// by whichever worker.
func TestChangeHasOneNextVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.madeGroups(w.org, w.project, "open", 3)
	version := func(text string) {
		_, err := w.db.ExecContext(t.Context(), `insert into crash_versions (crash_project_id, version, first_seen, last_seen)
			values ($1, $2, now(), now())`, w.project, text)
		require.NoError(t, err)
	}
	version("1.0")
	resolved := crash.Resolved
	plan, id := w.requestChange(reading.GroupFilter{}, crash.GroupChange{State: &resolved, InNext: true})
	first := w.claim(tasks.CrashChange, id)
	payload := tasks.CrashChangePayload{GroupChange: *plan, Actor: "admin-cli"}
	matching, err := bulk.Find(t.Context(), w.db, plan.Filter)
	require.NoError(t, err)
	ids, err := matching.After(t.Context(), w.db, 0, 10)
	require.NoError(t, err)
	result, err := changePart(t.Context(), first, matching, &payload, ChangeResult{}, ids[:1])
	require.NoError(t, err)
	version("2.0")
	_, err = changePart(t.Context(), first, matching, &payload, result, ids[1:2])
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`update tasks set state = 'queued', run_at = now(), worker = null, heartbeat_at = null where id = $1`, id)
	require.NoError(t, err)
	require.NoError(t, (&Change{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashChange, id)))
	require.EqualValues(t, 3, w.number(`select count(*) from crash_groups where resolved_next and resolved_in = '1.0'`))
}

// What breaks a rule by now ends the task with words for those who asked.
func TestChangeThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.madeGroups(w.org, w.project, "open", 2)
	ignored, until := crash.Ignored, time.Now().Add(time.Hour)
	_, id := w.requestChange(reading.GroupFilter{}, crash.GroupChange{State: &ignored, Until: &until})
	_, err := w.db.ExecContext(t.Context(),
		`update tasks set payload = jsonb_set(payload, '{change,until}', '"2001-01-02T03:04:05Z"') where id = $1`, id)
	require.NoError(t, err)
	err = (&Change{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashChange, id))
	require.True(t, tasks.IsPermanent(err), err)
	var public *tasks.PublicError
	require.ErrorAs(t, err, &public)
	require.Equal(t, "until: must be in the future", public.Text)
	require.EqualValues(t, 2, w.number(`select count(*) from crash_groups where state = 'open'`))

	past := time.Now().Add(-time.Hour)
	for what, c := range map[string]crash.GroupChange{"nothing": {}, "a time that is over": {State: &ignored, Until: &past},
		"a stranger": {Assignee: &[]int64{987654}[0]}, "a version of an ignored group": {State: &ignored, InVersion: "1"}} {
		_, err := bulk.Plan(t.Context(), w.db, reading.GroupFilter{OrganizationID: w.org}, c)
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid, what)
	}
}

// The values of attributes, by which a person may have to be forgotten, are in the payload
// while the task needs them, and nowhere afterwards.
func TestChangeForgetsValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reports(6)
	resolved := crash.Resolved
	_, id := w.requestChange(reading.GroupFilter{Attributes: []condition.Attribute{{Key: "device.model", Value: "Y"}}},
		crash.GroupChange{State: &resolved})
	_, searching := w.requestChange(reading.GroupFilter{Search: "ann@example.com"}, crash.GroupChange{State: &resolved})
	require.NoError(t, (&Change{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashChange, id)))
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups where state = 'resolved'`))
	require.Zero(t, w.number(`select count(*) from tasks where payload::text like '%"Y"%'`))
	require.Zero(t, w.number(`select count(*) from audit_events where detail::text like '%"Y"%'`))
	require.EqualValues(t, 1,
		w.number(`select count(*) from audit_events where detail::text like '%device.model%' and detail->>'searched' = 'false'`))
	require.NoError(t, (&Change{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashChange, searching)))
	require.Zero(t, w.number(`select count(*) from tasks where payload::text like '%ann@example%'`))
	require.Zero(t, w.number(`select count(*) from audit_events where detail::text like '%ann@example%'`))
	require.EqualValues(t, 1, w.number(`select count(*) from audit_events where detail->>'searched' = 'true'`))
}
