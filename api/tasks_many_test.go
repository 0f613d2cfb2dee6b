package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// insertTask inserts a task as it is.
func (w *world) insertTask(t *testing.T, n *ledger.NewTask) uuid.UUID {
	t.Helper()
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, n)
		return err
	})
	return n.ID
}

func TestTasksBySelection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ours, theirs := w.ours.Organization.ID, w.theirs.Organization.ID
	us, op := key(w.ours.Owner.APIKey), operator(w.theirs)
	inside, plain := w.newTask(t, ours), w.newTask(t, ours)
	notify := w.insertTask(t, tasks.NewBuildDelete(ours, "another", 7))
	w.newTask(t, theirs)
	for id, text := range map[uuid.UUID]string{inside: ledger.Internal + "dial 10.0.0.5: Refused", plain: "the server said 50% No"} {
		_, err := w.db.ExecContext(t.Context(), `update tasks set error = $2 where id = $1`, id, text)
		require.NoError(t, err)
	}
	for _, c := range []struct {
		query     string
		us, their int // what we and operators find
	}{
		{"", 3, 4},
		{"queue=bulk", 1, 1}, {"queue=crash,bulk", 3, 4},
		{"request_id=another", 1, 1}, {"request_id=none", 0, 0},
		{"error=50%25+no", 1, 1}, {"error=%25", 1, 1}, {"error=refused", 0, 1}, {"error=10.0.0.5", 0, 1}, {"error=INTERNAL", 1, 1},
		{"organization_id=" + strconv.FormatInt(ours, 10), 3, 3},
		{"organization_id=" + strconv.FormatInt(ours, 10) + "&error=refused", 0, 1},
	} {
		require.Equal(t, c.us, decode(t, w.do(t, "GET", "/api/v3/tasks?"+c.query, us)).Pagination["total"], c.query)
		require.Equal(t, c.their, decode(t, w.do(t, "GET", "/api/v3/tasks?"+c.query, op)).Pagination["total"], c.query)
	}
	rec := w.do(t, "GET", "/api/v3/tasks?organization_id="+strconv.FormatInt(theirs, 10), us)
	require.Equal(t, 403, rec.Code)
	require.Equal(t, notify, decode(t, w.do(t, "GET", "/api/v3/tasks?request_id=another", us)).Tasks[0].ID)
	rec = w.do(t, "POST", "/api/v3/tasks/retry?typ=x", us)
	require.Equal(t, 400, rec.Code, "a filter that is misspelt must not retry everything")
	require.Contains(t, rec.Body.String(), "typ: is no parameter")
}

func TestTaskIsStartedByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	org := w.ours.Organization.ID
	_, memberKey := w.member(t, "member@example.com", account.Member)
	admin := key(w.ours.Owner.APIKey)
	first := w.newTask(t, org)
	n := tasks.NewCrashProcess(org, uuid.New(), 1)
	n.Delay, n.Priority = time.Hour, ledger.Scheduled
	path := "/api/v3/tasks/" + w.insertTask(t, n).String()
	require.Equal(t, 403, w.do(t, "POST", path+"/run", key(memberKey)).Code)
	require.Equal(t, 200, w.do(t, "POST", path+"/run", admin).Code)
	store := ledger.New(w.db)
	_, err := w.db.ExecContext(t.Context(), `update tasks set run_at = run_at + interval '1 second' where id = $1`, first)
	require.NoError(t, err)
	head, err := store.First(t.Context(), tasks.Crash, org)
	require.NoError(t, err)
	require.Equal(t, n.ID, head.ID)
	_, err = w.db.ExecContext(t.Context(), `update tasks set state = 'running' where id = $1`, n.ID)
	require.NoError(t, err)
	rec := w.do(t, "POST", path+"/run", admin)
	require.Equal(t, 409, rec.Code)
	require.Contains(t, decode(t, rec).Error, "only a task that is queued")
	events, err := account.AuditEvents(t.Context(), w.db, org, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "task.started", events[0].Action)
}

func TestTasksAreRetriedByAFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ours, theirs := w.ours.Organization.ID, w.theirs.Organization.ID
	_, memberKey := w.member(t, "member@example.com", account.Member)
	owner, member, op := key(w.ours.Owner.APIKey), key(memberKey), operator(w.theirs)
	const several = 503
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		var list []*ledger.NewTask
		for i := range several {
			list = append(list, tasks.NewBuildDelete(ours, "", int64(i+1)))
		}
		twin := func() *ledger.NewTask {
			n := tasks.NewMailSend(ours, "", uuid.New())
			n.DedupeKey = "twin"
			return n
		}
		list = append(list, tasks.NewMailSend(ours, "", uuid.New()), tasks.NewMailSend(theirs, "", uuid.New()),
			tasks.NewTestJob(ours, "", uuid.New()), tasks.NewSuiteRun(ours, "", uuid.New()))
		if _, err := ledger.InsertAll(ctx, tx, list); err != nil {
			return err
		}
		for range 2 {
			if _, err := ledger.Insert(ctx, tx, twin()); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `update tasks set state = 'dead', finished_at = now(), error = 'Boom', losses = 3`); err != nil {
				return err
			}
		}
		return nil
	})
	_, err := w.db.ExecContext(t.Context(), `update tasks set state = 'cancelled' where kind = 'suite:run'`)
	require.NoError(t, err)
	retry := func(query string, by option) (status int, counts [3]int) {
		rec := w.do(t, "POST", "/api/v3/tasks/retry?"+query, by)
		var answer struct{ Retried, Remaining, Skipped int }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		return rec.Code, [3]int{answer.Retried, answer.Remaining, answer.Skipped}
	}
	for _, c := range []struct {
		name, query string
		by          option
		status      int
		want        [3]int
	}{
		{"other error", "error=bang", owner, 200, [3]int{}},
		{"a type that is not theirs", "type=test:job", owner, 403, [3]int{}},
		{"other states", "state=dead,queued", owner, 400, [3]int{}},
		{"an owner's, in portions", "error=boom&type=build:delete", owner, 200, [3]int{500, 3, 0}},
		{"a member's: none of it", "type=build:delete", member, 403, [3]int{}},
		{"the rest", "type=build:delete", owner, 200, [3]int{3, 0, 0}},
		{"one of two twins", "", owner, 200, [3]int{2, 0, 2}},
		{"cancelled", "state=cancelled", op, 200, [3]int{1, 0, 0}},
		{"an operator's", "queue=run,mail&" + url.Values{"organization_id": {fmt.Sprint(theirs)}}.Encode(), op, 200, [3]int{1, 0, 0}},
		{"everything", "", op, 200, [3]int{1, 0, 1}},
	} {
		status, counts := retry(c.query, c.by)
		require.Equal(t, c.status, status, c.name)
		require.Equal(t, c.want, counts, c.name)
	}
	var losses, open int
	require.NoError(t, w.db.Get(&losses, `select sum(losses) from tasks where state = 'queued'`))
	require.Zero(t, losses)
	require.NoError(t, w.db.Get(&open, `select count(*) from tasks where state = 'queued' and max_attempts < 1`))
	require.Zero(t, open)
	events, err := account.AuditEvents(t.Context(), w.db, theirs, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "tasks.retried", events[0].Action, "each organization sees what an operator did")
}

// What is open of a filter is cancelled or started: of one's own organization, of kinds that
// one may, in portions, and each organization reads who did it.
func TestTasksAreCancelledAndStartedByAFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ours, theirs := w.ours.Organization.ID, w.theirs.Organization.ID
	_, memberKey := w.member(t, "member@example.com", account.Member)
	owner, member, op := key(w.ours.Owner.APIKey), key(memberKey), operator(w.theirs)
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		var list []*ledger.NewTask
		for i := range 503 {
			list = append(list, tasks.NewCrashSplit(ours, "", int64(i+1)))
		}
		list = append(list, tasks.NewMailSend(ours, "", uuid.New()), tasks.NewMailSend(ours, "", uuid.New()),
			tasks.NewMailSend(theirs, "", uuid.New()),
			tasks.NewTestJob(ours, "", uuid.New()))
		_, err := ledger.InsertAll(ctx, tx, list)
		return err
	})
	_, err := w.db.ExecContext(t.Context(), `update tasks set run_at = now() + interval '1 hour'`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`update tasks set state = 'running', attempt = 1, worker = 'w', heartbeat_at = now(), started_at = now()
		where id = (select id from tasks where kind = 'mail:send' and organization_id = $1 order by id limit 1)`, ours)
	require.NoError(t, err)
	send := func(what, query string, by option) (status int, counts [3]int) {
		rec := w.do(t, "POST", "/api/v3/tasks/"+what+"?"+query, by)
		var answer struct{ Started, Cancelled, Remaining, Skipped int }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		return rec.Code, [3]int{answer.Started + answer.Cancelled, answer.Remaining, answer.Skipped}
	}
	for _, c := range []struct {
		name, what, query string
		by                option
		status            int
		want              [3]int
	}{
		{"started, in portions", "run", "type=crash:split", member, 200, [3]int{500, 3, 0}},
		{"the rest", "run", "type=crash:split", member, 200, [3]int{3, 0, 0}},
		{"they may begin already", "run", "type=crash:split", member, 200, [3]int{}},
		{"a type that is not theirs", "run", "type=mail:send", member, 403, [3]int{}},
		{"other states", "run", "state=running", owner, 400, [3]int{}},
		{"all that an owner may", "run", "", owner, 200, [3]int{1, 0, 1}},
		{"of others", "run", "organization_id=" + fmt.Sprint(theirs), owner, 403, [3]int{}},
		{"unknown", "cancel", "kind=x", op, 400, [3]int{}},
		{"ended", "cancel", "state=succeeded", op, 400, [3]int{}},
		{"a member may not", "cancel", "type=crash:split", member, 403, [3]int{}},
		{"cancelled, in portions", "cancel", "type=crash:split", owner, 200, [3]int{500, 3, 0}},
		{"one waits, one runs", "cancel", "queue=mail", owner, 200, [3]int{2, 0, 0}},
		{"it was asked to stop already", "cancel", "queue=mail", owner, 200, [3]int{}},
		{"all that an owner may", "cancel", "", owner, 200, [3]int{3, 0, 1}},
		{"an operator", "cancel", "", op, 200, [3]int{2, 0, 0}},
	} {
		status, counts := send(c.what, c.query, c.by)
		require.Equal(t, c.status, status, "%s %s", c.what, c.name)
		require.Equal(t, c.want, counts, "%s %s", c.what, c.name)
	}
	for query, want := range map[string]int{
		`select count(*) from tasks where state = 'cancelled' and finished_at is not null`: 506,
		`select count(*) from tasks where state = 'running' and cancel_requested`:          1,
	} {
		var n int
		require.NoError(t, w.db.Get(&n, query))
		require.Equal(t, want, n, query)
	}
	events, err := account.AuditEvents(t.Context(), w.db, theirs, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "tasks.cancelled", events[0].Action, "each organization sees what an operator did")
}
