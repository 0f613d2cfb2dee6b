// Package library opens the indexes of symbol files for lookups.
//
// A session finds the files that serve the queries of some reports (lookup.go): all that they
// want is asked of PostgreSQL at once, and the answers, also that there is none, hold while no
// file of the kind comes or goes, which a number of the organization says. Open opens the
// index of the file; Warm does the same without ever waiting for the object store. A handle
// needs no closing: it stays of use while somebody has it, whatever the cache does.
//
// Small indexes are read whole; of large ones lookups read pages, which
// are cached (reader.go). Opened indexes and pages share one bound in bytes (cache.go), of
// which an organization keeps at most a third while others want room. What several want at
// the same time is fetched once, no lock is held while fetching, and each fetch has a
// deadline: after one that failed, the same index fails at once for some seconds, so that a
// store that is slow delays each crash once and not by each of its frames.
//
// A failure of the store or the database is an error; ErrMissing means that there is no file,
// ErrCold that Warm would have to wait. A handle of Warm returns ErrCold from its lookups
// where these would have to.
package library

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// Errors that a caller distinguishes with errors.Is.
var (
	// ErrMissing means that no file serves the query.
	ErrMissing = errors.New("no symbol file")
	// ErrCold means that the answer takes a fetch.
	ErrCold = errors.New("the index of symbols is not in memory")
	// ErrUnasked means that the session has not asked since the query was made for the first time.
	ErrUnasked = errors.New("the database has not been asked for this symbol file")
)

// Observer is called for what the library does, for metrics.
type Observer interface {
	// SymbolLookup reports how a query ended: hit, miss (it had to be opened), cold,
	// missing or error.
	SymbolLookup(outcome string)
	// SymbolFetch reports a read of the object store: bytes, time, and whether it failed.
	SymbolFetch(bytes int64, took time.Duration, failed bool)
}

// Config is what a Library needs.
type Config struct {
	DB      *storage.DB
	Objects object.Store
	// Bytes bounds what is kept in memory; default DefaultBytes.
	Bytes int64
	// FetchTimeout bounds each read of the object store; default 10 s.
	FetchTimeout time.Duration
	Observer     Observer // may be nil
	Log          *slog.Logger
	Now          func() time.Time // default time.Now
}

// DefaultBytes keep the mappings and source maps of some dozen applications, and the pages
// of native code that crashes touch.
const DefaultBytes = 256 << 20

const (
	// MinBytes hold one index of usual size beside those of others.
	MinBytes     = 16 << 20
	fetchTimeout = 10 * time.Second
)

// Library opens indexes. It is safe for concurrent use.
type Library struct {
	cfg     Config
	cache   *cache
	answers *cache // of the database
	pages   *pages
	opening *flights[*Opened]
}

// New returns a library.
func New(cfg Config) (*Library, error) {
	if cfg.Bytes == 0 {
		cfg.Bytes = DefaultBytes
	}
	if cfg.Bytes < MinBytes {
		return nil, errors.New("library of symbols: at least 16 MiB of cache are needed")
	}
	if cfg.FetchTimeout == 0 {
		cfg.FetchTimeout = fetchTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	l := &Library{cfg: cfg, cache: newCache(cfg.Bytes), answers: newCache(answerBytes), opening: newFlights[*Opened]()}
	l.pages = newPages(l)
	return l, nil
}

// Query says which file is wanted.
type Query struct {
	ProjectID int64 // crash project
	// Kinds that are of use; none: all.
	Kinds []symbol.Kind
	// Identifiers in the order of preference. They are normalized here.
	Identifiers []symbol.Identifier
	// BuildID: when no identifier names a file, those of this build serve; 0 for none.
	BuildID int64
	// Feature that the index must have, as parse names them: "unwind". "" is none; then of
	// several files of native code the one that says most serves.
	Feature string
	// Without is a feature that the index must not have; "" is none.
	Without string
}

// Handle is a file that serves, opened.
type Handle struct {
	File symbolfile.File
	// Name of the upload.
	Name string
	// By is the identifier that matched; of the type BuildIdentifier when it was the build.
	By symbol.Identifier
	*Opened
}

// Open returns the file that serves a query, opened. It is ErrMissing when there is none, and
// ErrUnasked when the answer is not known.
func (s *Session) Open(ctx context.Context, q Query) (*Handle, error) {
	return s.open(q, func(f *symbolfile.Found) (*Opened, error) { return s.l.opened(ctx, f.File) })
}

// Warm is Open without waiting for the object store: ErrCold when Open would have to.
func (s *Session) Warm(q Query) (*Handle, error) {
	return s.open(q, func(f *symbolfile.Found) (*Opened, error) { return s.l.openedWarm(f.File) })
}

// open opens the first of the files that serve whose index is there.
func (s *Session) open(q Query, open func(*symbolfile.Found) (*Opened, error)) (*Handle, error) {
	found, err := s.find(q)
	if err != nil {
		return nil, err
	}
	l := s.l
	for i := range found {
		f := &found[i]
		opened, err := open(f)
		if errors.Is(err, object.ErrNotFound) || errors.Is(err, errVersion) {
			// It is about to be removed, or indexed anew.
			continue
		}
		if errors.Is(err, ErrCold) {
			l.observe("cold")
			return nil, err
		}
		if err != nil {
			l.observe("error")
			return nil, err
		}
		return &Handle{File: f.File, Name: f.Name, By: f.By, Opened: opened}, nil
	}
	l.observe("missing")
	return nil, ErrMissing
}

func (l *Library) observe(outcome string) {
	if l.cfg.Observer != nil {
		l.cfg.Observer.SymbolLookup(outcome)
	}
}

// Bytes returns how much is in memory, for metrics.
func (l *Library) Bytes() int64 { return l.cache.size() }

// score ranks files of native code: lines say more than functions, these more than symbols.
func score(f *symbolfile.Found) int {
	for i, feature := range []string{"inlines", "lines", "functions", "publics"} {
		if slices.Contains(f.Features, feature) {
			return i
		}
	}
	return 4
}
