package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// store is an object store that counts reads, and fails or hangs when it is told to.
type store struct {
	object.Store
	opens atomic.Int64
	err   atomic.Pointer[error]
	hang  chan struct{} // nil: it does not
}

func (s *store) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, object.Info, error) {
	s.opens.Add(1)
	if err := s.err.Load(); err != nil {
		return nil, object.Info{}, *err
	}
	if s.hang != nil {
		select {
		case <-s.hang:
		case <-ctx.Done():
			return nil, object.Info{}, ctx.Err()
		}
	}
	return s.Store.Open(ctx, key, offset, length)
}

type world struct {
	t       *testing.T
	db      *storage.DB
	store   *store
	library *Library
	org     int64
	project int64
	clock   atomic.Int64 // seconds ahead
}

func newWorld(t *testing.T, bytes int64) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	objects, err := object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	w.store = &store{Store: objects}
	w.library, err = New(Config{DB: w.db, Objects: w.store, Bytes: bytes, Log: slog.New(slog.DiscardHandler), FetchTimeout: time.Minute,
		Now: func() time.Time { return time.Now().Add(time.Duration(w.clock.Load()) * time.Second) }})
	require.NoError(t, err)
	w.org = w.organization("one")
	require.NoError(t, w.db.GetContext(t.Context(), &w.project,
		`insert into crash_projects (organization_id, name) values ($1, 'p') returning id`, w.org))
	return w
}

