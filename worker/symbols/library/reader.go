package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

const (
	// pageSize of what is cached of large indexes: a lookup touches a few places.
	pageSize = 64 << 10
	// maxRun pages are fetched by one request.
	maxRun = 64
	// pageCost is what a page takes besides its bytes.
	pageCost = 200
	// troubleTime is how long an index fails at once after a fetch that failed.
	troubleTime = 5 * time.Second
)

// pages reads indexes by pages.
type pages struct {
	l        *Library
	fetching *flights[[]byte]

	mu      sync.Mutex
	trouble map[string]trouble // by key of the index
}

type trouble struct {
	err   error
	until time.Time
}

func newPages(l *Library) *pages {
	return &pages{l: l, fetching: newFlights[[]byte](), trouble: map[string]trouble{}}
}

// reader is an io.ReaderAt of an index. It is safe for concurrent use.
type reader struct {
	pages *pages
	file  symbolfile.File
	warm  bool // nothing is fetched
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, object.ErrRange
	}
	n := 0
	for n < len(p) && off+int64(n) < r.file.IndexSize {
		at := off + int64(n)
		page, err := r.page(at/pageSize, (off+int64(len(p))-1)/pageSize)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], page[at%pageSize:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func pageKey(key string, page int64) string { return key + "#" + strconv.FormatInt(page, 10) }

// page returns a page, and fetches with it those up to last that are not there.
func (r *reader) page(page, last int64) ([]byte, error) {
	c := r.pages.l.cache
	if got, ok := c.get(pageKey(r.file.IndexKey, page)); ok {
		return got.([]byte), nil
	}
	if r.warm {
		return nil, ErrCold
	}
	run := int64(1)
	for page+run <= last && run < maxRun {
		if _, ok := c.get(pageKey(r.file.IndexKey, page+run)); ok {
			break
		}
		run++
	}
	// Who wants the same first page waits for this fetch; another beginning is another one.
	return r.pages.fetching.do(context.Background(), pageKey(r.file.IndexKey, page), func(ctx context.Context) ([]byte, error) {
		return r.fetch(ctx, page, run)
	})
}

// fetch fetches pages, keeps them, and returns the first one.
func (r *reader) fetch(ctx context.Context, page, run int64) ([]byte, error) {
	start := page * pageSize
	size := min(run*pageSize, r.file.IndexSize-start)
	all, err := r.pages.read(ctx, r.file, start, size)
	if err != nil {
		return nil, err
	}
	for n := int64(0); n*pageSize < size; n++ {
		// Each page is its own memory, or one of them would keep all.
		part := append([]byte(nil), all[n*pageSize:min((n+1)*pageSize, size)]...)
		r.pages.l.cache.put(pageKey(r.file.IndexKey, page+n), r.file.OrganizationID, int64(len(part))+pageCost, part)
	}
	return all[:min(pageSize, size)], nil
}

// read reads a range of an index from the store.
func (p *pages) read(ctx context.Context, f symbolfile.File, offset, size int64) ([]byte, error) {
	if err := p.inTrouble(f.IndexKey); err != nil {
		return nil, err
	}
	cfg := p.l.cfg
	ctx, cancel := context.WithTimeout(ctx, cfg.FetchTimeout)
	defer cancel()
	start := time.Now()
	buf, err := readRange(ctx, cfg.Objects, f, offset, size)
	if cfg.Observer != nil {
		cfg.Observer.SymbolFetch(int64(len(buf)), time.Since(start), err != nil)
	}
	if err != nil {
		err = fmt.Errorf("read index of symbol file %d: %w", f.ID, err)
		if !errors.Is(err, context.Canceled) {
			p.noteTrouble(f.IndexKey, err)
		}
		return nil, err
	}
	return buf, nil
}

func readRange(ctx context.Context, objects object.Store, f symbolfile.File, offset, size int64) (_ []byte, err error) {
	content, info, err := objects.Open(ctx, f.IndexKey, offset, size)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if info.Size != f.IndexSize {
		return nil, object.ErrSize
	}
	// A store that hangs need not look at the context.
	stop := context.AfterFunc(ctx, func() { _ = content.Close() })
	defer stop()
	buf := make([]byte, size)
	if _, err := io.ReadFull(content, buf); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return buf, nil
}

// inTrouble returns the error of a fetch that failed a moment ago.
func (p *pages) inTrouble(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.trouble[key]
	if !ok {
		return nil
	}
	if p.l.cfg.Now().Before(t.until) {
		return t.err
	}
	delete(p.trouble, key)
	return nil
}

func (p *pages) noteTrouble(key string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const most = 10_000
	if len(p.trouble) >= most {
		clear(p.trouble)
	}
	p.trouble[key] = trouble{err: err, until: p.l.cfg.Now().Add(troubleTime)}
}
