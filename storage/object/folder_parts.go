package object

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An object that is written in parts is one file in partsDir, into which each part is
// written at its place. Completing it appends the footer and renames the file, as the
// commit of a writer does: nothing is copied.
//
//	parts/ID     the bytes, and locked while it is completed
//	parts/ID.N   locked by the writer of part N, and removed by it
//
// A process that is killed leaves the lock, which the system takes from it.

const partsDir = "parts"

// partsAge is how long a file in partsDir may go without a write before Sweep takes it for
// one that nobody names: those who keep its id delete it earlier.
const partsAge = 26 * time.Hour

// partsFile returns the name of the file with the bytes.
func (m *Multipart) partsFile() (string, error) {
	if m.ID == "" || strings.Trim(m.ID, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return "", ErrInvalidKey
	}
	return partsDir + "/" + m.ID, nil
}

// BeginParts creates the file.
func (f *Folder) BeginParts(ctx context.Context, key string, opts WriteOptions) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	if _, err := opts.contentType(); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	id := rand.Text()
	if err := f.root.MkdirAll(partsDir, 0o700); err != nil {
		return "", fmt.Errorf("begin the parts of an object: %w", err)
	}
	file, err := f.root.OpenFile(partsDir+"/"+id, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("begin the parts of an object: %w", err)
	}
	return id, file.Close()
}

// folderPartWriter writes one part at its place.
type folderPartWriter struct {
	folder *Folder
	ctx    context.Context
	file   *os.File
	lock   *os.File
	named  string // the lock's name
	at     int64
	left   int64
	err    error
	ended  bool
}

// WritePart locks the part; ErrPartBusy when another writer has.
func (f *Folder) WritePart(ctx context.Context, m Multipart, number int) (PartWriter, error) {
	if err := m.checkPart(number); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("write a part: %w", err)
	}
	name, err := m.partsFile()
	if err != nil {
		return nil, err
	}
	file, err := f.openParts(name)
	if err != nil {
		return nil, err
	}
	w := &folderPartWriter{folder: f, ctx: ctx, file: file, named: name + "." + strconv.Itoa(number), at: m.Offset(number),
		left: m.Length(number)}
	if w.lock, err = f.lockNamed(w.named, os.O_CREATE|os.O_RDWR); err != nil {
		file.Close()
		return nil, fmt.Errorf("write a part: %w", err)
	}
	return w, nil
}

func (f *Folder) openParts(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("parts of an object: %w", ErrNotFound)
	}
	return file, err
}

// lockNamed opens a file and locks it; ErrPartBusy when somebody else has it locked. Where
// files cannot be locked at all, nobody is kept away.
func (f *Folder) lockNamed(name string, how int) (*os.File, error) {
	for {
		file, err := f.root.OpenFile(name, how, 0o600)
		if err != nil {
			return nil, err
		}
		if errors.Is(flock(file, syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
			file.Close()
			return nil, ErrPartBusy
		}
		// Until it was locked, its holder may have removed it.
		if f.isNamed(name, file) {
			return file, nil
		}
		file.Close()
	}
}

func (w *folderPartWriter) Write(p []byte) (int, error) {
	switch {
	case w.ended:
		return 0, errEnded
	case w.err != nil:
		return 0, w.err
	}
	n, err := w.write(p)
	if err != nil {
		w.err = fmt.Errorf("write a part: %w", err)
	}
	return n, w.err
}

func (w *folderPartWriter) write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if int64(len(p)) > w.left {
		return 0, ErrSize
	}
	n, err := w.file.WriteAt(p, w.at)
	w.at += int64(n)
	w.left -= int64(n)
	return n, err
}

// Commit syncs the file.
func (w *folderPartWriter) Commit(*Sum) (string, error) {
	switch {
	case w.ended:
		return "", errEnded
	case w.err != nil:
		return "", w.err
	case w.left != 0:
		return "", ErrSize
	}
	if err := w.ctx.Err(); err != nil {
		return "", err
	}
	if err := w.file.Sync(); err != nil {
		return "", fmt.Errorf("write a part: %w", err)
	}
	if !w.folder.isNamed(strings.TrimSuffix(w.named, w.named[strings.LastIndexByte(w.named, '.'):]), w.file) {
		return "", fmt.Errorf("write a part: %w", ErrNotFound) // aborted meanwhile
	}
	return "", nil
}

