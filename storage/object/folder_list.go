package object

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// List walks the folders in the order of the keys and skips those that hold
// nothing between after and the end of prefix.
func (f *Folder) List(ctx context.Context, prefix, after string, limit int) ([]Info, error) {
	limit, err := checkList(prefix, after, limit)
	if err != nil {
		return nil, err
	}
	l := listing{Folder: f, prefix: prefix, after: after, limit: limit}
	if err := l.walk(ctx, objectsDir, "", false); err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	return l.page, nil
}

type listing struct {
	*Folder
	prefix, after string
	limit         int
	page          []Info
}

// entry is a child of a folder. All keys below it begin with from; for an
// object, from is the key.
type entry struct {
	from   string
	path   string
	shard  bool // a shard folder: from ends within a segment
	object bool
}

// walk appends the objects below dir, whose keys begin with base.
func (l *listing) walk(ctx context.Context, dir, base string, inShard bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := l.entries(dir, base, inShard)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(l.page) == l.limit {
			return nil
		}
		switch {
		case e.object:
			err = l.add(e)
		case l.skips(e.from):
		case e.shard:
			err = l.walk(ctx, e.path, base, true)
		default:
			err = l.walk(ctx, e.path, e.from, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skips reports whether no key that begins with from belongs on the page.
func (l *listing) skips(from string) bool {
	if !strings.HasPrefix(from, l.prefix) && !strings.HasPrefix(l.prefix, from) {
		return true
	}
	return from < l.after && !strings.HasPrefix(l.after, from)
}

// entries reads a folder in the order of the keys below. That is the order of
// from: a shard and its siblings never interleave, because every segment with
// the shard's first characters stands in it.
func (l *listing) entries(dir, base string, inShard bool) ([]entry, error) {
	handle, err := l.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	names, err := handle.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		e := entry{path: dir + "/" + name}
		if segment, ok := strings.CutSuffix(name, objectMark); ok {
			e.from, e.object = base+segment, true
		} else if first, ok := strings.CutSuffix(name, shardMark); ok && !inShard && len(first) == shardLength {
			e.from, e.shard = base+first, true
		} else {
			e.from = base + name + "/"
		}
		// What no write has created is skipped.
		if ValidKey(strings.TrimSuffix(e.from, "/")) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.from, b.from) })
	return entries, nil
}

// add describes an object. A damaged file is listed too, with the size of the
// file and without an ETag, so that a sweep can see and delete it.
func (l *listing) add(e entry) error {
	if e.from <= l.after || !strings.HasPrefix(e.from, l.prefix) {
		return nil
	}
	file, err := l.root.Open(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := describe(file, e.from)
	if errors.Is(err, errFooter) {
		stat, statErr := file.Stat()
		if statErr != nil {
			return statErr
		}
		info, err = Info{Key: e.from, Size: stat.Size(), ModTime: stat.ModTime().UTC()}, nil
	}
	if err != nil {
		return err
	}
	l.page = append(l.page, info)
	return nil
}
