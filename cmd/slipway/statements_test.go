package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// asks are what a use case may ask of its services. Commands of Redis are those that hand
// its tasks over, too, which the api does after it has answered. How much waits in Redis is
// asked by the clock, and does not count.
type asks struct{ statements, commands, objects int }

// useCase is a line of the table: what is counted, for several numbers of the things that
// it is about, and how much is enough.
type useCase struct {
	name    string
	numbers []int
	// of is enough for whatever number of things, each besides for every step of them that
	// has begun (step 0: every thing).
	of, each asks
	step     int
	// run prepares the things and calls w.count once.
	run func(w *counted, n int)
}

// most returns what is enough for a number of things.
func (u *useCase) most(n int) asks {
	steps := n
	if u.step > 0 {
		steps = (n + u.step - 1) / u.step
	}
	return asks{u.of.statements + steps*u.each.statements, u.of.commands + steps*u.each.commands, u.of.objects + steps*u.each.objects}
}

// useCases returns the bounds of the use cases. One that fails prints what was asked, the most
// frequent statement first: a statement whose number follows that of the things stands in a
// loop.
func useCases() []useCase {
	var all []useCase
	for _, part := range []func() []useCase{crashUseCases, buildUseCases, peopleUseCases, runUseCases, taskUseCases,
		symbolUseCases, gateUseCases} {
		all = append(all, part()...)
	}
	return all
}

// counted is the api and the handlers of the worker, without the loops of either, whose
// statements, commands and requests are counted. Each use case has an organization of its
// own.
type counted struct {
	*surface
	handlers map[string]worker.Handler
	counter  count.Counter
	plain    *storage.DB // counts nothing
	asked    count.Asked
	n        int
}

func TestUseCasesAskEnough(t *testing.T) {
	t.Parallel()
	w := newCounted(t)
	for _, u := range useCases() {
		for _, n := range u.numbers {
			t.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(u.name, " ", "_"), n), func(t *testing.T) {
				w.begin(t)
				u.run(w, n)
				require.NotEmpty(t, w.asked.SQL, "nothing was counted")
				most, got := u.most(n), asks{len(w.asked.SQL), len(w.asked.Redis), len(w.asked.Objects)}
				t.Logf("%s of %d: %+v, enough is %+v", u.name, n, got, most)
				assert.LessOrEqual(t, got.statements, most.statements, "statements of %s\n%s", u.name, w.asked)
				assert.LessOrEqual(t, got.commands, most.commands, "Redis commands of %s\n%s", u.name, w.asked)
				assert.LessOrEqual(t, got.objects, most.objects, "object requests of %s\n%s", u.name, w.asked)
			})
		}
	}
}

func newCounted(t *testing.T) *counted {
	t.Helper()
	w := &counted{}
	w.surface = newSurface(t, func(set *setting.Settings) {
		set.ObjectsURL = setting.Secret(servicetest.Minio(t))
		set.Watched.Database.WrapConnector = w.counter.Connector
		set.Watched.Redis.Hook = w.counter.Hook()
		set.Watched.Objects.Transport = w.counter.Transport(http.DefaultTransport)
	})
	w.stopWorker()
	// The first delivery to a queue tells Redis of the queue, and the first of all of the script.
	for _, q := range tasks.Queues() {
		w.queue.Deliver(&ledger.NewTask{Kind: tasks.CrashPurge.Name, Queue: q, Delivered: true})
	}
	pools, err := worker.ParsePools(w.services.Settings.WorkerPools)
	require.NoError(t, err)
	handlers, stop, err := w.services.WorkHandlers(nil, pools)
	require.NoError(t, err)
	t.Cleanup(stop)
	for kind := range tasks.Kinds() {
		require.Contains(t, handlers, kind, "a task without a handler waits for ever: register one in workHandlers")
	}
	w.handlers = handlers
	w.plain, err = storage.Open(storage.Config{URL: string(w.services.Settings.DatabaseURL), MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.plain.Close() })
	return w
}

