package api_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

type taskView struct {
	ID             uuid.UUID `json:"id"`
	Type           string    `json:"type"`
	State          string    `json:"state"`
	OrganizationID *int64    `json:"organization_id"`
	MaxAttempts    int       `json:"max_attempts"`
	RequestID      string    `json:"request_id"`
	FinishedAt     *string   `json:"finished_at"`
}

type taskAnswer struct {
	Task       taskView       `json:"task"`
	Tasks      []taskView     `json:"tasks"`
	Pagination map[string]int `json:"pagination"`
	Error      string         `json:"error"`
}

func decode(t *testing.T, rec *httptest.ResponseRecorder) taskAnswer {
	t.Helper()
	var a taskAnswer
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &a), rec.Body.String())
	return a
}

func TestTasksAreOfTheOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ours, theirs, maintenance := w.newTask(t, w.ours.Organization.ID), w.newTask(t, w.theirs.Organization.ID), w.newTask(t, 0)
	us, them, op := key(w.ours.Owner.APIKey), key(w.theirs.Owner.APIKey), operator(w.theirs)

	list := decode(t, w.do(t, "GET", "/api/v3/tasks", us))
	require.Len(t, list.Tasks, 1)
	require.Equal(t, ours, list.Tasks[0].ID)
	require.Equal(t, map[string]int{"page": 1, "per_page": 25, "total": 1, "total_pages": 1}, list.Pagination)
	require.Equal(t, 3, decode(t, w.do(t, "GET", "/api/v3/tasks", op)).Pagination["total"])

	for _, id := range []uuid.UUID{theirs, maintenance} {
		for _, try := range [][2]string{{"GET", ""}, {"GET", "?wait=1"}, {"POST", "/retry"}, {"POST", "/cancel"}, {"POST", "/run"}} {
			rec := w.do(t, try[0], "/api/v3/tasks/"+id.String()+try[1], us)
			require.Equal(t, 404, rec.Code, try)
			require.JSONEq(t, `{"error":"not found"}`, rec.Body.String())
		}
	}
	require.Equal(t, 200, w.do(t, "GET", "/api/v3/tasks/"+theirs.String(), them).Code)
	got := decode(t, w.do(t, "GET", "/api/v3/tasks/"+maintenance.String(), op))
	require.Nil(t, got.Task.OrganizationID)
	got = decode(t, w.do(t, "GET", "/api/v3/tasks/"+ours.String(), us))
	require.Equal(t, "request-of-task", got.Task.RequestID)
	require.Equal(t, tasks.CrashProcess.Name, got.Task.Type)
}

func TestTaskMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.newTask(t, w.ours.Organization.ID)
	var answer struct {
		Task map[string]any `json:"task"`
	}
	rec := w.do(t, "GET", "/api/v3/tasks/"+id.String(), key(w.ours.Owner.APIKey))
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
	for _, member := range []string{"id", "type", "state", "queue", "organization_id", "attempt", "max_attempts", "run_at",
		"created_at", "started_at", "finished_at", "error", "result", "request_id", "losses", "priority", "subject", "failures"} {
		require.Contains(t, answer.Task, member)
	}
	require.Len(t, answer.Task, 18)
	_, err := time.Parse(time.RFC3339Nano, answer.Task["created_at"].(string))
	require.NoError(t, err)
}

func TestTaskListFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	us := key(w.ours.Owner.APIKey)
	for range 3 {
		w.newTask(t, w.ours.Organization.ID)
	}
	cancelled := w.newTask(t, w.ours.Organization.ID)
	require.Equal(t, 200, w.do(t, "POST", "/api/v3/tasks/"+cancelled.String()+"/cancel", operator(w.ours)).Code)
	today := time.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]int{
		"": 4, "?state=cancelled": 1, "?state=cancelled,queued": 4, "?state[]=cancelled&state[]=dead": 1,
		"?type=other:kind&type=" + tasks.CrashProcess.Name: 4, "?state=dead": 0, "?type=" + tasks.CrashProcess.Name: 4, "?type=other:kind": 0,
		"?from=" + today + "&to=" + today: 4, "?to=2020-01-01": 0, "?from=2999-01-01": 0,
	} {
		require.Equal(t, want, decode(t, w.do(t, "GET", "/api/v3/tasks"+query, us)).Pagination["total"], query)
	}
	second := decode(t, w.do(t, "GET", "/api/v3/tasks?page=2&per_page=3", us))
	require.Len(t, second.Tasks, 1)
	require.Equal(t, map[string]int{"page": 2, "per_page": 3, "total": 4, "total_pages": 2}, second.Pagination)
	require.JSONEq(t, `{"tasks":[],"pagination":{"page":9,"per_page":100,"total":4,"total_pages":1}}`,
		w.do(t, "GET", "/api/v3/tasks?page=9&per_page=1000", us).Body.String())
	for _, query := range []string{"?page=0", "?per_page=-1", "?state=lost", "?type=A%20B", "?from=x", "?type=%00",
		"?from=2026-01-02&to=2026-01-01", "?sate=dead", "?page[]=1",
		"?queue=x", "?error=", "?error=%00", "?request_id=a&request_id=b", "?organization_id=x", "?organization_id=0"} {
		require.Equal(t, 400, w.do(t, "GET", "/api/v3/tasks"+query, us).Code, query)
	}
	for _, path := range []string{"/x", "/x?wait=1", "/" + uuid.NewString() + "?wait=61", "/" + uuid.NewString() + "?wait=-1",
		"/" + uuid.NewString() + "?wait=soon", "/" + uuid.NewString() + "?waits=1"} {
		require.Equal(t, 400, w.do(t, "GET", "/api/v3/tasks"+path, us).Code, path)
	}
	require.Equal(t, 404, w.do(t, "GET", "/api/v3/tasks/"+uuid.NewString()+"?wait=60", us).Code)
}

func TestCancelAndRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	us := key(w.ours.Owner.APIKey)
	purge := tasks.NewCrashPurge(w.ours.Organization.ID, "request-of-task", tasks.CrashPurgePayload{Key: "user", Value: "ann"})
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, purge)
		return err
	})
	path := "/api/v3/tasks/" + purge.ID.String()
	rec := w.do(t, "POST", path+"/retry", us)
	require.Equal(t, 409, rec.Code, "it is queued")
	rec = w.do(t, "POST", path+"/cancel", us)
	require.Equal(t, 200, rec.Code)
	require.Equal(t, "cancelled", decode(t, rec).Task.State)
	rec = w.do(t, "POST", path+"/cancel", us)
	require.Equal(t, 409, rec.Code)
	require.Equal(t, "the task has ended", decode(t, rec).Error)
	rec = w.do(t, "POST", path+"/retry", operator(w.ours), header("X-Request-Id", "operator-retry"))
	require.Equal(t, 200, rec.Code)
	require.Equal(t, "queued", decode(t, rec).Task.State)
	require.Equal(t, tasks.CrashPurge.MaxAttempts, decode(t, rec).Task.MaxAttempts)

	events, err := account.AuditEvents(t.Context(), w.db, w.ours.Organization.ID, storage.Page{Limit: 2})
	require.NoError(t, err)
	require.Equal(t, "task.retried", events[0].Action)
	require.Equal(t, "operator:ours", events[0].Actor)
	require.Nil(t, events[0].ActorUserID)
	require.Equal(t, "operator-retry", events[0].RequestID)
	require.Equal(t, "task.cancelled", events[1].Action)
	require.Equal(t, w.ours.Owner.ID, *events[1].ActorUserID)
	require.Equal(t, "192.0.2.1", events[1].IPAddress)
	require.Equal(t, "task "+purge.ID.String(), events[1].Subject)
}

