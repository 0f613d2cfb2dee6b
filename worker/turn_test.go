package worker

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// known are turns that know of organizations and never look.
func known(organizations ...int64) *turns {
	t := newTurns(func(context.Context) ([]ledger.Due, error) { return nil, errors.New("not asked") })
	for _, o := range organizations {
		t.add(o)
	}
	return t
}

// takeAll takes n turns whose tasks end at once, or never.
func takeAll(t *turns, n int, end bool) (list []int64) {
	for range n {
		o, ok := t.take(false)
		if !ok {
			return list
		}
		if list = append(list, o); end {
			t.done(o)
		}
	}
	return list
}

func TestTurnsGoRound(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int64{1, 2, 3, 1, 2, 3, 1}, takeAll(known(3, 1, 2), 7, true), "the one served longest ago is next")
	require.Equal(t, []int64{7, 7, 7}, takeAll(known(7), 3, false), "who is alone takes everything")
	require.Empty(t, takeAll(known(), 1, true))

	// Who comes back is not in front of those that waited meanwhile.
	turns := known(1, 2, 3)
	require.Equal(t, []int64{1}, takeAll(turns, 1, true))
	o, ok := turns.take(false)
	require.True(t, ok)
	turns.none(o)
	turns.add(o)
	require.Equal(t, []int64{3, 1, 2}, takeAll(turns, 3, true))
}

func TestTurnsPreferWhoRunsLess(t *testing.T) {
	t.Parallel()
	turns := known(1, 2)
	turns.others = map[int64]int{1: 3, 2: 1}
	require.Equal(t, []int64{2, 2, 1, 2, 1}, takeAll(turns, 5, false), "claims of other workers count")
	_, ok := turns.take(true)
	require.False(t, ok, "none of them is fresh")
	turns.add(3)
	o, ok := turns.take(true)
	require.True(t, ok)
	require.EqualValues(t, 3, o)
	_, ok = turns.take(true)
	require.False(t, ok)
}

// A thousand organizations with one task each and one with a thousand: nobody waits for
// more than one round.
func TestTurnsOfMany(t *testing.T) {
	t.Parallel()
	turns := known()
	for o := range int64(1000) {
		turns.add(o)
	}
	seen := map[int64]int{}
	for range 2000 {
		o, ok := turns.take(false)
		require.True(t, ok)
		if seen[o]++; o > 0 && seen[o] > 1 {
			turns.none(o)
			continue
		}
		turns.done(o)
	}
	require.Len(t, seen, 1000)
	require.Empty(t, turns.mine)
}

func TestTurnsLookNowAndThen(t *testing.T) {
	t.Parallel()
	looks := 0
	turns := newTurns(func(context.Context) ([]ledger.Due, error) {
		looks++
		return []ledger.Due{{OrganizationID: 5, Waits: true}, {OrganizationID: 6, Running: 2}}, nil
	})
	now := time.Now()
	for _, step := range []struct {
		after time.Duration
		looks int
	}{{0, 1}, {lookEvery / 2, 1}, {lookWithin + time.Second, 2}} {
		_, err := turns.refresh(t.Context(), now.Add(step.after), false)
		require.NoError(t, err)
		require.Equal(t, step.looks, looks, step.after)
	}
	o, ok := turns.take(false)
	require.True(t, ok)
	require.EqualValues(t, 5, o)
	require.Equal(t, map[int64]int{6: 2}, turns.others)
	turns.none(o)
	at := now.Add(lookWithin + time.Second + lookEvery/2)
	looked, err := turns.refresh(t.Context(), at, true)
	require.NoError(t, err)
	require.False(t, looked, "who is patient leaves it at the last look")
	require.Equal(t, 2, looks)
	looked, err = turns.refresh(t.Context(), at, false)
	require.NoError(t, err)
	require.True(t, looked, "with nobody known to wait it looks at once")
}

// record is a handler whose tasks take until release is closed, and which notes the
// organizations in the order of their claims.
type record struct {
	mu      sync.Mutex
	order   []int64
	release chan struct{}
}

func (r *record) Handle(ctx context.Context, claim *Claim) error {
	r.mu.Lock()
	r.order = append(r.order, claim.OrganizationID())
	r.mu.Unlock()
	select {
	case <-r.release:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (r *record) claims() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int64(nil), r.order...)
}

// another adds an organization.
func (f *fixture) another(t *testing.T) (id int64) {
	t.Helper()
	require.NoError(t, f.db.Get(&id, `insert into organizations (uuid, slug, name) values ($1, $2, 'o') returning id`,
		uuid.New(), uuid.NewString()))
	return id
}

// While an organization holds every slot with long tasks, another's task begins.
func TestLongTasksDoNotKeepAnOrganizationFromBeginning(t *testing.T) {
	t.Parallel()
	r := &record{release: make(chan struct{})}
	f := startWith(t, tasks.BuildDelete, r)
	t.Cleanup(func() { close(r.release) })
	second, third := f.another(t), f.another(t)
	for n := range int64(20) {
		f.insert(t, tasks.NewBuildDelete(f.org, "", n+1))
	}
	require.Eventually(t, func() bool { return len(r.claims()) == 4 }, time.Minute, 10*time.Millisecond, "alone it takes all slots")
	short := f.insert(t, tasks.NewBuildDelete(second, "", 1))
	f.await(t, short, in(ledger.Running))
	other := f.insert(t, tasks.NewBuildDelete(third, "", 1))
	require.Never(t, func() bool { return len(r.claims()) > 5 }, 4*spareEvery, spareEvery/2, "one task more than slots, not two")
	require.Equal(t, ledger.Queued, f.await(t, other, func(*ledger.Task) bool { return true }).State)
}

// What is freed goes round, however many tasks one organization has queued before.
func TestFreedSlotsGoRound(t *testing.T) {
	t.Parallel()
	r := &record{release: make(chan struct{})}
	f := startWith(t, tasks.BuildDelete, r)
	second, third := f.another(t), f.another(t)
	for n := range int64(40) {
		f.insert(t, tasks.NewBuildDelete(f.org, "", n+1))
	}
	require.Eventually(t, func() bool { return len(r.claims()) == 4 }, time.Minute, 10*time.Millisecond)
	var list []*ledger.NewTask
	for n := range int64(3) {
		for _, o := range []int64{second, third} {
			list = append(list, tasks.NewBuildDelete(o, "", n+1))
		}
	}
	// At once: a look between two of them would know of one organization for a while.
	_, err := ledger.InsertAll(t.Context(), f.db, list)
	require.NoError(t, err)
	// Known before the slots are free: the spare slot has one of them at work.
	require.Eventually(t, func() bool { return len(r.claims()) == 5 }, time.Minute, 10*time.Millisecond)
	close(r.release)
	f.await(t, list[len(list)-1].ID, in(ledger.Succeeded))
	// Those that come behind the last of the six do not matter: it is noticed some time later.
	of := map[int64]int{}
	for _, o := range r.claims() {
		if of[second]+of[third] < 6 {
			of[o]++
		}
	}
	require.Less(t, of[f.org], 4+12, "six tasks behind forty begin in the next rounds")
}
