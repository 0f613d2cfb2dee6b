package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/storage/object"
)

// copies is how many objects are copied at once: most are small and wait for the store.
const copies = 4

// openBackup opens the objects of a backup's folder.
func openBackup(ctx context.Context, dir string) (object.Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return object.Open(ctx, object.Config{URL: "file://" + (&url.URL{Path: abs}).EscapedPath()})
}

// progress prints a line every two seconds.
type progress struct {
	doing          string
	objects, bytes atomic.Int64
	mu             sync.Mutex
	printed        time.Time
}

func (p *progress) add(bytes int64) {
	objects, sum := p.objects.Add(1), p.bytes.Add(bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.printed) >= 2*time.Second {
		p.printed = time.Now()
		p.print(objects, sum)
	}
}

func (p *progress) print(objects, bytes int64) {
	fmt.Fprintf(os.Stderr, "%s: %d objects, %.1f MiB\n", p.doing, objects, float64(bytes)/(1<<20))
}

func (p *progress) end() { p.print(p.objects.Load(), p.bytes.Load()) }

// missingObjects are named by the database and not in the store.
type missingObjects struct {
	mu   sync.Mutex
	keys []string
	more int
}

// maxMissing keys are listed.
const maxMissing = 100

func (m *missingObjects) add(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.keys) < maxMissing {
		m.keys = append(m.keys, key)
	} else {
		m.more++
	}
}

// err prints the keys.
func (m *missingObjects) err() error {
	if len(m.keys) == 0 {
		return nil
	}
	slices.Sort(m.keys)
	for _, key := range m.keys {
		fmt.Fprintln(os.Stderr, "missing:", key)
	}
	return fmt.Errorf("%d objects that the database names are not in the object store", len(m.keys)+m.more)
}

// copyOut copies the objects with these keys, one a line in the file, which is sorted, to
// the backup, and writes objectsFile. What the backup has already, of an earlier try, is
// not copied again: an object never changes.
func copyOut(ctx context.Context, from, to object.Store, keys, list string) (count, bytes int64, err error) {
	p := &progress{doing: "copied to the backup"}
	missing := &missingObjects{}
	out, err := os.OpenFile(list, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, 0, err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	lines := json.NewEncoder(w)
	err = inBatches(keys, func(batch []string) error {
		entries := make([]*objectEntry, len(batch))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(copies)
		for i, key := range batch {
			group.Go(func() error {
				e, err := copyObject(ctx, from, to, key)
				if errors.Is(err, object.ErrNotFound) {
					missing.add(key)
					return nil
				}
				if err != nil {
					return fmt.Errorf("copy %s: %w", key, err)
				}
				entries[i] = e
				p.add(e.Size)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, e := range entries {
			if e == nil {
				continue
			}
			if err := lines.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
	p.end()
	if err := errors.Join(err, w.Flush(), out.Sync()); err != nil {
		return 0, 0, err
	}
	return p.objects.Load(), p.bytes.Load(), missing.err()
}

// copyObject copies one object, unless it is there, and returns what was read.
func copyObject(ctx context.Context, from, to object.Store, key string) (*objectEntry, error) {
	source, info, err := from.Open(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	e := &objectEntry{Key: key, Size: info.Size, ContentType: info.ContentType}
	existing, have, err := to.Open(ctx, key, 0, -1)
	if err != nil && !errors.Is(err, object.ErrNotFound) {
		return nil, err
	}
	if existing != nil {
		defer existing.Close()
		if have.Size == info.Size {
			_, e.SHA256, err = hashReader(existing)
			return e, err
		}
	}
	digest := sha256.New()
	if _, err := object.Put(ctx, to, key, io.TeeReader(source, digest), info.Size,
		object.WriteOptions{ContentType: info.ContentType}); err != nil {
		return nil, err
	}
	e.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return e, nil
}

// batchSize keys are in memory at once.
const batchSize = 256

// inBatches reads a file of one text a line, and leaves out what is repeated.
func inBatches(path string, do func([]string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	var batch []string
	last := ""
	for lines.Scan() {
		if lines.Text() == last {
			continue
		}
		last = lines.Text()
		if batch = append(batch, last); len(batch) == batchSize {
			if err := do(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return do(batch)
}

// verifyObjects reads every object of a backup and compares it with the list.
func verifyObjects(ctx context.Context, dir string, store object.Store, m *manifest) error {
	p := &progress{doing: "verified"}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copies)
	err := eachObject(dir, func(e objectEntry) error {
		group.Go(func() error {
			source, _, err := store.Open(ctx, e.Key, 0, -1)
			if err != nil {
				return fmt.Errorf("object %s: %w", e.Key, err)
			}
			defer source.Close()
			size, sum, err := hashReader(source)
			if err != nil {
				return fmt.Errorf("object %s: %w", e.Key, err)
			}
			if size != e.Size || sum != e.SHA256 {
				return fmt.Errorf("object %s is damaged: it has %d bytes with SHA-256 %s, the list says %d and %s", e.Key, size, sum, e.Size, e.SHA256)
			}
			p.add(size)
			return nil
		})
		return ctx.Err()
	})
	if wait := group.Wait(); wait != nil {
		return wait
	}
	if err != nil {
		return err
	}
	p.end()
	if p.objects.Load() != m.Counts["objects"] || p.bytes.Load() != m.Bytes {
		return fmt.Errorf("the backup lists %d objects of %d bytes, and the manifest says %d of %d", p.objects.Load(),
			p.bytes.Load(), m.Counts["objects"], m.Bytes)
	}
	return nil
}

// copyIn copies the objects of a backup to a store, which has none but these.
func copyIn(ctx context.Context, dir string, from, to object.Store) error {
	p := &progress{doing: "restored"}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copies)
	err := eachObject(dir, func(e objectEntry) error {
		group.Go(func() error {
			got, err := copyObject(ctx, from, to, e.Key)
			if err != nil {
				return fmt.Errorf("restore %s: %w", e.Key, err)
			}
			if got.SHA256 != e.SHA256 {
				return fmt.Errorf("restore %s: what was stored differs from the backup", e.Key)
			}
			p.add(e.Size)
			return nil
		})
		return ctx.Err()
	})
	if wait := group.Wait(); wait != nil {
		return wait
	}
	p.end()
	return err
}

// checkForeign returns an error when a store has objects that the backup has not: it is
// another installation's.
func checkForeign(ctx context.Context, dir string, to object.Store) error {
	next, stop := iter.Pull2(func(yield func(objectEntry, error) bool) {
		err := eachObject(dir, func(e objectEntry) error {
			if !yield(e, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(objectEntry{}, err)
		}
	})
	defer stop()
	listed, err, more := next()
	for after := ""; ; {
		page, failed := to.List(ctx, "", after, object.MaxList)
		if failed != nil {
			return failed
		}
		for _, info := range page {
			for more && err == nil && listed.Key < info.Key {
				listed, err, more = next()
			}
			if err != nil {
				return err
			}
			if !more || listed.Key != info.Key {
				return fmt.Errorf("the object store is not empty: it has %s, which is not of this backup", info.Key)
			}
		}
		if len(page) < object.MaxList {
			return nil
		}
		after = page[len(page)-1].Key
	}
}

// errStopped ends the reading of a list.
var errStopped = errors.New("stopped")
