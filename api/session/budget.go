package session

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// budget bounds what requests hold in memory, for the process and for each
// organization: a third of it, so that one whose apps all send at once leaves room
// for others. A place weighs what its request announces, or the most that it may bring.
type budget struct {
	total int64
	all   *semaphore.Weighted

	mu     sync.Mutex
	shares map[int64]*share // of organizations with requests that hold or await a place
}

type share struct {
	users int
	sem   *semaphore.Weighted
}

// organizationShare is which part of the budget one organization may have.
const organizationShare = 3

func newBudget(total int64) *budget {
	return &budget{total: total, all: semaphore.NewWeighted(total), shares: map[int64]*share{}}
}

// take waits for a place until the context ends: first in the organization's share, so
// that it waits for itself and not in front of others. release must follow.
func (b *budget) take(ctx context.Context, organization, weight int64) (release func(), err error) {
	weight = min(max(weight, 1), b.total/organizationShare)
	s := b.enter(organization)
	if err := s.sem.Acquire(ctx, weight); err != nil {
		b.leave(organization)
		return nil, err
	}
	if err := b.all.Acquire(ctx, weight); err != nil {
		s.sem.Release(weight)
		b.leave(organization)
		return nil, err
	}
	return func() {
		b.all.Release(weight)
		s.sem.Release(weight)
		b.leave(organization)
	}, nil
}

func (b *budget) enter(organization int64) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.shares[organization]
	if s == nil {
		s = &share{sem: semaphore.NewWeighted(b.total / organizationShare)}
		b.shares[organization] = s
	}
	s.users++
	return s
}

func (b *budget) leave(organization int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.shares[organization]
	if s.users--; s.users == 0 {
		delete(b.shares, organization)
	}
}
