package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// chaosDown is how long a killed process is away, chaosUp how long until the next kill.
	chaosDown = 500 * time.Millisecond
	chaosUp   = 1500 * time.Millisecond
	// chaosSettle is how long open tasks may take after the last kill: tasks that failed
	// wait for their next attempt.
	chaosSettle = 3 * time.Minute
	// chaosLook is when the tasks that are still open are described.
	chaosLook = 20 * time.Second
)

// chaos kills every process of a deployment in turn, again and again, while two
// organizations send crashes, upload builds and start runs. Then it counts.
func (b *abuseBench) chaos(ctx context.Context) error {
	hub := startStubHub()
	defer hub.close()
	hooks, err := startReceiver()
	if err != nil {
		return err
	}
	defer hooks.close()
	f, err := startFleet(ctx, b.program)
	if err != nil {
		return err
	}
	defer f.stop()
	f.variables = slices.DeleteFunc(f.variables, func(v string) bool { return strings.HasPrefix(v, "SLIPWAY_WORKER_POOLS=") })
	f.variables = append(f.variables, "SLIPWAY_WEBDRIVER_URL="+hub.url, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true")
	members, err := f.ready(ctx, "api", "worker", "scheduler", "api", "worker", "scheduler")
	if err != nil {
		return err
	}
	load := &chaosLoad{bases: []string{members[0].base(), members[3].base()}, hooks: hooks}
	p := &product{dir: f.dir, base: load.bases[0], database: f.postgres.URL()}
	for _, name := range []string{"first", "second"} {
		t, err := newTenant(ctx, p, b.program, append(os.Environ(), "SLIPWAY_DATABASE_URL="+p.database), name)
		if err != nil {
			return err
		}
		if err := load.add(ctx, t); err != nil {
			return err
		}
	}
	stop := load.start(ctx)
	kills := 0
	for end := time.Now().Add(b.Chaos); time.Now().Before(end); kills++ {
		m := members[kills%len(members)]
		m.kill()
		if err := sleep(ctx, chaosDown); err != nil {
			return err
		}
		if err := m.start(); err != nil {
			return err
		}
		if err := sleep(ctx, chaosUp); err != nil {
			return err
		}
	}
	stop()
	return load.check(ctx, f, fmt.Sprintf("kill -9 of every process in turn, %d times in %s", kills, b.Chaos))
}

// base is the address of a process that is an api.
func (m *member) base() string { return "http://127.0.0.1:" + m.port }

// openTasks are the open tasks of organizations, of a kind and state and number of attempts.
const openTasks = `select concat_ws(' ', count(*), kind, state, 'attempt', attempt, 'due in', min(extract(epoch from run_at - now()))::int, 'to',
	max(extract(epoch from run_at - now()))::int, 's', max(left(error, 60)))
	from tasks where state in ('queued', 'running') and organization_id is not null group by kind, state, attempt order by count(*) desc limit 5`

// settle waits until no task of an organization is open, for chaosSettle, and returns how
// many are, and what was open after chaosLook.
func (f *fleet) settle(ctx context.Context) (open int, early []string, err error) {
	for began := time.Now(); ; {
		if err := f.db.GetContext(ctx, &open, `select count(*) from tasks where state in ('queued', 'running') and organization_id is not null`); err != nil {
			return 0, nil, err
		}
		if open == 0 || time.Since(began) > chaosSettle {
			return open, early, nil
		}
		if early == nil && time.Since(began) > chaosLook {
			if err := f.db.SelectContext(ctx, &early, openTasks); err != nil {
				return 0, nil, err
			}
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return 0, nil, err
		}
	}
}

// check waits until no task of the organizations is open, and prints what is lost and
// what is there twice.
func (l *chaosLoad) check(ctx context.Context, f *fleet, name string) error {
	began := time.Now()
	open, waiting, err := f.settle(ctx)
	if err != nil {
		return err
	}
	settled := time.Since(began).Round(time.Second)
	var stored struct {
		Crashes  int `db:"crashes"`
		Distinct int `db:"distinct"`
		Counted  int `db:"counted"`
		Builds   int `db:"builds"`
		Dead     int `db:"dead"`
	}
	if err := f.db.GetContext(ctx, &stored, `select count(*) as crashes, count(distinct uuid) as distinct,
		(select coalesce(sum(count), 0) from crash_groups) as counted, (select count(*) from builds) as builds,
		(select count(*) from tasks where state not in ('queued', 'running', 'succeeded')) as dead from crashes where state = 'processed'`); err != nil {
		return err
	}
	var states []struct {
		State string `db:"state"`
		N     int    `db:"n"`
	}
	if err := f.db.SelectContext(ctx, &states, `select state, count(*) as n from test_runs group by state order by 1`); err != nil {
		return err
	}
	passed, runs := 0, 0
	for _, s := range states {
		runs += s.N
		if s.State == "PASSED" {
			passed = s.N
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	exact := func(what string, measured string, met bool) {
		abuseRow(name, what, "", measured, "none lost, none twice", met)
	}
	exact("crashes answered with 200; stored, counted by their groups", fmt.Sprintf("%d; %d, %d", l.crashes, stored.Crashes, stored.Counted),
		stored.Crashes == l.crashes && stored.Distinct == l.crashes && stored.Counted == l.crashes)
	exact("builds answered with 200; stored, events of them delivered", fmt.Sprintf("%d; %d, %d", l.uploads, stored.Builds, l.hooks.distinct()),
		stored.Builds == l.uploads && l.hooks.distinct() == l.uploads-l.before)
	exact("runs answered with success; stored, passed", fmt.Sprintf("%d; %d, %d", l.runs, runs, passed), runs >= l.runs && passed == runs)
	exact("tasks that failed for good; still open after "+settled.String(), fmt.Sprintf("%d; %d", stored.Dead, open), stored.Dead == 0 && open == 0)
	for _, w := range waiting {
		abuseRow("", "open tasks after "+chaosLook.String(), "", oneLine(w), "", true)
	}
	abuseRow("", "requests without a response or with 503, sent again", "", fmt.Sprint(l.again), "", true)
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
	before  int // builds from before the webhooks

	mu                            sync.Mutex
	crashes, uploads, runs, again int
	wrong                         error
}

// add has an organization take part.
func (l *chaosLoad) add(ctx context.Context, t *tenant) error {
	l.tenants = append(l.tenants, t)
	l.before++
	l.uploads++
	return t.v3(ctx, "POST", "/webhooks", map[string]any{"name": "hook", "url": l.hooks.base + "/hook", "actions": []string{"upload"}}, nil)
}
