//go:build soak

package processtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// TestRedisFailover loads all tiers against Redis servers with a password that other
// servers watch, and kills the one with the data: the tiers go on with its replica, and
// every report is processed once. A cluster has no replica here: it is only used.
func TestRedisFailover(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Sentinels", "cluster"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g *servicetest.RedisGroup
			var address string
			if name == "cluster" {
				g = servicetest.RedisCluster(t, servicetest.RedisGroupConfig{})
				address = "redis-cluster://:" + g.Password + "@" + strings.Join(g.Addresses, ",")
			} else {
				g = servicetest.RedisSentinels(t, servicetest.RedisGroupConfig{})
				address = "redis-sentinel://slipway:" + g.Password + "@" + strings.Join(g.Addresses, ",") + "?master=main"
			}
			c := newCluster(t, servicetest.DatabaseURL(t), address)
			c.variables = append(c.variables, "SLIPWAY_REDIS_SENTINEL_PASSWORD="+g.SentinelPassword,
				fmt.Sprintf("SLIPWAY_DATABASE_CONNS=%d", connections))
			port := quietPort(t)
			api, _ := c.api(t, port)
			worker, _ := c.tier(t, "worker")
			scheduler, _ := c.tier(t, "scheduler")

			l := startLoad([]string{fmt.Sprintf("http://127.0.0.1:%d", port)}, c.token, 1, chaosClients)
			eventually(t, "load is processed", func() bool { return c.count(t, `select count(*) from crashes where state = 'processed'`) > 100 })
			if name != "cluster" {
				former := master(t, g)
				g.Kill(t, former)
				eventually(t, "the replica took over", func() bool { return master(t, g) != former })
			}
			require.Empty(t, crowded(t, c))
			before := c.count(t, `select count(*) from crashes where state = 'processed'`)
			eventually(t, "load is processed again", func() bool {
				return c.count(t, `select count(*) from crashes where state = 'processed'`) > before+400
			})
			l.end()
			eventually(t, "all tasks end", func() bool {
				return c.count(t, `select count(*) from tasks where state in ('queued', 'running')`) == 0
			})
			(&chaos{t: t, c: c}).audit(l)
			for _, p := range []*process{api, worker, scheduler} {
				for _, value := range []string{g.Password, g.SentinelPassword} {
					require.False(t, value != "" && strings.Contains(p.stderr.String(), value), "a password is in the log of %v", p.cmd.Args[1:])
				}
			}
		})
	}
}

// connections is the least that a process can be restricted to.
const connections = 12

// crowded returns the processes that have more connections to the database than they may.
func crowded(t *testing.T, c *cluster) []string {
	t.Helper()
	var names []string
	require.NoError(t, c.db.SelectContext(t.Context(), &names, `
		select split_part(application_name, '-', 2) from pg_stat_activity
		where datname = current_database() and application_name like 'slipway-%'
		group by 1 having count(*) > $1`, connections))
	require.Positive(t, c.count(t, `select count(*) from pg_stat_activity where application_name like 'slipway-api%'`))
	return names
}

// master is the address that the first Sentinel which responds has for the data.
func master(t *testing.T, g *servicetest.RedisGroup) string {
	t.Helper()
	for _, a := range g.Addresses {
		c := redis.NewSentinelClient(&redis.Options{Addr: a, Password: g.SentinelPassword, DialTimeout: time.Second})
		pair, err := c.GetMasterAddrByName(t.Context(), "main").Result()
		c.Close()
		if err == nil {
			return pair[0] + ":" + pair[1]
		}
	}
	t.Fatal("no Sentinel responds")
	return ""
}
