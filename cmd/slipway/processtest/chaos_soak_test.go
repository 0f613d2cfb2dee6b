//go:build soak

package processtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

const (
	// chaosRound is one time through all that is done to the services. The chaos lasts for
	// one round, or as long as soakVariable says: then round follows round.
	chaosRound   = 22 * time.Second
	soakVariable = "TEST_SOAK"
	chaosClients = 16
	// backlogTime is how long the work that is left may take after the load, and the length
	// of the load besides: a task that failed while the database was away waits for its
	// backoff, and what is accepted goes before what is processed.
	backlogTime = 60 * time.Second
)

// chaosLength is how long the chaos lasts.
func chaosLength(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(soakVariable)
	if text == "" {
		return chaosRound
	}
	length, err := time.ParseDuration(text)
	require.NoError(t, err, soakVariable)
	require.GreaterOrEqual(t, length, chaosRound, soakVariable)
	return length
}

// chaos breaks a cluster under load. All choices come from its seed; what the
// system makes of them is not repeatable.
type chaos struct {
	t      *testing.T
	c      *cluster
	s      *restartable
	random *rand.Rand
	fleet  []*member
	length time.Duration
	began  time.Time
	kills  map[string]int

	mu       sync.Mutex
	problems []error
}

// member is a place in the fleet, filled again after each kill.
type member struct {
	tier      string
	variables []string
	running   *process
}