// A report that was answered 200 is processed: nobody of the organization can
// cancel that, and a member, who may not ask for a purge, cannot change one.
func TestChangesAskByTheKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, memberKey := w.member(t, "member@example.com", account.Member)
	_, adminKey := w.member(t, "admin@example.com", account.Admin)
	member, admin, owner, op := key(memberKey), key(adminKey), key(w.ours.Owner.APIKey), operator(w.theirs)
	newPurge := func() uuid.UUID {
		purge := tasks.NewCrashPurge(w.ours.Organization.ID, "", tasks.CrashPurgePayload{Key: "user", Value: uuid.NewString()})
		w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
			_, err := ledger.Insert(ctx, tx, purge)
			return err
		})
		return purge.ID
	}
	newUnknown := func() uuid.UUID {
		n := &ledger.NewTask{Kind: "gone:kind", Queue: tasks.Default, OrganizationID: w.ours.Organization.ID, Payload: struct{}{}, MaxAttempts: 1}
		w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
			_, err := ledger.Insert(ctx, tx, n)
			return err
		})
		return n.ID
	}
	process := func() uuid.UUID { return w.newTask(t, w.ours.Organization.ID) }
	for _, c := range []struct {
		name                     string
		task                     func() uuid.UUID
		verb                     string
		member, admin, owner, op int
		needs                    string
	}{
		// What is queued cannot be retried: 409 says that the caller may.
		{"retry of processing", process, "retry", 403, 409, 409, 409, "the role admin"},
		{"cancel of processing", process, "cancel", 403, 403, 403, 200, "operator credentials"},
		{"retry of a purge", newPurge, "retry", 403, 409, 409, 409, "the role admin"},
		{"cancel of a purge", newPurge, "cancel", 403, 200, 200, 200, "the role admin"},
		{"retry of what is not run any more", newUnknown, "retry", 403, 403, 403, 409, "operator credentials"},
		{"cancel of what is not run any more", newUnknown, "cancel", 403, 403, 403, 200, "operator credentials"},
	} {
		for _, by := range []struct {
			who    string
			as     option
			status int
		}{{"member", member, c.member}, {"admin", admin, c.admin}, {"owner", owner, c.owner}, {"operator", op, c.op}} {
			path := "/api/v3/tasks/" + c.task().String()
			rec := w.do(t, "POST", path+"/"+c.verb, by.as)
			require.Equal(t, by.status, rec.Code, "%s by %s: %s", c.name, by.who, rec.Body)
			if rec.Code == 403 {
				require.Contains(t, decode(t, rec).Error, c.needs, c.name)
				require.Equal(t, "queued", decode(t, w.do(t, "GET", path, op)).Task.State, c.name)
			}
		}
	}
}

func TestRefusedChangesAreNotAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.newTask(t, w.ours.Organization.ID)
	count := func() (n int) {
		require.NoError(t, w.db.GetContext(t.Context(), &n, `select count(*) from audit_events`))
		return n
	}
	before := count()
	w.do(t, "POST", "/api/v3/tasks/"+id.String()+"/retry", key(w.ours.Owner.APIKey))
	w.do(t, "POST", "/api/v3/tasks/"+id.String()+"/cancel", key(w.theirs.Owner.APIKey))
	require.Equal(t, before, count())
}

func TestWaitAnswersWhenTheTaskEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.newTask(t, w.ours.Organization.ID)
	path := "/api/v3/tasks/" + id.String()
	us := key(w.ours.Owner.APIKey)

	// Time over: the task as it stands.
	start := time.Now()
	rec := w.do(t, "GET", path+"?wait=1", us)
	require.Equal(t, "queued", decode(t, rec).Task.State)
	require.GreaterOrEqual(t, time.Since(start), time.Second)

	// Many wait for one end; each hears of it.
	var wg sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 20)
	for i := range answers {
		wg.Go(func() { answers[i] = w.do(t, "GET", path+"?wait=25", us) })
	}
	claimed, err := w.store.Claim(t.Context(), ledger.ClaimRequest{ID: id, Kind: tasks.CrashProcess.Name, Worker: "test"})
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return ledger.Finish(ctx, tx, []ledger.Token{claimed[0].Token()}, map[string]int{"done": 1})
	})
	wg.Wait()
	for _, rec := range answers {
		require.Equal(t, 200, rec.Code)
		require.Equal(t, "succeeded", decode(t, rec).Task.State)
		require.Contains(t, rec.Body.String(), `"result":{"done":1}`)
	}
	// It has ended: no waiting at all.
	require.Equal(t, 200, w.do(t, "GET", path+"?wait=25", us).Code)
}
