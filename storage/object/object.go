// Package object stores files: uploaded builds, symbol files, screenshots,
// crash attachments. The interface Store has two implementations: S3 (MinIO or
// any service that speaks its protocol) and Folder (a directory of this
// machine). Open chooses by URL.
//
// A write is all or nothing. Create begins one, Write adds bytes, Commit stores
// the object as a whole; Abort, or a failed Commit, leaves neither object,
// unfinished upload nor temporary file. Until Commit the write obeys its
// context; the request that makes the object visible is not interrupted, so that its
// outcome is known, but ends within commitTimeout. What a killed process leaves behind is removed
// by Sweep. Put writes what a reader yields.
//
// Memory is bounded for the whole process, not for each write: a store of kind
// S3 has one pool of part buffers, and a write waits for a buffer when all are
// taken. Every unfinished write holds one, so callers that wait for a network
// between two Writes must bound that time.
//
// Keys are built by Slipway from ids and fixed words; names from outside are
// never keys. Every method refuses keys that ValidKey rejects with
// ErrInvalidKey, before anything is touched.
//
// Browsers fetch objects by signed links (SignGet): presigned by S3, or signed
// with an HMAC and served by Folder.ServeSigned. Both deliver as an attachment
// unless the content type is known to be harmless in a browser.
//
// Errors are typed where a caller decides; all others mean that the store
// failed. No error text holds credentials.
package object

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors that a caller distinguishes with errors.Is.
var (
	// ErrNotFound means that no object has this key.
	ErrNotFound = errors.New("object not found")
	// ErrInvalidKey means that the key (or prefix) breaks the rules of ValidKey.
	ErrInvalidKey = errors.New("invalid object key")
	// ErrRange means that the offset lies behind the end of the object, or is negative.
	ErrRange = errors.New("range outside the object")
	// ErrSize means that fewer or more bytes were written than announced.
	ErrSize = errors.New("object size differs from the announced size")
	// ErrTooLarge means more bytes than a multipart upload can hold.
	ErrTooLarge = errors.New("object too large")
)

// Store keeps objects under keys. All methods are safe for concurrent use.
type Store interface {
	// Create begins to write the object under key; Commit replaces an object
	// that is there. size is the number of bytes, or -1 when it is not known.
	// ctx governs the write up to Commit. Of concurrent writes of one key, one
	// wins as a whole.
	Create(ctx context.Context, key string, size int64, opts WriteOptions) (Writer, error)

	// Open reads length bytes from offset; length -1 reads to the end, and a
	// length beyond the end stops there. Info.Size is the size of the whole
	// object. An offset equal to the size yields no bytes, one behind it
	// ErrRange.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error)

	// Stat describes an object.
	Stat(ctx context.Context, key string) (Info, error)

	// Delete removes objects; one that is missing is no error. It tries every
	// key and joins the errors.
	Delete(ctx context.Context, keys ...string) error

	// List returns the objects whose keys begin with prefix and are greater
	// than after, in byte order of the keys, at most limit of them (1 to
	// MaxList, else capped). Fewer than limit means that there are no more.
	// S3 leaves ContentType empty here.
	List(ctx context.Context, prefix, after string, limit int) ([]Info, error)

	// BeginParts begins an object that is written in parts (Multipart), and returns the id
	// by which the store knows it.
	BeginParts(ctx context.Context, key string, opts WriteOptions) (id string, err error)

	// WritePart begins to write a part, numbered from 1. ErrRange: the object has no such
	// part. ErrNotFound: the store knows nothing of the object. ErrPartBusy, of a folder:
	// another writer is at it. S3 takes several writers; the one that ends last wins, and
	// CompleteParts notices when that is not the one that was recorded.
	WritePart(ctx context.Context, m Multipart, number int) (PartWriter, error)

	// CompleteParts makes the object of all its parts, in their order, and brings the sum,
	// which may have the first bytes already, to the end of it. To complete it again is no
	// error. *LostPartsError: some parts are not there as they were recorded.
	CompleteParts(ctx context.Context, m Multipart, parts []Part, sum *Sum) (Info, error)

	// AbortParts ends an object that is written in parts, and removes these. One that is
	// gone is no error, nor is one that was completed: its object stays.
	AbortParts(ctx context.Context, m Multipart) error

	// SignGet returns a link that reads key without credentials for ttl (1 s to
	// MaxLinkAge). It does not check whether the object exists.
	SignGet(ctx context.Context, key string, ttl time.Duration, opts SignOptions) (string, error)

	// Sweep removes unfinished writes that began (folder: that were last
	// written to) longer ago than age, and returns their number. Writes still
	// under way that are older than age fail. MinIO keeps no list of the
	// unfinished uploads that it forgot at a restart, but drops them itself after
	// a day.
	Sweep(ctx context.Context, age time.Duration) (int, error)

	// Check reports whether the store can serve; for readiness. It sends one
	// request, or writes and removes one small file.
	Check(ctx context.Context) error

	// Close frees connections and file handles.
	Close() error
}

