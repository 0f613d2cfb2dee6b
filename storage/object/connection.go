package object

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Connection is a Store that need not be there yet. A process starts with it
// whatever its object store does; until the store can be opened every method
// returns an *UnavailableError that says why. Check opens it: whoever looks at
// readiness every few seconds also tries again.
//
// An open store that stops to serve is told from one request that fails: its errors
// are *UnavailableErrors too. After two Checks in a row that failed (one may have been
// slow), writes, and reads where these fail as well, are refused at once, so that
// nobody uploads a gigabyte for nothing, or waits for the retries of a store that is
// away.
type Connection struct {
	name string
	open opener
	now  func() time.Time

	opening chan struct{} // holds a token while one goroutine opens

	mu      sync.Mutex
	store   Store             // nil: not open
	trouble *UnavailableError // of the last Check
	failed  int               // Checks in a row
	checked time.Time         // when the last Check ended
	full    *UnavailableError // the last write found no room
	filled  time.Time         // when full was found
}

var _ Store = (*Connection)(nil)

const (
	// troubleAge is how long the outcome of a failed Check stands: somebody who
	// checks does so more often, and nobody is refused by an old one.
	troubleAge = 15 * time.Second
	// firstTimeout bounds the first look, which a request may wait for.
	firstTimeout = 3 * time.Second
	// fullAge is how long Check reports a store as full after a write found it so.
	// The check of an S3 service writes nothing.
	fullAge = time.Minute
	// enoughTime is how long a Check must have had for its deadline to say something of
	// the store, and not of the one who checks.
	enoughTime = 1500 * time.Millisecond
)

// Connect returns a store that Check opens. It reaches nothing; an error is of a
// configuration with which no store would ever open.
func Connect(cfg Config) (*Connection, error) {
	open, err := cfg.opener()
	if err != nil {
		return nil, err
	}
	now := cfg.Now
	if now == nil {
		now = time.Now
	}
	return &Connection{name: cfg.String(), open: open, now: now, opening: make(chan struct{}, 1)}, nil
}

// use returns the open store, or why there is none for reading or writing.
func (c *Connection) use(ctx context.Context, write bool) (Store, error) {
	c.mu.Lock()
	fresh := c.store == nil && c.trouble == nil
	c.mu.Unlock()
	if fresh {
		ctx, cancel := context.WithTimeout(ctx, firstTimeout)
		defer cancel()
		if err := c.Check(ctx); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trouble
	switch {
	case c.store == nil:
		return nil, t
	case c.failed > 1 && (write || !t.ReadOnly) && c.now().Sub(c.checked) < troubleAge:
		return nil, t
	}
	return c.store, nil
}

// explain returns an error with its meaning for the whole store, and remembers a
// write that found no room.
func (c *Connection) explain(err error) error {
	u := unavailable(c.name, err)
	if u == nil {
		return err
	}
	if u.Full {
		c.mu.Lock()
		c.full, c.filled = u, c.now()
		c.mu.Unlock()
	}
	return u
}

// Check opens the store where it is not open, and reports whether it can serve. One that
// its caller ended early is reported, and counts for nothing else: a probe in a hurry must
// not turn uploads away from a store that is slow.
func (c *Connection) Check(ctx context.Context) error {
	began := c.now()
	err := c.try(ctx)
	if errors.Is(err, context.Canceled) {
		return err
	}
	trouble := unavailable(c.name, err)
	if err != nil && ctx.Err() != nil && c.now().Sub(began) < enoughTime {
		if trouble == nil {
			return err
		}
		return trouble
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble = trouble
	if c.trouble == nil && err != nil {
		c.trouble = &UnavailableError{Store: c.name, Reason: "not usable", Err: err}
	}
	c.checked = c.now()
	c.failed++
	if c.trouble != nil {
		return c.trouble
	}
	c.failed = 0
	if c.full != nil && c.checked.Sub(c.filled) < fullAge {
		return c.full
	}
	return nil
}

// try opens the store where it is not open, and has it check itself.
func (c *Connection) try(ctx context.Context) error {
	store, err := c.reach(ctx)
	if err != nil {
		return err
	}
	return store.Check(ctx)
}

// reach returns the store, and opens it first where nobody has. One goroutine opens at a
// time: a store that is open already must not be prepared anew while it is in use.
func (c *Connection) reach(ctx context.Context) (Store, error) {
	if store := c.opened(); store != nil {
		return store, nil
	}
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if store := c.opened(); store != nil {
		return store, nil
	}
	store, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store = store
	return store, nil
}

// opened returns the store; nil when it is not open.
func (c *Connection) opened() Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.store
}

// Close closes the store if it is open.
func (c *Connection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store == nil {
		return nil
	}
	return c.store.Close()
}

// ServeSigned returns what serves the links of a folder; nil where the store is not
// a folder. The handler returns an *UnavailableError where the folder is not open,
// and has then written nothing.
func (c *Connection) ServeSigned() func(http.ResponseWriter, *http.Request) error {
	if !strings.HasPrefix(c.name, folderPrefix) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		store, err := c.use(r.Context(), false)
		if err != nil {
			return err
		}
		if folder, ok := store.(*Folder); ok {
			folder.ServeSigned().ServeHTTP(w, r)
		}
		return nil
	}
}

