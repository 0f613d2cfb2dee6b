package intake

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

const (
	// A revoked token is refused, and a new quota kept, after tokenFresh at the
	// latest; a new token that was tried too early works after tokenAbsent.
	tokenFresh  = 2 * time.Second
	tokenAbsent = time.Second
	// tokenStale is how long a known token is believed while the database is
	// away. Nothing can be stored meanwhile, but reports may wait for their
	// commit instead of being turned away.
	tokenStale = time.Minute
	// tokenEntries bounds the cache: a flood of wrong tokens must not fill the
	// memory. An installation has far fewer tokens.
	tokenEntries = 10_000
	// tokenLookups bounds how many connections of the pool a flood of wrong
	// tokens takes.
	tokenLookups = 4
	// tokenWait is how long a look-up tries while the database is away.
	tokenWait = 10 * time.Second
	// maxTokenText bounds a token; ours have some 60 characters.
	maxTokenText = 512
)

// tokens caches what the database says of tokens, by digest. Concurrent misses
// of one token share a query.
type tokens struct {
	store  Store
	now    func() time.Time
	flight singleflight.Group
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	open   sync.WaitGroup

	mu      sync.RWMutex
	entries map[[32]byte]tokenEntry
}

type tokenEntry struct {
	token *crash.Token // nil: there is no such token
	until time.Time
}

func newTokens(store Store, now func() time.Time) *tokens {
	ctx, cancel := context.WithCancel(context.Background())
	return &tokens{store: store, now: now, slots: make(chan struct{}, tokenLookups), ctx: ctx, cancel: cancel,
		entries: map[[32]byte]tokenEntry{}}
}

func (t *tokens) close() {
	t.mu.Lock()
	t.cancel()
	t.mu.Unlock()
	t.open.Wait()
}

// find returns the token of a digest, or nil when there is none. An error means
// that the database could not be asked in time.
func (t *tokens) find(ctx context.Context, digest [32]byte) (*crash.Token, error) {
	t.mu.RLock()
	have, ok := t.entries[digest]
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
	result := t.flight.DoChan(string(digest[:]), func() (any, error) {
		t.open.Add(1) // beside the caller's own, which may end first
		defer t.open.Done()
		return t.ask(digest, have)
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*crash.Token), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask reads a token from the database; its context is not that of one of the
// requests that wait for it.
func (t *tokens) ask(digest [32]byte, have tokenEntry) (*crash.Token, error) {
	ctx, cancel := context.WithTimeout(t.ctx, tokenWait)
	defer cancel()
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return nil, storage.ErrUnavailable
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		token, err := t.store.Token(ctx, digest)
		switch {
		case err == nil:
			t.keep(digest, tokenEntry{token, t.now().Add(tokenFresh)})
			return token, nil
		case errors.Is(err, storage.ErrNotFound):
			t.keep(digest, tokenEntry{nil, t.now().Add(tokenAbsent)})
			return nil, nil
		case have.token != nil && t.now().Before(have.until.Add(tokenStale)):
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

// keep stores an entry. A full cache forgets what has expired, and if that is
// nothing, some of the rest.
func (t *tokens) keep(digest [32]byte, e tokenEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.entries) >= tokenEntries {
		now := t.now()
		for d, old := range t.entries {
			if old.token == nil && now.After(old.until) || now.After(old.until.Add(tokenStale)) {
				delete(t.entries, d)
			}
		}
		for d := range t.entries {
			if len(t.entries) < tokenEntries*9/10 {
				break
			}
			delete(t.entries, d)
		}
	}
	t.entries[digest] = e
}

// token returns the token of a text, or the refusal.
func (r *Receiver) token(ctx context.Context, text string) (*crash.Token, error) {
	if text == "" {
		return nil, forbidden("token: is missing; pass the token of the crash project in the query")
	}
	if len(text) > maxTokenText {
		return nil, forbidden("token: is not known")
	}
	var room [maxTokenText]byte
	t, err := r.tokens.find(ctx, sha256.Sum256(append(room[:0], text...)))
	if err != nil {
		return nil, err
	}
	if t != nil {
		return t, nil
	}
	if key, err := account.ParseKey(text); err == nil {
		if err := key.In(r.cfg.Region); err != nil && r.cfg.Region != "" {
			return nil, forbidden("token: " + err.Error())
		}
		if key.Kind == account.KindAPI || key.Kind == account.KindAccess {
			r.cfg.Leaks.found(ctx, key.Digest)
			return nil, forbidden("token: this is a personal key and not the token of a crash project; a key that an app holds is revoked, and its owner told")
		}
		if key.Kind != account.KindCrash {
			return nil, forbidden("token: this key is not the token of a crash project")
		}
	}
	return nil, forbidden("token: is not known, or was revoked")
}

func allowed(t *crash.Token, scope string) error {
	if slices.Contains(t.Scopes, scope) {
		return nil
	}
	return refuse(http.StatusForbidden, codeScope, ReasonScope, "token: has no scope "+scope)
}

// quotaEntries bounds the buckets; a token whose bucket was dropped begins with
// a full one.
const quotaEntries = 10_000

// quotas holds a token bucket for each token with a quota, in this process. A
// bucket holds the reports of one minute.
type quotas struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[int64]*bucket
}

type bucket struct {
	perMinute int
	limiter   *rate.Limiter
	used      time.Time
}

func newQuotas(now func() time.Time) *quotas {
	return &quotas{now: now, buckets: map[int64]*bucket{}}
}

// take uses up one report of the token's quota, or refuses.
func (q *quotas) take(t *crash.Token) error {
	if t.QuotaPerMinute == nil {
		return nil
	}
	now := q.now()
	b := q.bucket(t.ID, *t.QuotaPerMinute, now)
	reservation := b.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	f := refuse(http.StatusTooManyRequests, codeQuota, ReasonQuota, "token: its quota of reports a minute is used up")
	f.RetryAfter = (wait + time.Second - 1).Truncate(time.Second)
	return f
}

func (q *quotas) bucket(id int64, perMinute int, now time.Time) *rate.Limiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.buckets[id]
	if b == nil || b.perMinute != perMinute {
		if len(q.buckets) >= quotaEntries {
			for old, b := range q.buckets {
				if now.Sub(b.used) > time.Minute { // full again
					delete(q.buckets, old)
				}
			}
			for old := range q.buckets {
				if len(q.buckets) < quotaEntries {
					break
				}
				delete(q.buckets, old)
			}
		}
		b = &bucket{perMinute: perMinute, limiter: rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)}
		q.buckets[id] = b
	}
	b.used = now
	return b.limiter
}
