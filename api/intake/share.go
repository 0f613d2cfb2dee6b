package intake

import (
	"sync"

	"golang.org/x/sync/semaphore"
)

// shares bounds what one token takes of every tier: one application that crashes
// everywhere at once, or somebody who read its token out of it, must leave room
// for the others. A share is there while the token has requests that hold or
// await a place.
type shares struct {
	mu     sync.Mutex
	tokens map[int64]*share
}

type share struct {
	users int
	tiers [tiers]*semaphore.Weighted
}

// enter returns the token's share; leave must follow.
func (s *shares) enter(token int64, b *budget) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.tokens[token]
	if have == nil {
		have = &share{}
		for i := range have.tiers {
			have.tiers[i] = semaphore.NewWeighted(b.tiers[i].share)
		}
		s.tokens[token] = have
	}
	have.users++
	return have
}

func (s *shares) leave(token int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.tokens[token]
	if have.users--; have.users == 0 {
		delete(s.tokens, token)
	}
}
