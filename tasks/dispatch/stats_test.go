package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// quiet keeps asynq's shutdown lines out of the test's output.
type quiet struct{}

func (q quiet) Debug(...any) {}
func (q quiet) Info(...any)  {}
func (q quiet) Warn(...any)  {}
func (q quiet) Error(...any) {}
func (q quiet) Fatal(...any) {}

// TestDepthsAgreeWithAsynq brings deliveries into every state through asynq itself
// and holds our counts against its Inspector: the keys are the module's.
func TestDepthsAgreeWithAsynq(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	defer r.Close()

	depths, err := r.Depths(ctx)
	require.NoError(t, err)
	require.Len(t, depths, 5*len(tasks.Queues()), "an empty Redis gives zeros, not holes")
	for _, d := range depths {
		require.Zero(t, d.Count, d)
	}

	client := asynq.NewClient(r.Options())
	defer client.Close()
	inspector := asynq.NewInspector(r.Options())
	defer inspector.Close()
	put := func(kind string, opts ...asynq.Option) *asynq.TaskInfo {
		info, err := client.EnqueueContext(ctx, asynq.NewTask(kind, nil),
			append([]asynq.Option{asynq.Queue(tasks.Crash), asynq.MaxRetry(1)}, opts...)...)
		require.NoError(t, err)
		return info
	}
	put("block")
	put("fail")
	started, release := make(chan struct{}), make(chan struct{})
	server := asynq.NewServer(r.Options(), asynq.Config{
		Concurrency: 2, Queues: map[string]int{tasks.Crash: 1}, TaskCheckInterval: 10 * time.Millisecond,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour },
		Logger:         quiet{},
	})
	require.NoError(t, server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		if task.Type() == "block" {
			close(started)
			<-release
			return nil
		}
		return errors.New("fails")
	})))
	defer server.Shutdown()
	defer close(release)
	<-started
	require.Eventually(t, func() bool {
		info, err := inspector.GetQueueInfo(tasks.Crash)
		return err == nil && info.Retry == 1
	}, time.Minute, 10*time.Millisecond)
	server.Stop() // takes no more; the blocked one stays active

	put("wait")
	put("wait")
	put("wait")
	put("later", asynq.ProcessIn(time.Hour))
	put("later", asynq.ProcessIn(time.Hour))
	require.NoError(t, inspector.ArchiveTask(tasks.Crash, put("archive").ID))

	want, err := inspector.GetQueueInfo(tasks.Crash)
	require.NoError(t, err)
	got := map[string]int64{}
	depths, err = r.Depths(ctx)
	require.NoError(t, err)
	for _, d := range depths {
		if d.Queue == tasks.Crash {
			got[d.State] = d.Count
		} else {
			require.Zero(t, d.Count, d)
		}
	}
	require.Equal(t, map[string]int64{"pending": 3, "active": 1, "scheduled": 2, "retry": 1, "archived": 1}, got)
	require.Equal(t, map[string]int64{"pending": int64(want.Pending), "active": int64(want.Active),
		"scheduled": int64(want.Scheduled), "retry": int64(want.Retry), "archived": int64(want.Archived)}, got)

	require.NoError(t, inspector.PauseQueue(tasks.Crash))
	want, err = inspector.GetQueueInfo(tasks.Crash)
	require.NoError(t, err)
	standings, err := r.Standings(ctx)
	require.NoError(t, err)
	require.Len(t, standings, len(tasks.Queues()))
	for _, s := range standings {
		if s.Queue != tasks.Crash {
			require.Equal(t, dispatch.Standing{Queue: s.Queue}, s)
			continue
		}
		require.GreaterOrEqual(t, s.Latency, want.Latency, "it was read later")
		require.Less(t, s.Latency, want.Latency+time.Minute)
		s.Latency = 0
		require.Equal(t, dispatch.Standing{Queue: tasks.Crash, Pending: 3, Active: 1, Scheduled: 2, Retry: 1, Archived: 1, Paused: true}, s)
		require.EqualValues(t, want.Size, s.Size())
	}
}

func TestDepthsOfARedisThatIsDown(t *testing.T) {
	t.Parallel()
	r, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: "redis://:secret@127.0.0.1:1/0"})
	require.NoError(t, err)
	defer r.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	depths, err := r.Depths(ctx)
	require.Error(t, err)
	require.Nil(t, depths)
	require.NotContains(t, err.Error(), "secret")
	standings, err := r.Standings(ctx)
	require.Error(t, err)
	require.Nil(t, standings)
	require.NotContains(t, err.Error(), "secret")
}