// Close gives the part free.
func (w *folderPartWriter) Close() error {
	if w.ended {
		return nil
	}
	w.ended = true
	err := ignoreNotExist(w.folder.root.Remove(w.named))
	_ = w.lock.Close() // ends the lock, after the removal
	return errors.Join(err, w.file.Close())
}

// CompleteParts ends the file with its footer and renames it to its place.
func (f *Folder) CompleteParts(ctx context.Context, m Multipart, parts []Part, sum *Sum) (Info, error) {
	if err := m.check(); err != nil {
		return Info{}, err
	}
	name, err := m.partsFile()
	if err != nil {
		return Info{}, err
	}
	file, err := f.lockNamed(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return f.completedBefore(ctx, &m, sum)
	}
	if err != nil {
		return Info{}, fmt.Errorf("complete the parts of an object: %w", err)
	}
	defer file.Close()
	if err := f.completeFile(ctx, file, &m, sum); err != nil {
		return Info{}, fmt.Errorf("complete the parts of an object: %w", err)
	}
	if err := f.moveInto(name, objectPath(m.Key)); err != nil {
		return Info{}, fmt.Errorf("complete the parts of an object: %w", err)
	}
	for _, p := range parts {
		_ = f.root.Remove(name + "." + strconv.Itoa(p.Number)) // of a writer that was killed
	}
	return f.Stat(ctx, m.Key)
}

// completeFile appends the footer; one that a killed process has left is cut off before.
func (f *Folder) completeFile(ctx context.Context, file *os.File, m *Multipart, sum *Sum) error {
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	if stat.Size() < m.Size {
		return m.allLost()
	}
	if err := file.Truncate(m.Size); err != nil {
		return err
	}
	rest := &fileReader{ctx: ctx, part: io.NewSectionReader(file, sum.N(), m.Size-sum.N()), file: file}
	if _, err := io.CopyBuffer(sum, rest, make([]byte, sumBuffer)); err != nil {
		return err
	}
	tail, err := footer{ContentType: defaultType, SHA256: sum.Hex()}.encode()
	if err != nil {
		return err
	}
	if _, err := file.WriteAt(tail, m.Size); err != nil {
		return err
	}
	return file.Sync()
}

// completedBefore is for an object whose parts are gone: it is there when somebody else has
// completed it.
func (f *Folder) completedBefore(ctx context.Context, m *Multipart, sum *Sum) (Info, error) {
	info, err := f.Stat(ctx, m.Key)
	if errors.Is(err, ErrNotFound) {
		return Info{}, m.allLost()
	}
	if err != nil {
		return Info{}, err
	}
	if info.Size != m.Size {
		return Info{}, m.allLost()
	}
	return info, sum.finish(ctx, f, m)
}

// AbortParts removes the file, and the locks of writers that were killed.
func (f *Folder) AbortParts(ctx context.Context, m Multipart) error {
	name, err := m.partsFile()
	if err != nil {
		return err
	}
	err = ignoreNotExist(f.root.Remove(name))
	if m.check() == nil {
		for n := range m.Count() {
			_ = f.root.Remove(name + "." + strconv.Itoa(n+1))
		}
	}
	if err != nil {
		return fmt.Errorf("abort the parts of an object (the sweep will): %w", err)
	}
	return ctx.Err()
}

// sweepParts removes files of parts to which nobody has written for age, and for partsAge
// at least.
func (f *Folder) sweepParts(ctx context.Context, age time.Duration) (int, error) {
	dir, err := f.root.Open(partsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("sweep parts: %w", err)
	}
	defer dir.Close()
	before, swept := time.Now().Add(-max(age, partsAge)), 0
	for {
		entries, err := dir.ReadDir(256)
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				return swept, err
			}
			stat, err := entry.Info()
			if err != nil || stat.IsDir() || stat.ModTime().After(before) {
				continue
			}
			if err := f.root.Remove(partsDir + "/" + entry.Name()); ignoreNotExist(err) != nil {
				return swept, fmt.Errorf("sweep parts: %w", err)
			}
			swept++
		}
		if err == io.EOF {
			return swept, nil
		}
		if err != nil {
			return swept, fmt.Errorf("sweep parts: %w", err)
		}
	}
}
