package download

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// folderMark begins the names of the folders, which stand in the system's folder of temporary
// files.
const folderMark = "slipway-download-"

// unlockedAge is how old a folder is that nobody locks before it counts as left behind: a new
// one is locked a moment after it is made.
const unlockedAge = time.Minute

// makeFolder makes the folder of a test and locks it. The system takes the lock from a process
// that ends, however it ends: who can lock such a folder knows that its test is gone.
func makeFolder() (folder *os.Root, lock *os.File, err error) {
	path, err := os.MkdirTemp("", folderMark)
	if err != nil {
		return nil, nil, fmt.Errorf("download: folder: %w", err)
	}
	if folder, err = os.OpenRoot(path); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(path))
	}
	// Where folders cannot be locked, Sweep locks none either.
	if lock, err = os.Open(path); err == nil {
		_ = flock(lock)
	}
	return folder, lock, nil
}

func flock(file *os.File) error {
	for {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Sweep deletes the folders of tests whose process was killed, and returns how many. A worker
// calls it when it starts.
func Sweep() (swept int, err error) { return sweep(os.TempDir(), time.Now().Add(-unlockedAge)) }

func sweep(in string, before time.Time) (swept int, err error) {
	dir, err := os.Open(in)
	if err != nil {
		return 0, fmt.Errorf("sweep downloads: %w", err)
	}
	defer dir.Close()
	var failed error
	for {
		entries, err := dir.ReadDir(256)
		for _, entry := range entries {
			if !entry.IsDir() || !strings.HasPrefix(entry.Name(), folderMark) {
				continue
			}
			removed, err := sweepFolder(filepath.Join(in, entry.Name()), before)
			if failed = errors.Join(failed, err); removed {
				swept++
			}
		}
		if errors.Is(err, io.EOF) {
			return swept, failed
		}
		if err != nil {
			return swept, errors.Join(failed, fmt.Errorf("sweep downloads: %w", err))
		}
	}
}

// sweepFolder deletes a folder that is older and that nobody locks.
func sweepFolder(path string, before time.Time) (removed bool, err error) {
	lock, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false, nil // gone meanwhile, or another user's
	}
	defer lock.Close()
	info, err := lock.Stat()
	if err != nil || !info.IsDir() || info.ModTime().After(before) || flock(lock) != nil {
		return false, nil // at work
	}
	if err := os.RemoveAll(path); err != nil {
		return false, fmt.Errorf("sweep downloads: %w", err)
	}
	return true, nil
}
