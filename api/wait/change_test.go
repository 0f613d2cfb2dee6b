package wait

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/live"
)

// rounds are versions that a test sets, with what was asked for.
type rounds struct {
	mu       sync.Mutex
	versions map[live.Topic]string
	asked    [][]live.Topic
	err      error
}

func (r *rounds) read(_ context.Context, topics []live.Topic) (map[live.Topic]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, topics)
	found := map[live.Topic]string{}
	for _, t := range topics {
		if version, there := r.versions[t]; there {
			found[t] = version
		}
	}
	return found, r.err
}

func (r *rounds) set(t live.Topic, version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions[t] = version
}

// runChanges runs them until the test ends, or stop is called.
func runChanges(t *testing.T, cfg ChangesConfig) (c *Changes, stop func()) {
	t.Helper()
	cfg.Interval = time.Millisecond
	c = NewChanges(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return c, stop
}

type answer struct {
	version string
	err     error
}

func ask(t *testing.T, c *Changes, organization int64, topics []live.Topic, since string) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	go func() {
		version, err := c.Wait(t.Context(), organization, topics, since, time.Minute)
		answers <- answer{version, err}
	}()
	return answers
}

func TestChanges(t *testing.T) {
	t.Parallel()
	one, other := live.Of(live.Task, "1"), live.Of(live.Run, "2")
	r := &rounds{versions: map[live.Topic]string{one: "a"}}
	c, _ := runChanges(t, ChangesConfig{Versions: r.read})
	both, single := []live.Topic{one, other}, []live.Topic{one}

	first := <-ask(t, c, 1, both, "")
	require.NoError(t, first.err)
	require.NotEmpty(t, first.version, "who knows nothing is told at once")
	again := <-ask(t, c, 1, both, "")
	require.Equal(t, first, again, "the same in every process")
	alone := <-ask(t, c, 1, single, "")
	require.NotEqual(t, first.version, alone.version)

	waitsBoth, waitsOne := ask(t, c, 1, both, first.version), ask(t, c, 1, single, alone.version)
	waiters(t, c.watcher, 2)
	r.set(other, "") // it is there now, even if its version is empty
	changed := <-waitsBoth
	require.NoError(t, changed.err)
	require.NotEqual(t, first.version, changed.version)
	waiters(t, c.watcher, 1)
	r.set(one, "b")
	require.NotEqual(t, alone.version, (<-waitsOne).version)

	// A failure ends no wait.
	r.mu.Lock()
	r.err = errors.New("the database is away")
	r.mu.Unlock()
	stuck := ask(t, c, 1, single, "older")
	waiters(t, c.watcher, 1)
	r.mu.Lock()
	n := len(r.asked)
	r.mu.Unlock()
	require.Eventually(t, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.asked) > n+2 }, time.Minute, time.Millisecond)
	require.Empty(t, stuck)
	r.mu.Lock()
	r.err = nil
	r.mu.Unlock()
	require.NotEmpty(t, (<-stuck).version)
	require.Empty(t, c.asked, "who was answered is forgotten")
}

func TestChangesEnd(t *testing.T) {
	t.Parallel()
	r := &rounds{versions: map[live.Topic]string{}}
	c, stop := runChanges(t, ChangesConfig{Versions: r.read, Most: 8})
	topics := []live.Topic{live.Of(live.Task, "1")}
	since := (<-ask(t, c, 1, topics, "")).version

	version, err := c.Wait(t.Context(), 1, topics, since, time.Millisecond)
	require.NoError(t, err, "the time is over")
	require.Empty(t, version)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Wait(gone, 1, topics, since, time.Minute)
	require.ErrorIs(t, err, context.Canceled)

	var waiting []<-chan answer
	for range 8 {
		waiting = append(waiting, ask(t, c, 1, topics, since))
	}
	waiters(t, c.watcher, 8)
	var p *respond.Problem
	_, err = c.Wait(t.Context(), 1, topics, since, time.Minute)
	require.ErrorAs(t, err, &p)
	require.Equal(t, 429, p.Status)
	stop() // a process that ends lets all go
	for _, one := range waiting {
		require.Equal(t, answer{}, <-one)
	}
	require.Empty(t, c.asked)
}

