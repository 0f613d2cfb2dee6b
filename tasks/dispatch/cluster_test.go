package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
)

// A client goes on with the replica that took a killed master's place, and the check fails
// while nobody has that part. The driver alone looks at the cluster again after a minute.
func TestClusterViewIsRenewed(t *testing.T) {
	t.Parallel()
	g := servicetest.RedisCluster(t, servicetest.RedisGroupConfig{Replicas: true, NoFailover: true})
	r, err := OpenRedis(RedisConfig{URL: "redis-cluster://:" + g.Password + "@" + strings.Join(g.Addresses[:3], ",")})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Check(t.Context()))
	deliver(t, r)

	cluster := r.client.(*redis.ClusterClient)
	for _, queue := range []string{tasks.Default, tasks.Crash} {
		master, err := cluster.MasterForKey(t.Context(), pendingKey(queue))
		require.NoError(t, err)
		former := master.Options().Addr
		g.Kill(t, former)
		require.ErrorIs(t, r.enqueue(t.Context(), []Delivery{{Kind: "crash:purge", Queue: queue}}), ErrUnavailable)
		require.ErrorIs(t, r.Check(t.Context()), ErrUnavailable, "a part is dead")
		replica := g.Replica(former)
		if replica == "" { // it was one itself
			break
		}
		g.Promote(t, replica)
		// Below the driver's own minute.
		require.Eventually(t, func() bool {
			return r.enqueue(t.Context(), []Delivery{{Kind: "crash:purge", Queue: queue}}) == nil
		}, 40*time.Second, 20*time.Millisecond)
		require.Eventually(t, func() bool { return r.Check(t.Context()) == nil }, 40*time.Second, 20*time.Millisecond)
	}
}

// The five seconds of docs/deployment.md, from the moment at which the cluster is whole: the
// relay has just failed, and asked for the view of before; its next command meets the dead
// server and has the view renewed; the one after that succeeds. A command whose tries need
// no more than its time sees the view that its first try had renewed.
func TestClusterReturnsInTime(t *testing.T) {
	t.Parallel()
	const promised = 5 * time.Second
	require.Less(t, RelayWait+clusterCommand+RelayWait, promised)
	require.Less(t, viewAge+clusterRead, promised)
	require.LessOrEqual(t, clusterDial, clusterRead)
	require.LessOrEqual(t, clusterRead, clusterCommand, "a server that hangs is left within one command")
	a, err := parseAddress(RedisConfig{URL: "redis-cluster://127.0.0.1:1"})
	require.NoError(t, err)
	client, ok := a.client().(*redis.ClusterClient)
	require.True(t, ok)
	defer client.Close()
	of := client.Options()
	require.Equal(t, []time.Duration{viewAge, clusterDial, clusterRead, clusterRead},
		[]time.Duration{of.ClusterStateReloadInterval, of.DialTimeout, of.ReadTimeout, of.WriteTimeout})
	err = viewHook{client}.do(t.Context(), func(ctx context.Context) error {
		end, ok := ctx.Deadline()
		require.True(t, ok)
		require.LessOrEqual(t, time.Until(end), clusterCommand)
		return nil
	})
	require.NoError(t, err)
}

func TestWholeCluster(t *testing.T) {
	t.Parallel()
	whole := "cluster_enabled:1\r\ncluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\ncluster_slots_fail:0\r\n"
	require.NoError(t, wholeCluster(whole))
	for from, to := range map[string]string{"cluster_state:ok": "cluster_state:fail", "assigned:16384": "assigned:10923",
		"slots_fail:0": "slots_fail:5461"} {
		err := unavailable(wholeCluster(strings.Replace(whole, from, to, 1)))
		require.ErrorIs(t, err, ErrUnavailable, to)
		var why *UnavailableError
		require.ErrorAs(t, err, &why)
		require.Equal(t, "its cluster is down", why.Reason())
	}
	require.Error(t, wholeCluster(""))
}

// asynq passes on the text of an error alone: the mark is found in it, and so is the reason.
func TestErrorsByWayOfAsynq(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		"dial tcp 127.0.0.1:7000: connect: connection refused": "connection refused",
		"read tcp 127.0.0.1:1->127.0.0.1:7000: i/o timeout":    "timeout",
		"context deadline exceeded":                            "timeout",
		"CLUSTERDOWN The cluster is down":                      "its cluster is down",
		"MOVED 866 127.0.0.1:7003":                             "its cluster is moving data",
		"EOF":                                                  "not reachable",
	} {
		marked := &UnavailableError{Err: errors.New(text)}
		passed := FromAsynq(fmt.Errorf("UNKNOWN: redis eval error: %v", marked)) //nolint:errorlint // asynq does not wrap
		require.ErrorIs(t, passed, ErrUnavailable)
		var why *UnavailableError
		require.ErrorAs(t, passed, &why)
		require.Equal(t, reason, why.Reason(), text)
		require.Equal(t, 1, strings.Count(passed.Error(), ErrUnavailable.Error()))
	}
	require.NoError(t, FromAsynq(nil))
	require.NotErrorIs(t, FromAsynq(asynq.ErrDuplicateTask), ErrUnavailable)
}

// Lines of asynq about an outage have the error, others the dependency, and a panic of a
// handler neither: it must never be held back.
func TestAsynqLog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Dequeue error: redis eval error: redis not available: EOF": `msg=asynq error="Dequeue error: redis eval error: redis not ` +
			`available: EOF"`,
		"Lease reset failed": `msg=asynq message="Lease reset failed" dependency=redis`,
		"recovering from panic. See the stack trace below for details:\n": `details:\n"`,
	} {
		var out bytes.Buffer
		log := AsynqLog{slog.New(slog.NewTextHandler(&out, nil))}
		log.Error(text)
		require.Contains(t, out.String(), "level=ERROR "+strings.TrimPrefix(want, `details:\n"`))
		require.True(t, strings.HasSuffix(out.String(), want+"\n"), out.String())
		out.Reset()
		log.Warn(text)
		require.Contains(t, out.String(), "level=WARN")
	}
}
