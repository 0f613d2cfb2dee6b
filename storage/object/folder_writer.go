package object

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
)

// folderWriter writes one object: a temporary file that Commit ends with the
// footer, syncs and renames.
type folderWriter struct {
	*Folder
	ctx              context.Context
	key, contentType string
	size             int64 // announced; -1: not known

	temp   string // its name
	file   *os.File
	digest hash.Hash
	total  int64
	err    error // of a Write
	ended  bool
}

// Create opens a temporary file.
func (f *Folder) Create(ctx context.Context, key string, size int64, opts WriteOptions) (Writer, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	contentType, err := opts.contentType()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("create object: %w", err)
	}
	temp, file, err := f.createTemp()
	if err != nil {
		return nil, fmt.Errorf("create object: %w", err)
	}
	return &folderWriter{Folder: f, ctx: ctx, key: key, contentType: contentType, size: max(size, -1),
		temp: temp, file: file, digest: sha256.New()}, nil
}

// Write hashes and writes.
func (w *folderWriter) Write(p []byte) (int, error) {
	if w.ended {
		return 0, errEnded
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.write(p)
	if err != nil {
		w.err = fmt.Errorf("write object: %w", err)
	}
	return n, w.err
}

func (w *folderWriter) write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.size >= 0 && w.total+int64(len(p)) > w.size {
		return 0, ErrSize
	}
	w.digest.Write(p)
	n, err := w.file.Write(p)
	w.total += int64(n)
	return n, err
}

// Commit syncs the file and renames it to its place.
func (w *folderWriter) Commit() (Info, error) {
	if w.ended {
		return Info{}, errEnded
	}
	info, err := w.commit()
	if err != nil {
		return Info{}, errors.Join(fmt.Errorf("commit object: %w", err), w.Abort())
	}
	w.ended = true
	return info, nil
}

func (w *folderWriter) commit() (Info, error) {
	if w.err != nil {
		return Info{}, w.err
	}
	if err := w.ctx.Err(); err != nil {
		return Info{}, err
	}
	if w.size >= 0 && w.total != w.size {
		return Info{}, ErrSize
	}
	sum := hex.EncodeToString(w.digest.Sum(nil))
	tail, err := footer{ContentType: w.contentType, SHA256: sum}.encode()
	if err != nil {
		return Info{}, err
	}
	if _, err := w.file.Write(tail); err != nil {
		return Info{}, err
	}
	if err := w.file.Sync(); err != nil {
		return Info{}, err
	}
	stat, err := w.file.Stat()
	if err != nil {
		return Info{}, err
	}
	if err := w.ctx.Err(); err != nil {
		return Info{}, err
	}
	// The file is open until it has its place: its lock keeps others from removing it.
	if err := w.moveInto(w.temp, objectPath(w.key)); err != nil {
		return Info{}, err
	}
	_ = w.file.Close() // it is synced
	return Info{Key: w.key, Size: w.total, ContentType: w.contentType, ETag: sum, ModTime: stat.ModTime().UTC()}, nil
}

// Abort removes the temporary file.
func (w *folderWriter) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	_ = w.file.Close() // a failed commit may have closed it
	if err := ignoreNotExist(w.root.Remove(w.temp)); err != nil {
		return fmt.Errorf("abort object (the sweep will): %w", err)
	}
	return nil
}

// moveTries bounds the race with a Delete that removes the folder between its
// creation and the rename.
const moveTries = 20

// moveInto renames a temporary file to its place and makes that durable.
func (f *Folder) moveInto(temp, target string) error {
	err := f.rename(temp, target)
	if err != nil {
		f.prune(path.Dir(target))
		return err
	}
	if err := f.syncFolders(path.Dir(target)); err != nil {
		// Not known to survive a power failure, and reported as failed: removed.
		err = errors.Join(err, f.root.Remove(target))
		f.prune(path.Dir(target))
		return err
	}
	return nil
}

// rename creates the folders of target too.
func (f *Folder) rename(temp, target string) error {
	var err error
	for range moveTries {
		if err = f.root.MkdirAll(path.Dir(target), 0o700); err == nil {
			err = f.root.Rename(temp, target)
		}
		// MkdirAll fails with "exists" for a folder that was there when it tried to
		// create it and gone when it looked again.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}

// syncFolders makes the entry for a file durable, up to the top: a concurrent
// write may have created a folder above and not have synced it yet. Where nothing
// changed, the sync costs next to nothing.
func (f *Folder) syncFolders(dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		handle, err := f.root.Open(dir)
		if err != nil {
			return err
		}
		if err := errors.Join(handle.Sync(), handle.Close()); err != nil {
			return err
		}
	}
	return nil
}

// prune removes the empty folders from dir upwards.
func (f *Folder) prune(dir string) {
	for dir != objectsDir && f.root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}
