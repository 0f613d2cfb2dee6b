// Package token knows the tokens that apps are built with, by which crashes, sessions and
// feedback come in.
//
// Everybody who has an app can read its token, and thousands of devices send the same one
// at once. So a Cache keeps what the database says of a token for some seconds, asks once
// for many requests, and believes a known token for a while when the database is away. A
// flood of wrong tokens takes neither its memory nor the connections of the database.
//
// A token that ends is refused immediately: Changes forgets it when the database notifies
// of it, and in the process that ended it before the request for that is answered. While
// notifications do not arrive, tokens are kept for Unnotified only.
//
// Quotas bounds the requests of one token in this process.
package token

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// A token is kept for Fresh, in case a notification of its end got lost unnoticed,
	// and for Unnotified while notifications do not arrive; a new token that was tried
	// too early works after Absent.
	Fresh      = 2 * time.Second
	Unnotified = 250 * time.Millisecond
	Absent     = time.Second
	// stale is how long a known token is believed while the database is
	// away. Nothing can be stored meanwhile, but reports may wait for their
	// commit instead of being turned away.
	stale = time.Minute
	// MostEntries bounds the cache: a flood of wrong tokens must not fill the
	// memory. An installation has far fewer tokens.
	MostEntries = 10_000
	// lookups bounds how many connections of the pool a flood of wrong
	// tokens takes.
	lookups = 4
	// longest is how long a look-up tries while the database is away.
	longest = 10 * time.Second
	// MaxText bounds a token; ours have some 60 characters.
	MaxText = 512
)

// Cache keeps what the database says of tokens, by digest. Concurrent misses
// of one token share a query.
type Cache[T any] struct {
	ask    func(ctx context.Context, digest [32]byte) (*T, error)
	now    func() time.Time
	flight singleflight.Group
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	open   sync.WaitGroup

	mu       sync.RWMutex
	entries  map[[32]byte]entry[T]
	notified bool
	// version counts what was forgotten: what was read before does not count after.
	version uint64
}

type entry[T any] struct {
	token *T // nil: there is no such token
	until time.Time
}

// NewCache returns a cache in front of a query, which returns storage.ErrNotFound for a
// token that does not exist or was revoked.
func NewCache[T any](ask func(ctx context.Context, digest [32]byte) (*T, error), now func() time.Time) *Cache[T] {
	ctx, cancel := context.WithCancel(context.Background())
	return &Cache[T]{ask: ask, now: now, slots: make(chan struct{}, lookups), ctx: ctx, cancel: cancel,
		entries: map[[32]byte]entry[T]{}}
}

// Close ends look-ups under way and waits for them.
func (t *Cache[T]) Close() {
	t.mu.Lock()
	t.cancel()
	t.mu.Unlock()
	t.open.Wait()
}

// Find returns the token of a digest, or nil when there is none. An error means
// that the database could not be asked in time.
func (t *Cache[T]) Find(ctx context.Context, digest [32]byte) (*T, error) {
	t.mu.RLock()
	have, ok := t.entries[digest]
	version := t.version
	t.mu.RUnlock()
	if ok && t.now().Before(have.until) {
		return have.token, nil
	}
	// close waits for the look-ups that began before it; none begins after.
	t.mu.RLock()
	closed := t.ctx.Err() != nil
	if !closed {
		t.open.Add(1)
	}
	t.mu.RUnlock()
	if closed {
		return nil, storage.ErrUnavailable
	}
	defer t.open.Done()
	result := t.flight.DoChan(string(binary.AppendUvarint(digest[:], version)), func() (any, error) {
		t.open.Add(1) // beside the caller's own, which may end first
		defer t.open.Done()
		return t.read(digest, have, version)
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*T), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read reads a token from the database; its context is not that of one of the
// requests that wait for it.
func (t *Cache[T]) read(digest [32]byte, have entry[T], version uint64) (*T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, longest)
	defer cancel()
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return nil, storage.ErrUnavailable
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		token, err := t.ask(ctx, digest)
		switch {
		case err == nil:
			t.keep(digest, entry[T]{token, t.now().Add(t.age())}, version)
			return token, nil
		case errors.Is(err, storage.ErrNotFound):
			t.keep(digest, entry[T]{nil, t.now().Add(Absent)}, version)
			return nil, nil
		case have.token != nil && t.now().Before(have.until.Add(stale)):
			return have.token, nil
		case ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(storage.ErrUnavailable, err)
		case <-time.After(wait):
		}
	}
}

// age returns how long a token is kept.
func (t *Cache[T]) age() time.Duration {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.notified {
		return Fresh
	}
	return Unnotified
}

// forget drops a token, nil: all. Look-ups under way are for those who wait for them.
func (t *Cache[T]) forget(digest *[32]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version++
	if digest == nil {
		clear(t.entries)
		return
	}
	delete(t.entries, *digest)
}

// setNotified says whether notifications arrive. When that changes, some may have been
// missed: all tokens are dropped.
func (t *Cache[T]) setNotified(yes bool) {
	t.forget(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notified = yes
}

// keep stores an entry, unless something was forgotten since it was read. A full cache forgets what has expired, and if that is
// nothing, some of the rest.
func (t *Cache[T]) keep(digest [32]byte, e entry[T], version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if version != t.version {
		return
	}
	if len(t.entries) >= MostEntries {
		now := t.now()
		for d, old := range t.entries {
			if old.token == nil && now.After(old.until) || now.After(old.until.Add(stale)) {
				delete(t.entries, d)
			}
		}
		for d := range t.entries {
			if len(t.entries) < MostEntries*9/10 {
				break
			}
			delete(t.entries, d)
		}
	}
	t.entries[digest] = e
}

// Len returns the number of entries.
func (t *Cache[T]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.entries)
}