// TestChaos kills processes and services under load and then counts: every
// report that was answered with 200 is there once, and no count is off.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed := uint64(20260318)
	if text := os.Getenv("SLIPWAY_TEST_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	s := startServices(t)
	require.Zero(t, command(t, []string{"SLIPWAY_DATABASE_URL=" + s.postgres.URL()}, "migrate").code)
	c := newCluster(t, s.postgres.URL(), s.redis.URL())
	x := &chaos{t: t, c: c, s: s, random: rand.New(rand.NewPCG(seed, 0)), length: chaosLength(t), kills: map[string]int{}}
	var bases []string
	for range 2 {
		port := quietPort(t)
		bases = append(bases, fmt.Sprintf("http://127.0.0.1:%d", port))
		p, _ := c.api(t, port)
		x.fleet = append(x.fleet, &member{"api", []string{fmt.Sprintf("SLIPWAY_LISTEN=127.0.0.1:%d", port)}, p})
		for _, tier := range []string{"worker", "scheduler"} {
			p, _ := c.tier(t, tier)
			x.fleet = append(x.fleet, &member{tier, nil, p})
		}
	}

	l := startLoad(bases, c.token, seed, chaosClients)
	x.began = time.Now()
	x.run()
	l.end()
	require.Empty(t, x.problems)
	t.Logf("seed %d: kills %v; reports %d, sent again %d times (%d times 503, %d broken connections), accepted %d, slowest %s",
		seed, x.kills, l.sent.Load(), l.resent.Load(), l.refused.Load(), l.broken.Load(), len(l.accepted), l.slowest.Round(time.Millisecond))

	drained := time.Now()
	for c.count(t, `select count(*) from tasks where state in ('queued', 'running')`) > 0 {
		if time.Since(drained) > backlogTime+x.length {
			t.Fatalf("tasks are left open: %s", x.open())
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("drained %s after the load", time.Since(drained).Round(10*time.Millisecond))
	x.audit(l)
}

// run carries out the plan: the services at fixed times of each round, processes in between.
func (x *chaos) run() {
	plan := []struct {
		at   time.Duration
		name string
		do   func(context.Context) error
	}{
		{3 * time.Second, "flushall", x.flush},
		{6 * time.Second, "redis stop and start", func(ctx context.Context) error {
			if err := x.s.redis.Stop(ctx); err != nil {
				return err
			}
			return x.s.startRedis(ctx)
		}},
		{9 * time.Second, "postgresql immediate stop", func(ctx context.Context) error {
			return x.crash(ctx, x.s.postgres.PID(), syscall.SIGQUIT, x.s.postgres.Done(), x.s.startPostgres)
		}},
		{13 * time.Second, "redis kill -9", func(ctx context.Context) error {
			return x.crash(ctx, x.s.redis.PID(), syscall.SIGKILL, x.s.redis.Done(), x.s.startRedis)
		}},
		{15 * time.Second, "flushall", x.flush},
		{17 * time.Second, "postgresql kill -9", func(ctx context.Context) error {
			return x.crash(ctx, x.s.postgres.PID(), syscall.SIGKILL, x.s.postgres.Done(), x.s.startPostgres)
		}},
	}
	ctx, cancel := context.WithTimeout(x.t.Context(), x.length+chaosRound)
	defer cancel()
	var done sync.WaitGroup
	done.Go(func() {
		for round := time.Duration(0); round+chaosRound <= x.length; round += chaosRound {
			for _, step := range plan {
				time.Sleep(time.Until(x.began.Add(round + step.at)))
				began := time.Now()
				if err := step.do(ctx); err != nil {
					x.note(fmt.Errorf("%s: %w", step.name, err))
				}
				x.t.Logf("%5.1f s: %s, took %s", (round + step.at).Seconds(), step.name, time.Since(began).Round(time.Millisecond))
			}
		}
	})
	for time.Since(x.began) < x.length {
		time.Sleep(time.Duration(300+x.random.IntN(700)) * time.Millisecond)
		m := x.fleet[x.random.IntN(len(x.fleet))]
		x.kills[m.tier]++
		m.running.kill()
		time.Sleep(time.Duration(x.random.IntN(400)) * time.Millisecond)
		m.running = start(x.t, append(m.variables, x.c.variables...), m.tier)
	}
	done.Wait()
	// A tier that found its database away ends only when it was killed: all
	// that were started must still run.
	for _, m := range x.fleet {
		select {
		case <-m.running.ended:
			x.note(fmt.Errorf("%s ended by itself: %w\n%s", m.tier, m.running.err, m.running.stderr))
		default:
		}
	}
}

func (x *chaos) flush(ctx context.Context) error {
	opt, err := redis.ParseURL(x.s.redis.URL())
	if err != nil {
		return err
	}
	client := redis.NewClient(opt)
	defer client.Close()
	return client.FlushAll(ctx).Err()
}

// crash ends a server with a signal and starts it again on its data.
func (x *chaos) crash(ctx context.Context, pid int, s syscall.Signal, gone <-chan struct{}, again func(context.Context) error) error {
	if err := syscall.Kill(pid, s); err != nil {
		return err
	}
	select {
	case <-gone:
	case <-ctx.Done():
		return ctx.Err()
	}
	return again(ctx)
}

func (x *chaos) note(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.problems = append(x.problems, err)
}

// open describes the tasks that have not ended.
func (x *chaos) open() string {
	var rows []string
	err := x.c.db.SelectContext(x.t.Context(), &rows, `
		select concat_ws(' ', state, kind, 'attempt', attempt, 'losses', losses, 'due', run_at - now(),
			'heartbeat', heartbeat_at - now(), error)
		from tasks where state in ('queued', 'running') order by id limit 5`)
	return fmt.Sprint(rows, err)
}

// audit compares the database with what the clients were told.
func (x *chaos) audit(l *load) {
	t, c := x.t, x.c
	require.Empty(t, l.violations, "answers that no client should see")
	require.Empty(t, l.unknown, "reports whose fate the clients do not know")
	require.Greater(t, len(l.accepted), 500, "there was load")
	require.EqualValues(t, len(l.accepted), l.sent.Load())

	var rows []struct {
		UUID  uuid.UUID `db:"uuid"`
		Class string    `db:"class"`
		State string    `db:"state"`
		N     int       `db:"n"`
	}
	require.NoError(t, c.db.SelectContext(t.Context(), &rows, `
		select uuid, min(attributes->>'load') as class, min(state) as state, count(*) as n from crashes group by uuid`))
	have := map[uuid.UUID]string{}
	for _, r := range rows {
		require.Equal(t, 1, r.N, "report %s is there %d times", r.UUID, r.N)
		require.Equal(t, "processed", r.State)
		have[r.UUID] = r.Class
	}
	requireSame(t, l.accepted, have)
	require.Zero(t, c.count(t, `select count(*) from tasks where state <> 'succeeded'`), "dead or open tasks: %s", x.open())
	require.Equal(t, len(have), c.count(t, `select count(*) from crash_uuids`))
	require.Zero(t, c.count(t, `select count(*) from crash_uuids where conflict`))

	expected := map[string]int{}
	for _, class := range l.accepted {
		expected[class]++
	}
	require.Len(t, expected, len(classes))
	require.Equal(t, len(expected), c.count(t, `select count(*) from crash_groups`))
	for class, n := range expected {
		for what, query := range map[string]string{
			"group":    `select count from crash_groups where classifier = $1`,
			"crashes":  `select count(*) from crashes c join crash_group_keys k on k.id = c.key_id join crash_groups g on g.id = k.group_id where g.classifier = $1`,
			"days":     `select sum(d.count) from crash_group_days d join crash_groups g on g.id = d.group_id where g.classifier = $1`,
			"versions": `select sum(v.count) from crash_group_values v join crash_groups g on g.id = v.group_id where v.kind = 'version' and g.classifier = $1`,
			"hosts":    `select sum(v.count) from crash_group_values v join crash_groups g on g.id = v.group_id where v.kind = 'host' and g.classifier = $1`,
		} {
			require.Equal(t, n, c.count(t, query, class), "%s of %s", what, class)
		}
	}
}

// requireSame names some of the reports that only one side has: after a long chaos there are
// too many to print all.
func requireSame(t *testing.T, accepted, have map[uuid.UUID]string) {
	t.Helper()
	const shown = 5
	var wrong []string
	for id, class := range accepted {
		if have[id] != class && len(wrong) < shown {
			wrong = append(wrong, fmt.Sprintf("accepted %s %s, there is %q", id, class, have[id]))
		}
	}
	for id, class := range have {
		if accepted[id] == "" && len(wrong) < 2*shown {
			wrong = append(wrong, fmt.Sprintf("nobody sent %s %s", id, class))
		}
	}
	require.Empty(t, wrong, "each accepted report is processed once, and no other is there: %d accepted, %d there", len(accepted), len(have))
}

// restartable has PostgreSQL and Redis that keep their data and can be restarted.
type restartable struct {
	folder   *localservice.Folder
	postgres *localservice.Server
	redis    *localservice.Server
}

// startServices starts them on ports that nobody takes while they are down:
// clients have the addresses.
func startServices(t *testing.T) *restartable {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"postgres", "redis"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".port"), []byte(strconv.Itoa(quietPort(t))), 0o600))
	}
	folder, err := localservice.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close(context.Background()) })
	s := &restartable{folder: folder}
	require.NoError(t, s.startPostgres(t.Context()))
	require.NoError(t, s.startRedis(t.Context()))
	for _, server := range []*localservice.Server{s.postgres, s.redis} {
		_, port, err := net.SplitHostPort(server.Addr())
		require.NoError(t, err)
		number, err := strconv.Atoi(port)
		require.NoError(t, err)
		require.Less(t, number, 30000, "the port is one that the system hands out")
	}
	return s
}

func (s *restartable) startPostgres(ctx context.Context) error {
	server, err := s.folder.Postgres(ctx, localservice.PostgresConfig{SharedBuffersMB: 64})
	return s.keep(&s.postgres, server, err)
}

func (s *restartable) startRedis(ctx context.Context) error {
	server, err := s.folder.Redis(ctx, localservice.RedisConfig{})
	return s.keep(&s.redis, server, err)
}

func (s *restartable) keep(to **localservice.Server, server *localservice.Server, err error) error {
	if err != nil {
		return err
	}
	if former := *to; former != nil && former.Addr() != server.Addr() {
		return fmt.Errorf("%s moved from %s to %s", server, former.Addr(), server.Addr())
	}
	*to = server
	return nil
}