func (w *world) organization(slug string) (id int64) {
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id,
		`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	return id
}

// file stores an index with a row that names it.
func (w *world) file(org int64, f symbolfile.File, index []byte) string {
	w.t.Helper()
	f.IndexKey = fmt.Sprintf("%s%d/%s", symbolfile.IndexPrefix, org, uuid.NewString())
	f.IndexSize, f.State, f.SHA256 = int64(len(index)), symbolfile.Indexed, uuid.NewString()
	_, err := object.Put(w.t.Context(), w.store, f.IndexKey, bytes.NewReader(index), f.IndexSize, object.WriteOptions{})
	require.NoError(w.t, err)
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		u, err := symbolfile.Insert(w.t.Context(), tx, symbolfile.New{OrganizationID: org, Name: "upload", Source: symbolfile.SourceAPI,
			TaskID: uuid.New(), File: storedfile.NewFile{Key: storedfile.Prefix + uuid.NewString(), Size: 1,
				SHA256: strings.Repeat("0", 28) + uuid.NewString()}})
		if err != nil {
			return err
		}
		return symbolfile.RecordFiles(w.t.Context(), tx, u.Upload.ID, []symbolfile.File{f}, "", "")
	}))
	return f.IndexKey
}

func id(value string) symbol.Identifier {
	return symbol.Identifier{Type: symbol.MappingID, Value: value}
}

func (w *world) query(org int64, value string) orgQuery {
	return orgQuery{org, Query{ProjectID: w.project, Kinds: []symbol.Kind{symbol.ProGuard},
		Identifiers: []symbol.Identifier{id("other"), id(value)}}}
}

// orgQuery is a query of an organization.
type orgQuery struct {
	org int64
	Query
}

// asked is a session that has asked for what a query wants.
func (w *world) asked(ctx context.Context, q orgQuery) (*Session, error) {
	s, err := w.library.Begin(ctx, q.org)
	if err != nil {
		return nil, err
	}
	s.Note(q.Query)
	return s, s.Ask(ctx)
}

func (w *world) open(ctx context.Context, q orgQuery) (*Handle, error) {
	s, err := w.asked(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, q.Query)
}

func (w *world) warm(ctx context.Context, q orgQuery) (*Handle, error) {
	s, err := w.asked(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.Warm(q.Query)
}

// mapping returns the index of a mapping with some classes.
func mapping(t *testing.T, classes int) []byte {
	t.Helper()
	var text strings.Builder
	for i := range classes {
		fmt.Fprintf(&text, "org.example.Class%d -> a.c%d:\n    1:3:void run%d(int):10:12 -> a\n", i, i, i)
	}
	var out bytes.Buffer
	_, err := proguard.Index(strings.NewReader(text.String()), int64(text.Len()), &out, proguard.Options{})
	require.NoError(t, err)
	return out.Bytes()
}

// large returns an index of native code of more than what is read whole.
func large(t *testing.T) []byte {
	t.Helper()
	b := native.NewBuilder(t.TempDir())
	defer b.Close()
	for i := range uint64(60_000) {
		name := fmt.Sprintf("function_%d_%s", i, uuid.NewString())
		require.NoError(t, b.Function(&native.Function{Start: 16 * i, End: 16*i + 16, Name: name, Lines: []native.Line{
			{Address: 16 * i, File: name + ".c", Line: uint32(i)}, {Address: 16*i + 8, File: name + ".h", Line: 7}}}))
	}
	var out bytes.Buffer
	_, err := b.Finish(&out)
	require.NoError(t, err)
	require.Greater(t, out.Len(), 4<<20)
	return out.Bytes()
}

func (w *world) mappingFile(org int64, value string, index []byte) string {
	return w.file(org, symbolfile.File{Kind: symbol.ProGuard, Features: []string{"functions"},
		Identifiers: []symbol.Identifier{id(value)}}, index)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.mappingFile(w.org, "m1", mapping(t, 10))
	_, err := w.warm(t.Context(), w.query(w.org, "m1"))
	require.ErrorIs(t, err, ErrCold)
	require.Zero(t, w.store.opens.Load(), "Warm reads nothing")
	h, err := w.open(t.Context(), w.query(w.org, "M1"))
	require.NoError(t, err)
	require.Equal(t, id("m1"), h.By)
	require.Equal(t, "upload", h.Name)
	class, found, err := h.Mapping.Class("a.c3")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "org.example.Class3", class)
	require.Nil(t, h.Native)
	warm, err := w.warm(t.Context(), w.query(w.org, "m1"))
	require.NoError(t, err)
	require.Same(t, h.Mapping, warm.Mapping)
	require.EqualValues(t, 1, w.store.opens.Load(), "read once")
	require.Positive(t, w.library.Bytes())

	_, err = w.open(t.Context(), w.query(w.org, "none"))
	require.ErrorIs(t, err, ErrMissing)
	_, err = w.warm(t.Context(), w.query(w.org, "none"))
	require.ErrorIs(t, err, ErrMissing)
	_, err = w.open(t.Context(), w.query(w.organization("other"), "m1"))
	require.ErrorIs(t, err, ErrMissing, "another organization's")
	q := w.query(w.org, "m1")
	q.Kinds = []symbol.Kind{symbol.SourceMap}
	_, err = w.open(t.Context(), q)
	require.ErrorIs(t, err, ErrMissing, "another kind")
}

// Symbols that arrive are found by the next session, and those that were deleted are not.
func TestAnswersHoldForAGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, err := w.open(t.Context(), w.query(w.org, "late"))
	require.ErrorIs(t, err, ErrMissing)
	w.mappingFile(w.org, "early", mapping(t, 1))
	_, err = w.open(t.Context(), w.query(w.org, "late"))
	require.ErrorIs(t, err, ErrMissing)
	during, err := w.asked(t.Context(), w.query(w.org, "late"))
	require.NoError(t, err)
	w.mappingFile(w.org, "late", mapping(t, 1))
	_, err = during.Open(t.Context(), w.query(w.org, "late").Query)
	require.ErrorIs(t, err, ErrMissing, "for a session its answers hold")
	_, err = w.open(t.Context(), w.query(w.org, "late"))
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `delete from symbols`)
	require.NoError(t, err)
	_, err = w.open(t.Context(), w.query(w.org, "late"))
	require.ErrorIs(t, err, ErrMissing)
}

// Of native files the one that says most serves, and for unwinding the one that can.
func TestBestFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	b := native.NewBuilder(t.TempDir())
	defer b.Close()
	require.NoError(t, b.Public(native.Public{Address: 1, Size: 2, Name: "f"}))
	var out bytes.Buffer
	_, err := b.Finish(&out)
	require.NoError(t, err)
	debug := symbol.Identifier{Type: symbol.DebugID, Value: "C1A2B3C4D5E6F708192A3B4C5D6E7F800"}
	lines := w.file(w.org, symbolfile.File{Kind: symbol.ELF, Features: []string{"functions", "lines"},
		Identifiers: []symbol.Identifier{debug}}, out.Bytes())
	unwind := w.file(w.org, symbolfile.File{Kind: symbol.ELF, Features: []string{"publics", "unwind"},
		Identifiers: []symbol.Identifier{debug}}, out.Bytes())
	h, err := w.open(t.Context(), orgQuery{w.org, Query{ProjectID: w.project, Identifiers: []symbol.Identifier{debug}}})
	require.NoError(t, err)
	require.Equal(t, lines, h.File.IndexKey)
	h, err = w.open(t.Context(), orgQuery{w.org, Query{ProjectID: w.project, Identifiers: []symbol.Identifier{debug}, Feature: "unwind"}})
	require.NoError(t, err)
	require.Equal(t, unwind, h.File.IndexKey)
	// One whose index is gone: the next one serves.
	require.NoError(t, w.store.Delete(t.Context(), lines))
	w.library.cache = newCache(DefaultBytes)
	h, err = w.open(t.Context(), orgQuery{w.org, Query{ProjectID: w.project, Identifiers: []symbol.Identifier{debug}}})
	require.NoError(t, err)
	require.Equal(t, unwind, h.File.IndexKey)
}

// A large index is read by pages, and Warm never fetches.
func TestLargeIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	debug := symbol.Identifier{Type: symbol.BuildID, Value: "abcdef0123456789"}
	index := large(t)
	w.file(w.org, symbolfile.File{Kind: symbol.ELF, Features: []string{"lines"}, Identifiers: []symbol.Identifier{debug}}, index)
	q := orgQuery{w.org, Query{ProjectID: w.project, Identifiers: []symbol.Identifier{debug}}}
	_, err := w.warm(t.Context(), q)
	require.ErrorIs(t, err, ErrCold)
	require.Zero(t, w.store.opens.Load())
	h, err := w.open(t.Context(), q)
	require.NoError(t, err)
	frames, err := h.Native.Lookup(16*30_000 + 9)
	require.NoError(t, err)
	require.Contains(t, frames[0].Function, "function_30000_")
	require.EqualValues(t, 7, frames[0].Line)
	require.Less(t, w.library.Bytes(), int64(len(index)), "not all of it is in memory, and what is cached besides")
	opens := w.store.opens.Load()
	_, err = h.Native.Lookup(16*30_000 + 1)
	require.NoError(t, err)
	require.Equal(t, opens, w.store.opens.Load(), "its pages are there")

	warm, err := w.warm(t.Context(), q)
	require.NoError(t, err)
	frames, err = warm.Native.Lookup(16*30_000 + 1)
	require.NoError(t, err)
	require.Contains(t, frames[0].Function, "function_30000_")
	_, err = warm.Native.Lookup(16 * 100)
	require.ErrorIs(t, err, ErrCold)
	require.Equal(t, opens, w.store.opens.Load())
	// All at once, at random places.
	var all sync.WaitGroup
	for n := range uint64(8) {
		all.Go(func() {
			for i := n; i < 60_000; i += 997 {
				frames, err := h.Native.Lookup(16*i + 3)
				if assert.NoError(t, err) {
					assert.Contains(t, frames[0].Function, fmt.Sprintf("function_%d_", i))
				}
			}
		})
	}
	all.Wait()
}

// What many want at once is fetched once, and who stops waiting does not stop the others.
func TestSingleFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.mappingFile(w.org, "m", mapping(t, 10))
	w.store.hang = make(chan struct{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := w.open(t.Context(), w.query(w.org, "m"))
			assert.NoError(t, err)
		})
	}
	require.Eventually(t, func() bool { return w.store.opens.Load() == 1 }, time.Minute, time.Millisecond)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.open(impatient, w.query(w.org, "m"))
	require.ErrorIs(t, err, context.Canceled)
	close(w.store.hang)
	all.Wait()
	require.LessOrEqual(t, w.store.opens.Load(), int64(2))
}

// A store that fails is not a file that is missing; and it delays only once.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.mappingFile(w.org, "m", mapping(t, 10))
	broken := errors.New("no route to store")
	w.store.err.Store(&broken)
	for range 5 {
		_, err := w.open(t.Context(), w.query(w.org, "m"))
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, ErrMissing)
	}
	require.EqualValues(t, 1, w.store.opens.Load(), "the others fail at once")
	w.store.err.Store(nil)
	w.clock.Add(10)
	_, err := w.open(t.Context(), w.query(w.org, "m"))
	require.NoError(t, err)

	// One that hangs ends at the deadline.
	w.mappingFile(w.org, "slow", mapping(t, 11))
	w.library.cfg.FetchTimeout = time.Millisecond
	w.store.hang = make(chan struct{})
	_, err = w.open(t.Context(), w.query(w.org, "slow"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = w.open(t.Context(), w.query(w.org, "m"))
	require.NoError(t, err, "other symbols are as quick as ever")
}

// The cache holds what it may, and a busy organization does not drive out the others.
func TestCacheBounds(t *testing.T) {
	t.Parallel()
	c := newCache(900)
	for i := range 100 {
		c.put(fmt.Sprint("a", i), 1, 10, i)
	}
	require.EqualValues(t, 900, c.size(), "one alone has all")
	for i := range 30 {
		c.put(fmt.Sprint("b", i), 2, 10, i)
	}
	for i := range 1000 {
		c.put(fmt.Sprint("c", i), 1, 10, i)
		require.LessOrEqual(t, c.size(), int64(900))
	}
	require.EqualValues(t, 300, c.sizeOf(2), "what the small one has stays")
	for i := range 30 {
		_, ok := c.get(fmt.Sprint("b", i))
		require.True(t, ok)
	}
	c.put("huge", 1, 301, nil)
	_, ok := c.get("huge")
	require.False(t, ok, "larger than a share")
	c.put("c999", 1, 20, "new")
	got, _ := c.get("c999")
	require.Equal(t, "new", got)
	// The one used last stays.
	c = newCache(90)
	c.put("x", 1, 30, nil)
	c.put("y", 1, 30, nil)
	c.get("x")
	c.put("z", 1, 30, nil)
	c.put("zz", 1, 30, nil)
	_, ok = c.get("x")
	require.True(t, ok)
	_, ok = c.get("y")
	require.False(t, ok)
}

func TestLibraryStaysInItsBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, MinBytes)
	index := mapping(t, 20_000)
	for i := range 20 {
		w.mappingFile(w.org, fmt.Sprint("m", i), index)
	}
	for i := range 20 {
		_, err := w.open(t.Context(), w.query(w.org, fmt.Sprint("m", i)))
		require.NoError(t, err)
		require.LessOrEqual(t, w.library.Bytes(), int64(MinBytes))
	}
	_, err := New(Config{Bytes: 1})
	require.Error(t, err)
}

func TestIndexOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	var out bytes.Buffer
	x := symbol.NewWriter(&out, proguard.Kind, proguard.Version+1)
	require.NoError(t, x.Close())
	w.mappingFile(w.org, "m", out.Bytes())
	_, err := w.open(t.Context(), w.query(w.org, "m"))
	require.ErrorIs(t, err, ErrMissing, "it is about to be made anew")
	w.mappingFile(w.org, "rubbish", []byte("rubbish rubbish rubbish"))
	_, err = w.open(t.Context(), w.query(w.org, "rubbish"))
	require.ErrorContains(t, err, "not an index")
}

// A session goes on with what it knows while no file comes or goes.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.mappingFile(w.org, "m0", mapping(t, 1))
	q := w.query(w.org, "m1")
	s, err := w.asked(t.Context(), q)
	require.NoError(t, err)
	_, err = s.Open(t.Context(), q.Query)
	require.ErrorIs(t, err, ErrMissing)
	holds, err := s.Refresh(t.Context())
	require.NoError(t, err)
	require.True(t, holds)
	_, err = s.Open(t.Context(), q.Query)
	require.ErrorIs(t, err, ErrMissing, "known without asking")

	w.mappingFile(w.org, "m1", mapping(t, 10))
	_, err = s.Open(t.Context(), q.Query)
	require.ErrorIs(t, err, ErrMissing, "until it is told")
	holds, err = s.Refresh(t.Context())
	require.NoError(t, err)
	require.False(t, holds)
	_, err = s.Open(t.Context(), q.Query)
	require.ErrorIs(t, err, ErrUnasked)
	require.NoError(t, s.Ask(t.Context()))
	h, err := s.Open(t.Context(), q.Query)
	require.NoError(t, err)
	require.Equal(t, id("m1"), h.By)

	_, err = w.db.ExecContext(t.Context(), `delete from symbol_files where index_key = $1`, h.File.IndexKey)
	require.NoError(t, err)
	holds, err = s.Refresh(t.Context())
	require.NoError(t, err)
	require.False(t, holds)
	require.NoError(t, s.Ask(t.Context()))
	_, err = s.Open(t.Context(), q.Query)
	require.ErrorIs(t, err, ErrUnasked)
	require.NoError(t, s.Ask(t.Context()))
	_, err = s.Open(t.Context(), q.Query)
	require.ErrorIs(t, err, ErrMissing, "deleted")
}
