package wait

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/live"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// ChangesConfig is what Changes need. Versions is required.
type ChangesConfig struct {
	// Versions returns the versions of topics; one that is left out is not there.
	Versions func(ctx context.Context, topics []live.Topic) (map[live.Topic]string, error)
	Log      *slog.Logger
	// Interval is the time between two looks; default 500 ms. A page learns of a change
	// that much later at most.
	Interval time.Duration
	// Most bounds the pages that wait at once; default 1000.
	Most int
}

// Changes ends the waits of open pages when something that they show has changed. There is
// one of it in a process: each round asks once for all that is shown.
type Changes struct {
	watcher  *Watcher
	versions func(context.Context, []live.Topic) (map[live.Topic]string, error)

	mu    sync.Mutex
	asked map[uuid.UUID]*question
}

// question is what one page waits for: that its topics have other versions than since.
type question struct {
	topics         []live.Topic
	since, version string // version is "" until it is another one
}

// NewChanges returns changes; Run does their work.
func NewChanges(cfg ChangesConfig) *Changes {
	c := &Changes{versions: cfg.Versions, asked: map[uuid.UUID]*question{}}
	if cfg.Interval <= 0 {
		cfg.Interval = 500 * time.Millisecond
	}
	c.watcher = NewWatcher(Config{Name: "pages", Ended: c.changed, Log: cfg.Log, Interval: cfg.Interval, Most: cfg.Most})
	return c
}

// Run looks until the context ends and then lets all pages go.
func (c *Changes) Run(ctx context.Context) { c.watcher.Run(ctx) }

// Rooms are the rooms of the waits, for metrics.
func (c *Changes) Rooms() []*admission.Room { return c.watcher.Rooms() }

// Wait returns the version of the topics, which Check returned, as soon as it is another one
// than since; "" when the time is over, or the process ends. It is a 429 when too many wait,
// of the organization (0: operators) or at all.
func (c *Changes) Wait(ctx context.Context, organization int64, topics []live.Topic, since string, most time.Duration) (version string, err error) {
	id, q := uuid.New(), &question{topics: topics, since: since}
	c.mu.Lock()
	c.asked[id] = q
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asked, id)
		version = q.version
	}()
	return "", c.watcher.Wait(ctx, organization, id, most)
}

// changed returns the questions, by their ids, whose topics have another version.
func (c *Changes) changed(ctx context.Context, ids []uuid.UUID) (ended []uuid.UUID, err error) {
	versions, err := c.versions(ctx, c.topics(ids))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		q := c.asked[id]
		if q == nil {
			continue // the page has gone
		}
		if version := versionOf(q.topics, versions); version != q.since {
			q.version = version
			ended = append(ended, id)
		}
	}
	return ended, nil
}

// topics are those of questions, each once.
func (c *Changes) topics(ids []uuid.UUID) (list []live.Topic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := map[live.Topic]bool{}
	for _, id := range ids {
		if q := c.asked[id]; q != nil {
			for _, t := range q.topics {
				if !known[t] {
					known[t], list = true, append(list, t)
				}
			}
		}
	}
	return list
}

// versionOf is the version of all topics of a page together.
func versionOf(topics []live.Topic, versions map[live.Topic]string) string {
	sum := sha256.New()
	for _, t := range topics {
		version, there := versions[t]
		_, _ = io.WriteString(sum, fmt.Sprintf("%s %s %t %q\n", t.Kind, t.ID, there, version)) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}