// However many pages wait, a round is one statement.
func TestChangesAskOnceForAll(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	db, err := storage.Open(storage.Config{URL: servicetest.DatabaseURL(t), WrapConnector: counter.Connector})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	id := newTask(t, ledger.New(db))
	const pages = 100
	var mu sync.Mutex
	var counting, full int
	var list bool
	c, stop := runChanges(t, ChangesConfig{Versions: func(ctx context.Context, topics []live.Topic) (map[live.Topic]string, error) {
		// The end of the test cuts no statement off: each is counted.
		versions, err := live.Versions(context.WithoutCancel(ctx), db, topics)
		mu.Lock()
		defer mu.Unlock()
		counting++
		if len(topics) == pages+1 {
			full++
		}
		list = list || slices.Contains(topics, live.Topic{Kind: live.Tasks, OrganizationID: 7})
		return versions, err
	}})
	var waiting []<-chan answer
	asked := counter.During(func() {
		for i := range pages {
			// All show the task, and each a list of its own organization.
			topics := []live.Topic{live.Of(live.Task, id.String()), {Kind: live.Tasks, OrganizationID: int64(i)}}
			since := (<-ask(t, c, int64(i), topics, "")).version
			waiting = append(waiting, ask(t, c, int64(i), topics, since))
		}
		waiters(t, c.watcher, pages)
		require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return full > 3 }, time.Minute, time.Millisecond)
		stop()
	})
	for _, one := range waiting {
		require.NoError(t, (<-one).err)
	}
	require.True(t, list)
	require.Len(t, asked.SQL, counting, "one statement a round\n%s", asked)
}

// What fails for one organization keeps no other from its news: it is asked for by itself
// until it can be read.
func TestChangesFailAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var heavy int64 = 2
	var rounds [][]live.Topic
	organizations := func(topics []live.Topic) (list []int64) {
		for _, topic := range topics {
			list = append(list, topic.OrganizationID)
		}
		return list
	}
	c := NewChanges(ChangesConfig{Versions: func(_ context.Context, topics []live.Topic) (map[live.Topic]string, error) {
		mu.Lock()
		defer mu.Unlock()
		rounds = append(rounds, topics)
		if slices.Contains(organizations(topics), heavy) || heavy < 0 {
			return nil, errors.New("too slow")
		}
		versions := map[live.Topic]string{}
		for _, topic := range topics {
			versions[topic] = "a"
		}
		return versions, nil
	}})
	var topics []live.Topic
	for organization := range int64(6) {
		topics = append(topics, live.Topic{Kind: live.Tasks, OrganizationID: organization})
	}
	versions, failed, err := c.read(t.Context(), topics)
	require.Error(t, err)
	require.Equal(t, map[int64]bool{2: true}, failed)
	require.Len(t, versions, 5)
	require.Len(t, rounds, 7, "all, and then each")

	rounds = nil
	versions, failed, err = c.read(t.Context(), topics)
	require.Error(t, err)
	require.Equal(t, map[int64]bool{2: true}, failed)
	require.Len(t, versions, 5)
	require.Len(t, rounds, 2, "the others in one statement")

	// A page of it keeps waiting; the others are answered.
	ids := []uuid.UUID{uuid.New(), uuid.New()}
	c.asked[ids[0]], c.asked[ids[1]] = &question{topics: topics[2:3]}, &question{topics: topics[3:4]}
	ended, err := c.changed(t.Context(), ids)
	require.Error(t, err)
	require.Equal(t, ids[1:], ended)

	heavy = 99
	_, failed, err = c.read(t.Context(), topics)
	require.NoError(t, err)
	require.Empty(t, failed)
	rounds = nil
	versions, _, err = c.read(t.Context(), topics)
	require.NoError(t, err)
	require.Len(t, versions, 6)
	require.Len(t, rounds, 1, "together again")

	// A database that is away is not asked for each.
	heavy, rounds = -1, nil
	_, failed, err = c.read(t.Context(), topics)
	require.Error(t, err)
	require.Nil(t, failed)
	require.Len(t, rounds, 1+maxApart+1)
	require.Empty(t, c.apart)
}
