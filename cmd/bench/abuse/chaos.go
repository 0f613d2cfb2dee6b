package abuse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/schedule"
)

const (
	// chaosDown is how long a killed process is away, chaosUp how long until the next kill.
	chaosDown = 500 * time.Millisecond
	chaosUp   = 1500 * time.Millisecond
	// chaosRest is how long open tasks may take after the last kill: tasks that failed wait
	// for their next attempt.
	chaosRest = 4 * time.Minute
	// chaosLook is when the tasks that are still open are described.
	chaosLook = 20 * time.Second
)

// chaos kills every process of a deployment in turn, again and again, while two
// organizations send crashes, upload builds and start runs. Then it compares, by their ids,
// what was answered with success with what is there.
func (b *bench) chaos(ctx context.Context) error {
	hub := startStubHub()
	defer hub.close()
	hooks, err := startReceiver()
	if err != nil {
		return err
	}
	defer hooks.close()
	f, err := schedule.StartFleet(ctx, b.program)
	if err != nil {
		return err
	}
	defer f.Stop()
	f.Variables = slices.DeleteFunc(f.Variables, func(v string) bool { return strings.HasPrefix(v, "SLIPWAY_WORKER_POOLS=") })
	f.Variables = append(f.Variables, "SLIPWAY_WEBDRIVER_URL="+hub.url, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true")
	members, err := f.Ready(ctx, "api", "worker", "scheduler", "api", "worker", "scheduler")
	if err != nil {
		return err
	}
	load := &chaosLoad{bases: []string{apiBase(members[0]), apiBase(members[3])}, hooks: hooks}
	p := &process.Product{Dir: f.Dir, Base: load.bases[0], Database: f.Postgres.URL()}
	for _, name := range []string{"first", "second"} {
		t, err := newTenant(ctx, p, b.program, append(os.Environ(), "SLIPWAY_DATABASE_URL="+p.Database), name)
		if err != nil {
			return err
		}
		if err := load.add(ctx, t); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(b.Chaos + chaosRest)
	stop := load.start(ctx)
	kills, ended, err := killInTurn(ctx, members, b.Chaos)
	stop()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("kill -9 of every process in turn, %d times in %s", kills, b.Chaos)
	if err := load.check(ctx, f, b, name, deadline); err != nil {
		return err
	}
	ended = append(ended, endedByThemselves(members)...)
	b.row(name, "processes that ended by themselves", "", strings.Join(append([]string{fmt.Sprint(len(ended))}, ended...), "; "),
		"none", len(ended) == 0)
	return nil
}

// killInTurn kills and starts processes for a while. It returns how often, and which had
// ended by themselves before.
func killInTurn(ctx context.Context, members []*schedule.Member, length time.Duration) (kills int, ended []string, err error) {
	defer progress.Waits(ctx, "the end of the kills after "+length.String())()
	for end := time.Now().Add(length); time.Now().Before(end); kills++ {
		m := members[kills%len(members)]
		if err := m.Kill(); err != nil {
			ended = append(ended, oneLine(err.Error()))
		}
		if err := process.Sleep(ctx, chaosDown); err != nil {
			return kills, ended, err
		}
		if err := m.Start(); err != nil {
			return kills, ended, err
		}
		if err := process.Sleep(ctx, chaosUp); err != nil {
			return kills, ended, err
		}
	}
	return kills, ended, nil
}

// endedByThemselves names the processes that are gone although nobody kills any more.
func endedByThemselves(members []*schedule.Member) []string {
	var ended []string
	for _, m := range members {
		if m.HasEnded() {
			ended = append(ended, oneLine(m.Kill().Error()))
		}
	}
	return ended
}

// apiBase is the address of a process that is an api.
func apiBase(m *schedule.Member) string { return "http://127.0.0.1:" + m.Port }

// openTasks are the open tasks of organizations, of a kind and state and number of attempts.
const openTasks = `select concat_ws(' ', count(*), kind, state, 'attempt', attempt, 'due in',
	min(extract(epoch from run_at - now()))::int, 'to',
	max(extract(epoch from run_at - now()))::int, 's', max(left(error, 60)))
	from tasks where state in ('queued', 'running') and organization_id is not null group by kind, state, attempt
	order by count(*) desc limit 5`

// settleFleet waits until no task of an organization is open, or for the deadline, and returns
// how many are, and what was open after chaosLook and is at the end.
func settleFleet(ctx context.Context, f *schedule.Fleet, deadline time.Time) (open int, waiting []string, err error) {
	defer progress.WaitsFor(ctx, func() string {
		open, err := countOpen(ctx, f)
		if err != nil {
			return "open tasks"
		}
		return fmt.Sprintf("%d open tasks", open)
	})()
	looked := false
	for began := time.Now(); ; {
		if open, err = countOpen(ctx, f); err != nil {
			return 0, nil, err
		}
		late := time.Now().After(deadline)
		if open > 0 && (late || !looked && time.Since(began) > chaosLook) {
			looked = true
			waiting = nil
			if err := f.DB.SelectContext(ctx, &waiting, openTasks); err != nil {
				return 0, nil, err
			}
		}
		if open == 0 || late {
			return open, waiting, nil
		}
		if err := process.Sleep(ctx, 100*time.Millisecond); err != nil {
			return 0, nil, err
		}
	}
}

func countOpen(ctx context.Context, f *schedule.Fleet) (open int, err error) {
	err = f.DB.GetContext(ctx, &open, `select count(*) from tasks where state in ('queued', 'running') and organization_id is not null`)
	return open, err
}

// check waits until no task of the organizations is open, and prints what is lost and what
// is there twice. It fails when a client saw a response that none should see.
func (l *chaosLoad) check(ctx context.Context, f *schedule.Fleet, b *bench, name string, deadline time.Time) error {
	began := time.Now()
	open, waiting, err := settleFleet(ctx, f, deadline)
	if err != nil {
		return err
	}
	settled := time.Since(began).Round(time.Second)
	stored, err := readChaos(ctx, f)
	if err != nil {
		return err
	}
	stored.Received = l.hooks.received()
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := compareChaos(&l.answered, stored)
	rows = append(rows, chaosRow{what: "tasks that failed for good; still open after " + settled.String(),
		measured: fmt.Sprintf("%d; %d", len(stored.Dead), open), met: len(stored.Dead) == 0 && open == 0, ids: nameIDs("failed", stored.Dead)})
	for _, r := range rows {
		b.row(name, r.what, "", r.text(), "none lost, none twice", r.met)
	}
	for _, w := range waiting {
		b.row("", "open tasks", "", oneLine(w), "", true)
	}
	b.row("", "requests without a response, or refused with 409, 429 or 503; starts of runs without a response", "",
		fmt.Sprintf("%d; %d", l.again, l.answered.Unanswered), "", true)
	if l.wrong != nil {
		return fmt.Errorf("a response that no client should see: %w", l.wrong)
	}
	return nil
}

// chaosLoad is what two organizations do meanwhile, as clients that try again until they
// know.
type chaosLoad struct {
	bases   []string
	hooks   *receiver
	tenants []*tenant

	mu       sync.Mutex
	answered chaosAnswered
	again    int
	wrong    error
}

// add has an organization take part. Its builds from before it has a webhook have no event.
func (l *chaosLoad) add(ctx context.Context, t *tenant) error {
	l.tenants = append(l.tenants, t)
	var list struct{ Builds []struct{ ID int64 } }
	if err := t.v3(ctx, "GET", fmt.Sprintf("/projects/%d/builds", t.project), nil, &list); err != nil {
		return err
	}
	if len(list.Builds) == 0 {
		return errors.New("the first build is not in the list")
	}
	for _, b := range list.Builds {
		l.answered.Builds = append(l.answered.Builds, b.ID)
		l.answered.Earlier = append(l.answered.Earlier, b.ID)
	}
	return t.v3(ctx, "POST", "/webhooks", map[string]any{"name": "hook", "url": l.hooks.base + "/hook", "actions": []string{"upload"}}, nil)
}

// chaosAnswered is what clients were told to be stored.
type chaosAnswered struct {
	Crashes []uuid.UUID
	Builds  []int64
	Earlier []int64 // those of Builds from before the webhooks
	Runs    []uuid.UUID
	// Unanswered counts the starts of runs that got no response: each may be stored or not.
	Unanswered int
}
