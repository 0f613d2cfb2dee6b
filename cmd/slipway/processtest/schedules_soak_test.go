//go:build soak

package processtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

const (
	// killedSchedules are due one after another within killedTime.
	killedSchedules = 160
	killedTime      = 12 * time.Second
)

// TestSchedulersKilled kills schedulers, and a worker, while schedules come due,
// and then counts: each has fired for its time, and once.
func TestSchedulersKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	// Without the queue of runs, so that no browser is needed.
	c.variables = append(c.variables, "SLIPWAY_WORKER_POOLS=2:schedule=1;4:critical=6,default=3;1:bulk=1")
	c.addSuites(t, 8)
	var fleet []*member
	for _, tier := range []string{"scheduler", "scheduler", "scheduler", "worker", "worker"} {
		p, _ := c.tier(t, tier)
		fleet = append(fleet, &member{tier: tier, running: p})
	}
	var want []due
	require.NoError(t, c.db.SelectContext(t.Context(), &want, addDueSchedules, killedSchedules, int(killedTime.Seconds())))
	require.Len(t, want, killedSchedules)

	// Two schedulers are killed, then a worker, then schedulers again.
	last := want[len(want)-1].At
	for i := 0; time.Until(last) > 0; i++ {
		time.Sleep(min(3*time.Second, max(0, time.Until(last))))
		m := fleet[[]int{0, 1, 3, 2}[i%4]]
		m.running.kill()
		m.running = start(t, c.variables, m.tier)
	}
	eventually(t, "every schedule has fired", func() bool {
		return c.count(t, `select count(*) from test_schedule_firings`) >= killedSchedules
	})
	c.checkFires(t, want)
	for _, m := range fleet {
		select {
		case <-m.running.ended:
			t.Errorf("%s ended by itself: %v", m.tier, m.running.err)
		default:
		}
	}
}
