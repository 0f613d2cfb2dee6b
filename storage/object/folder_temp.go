package object

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// lockedMark begins the names of temporary files whose writers hold a lock on them. The
// system takes the lock from a process that ends, however it ends: who can lock such a
// file knows that its writer is gone.
const lockedMark = "w-"

// createTemp creates a temporary file and locks it.
func (f *Folder) createTemp() (string, *os.File, error) {
	for {
		name := tmpDir + "/" + lockedMark + rand.Text()
		file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return name, nil, err
		}
		// Where files cannot be locked, nobody takes them for a dead writer's either.
		_ = flock(file, syscall.LOCK_EX)
		// Until it was locked, another process may have taken it for a dead writer's.
		if f.isNamed(name, file) {
			return name, file, nil
		}
		file.Close()
	}
}

// isNamed reports whether the file is still there by its name.
func (f *Folder) isNamed(name string, file *os.File) bool {
	now, err := f.root.Stat(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	own, err := file.Stat()
	return err != nil || os.SameFile(now, own)
}

func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Sweep removes temporary files that nobody has written to for age, and at once those
// whose writer is gone; and the parts of objects that nobody goes on with.
func (f *Folder) Sweep(ctx context.Context, age time.Duration) (int, error) {
	temps, err := f.sweepTemps(ctx, age)
	parts, partsErr := f.sweepParts(ctx, age)
	return temps + parts, errors.Join(err, partsErr)
}

func (f *Folder) sweepTemps(ctx context.Context, age time.Duration) (int, error) {
	dir, err := f.root.Open(tmpDir)
	if err != nil {
		return 0, fmt.Errorf("sweep folder: %w", err)
	}
	defer dir.Close()
	before := time.Now().Add(-age)
	swept := 0
	for {
		entries, err := dir.ReadDir(256)
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				return swept, err
			}
			removed, err := f.sweepTemp(entry, before)
			if err != nil {
				return swept, fmt.Errorf("sweep folder: %w", err)
			}
			if removed {
				swept++
			}
		}
		if err == io.EOF {
			return swept, nil
		}
		if err != nil {
			return swept, fmt.Errorf("sweep folder: %w", err)
		}
	}
}

// sweepTemp removes a temporary file that is old or whose writer is gone.
func (f *Folder) sweepTemp(entry fs.DirEntry, before time.Time) (bool, error) {
	stat, err := entry.Info()
	if err != nil || stat.IsDir() {
		return false, nil // finished meanwhile, or not ours
	}
	name := tmpDir + "/" + entry.Name()
	if stat.ModTime().After(before) {
		if !strings.HasPrefix(entry.Name(), lockedMark) {
			return false, nil
		}
		file, err := f.root.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return false, ignoreNotExist(err)
		}
		defer file.Close() // ends the lock, after the removal
		if flock(file, syscall.LOCK_EX|syscall.LOCK_NB) != nil || !f.isNamed(name, file) {
			return false, nil // at work, or finished meanwhile
		}
	}
	if err := f.root.Remove(name); err != nil {
		return false, ignoreNotExist(err)
	}
	return true, nil
}