// begin makes the organization of a use case.
func (w *counted) begin(t *testing.T) {
	t.Helper()
	w.t, w.n, w.asked = t, w.n+1, count.Asked{}
	w.boot = w.organization(fmt.Sprintf("org%d", w.n))
	w.key, w.user = w.boot.Owner.APIKey, [2]string{w.boot.Owner.Username, w.boot.Owner.AccessKey}
	w.ids = map[string]string{"team": fmt.Sprint(w.boot.Team.ID), "owner": fmt.Sprint(w.boot.Owner.ID),
		"owneruuid":  w.boot.Owner.UUID.String(),
		"crashtoken": w.boot.Crash.Token, "crashproject": fmt.Sprint(w.boot.Crash.Project), "org": fmt.Sprint(w.boot.Organization.ID)}
	w.exec(`update tasks set state = 'cancelled', finished_at = now(), worker = null, heartbeat_at = null where state in ('queued', 'running')`)
	w.exec(`update test_schedules set state = 'DISABLED', next_run_at = null`)
	w.must(request{method: http.MethodGet, path: v3 + "/me/keys"}) // the key is known
	w.must(request{method: http.MethodGet, path: ai + "/testsuites"})
}

// count counts what is asked while a use case runs, and until its tasks are handed over.
func (w *counted) count(useCase func()) {
	w.t.Helper()
	w.handedOver()
	w.asked = w.counter.During(func() {
		useCase()
		w.handedOver()
	})
	w.asked.Redis = slices.DeleteFunc(w.asked.Redis, func(name string) bool { return name == "llen" })
}

// handedOver waits until what the api delivers is in Redis.
func (w *counted) handedOver() {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.queue.Waiting() == 0 }, time.Minute, time.Millisecond)
}

// must sends a request that succeeds, and keeps values of the answer.
func (w *counted) must(r request) {
	w.t.Helper()
	code, answer := w.send(r)
	require.Equal(w.t, 2, code/100, "%s %s: %d %.600s", r.method, r.path, code, answer)
	w.keep(r.save, answer)
}

// exec changes rows by a statement that does not count.
func (w *counted) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.plain.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err, query)
}

// more copies rows n times; changes are SQL for pairs of a name and a value.
func (w *counted) more(table, where, changes string, n int) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`insert into %[1]s overriding system value
		select (jsonb_populate_record(t, jsonb_build_object(%[2]s))).* from %[1]s t, generate_series(1, $1::int) i where %[3]s`, table,
		changes, where), n)
}

// value reads a value by a statement that does not count.
func (w *counted) value(query string, args ...any) (value string) {
	w.t.Helper()
	require.NoError(w.t, w.plain.GetContext(w.t.Context(), &value, query, args...), query)
	return value
}

// insert writes a task.
func (w *counted) insert(task *ledger.NewTask) {
	w.t.Helper()
	_, err := ledger.Insert(w.t.Context(), w.plain, task)
	require.NoError(w.t, err)
}

// work works on the open tasks of a kind, claim by claim as a worker does.
func (w *counted) work(kind tasks.Kind) {
	w.t.Helper()
	for range 1000 {
		w.exec(`update tasks set run_at = now() where kind = $1 and state = 'queued' and run_at > now()`, kind.Name)
		var due []struct {
			ID             uuid.UUID `db:"id"`
			OrganizationID int64     `db:"organization_id"`
		}
		require.NoError(w.t, w.plain.SelectContext(w.t.Context(), &due, `select id, coalesce(organization_id, 0) as organization_id
			from tasks where kind = $1 and state = 'queued' order by id limit 1`, kind.Name))
		if len(due) == 0 {
			return
		}
		claimed, err := w.services.Ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: due[0].ID, Kind: kind.Name,
			OrganizationID: due[0].OrganizationID, Worker: "test", Batch: kind.Batch, MaxWeight: kind.MaxWeight})
		require.NoError(w.t, err)
		require.NotEmpty(w.t, claimed)
		claim := worker.NewClaim(w.db, claimed)
		require.NoError(w.t, w.handlers[kind.Name].Handle(w.t.Context(), claim), kind.Name)
		if !claim.Ended() {
			require.NoError(w.t, claim.Finish(w.t.Context(), nil, nil))
		}
	}
	require.Fail(w.t, "tasks do not end", kind.Name)
}

// testers makes people who may install.
func (w *counted) testers(n int) {
	w.t.Helper()
	w.exec(`with people as (
		insert into users (uuid, username, email) select gen_random_uuid(), 'tester' || $2 || 'x' || i, 'tester' || i || '@' || $2 || '.example.com'
		from generate_series(1, $1::int) i returning id
	) insert into memberships (organization_id, user_id, role) select $3::bigint, id, $4 from people`,
		n, w.boot.Organization.Slug, w.boot.Organization.ID, account.Tester)
}

// emails are those of the testers, in order.
func (w *counted) emails() string {
	w.t.Helper()
	return w.value(`select string_agg(email, ',' order by u.id) from users u join memberships m on m.user_id = u.id
		where m.organization_id = $1 and m.role = $2`, w.boot.Organization.ID, account.Tester)
}
