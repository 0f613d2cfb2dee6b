package issuer

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// A key that is not in the set has the set fetched again: twice in a row, then once
	// in each interval, and for one name once in each interval. New keys are accepted at
	// once, and tokens with invented names cost the issuer next to nothing.
	unknownBurst    = 2
	unknownInterval = 10 * time.Second
	// maxUnknown bounds the names that are remembered.
	maxUnknown = 100
	// staleTime is how long keys serve beyond their time while the issuer is away, and
	// staleWait how long a request that could have these waits for the issuer.
	staleTime = 24 * time.Hour
	staleWait = 2 * time.Second
	// The wait after a fetch that failed, doubled up to the longest.
	firstRetry, longestRetry = 5 * time.Second, 5 * time.Minute
	// maxEntries bounds the memory: one issuer for each organization, of 100 keys.
	maxEntries = 5000
	// maxFetches bounds the connections to issuers of all organizations.
	maxFetches = 64
)

// Config is what a Cache needs.
type Config struct {
	Client *Client
	Log    *slog.Logger
	Now    func() time.Time // default time.Now
}

// Cache holds the keys of one issuer for each organization. It is safe for concurrent
// use.
type Cache struct {
	client  *Client
	log     *slog.Logger
	now     func() time.Time
	fetches chan struct{}

	mu      sync.Mutex
	entries map[int64]*list.Element // of *entry, by organization
	recent  *list.List              // the one that was used last is in front
}

// entry is what is known of one organization's issuer. The lock of the cache protects
// it.
type entry struct {
	organizationID int64
	from           Source
	set            snapshot
	failed         *FetchError // the last fetch did, nil if not
	failures       int
	tried          time.Time // when the last fetch ended
	running        *fetch
	former         *fetch               // of the issuer before this one: an organization has one at a time
	unknown        map[string]time.Time // names of keys that are not in the set: when they were asked for
	budget         *rate.Limiter        // of fetches for these
}

// snapshot is a set and when it was fetched.
type snapshot struct {
	*KeySet
	at time.Time
}

// within reports whether the set is there and younger than an age.
func (s snapshot) within(age time.Duration, now time.Time) bool {
	return s.KeySet != nil && now.Sub(s.at) < age
}

// fetch is one that is under way.
type fetch struct{ done chan struct{} }