// Writer writes one object. It is for one goroutine. Whoever created it ends it
// with Commit or Abort: until then it holds a buffer or a file. The usual form is
// to defer Abort, which does nothing after Commit.
type Writer interface {
	// Write adds bytes, and keeps none of p. After an error, which every later
	// Write repeats, only Abort is of use. ErrSize: more bytes than announced.
	io.Writer

	// Commit stores the object: only now, and as a whole, can it be read. After an
	// error nothing is left of the write, save in one case that the error names:
	// it is unknown whether the commit took effect. ErrSize: fewer bytes
	// than announced. Commit ends the writer in any case.
	Commit() (Info, error)

	// Abort ends the writer and removes what it has written, also when its
	// context is over. After Commit or Abort it does nothing.
	Abort() error
}

// WriteOptions describe the object that is written.
type WriteOptions struct {
	// ContentType is kept with the object; "" means application/octet-stream.
	// At most 200 bytes of printable ASCII.
	ContentType string
}

// Info describes a stored object.
type Info struct {
	Key         string
	Size        int64 // bytes
	ContentType string
	ETag        string // opaque, without quotes; differs when the content differs
	ModTime     time.Time
}

// SignOptions describe the headers with which a link serves its object.
type SignOptions struct {
	// FileName is what a browser saves the object as. It may come from
	// outside: it is cleaned and bounded. "": no name is sent.
	FileName string
	// ContentType overrides the stored one.
	ContentType string
	// Inline lets a browser show the object instead of saving it. It is
	// honoured only with a ContentType that InlineType accepts.
	Inline bool
}

const (
	// MaxList is the most objects that List returns at once: the page size of
	// the S3 protocol.
	MaxList = 1000
	// MaxLinkAge is the longest life of a signed link: the limit that AWS
	// Signature Version 4 sets for presigned URLs.
	MaxLinkAge = 7 * 24 * time.Hour
	// commitTimeout bounds the request that makes an object visible, which nothing interrupts, and the clean-up of
	// a write: long enough to send one part over a slow link and for S3 to
	// assemble a large upload.
	commitTimeout = time.Minute
	// defaultType is what HTTP assumes of bytes that nobody has described.
	defaultType = "application/octet-stream"
)

// errEnded: the writer was committed or aborted before.
var errEnded = errors.New("object writer has ended")

// contentType returns the type to store, or an error for one that could not
// stand in a header.
func (o WriteOptions) contentType() (string, error) {
	if o.ContentType == "" {
		return defaultType, nil
	}
	if len(o.ContentType) > 200 {
		return "", errors.New("content type longer than 200 bytes")
	}
	for i := range len(o.ContentType) {
		if c := o.ContentType[i]; c < 0x20 || c > 0x7e {
			return "", errors.New("content type with a character that headers cannot hold")
		}
	}
	return o.ContentType, nil
}

// checkTTL bounds the life of a link.
func checkTTL(ttl time.Duration) error {
	if ttl < time.Second || ttl > MaxLinkAge {
		return errors.New("life of a signed link must be between 1 s and 7 days")
	}
	return nil
}
