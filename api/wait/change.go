package wait

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
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
// Where that fails, it asks for each organization by itself.
type Changes struct {
	watcher  *Watcher
	versions func(context.Context, []live.Topic) (map[live.Topic]string, error)

	mu    sync.Mutex
	asked map[uuid.UUID]*question

	// apart are organizations whose topics failed, and are asked for alone until they do not:
	// what one of them shows keeps no other from its news. It is of Run alone.
	apart map[int64]bool
}

const (
	// togetherLimit is how long the statement of all may take, and aloneLimit that of one
	// organization: a round is over after 5 s.
	togetherLimit = 3 * time.Second
	aloneLimit    = time.Second
	// maxApart is how many organizations may fail by themselves. When more do, it is the
	// database that fails, and the round with it.
	maxApart = 3
)

// question is what one page waits for: that its topics have other versions than since.
type question struct {
	topics         []live.Topic
	since, version string // version is "" until it is another one
}

// NewChanges returns changes; Run does their work.
func NewChanges(cfg ChangesConfig) *Changes {
	c := &Changes{versions: cfg.Versions, asked: map[uuid.UUID]*question{}, apart: map[int64]bool{}}
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
func (c *Changes) Wait(ctx context.Context, organization int64, topics []live.Topic, since string,
	most time.Duration) (version string, err error) {
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

// changed returns the questions, by their ids, whose topics have another version; with an
// error, those of the organizations that it could read.
func (c *Changes) changed(ctx context.Context, ids []uuid.UUID) (ended []uuid.UUID, err error) {
	versions, failed, err := c.read(ctx, c.topics(ids))
	if err != nil && failed == nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		q := c.asked[id]
		if q == nil || slices.ContainsFunc(q.topics, func(t live.Topic) bool { return failed[t.OrganizationID] }) {
			continue // the page has gone, or nothing is known of it
		}
		if version := versionOf(q.topics, versions); version != q.since {
			q.version = version
			ended = append(ended, id)
		}
	}
	return ended, err
}

// read asks for the versions of all topics at once, and where that fails for those of each
// organization. With an error, failed are the organizations that it is about; nil: all.
func (c *Changes) read(ctx context.Context, topics []live.Topic) (versions map[live.Topic]string, failed map[int64]bool, err error) {
	var together []live.Topic
	alone := map[int64][]live.Topic{}
	for _, t := range topics {
		if c.apart[t.OrganizationID] {
			alone[t.OrganizationID] = append(alone[t.OrganizationID], t)
		} else {
			together = append(together, t)
		}
	}
	if len(together) > 0 {
		if versions, err = c.within(ctx, togetherLimit, together); err != nil {
			for _, t := range together {
				alone[t.OrganizationID] = append(alone[t.OrganizationID], t)
			}
		}
	}
	if versions == nil || err != nil {
		versions = map[live.Topic]string{}
	}
	apart := map[int64]bool{}
	failed, err = map[int64]bool{}, nil
	for organization, of := range alone {
		if ctx.Err() != nil { // the round is over: the next one asks for it
			failed[organization], err = true, cmp.Or(err, ctx.Err())
			if c.apart[organization] {
				apart[organization] = true
			}
			continue
		}
		found, errOne := c.within(ctx, aloneLimit, of)
		if errOne == nil {
			maps.Copy(versions, found)
			continue
		}
		failed[organization], apart[organization], err = true, true, errOne
		if len(apart) > maxApart {
			clear(c.apart)
			return nil, nil, err
		}
	}
	c.apart = apart
	return versions, failed, err
}

// within asks for versions, for so long at most.
func (c *Changes) within(ctx context.Context, limit time.Duration, topics []live.Topic) (map[live.Topic]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return c.versions(ctx, topics)
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
