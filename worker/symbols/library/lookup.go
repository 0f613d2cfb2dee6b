package library

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

const (
	// lookupAge is how long an answer of the database is repeated: long enough for the
	// crashes of one claim, short enough that symbols which arrive are found soon.
	lookupAge = 1500 * time.Millisecond
	// maxLookups bounds the answers that are remembered.
	maxLookups = 10_000
	// maxIdentifiers of one query are looked for.
	maxIdentifiers = 96
)

// lookups finds files and remembers for a short time what it found.
type lookups struct {
	db  *storage.DB
	now func() time.Time

	mu      sync.Mutex
	known   map[string]lookup
	finding *flights[[]symbolfile.Found]
}

type lookup struct {
	found []symbolfile.Found
	until time.Time
}

func newLookups(db *storage.DB, now func() time.Time) *lookups {
	return &lookups{db: db, now: now, known: map[string]lookup{}, finding: newFlights[[]symbolfile.Found]()}
}

// find returns the files that serve a query, the best first.
func (l *lookups) find(ctx context.Context, q Query) ([]symbolfile.Found, error) {
	normal := make([]symbol.Identifier, 0, len(q.Identifiers))
	for _, id := range q.Identifiers {
		if id, ok := id.Normalize(); ok && len(normal) < maxIdentifiers && !slices.Contains(normal, id) {
			normal = append(normal, id)
		}
	}
	q.Identifiers = normal
	key := q.key()
	l.mu.Lock()
	known, ok := l.known[key]
	l.mu.Unlock()
	if ok && l.now().Before(known.until) {
		return known.found, nil
	}
	return l.finding.do(ctx, key, func(ctx context.Context) ([]symbolfile.Found, error) {
		found, err := l.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		l.remember(key, found)
		return found, nil
	})
}

func (l *lookups) remember(key string, found []symbolfile.Found) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.known) >= maxLookups {
		for k, old := range l.known {
			if !now.Before(old.until) {
				delete(l.known, k)
			}
		}
	}
	if len(l.known) >= maxLookups {
		clear(l.known)
	}
	l.known[key] = lookup{found: found, until: now.Add(lookupAge)}
}

// ask asks the database.
func (l *lookups) ask(ctx context.Context, q Query) ([]symbolfile.Found, error) {
	var found []symbolfile.Found
	if len(q.Identifiers) > 0 {
		var err error
		if found, err = symbolfile.Find(ctx, l.db, q.OrganizationID, q.ProjectID, q.Identifiers); err != nil {
			return nil, err
		}
		found = q.useful(found)
	}
	if len(found) > 0 || q.BuildID == 0 {
		return found, nil
	}
	files, err := symbolfile.OfBuild(ctx, l.db, q.OrganizationID, q.BuildID)
	if err != nil {
		return nil, err
	}
	by := symbol.Identifier{Type: symbolfile.BuildIdentifier, Value: strconv.FormatInt(q.BuildID, 10)}
	for i := range files {
		files[i].By = by
	}
	return q.useful(files), nil
}

// useful leaves out what is not wanted, and brings the best to the front: of native code
// what says most, of others what the identifiers prefer.
func (q Query) useful(found []symbolfile.Found) []symbolfile.Found {
	found = slices.DeleteFunc(found, func(f symbolfile.Found) bool {
		return f.IndexKey == "" || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, f.Kind) ||
			q.Feature != "" && !slices.Contains(f.Features, q.Feature)
	})
	slices.SortStableFunc(found, func(a, b symbolfile.Found) int {
		if !a.Kind.Native() || !b.Kind.Native() {
			return 0
		}
		return score(&a) - score(&b)
	})
	return found
}

// key is a text that is the same for the same queries only.
func (q Query) key() string {
	var b strings.Builder
	add := func(text string) {
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.WriteString(text)
	}
	for _, n := range []int64{q.OrganizationID, q.ProjectID, q.BuildID, int64(len(q.Kinds))} {
		add(strconv.FormatInt(n, 10))
	}
	add(q.Feature)
	for _, kind := range q.Kinds {
		add(string(kind))
	}
	for _, id := range q.Identifiers {
		add(string(id.Type))
		add(id.Value)
		add(id.Release)
	}
	return b.String()
}