func (f *fetch) ended() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// wait returns when the fetch has ended or the time is over, and an error when the
// request has ended.
func (f *fetch) wait(ctx context.Context, atMost time.Duration) error {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// NewCache returns an empty cache.
func NewCache(cfg Config) *Cache {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Cache{client: cfg.Client, log: cfg.Log, now: cfg.Now, fetches: make(chan struct{}, maxFetches),
		entries: map[int64]*list.Element{}, recent: list.New()}
}

// keys returns the organization's keys, fetched if there are none or they are older than
// maxAge. Keys whose time has nearly come are fetched beforehand, without waiting.
func (c *Cache) keys(ctx context.Context, organizationID int64, from Source, maxAge time.Duration) (snapshot, error) {
	c.mu.Lock()
	e, now := c.entry(organizationID, from), c.now()
	current := e.set.within(maxAge, now)
	if !e.set.within(maxAge-maxAge/10, now) && e.mayFetch(now) {
		c.start(ctx, e)
	}
	running, usable := e.running, e.set.within(maxAge+staleTime, now)
	if current || running == nil || usable && e.failures > 0 {
		defer c.mu.Unlock()
		return e.result(now, maxAge)
	}
	c.mu.Unlock()
	atMost := fetchTimeout
	if usable {
		atMost = staleWait
	}
	if err := running.wait(ctx, atMost); err != nil {
		return snapshot{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return e.result(c.now(), maxAge)
}

// newer returns the keys that the issuer has now, because the key kid is not in the
// former ones. Where the issuer was asked just now, these are all there is.
func (c *Cache) newer(ctx context.Context, organizationID int64, former snapshot, from Source, kid string) (snapshot, error) {
	c.mu.Lock()
	e, now := c.entry(organizationID, from), c.now()
	if e.set.KeySet != former.KeySet {
		defer c.mu.Unlock()
		return e.set, nil
	}
	if e.mayFetch(now) && e.mayAskFor(kid, now) {
		c.start(ctx, e)
	}
	running := e.running
	if running == nil {
		defer c.mu.Unlock()
		if e.failures > 0 { // what it has now is not known
			return snapshot{}, e.failure()
		}
		return former, nil
	}
	c.mu.Unlock()
	if err := running.wait(ctx, fetchTimeout); err != nil {
		return snapshot{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.set.KeySet != former.KeySet {
		return e.set, nil
	}
	return snapshot{}, e.failure()
}

// entry returns the organization's entry for the issuer, a new one when it has another
// issuer now.
func (c *Cache) entry(organizationID int64, from Source) *entry {
	if element := c.entries[organizationID]; element != nil {
		e := element.Value.(*entry)
		if e.from != from {
			former := e.running
			if former == nil {
				former = e.former
			}
			e = newEntry(organizationID, from)
			e.former = former
			element.Value = e
		}
		c.recent.MoveToFront(element)
		return e
	}
	if c.recent.Len() >= maxEntries {
		oldest := c.recent.Back()
		delete(c.entries, oldest.Value.(*entry).organizationID)
		c.recent.Remove(oldest)
	}
	e := newEntry(organizationID, from)
	c.entries[organizationID] = c.recent.PushFront(e)
	return e
}

func newEntry(organizationID int64, from Source) *entry {
	return &entry{organizationID: organizationID, from: from, unknown: map[string]time.Time{},
		budget: rate.NewLimiter(rate.Every(unknownInterval), unknownBurst)}
}

// mayFetch reports whether the issuer may be asked: not while it is asked, nor soon
// after a failure.
func (e *entry) mayFetch(now time.Time) bool {
	if e.running != nil || e.former != nil && !e.former.ended() {
		return false
	}
	return e.failures == 0 || now.Sub(e.tried) >= min(firstRetry<<min(e.failures-1, 10), longestRetry)
}

// mayAskFor reports whether the issuer may be asked because of a key.
func (e *entry) mayAskFor(kid string, now time.Time) bool {
	if at, ok := e.unknown[kid]; ok && now.Sub(at) < unknownInterval {
		return false
	}
	if !e.budget.AllowN(now, 1) {
		return false
	}
	if len(e.unknown) >= maxUnknown {
		clear(e.unknown)
	}
	e.unknown[kid] = now
	return true
}

// result is what the entry has for a request.
func (e *entry) result(now time.Time, maxAge time.Duration) (snapshot, error) {
	if e.set.within(maxAge+staleTime, now) {
		return e.set, nil
	}
	return snapshot{}, e.failure()
}

func (e *entry) failure() error {
	if e.failed != nil {
		return e.failed
	}
	return &FetchError{Text: "the issuer's keys are not here yet", Temporary: true}
}

// start fetches the keys of the entry, whatever becomes of the request that began it.
func (c *Cache) start(ctx context.Context, e *entry) {
	running := &fetch{done: make(chan struct{})}
	e.running = running
	go func() {
		defer close(running.done)
		keys, err := c.fetch(context.WithoutCancel(ctx), e.from)
		c.mu.Lock()
		defer c.mu.Unlock()
		e.running, e.tried = nil, c.now()
		if err != nil {
			e.failed, e.failures = asFetchError(err), e.failures+1
			c.log.WarnContext(ctx, "keys of an OIDC issuer not fetched", "organization_id", e.organizationID, "issuer", e.from.URL,
				"failures", e.failures, "error", err)
			return
		}
		e.set, e.failed, e.failures = snapshot{keys, e.tried}, nil, 0
	}()
}

func (c *Cache) fetch(ctx context.Context, from Source) (*KeySet, error) {
	select {
	case c.fetches <- struct{}{}:
		defer func() { <-c.fetches }()
	default:
		return nil, &FetchError{Text: "too many issuers are asked for their keys at the moment", Temporary: true}
	}
	return c.client.Fetch(ctx, from)
}

func asFetchError(err error) *FetchError {
	var failed *FetchError
	if errors.As(err, &failed) {
		return failed
	}
	return &FetchError{Text: "the keys cannot be fetched", Temporary: true, Err: err}
}
