//go:build soak

package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

const (
	// clusterReturn is what it may take until a client goes on after Redis says that the
	// cluster is whole again, as docs/deployment.md promises. It takes half a second on an
	// idle machine; with a view of the cluster that only the driver's clock renews, it took
	// 29 seconds and more.
	clusterReturn = 5 * time.Second
	// outageLines bounds the warnings and errors of one process in all three outages.
	outageLines = 15
)

// TestRedisClusterFailover loads all tiers against a cluster of three masters and three
// replicas, and kills two masters, the one of the crash queue first. Redis replaces each;
// then work goes on, and every report is processed once. At last it kills a replacement,
// for which there is no replica: readiness says so.
func TestRedisClusterFailover(t *testing.T) {
	t.Parallel()
	g := servicetest.RedisCluster(t, servicetest.RedisGroupConfig{Replicas: true})
	c := newCluster(t, servicetest.DatabaseURL(t), "redis-cluster://:"+g.Password+"@"+strings.Join(g.Addresses, ","))
	port := quietPort(t)
	api, _ := c.api(t, port)
	worker, workerAt := c.tier(t, "worker")
	scheduler, schedulerAt := c.tier(t, "scheduler")
	bases := []string{fmt.Sprintf("http://127.0.0.1:%d", port), workerAt, schedulerAt}
	processed := func() int { return c.count(t, `select count(*) from crashes where state = 'processed'`) }

	client, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: "redis-cluster://:" + g.Password + "@" + strings.Join(g.Addresses, ",")})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Check(t.Context()))

	l := startLoad(bases[:1], c.token, 1, chaosClients)
	eventually(t, "load is processed", func() bool { return processed() > 100 })
	var dead []string
	for _, queue := range []string{tasks.Crash, otherPart(t, g)} {
		former := masterOf(t, g, queue, dead)
		require.NotContains(t, dead, former)
		g.Kill(t, former)
		dead = append(dead, former)
		// Its failing commands are what renews the view of a client that is in use.
		eventually(t, "Redis replaced "+former, func() bool {
			_ = client.Check(t.Context())
			return whole(t, g, dead)
		})
		replaced, before := time.Now(), processed()
		within(t, clusterReturn, "a client writes again", func() bool { return client.Check(t.Context()) == nil })
		within(t, time.Until(replaced.Add(clusterReturn)), "work goes on", func() bool { return processed() > before })
		t.Logf("work goes on %s after Redis had replaced %s", time.Since(replaced).Round(time.Millisecond), former)
		eventually(t, "load is processed again", func() bool { return processed() > before+400 })
		for _, base := range bases {
			eventually(t, "Redis is well: "+base, func() bool { return redisStatus(t, base) == "ok" })
		}
	}
	l.end()
	eventually(t, "all tasks end", func() bool {
		return c.count(t, `select count(*) from tasks where state in ('queued', 'running')`) == 0
	})
	(&chaos{t: t, c: c}).audit(l)

	g.Kill(t, masterOf(t, g, tasks.Crash, dead))
	for _, base := range bases {
		eventually(t, "a part is dead: "+base, func() bool { return redisStatus(t, base) == "failed" })
	}
	for _, p := range []*process{api, worker, scheduler} {
		var lines []string
		for line := range strings.Lines(p.stderr.String()) {
			if strings.Contains(line, `"task of a lost worker rescued"`) || strings.Contains(line, `"outcome":"stale"`) {
				continue // a worker beside other work loses its heartbeat for a second: a line for each task
			}
			if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
				lines = append(lines, line)
			}
		}
		require.LessOrEqual(t, len(lines), outageLines, "%v: %s", p.cmd.Args[1:], strings.Join(lines[:min(len(lines), 40)], ""))
		require.NotContains(t, p.stderr.String(), g.Password)
	}
}

// masterOf returns the master of the part that has the keys of a queue.
func masterOf(t *testing.T, g *servicetest.RedisGroup, queue string, dead []string) string {
	t.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: living(g, dead), Password: g.Password})
	defer client.Close()
	master, err := client.MasterForKey(t.Context(), "asynq:{"+queue+"}:pending")
	require.NoError(t, err)
	return master.Options().Addr
}

// living returns the addresses of the servers that were not killed.
func living(g *servicetest.RedisGroup, dead []string) []string {
	return slices.DeleteFunc(slices.Clone(g.Addresses), func(a string) bool { return slices.Contains(dead, a) })
}

// otherPart returns a queue whose keys are not where those of the crash queue are.
func otherPart(t *testing.T, g *servicetest.RedisGroup) string {
	t.Helper()
	for _, queue := range tasks.Queues() {
		if masterOf(t, g, queue, nil) != masterOf(t, g, tasks.Crash, nil) {
			return queue
		}
	}
	t.Fatal("one server has all queues")
	return ""
}

// whole reports whether each server that lives says that the cluster is, and none takes a
// dead one for the master of a part.
func whole(t *testing.T, g *servicetest.RedisGroup, dead []string) bool {
	t.Helper()
	for _, a := range living(g, dead) {
		client := redis.NewClient(&redis.Options{Addr: a, Password: g.Password})
		info, err := client.ClusterInfo(t.Context()).Result()
		nodes, nodesErr := client.ClusterNodes(t.Context()).Result()
		client.Close()
		if err != nil || nodesErr != nil || !strings.Contains(info, "cluster_state:ok") {
			return false
		}
		for line := range strings.Lines(nodes) {
			const untilSlots = 8 // the fields of a server before its slots
			fields := strings.Fields(line)
			address, _, _ := strings.Cut(fields[1], "@")
			if slices.Contains(dead, address) && len(fields) > untilSlots {
				return false
			}
		}
	}
	return true
}

// redisStatus is what /readyz of a process says of Redis.
func redisStatus(t *testing.T, base string) string {
	t.Helper()
	res, err := http.Get(base + "/readyz")
	require.NoError(t, err)
	defer res.Body.Close()
	var doc struct {
		Checks map[string]struct {
			Status string `json:"status"`
		} `json:"checks"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&doc))
	return doc.Checks["redis"].Status
}
