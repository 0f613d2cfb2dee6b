package servicetest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// startMember starts one server of a cluster.
func (g *RedisGroup) startMember(t testing.TB, config RedisGroupConfig) string {
	t.Helper()
	text := "requirepass " + g.Password + "\nmasterauth " + g.Password +
		"\ncluster-enabled yes\ncluster-node-timeout " + config.downAfter(2000) +
		"\ncluster-require-full-coverage yes\ncluster-port " + strconv.Itoa(freePort(t)) + "\n"
	if config.NoFailover {
		text += "cluster-replica-no-failover yes\n"
	}
	if config.TLS {
		text += "tls-cluster yes\ntls-replication yes\n"
	}
	return g.start(t, text, config.TLS)
}

// replicate starts a replica for each server of a cluster.
func (g *RedisGroup) replicate(t testing.TB, config RedisGroupConfig) {
	t.Helper()
	masters := g.Addresses
	g.replicas = map[string]string{}
	for _, master := range masters {
		replica := g.startMember(t, config)
		g.replicas[master] = replica
		g.Addresses = append(g.Addresses[:len(g.Addresses):len(g.Addresses)], replica)
		host, port, _ := net.SplitHostPort(replica)
		g.do(t, config, masters[0], "cluster", "meet", host, port, strings.TrimSpace(g.setting(replica, "cluster-port")))
	}
	g.awaitCluster(t, config)
	for master, replica := range g.replicas {
		id := g.do(t, config, master, "cluster", "myid")
		g.await(t, "a replica knows its master", func(ctx context.Context) error {
			c := redis.NewClient(g.options(replica, "", g.Password, config.TLS))
			defer c.Close()
			return c.ClusterReplicate(ctx, fmt.Sprint(id)).Err()
		})
	}
	g.await(t, "the replicas have the data", func(ctx context.Context) error {
		for _, replica := range g.replicas {
			c := redis.NewClient(g.options(replica, "", g.Password, config.TLS))
			info, err := c.Info(ctx, "replication").Result()
			c.Close()
			if err != nil {
				return err
			}
			if !strings.Contains(info, "master_link_status:up") {
				return fmt.Errorf("%s: %s", replica, info)
			}
		}
		return nil
	})
	// Those who ask any server for the cluster's view should hear of the replicas.
	g.await(t, "all servers know the replicas", func(ctx context.Context) error {
		for _, a := range g.Addresses {
			c := redis.NewClient(g.options(a, "", g.Password, config.TLS))
			nodes, err := c.ClusterNodes(ctx).Result()
			c.Close()
			if err != nil {
				return err
			}
			if strings.Count(nodes, "slave") != len(masters) {
				return fmt.Errorf("%s does not know them: %s", a, nodes)
			}
		}
		return nil
	})
}

// Replica returns the address of the replica of a server of a cluster.
func (g *RedisGroup) Replica(master string) string { return g.replicas[master] }

// Promote makes a replica the master of its part at once, without asking the others: as if
// they had agreed already.
func (g *RedisGroup) Promote(t testing.TB, replica string) {
	t.Helper()
	g.do(t, RedisGroupConfig{}, replica, "cluster", "failover", "takeover")
}

func (g *RedisGroup) do(t testing.TB, config RedisGroupConfig, address string, args ...any) any {
	t.Helper()
	c := redis.NewClient(g.options(address, "", g.Password, config.TLS))
	defer c.Close()
	value, err := c.Do(t.Context(), args...).Result()
	if err != nil {
		t.Fatalf("redis cluster: %s: %v", address, err)
	}
	return value
}
