package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/tasks"
)

// A client of a cluster has a view of it: which server has which part of the keys. The
// driver renews it when a server says that a key has moved. A server that was killed says
// nothing: with the view of before, every command goes to its address until the driver's
// own clock has run out, a minute later. So here the view is renewed after each command
// that found a server away, and never gets older than viewAge.
const (
	// viewAge costs one CLUSTER SLOTS for each client that is in use.
	viewAge = 2 * time.Second
	// clusterDial, clusterRead and clusterCommand bound the attempt to connect to one
	// server, the wait for its response, and a command with all its tries: a loop that
	// waits for a server that hangs looks at the view again within seconds. Twice the
	// relay's pause and one command are less than the five seconds that the documents promise.
	clusterDial    = time.Second
	clusterRead    = 2 * time.Second
	clusterCommand = 2500 * time.Millisecond
)

// clusterClient returns a new client of the cluster.
func (a *address) clusterClient(o redis.UniversalOptions) *redis.ClusterClient {
	of := o.Cluster()
	of.DialTimeout, of.ReadTimeout, of.WriteTimeout = clusterDial, clusterRead, clusterRead
	of.ClusterStateReloadInterval = viewAge
	client := redis.NewClusterClient(of)
	client.AddHook(viewHook{client})
	return client
}

// viewHook bounds each command, and renews the view after one that could not be served. The
// client does so once at a time, and waits a little in between, however many commands fail.
type viewHook struct{ client *redis.ClusterClient }

// DialHook implements redis.Hook.
func (viewHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h viewHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.do(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h viewHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return h.do(ctx, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

func (h viewHook) do(ctx context.Context, command func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, clusterCommand)
	defer cancel()
	err := command(bounded)
	if errors.Is(unavailable(err), ErrUnavailable) {
		h.client.ReloadState(ctx)
	}
	return err
}

// checkCluster returns nil when each master of the cluster responds, all of them together
// have all slots, and those that the queues need take a value. A cluster of which a third is
// dead serves the keys of the other two thirds.
func checkCluster(ctx context.Context, client *redis.ClusterClient) error {
	err := client.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		if err := checkMaster(ctx, master); err != nil {
			return fmt.Errorf("%s: %w", master.Options().Addr, unavailable(err))
		}
		return nil
	})
	if err != nil {
		return unavailable(err)
	}
	pipe := client.Pipeline()
	pipe.Set(ctx, checkKey, "1", checkTTL)
	for _, queue := range tasks.Queues() {
		pipe.Set(ctx, checkKey+":{"+queue+"}", "1", checkTTL)
	}
	_, err = pipe.Exec(ctx)
	return err
}

func checkMaster(ctx context.Context, master *redis.Client) error {
	info, err := master.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	return wholeCluster(info)
}

// wholeCluster reads what CLUSTER INFO says of the slots.
func wholeCluster(info string) error {
	for _, want := range []string{"cluster_state:ok", "cluster_slots_assigned:16384", "cluster_slots_fail:0"} {
		if !strings.Contains(info, want+"\r\n") {
			name, _, _ := strings.Cut(want, ":")
			_, rest, _ := strings.Cut(info, name+":")
			value, _, _ := strings.Cut(rest, "\r\n")
			return fmt.Errorf("CLUSTERDOWN a part of the cluster is not served: %s is %q", name, value)
		}
	}
	return nil
}
