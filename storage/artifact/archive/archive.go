// Package archive reads zip files that come from outside, by ranges.
//
// Open reads the end of the file and the directory; of an entry only its bytes are
// read. The reader beneath is expected to cache blocks, as small reads next to each
// other are common here.
//
// It reads what Android and iOS install rather than what the format allows: the
// flag "encrypted" means nothing, unknown compression methods are tried as
// deflated and as stored, checksums are not compared, a name may occur twice and
// may be any bytes, since it is only ever compared. Bytes in front of the archive
// are skipped as unzip does. Archives of several volumes are refused.
//
// The directory is bounded (MaxEntries, MaxName, MaxDirectory) and takes about
// its size in memory. An entry that lies outside the file, overlaps another or
// claims what it does not have fails when it is read, alone; what it inflates
// to is bounded by the limit of each call, not by what the directory claims,
// and no more memory is allocated than the packed bytes can inflate to.
//
// A broken archive or entry is an *artifact.InvalidError; errors of the reader
// beneath are returned as they are, and Err still returns them when a caller went
// on.
package archive

import (
	"context"
	"errors"
	"io"
	"sync"
)

// The bounds of a directory. Real packages have fewer than 100,000 entries with
// names of some hundred bytes.
const (
	MaxEntries   = 200_000
	MaxName      = 4 << 10
	MaxDirectory = 32 << 20
)

// ErrTooLarge means that an entry is longer than the caller allows.
var ErrTooLarge = errors.New("the entry is larger than allowed")

// Entry is one file of an archive.
type Entry struct {
	Name   string // as it stands in the directory; never a path to write to
	Size   int64  // inflated, as the directory claims
	Packed int64
	Method uint16
	flags  uint16
	crc    uint32
	offset int64 // of the local header
}

// Archive is the directory of a zip file. It is safe for concurrent use when the
// reader is.
type Archive struct {
	ctx       context.Context
	r         *errorRecorder
	size      int64
	directory int64
	entries   []Entry
}

// Bind has reads of entries end with ctx: few packed bytes may inflate for long. It is
// called before the archive is read.
func (a *Archive) Bind(ctx context.Context) { a.ctx = ctx }

// Entries returns all files in the order of the directory. Not to be changed.
func (a *Archive) Entries() []Entry { return a.entries }

// All returns the entries of a name, in the order of the directory; there may be
// several. It looks through the whole directory, at most a millisecond.
func (a *Archive) All(name string) []Entry {
	var all []Entry
	for i := range a.entries {
		if a.entries[i].Name == name {
			all = append(all, a.entries[i])
		}
	}
	return all
}

// Directory returns the offset of the directory in the file: an APK's signatures
// precede it.
func (a *Archive) Directory() int64 { return a.directory }

// Raw returns a reader of the file itself.
func (a *Archive) Raw() io.ReaderAt { return a.r }

// Err returns the first error of the reader beneath, or nil. A caller that treats
// failing entries as broken ones checks it at the end.
func (a *Archive) Err() error { return a.r.first() }

// errorRecorder records why the reader failed, to distinguish a broken network from
// a broken file.
type errorRecorder struct {
	r   io.ReaderAt
	mu  sync.Mutex
	err error
}

// ReadAt reads all of p or returns an error. A short read is io.EOF and not
// recorded: the file is shorter than its size.
func (f *errorRecorder) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.r.ReadAt(p, off)
	switch {
	case n == len(p):
		return n, nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.EOF
	}
	f.mu.Lock()
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
	return n, err
}

func (f *errorRecorder) first() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