// Create implements Store.
func (c *Connection) Create(ctx context.Context, key string, size int64, opts WriteOptions) (Writer, error) {
	store, err := c.use(ctx, true)
	if err != nil {
		return nil, err
	}
	w, err := store.Create(ctx, key, size, opts)
	if err != nil {
		return nil, c.explain(err)
	}
	return &connectedWriter{Writer: w, of: c}, nil
}

// connectedWriter explains errors, and notes that there is room again.
type connectedWriter struct {
	Writer
	of *Connection
}

func (w *connectedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	return n, w.of.explain(err)
}

func (w *connectedWriter) Commit() (Info, error) {
	info, err := w.Writer.Commit()
	if err != nil {
		return info, w.of.explain(err)
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.full = nil
	return info, nil
}

// Open implements Store.
func (c *Connection) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error) {
	store, err := c.use(ctx, false)
	if err != nil {
		return nil, Info{}, err
	}
	content, info, err := store.Open(ctx, key, offset, length)
	if err != nil {
		return nil, Info{}, c.explain(err)
	}
	return &connectedReader{ReadCloser: content, of: c}, info, nil
}

// connectedReader explains errors.
type connectedReader struct {
	io.ReadCloser
	of *Connection
}

func (r *connectedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = r.of.explain(err)
	}
	return n, err
}

// Stat implements Store.
func (c *Connection) Stat(ctx context.Context, key string) (Info, error) {
	store, err := c.use(ctx, false)
	if err != nil {
		return Info{}, err
	}
	info, err := store.Stat(ctx, key)
	return info, c.explain(err)
}

// Delete implements Store.
func (c *Connection) Delete(ctx context.Context, keys ...string) error {
	store, err := c.use(ctx, false) // a full store is where deleting helps
	if err != nil {
		return err
	}
	return c.explain(store.Delete(ctx, keys...))
}

// List implements Store.
func (c *Connection) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	store, err := c.use(ctx, false)
	if err != nil {
		return nil, err
	}
	page, err := store.List(ctx, prefix, after, limit)
	return page, c.explain(err)
}

// SignGet implements Store.
func (c *Connection) SignGet(ctx context.Context, key string, ttl time.Duration, opts SignOptions) (string, error) {
	store, err := c.use(ctx, false)
	if err != nil {
		return "", err
	}
	link, err := store.SignGet(ctx, key, ttl, opts)
	return link, c.explain(err)
}

// BeginParts implements Store.
func (c *Connection) BeginParts(ctx context.Context, key string, opts WriteOptions) (string, error) {
	store, err := c.use(ctx, true)
	if err != nil {
		return "", err
	}
	id, err := store.BeginParts(ctx, key, opts)
	return id, c.explain(err)
}

// WritePart implements Store.
func (c *Connection) WritePart(ctx context.Context, m Multipart, number int) (PartWriter, error) {
	store, err := c.use(ctx, true)
	if err != nil {
		return nil, err
	}
	w, err := store.WritePart(ctx, m, number)
	if err != nil {
		return nil, c.explain(err)
	}
	return &connectedPartWriter{PartWriter: w, of: c}, nil
}

// connectedPartWriter explains errors.
type connectedPartWriter struct {
	PartWriter
	of *Connection
}

func (w *connectedPartWriter) Write(p []byte) (int, error) {
	n, err := w.PartWriter.Write(p)
	return n, w.of.explain(err)
}

func (w *connectedPartWriter) Commit(own *Sum) (string, error) {
	tag, err := w.PartWriter.Commit(own)
	return tag, w.of.explain(err)
}

// CompleteParts implements Store.
func (c *Connection) CompleteParts(ctx context.Context, m Multipart, parts []Part, sum *Sum) (Info, error) {
	store, err := c.use(ctx, true)
	if err != nil {
		return Info{}, err
	}
	info, err := store.CompleteParts(ctx, m, parts, sum)
	return info, c.explain(err)
}

// AbortParts implements Store.
func (c *Connection) AbortParts(ctx context.Context, m Multipart) error {
	store, err := c.use(ctx, false) // a full store is where deleting helps
	if err != nil {
		return err
	}
	return c.explain(store.AbortParts(ctx, m))
}

// Sweep implements Store.
func (c *Connection) Sweep(ctx context.Context, age time.Duration) (int, error) {
	store, err := c.use(ctx, false)
	if err != nil {
		return 0, err
	}
	n, err := store.Sweep(ctx, age)
	return n, c.explain(err)
}
