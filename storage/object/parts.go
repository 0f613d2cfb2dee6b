package object

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
)

// An object that is written in parts outlives the processes that write it: each part comes
// by itself, in any order, and may be written by another process than the part before.
// BeginParts begins it, WritePart writes a part, CompleteParts makes the object of them
// without copying their bytes. Who calls them keeps what they return.

// PartUnit is what the size of all parts but the last is a multiple of, in bytes: what one
// request to S3 carries.
const PartUnit = partSize

// MaxMultipart is the most bytes of an object that is written in parts.
const MaxMultipart = int64(partSize) * maxParts

var (
	// ErrPartBusy means that another writer is at this part, or at completing the object.
	ErrPartBusy = errors.New("another writer is at this part")
	// errPartSize: the parts of an object are no multiple of PartUnit.
	errPartSize = errors.New("the size of parts must be a multiple of PartUnit")
)

// Multipart is an object that is written in parts.
type Multipart struct {
	Key      string
	ID       string // the store's, as BeginParts returned it
	Size     int64  // of the whole object, in bytes; above 0
	PartSize int64  // of each part but the last: a multiple of PartUnit
}

// Count is the number of parts.
func (m *Multipart) Count() int { return int((m.Size + m.PartSize - 1) / m.PartSize) }

// Offset is where a part begins, in bytes; number counts from 1.
func (m *Multipart) Offset(number int) int64 { return int64(number-1) * m.PartSize }

// Length is the size of a part in bytes.
func (m *Multipart) Length(number int) int64 { return min(m.PartSize, m.Size-m.Offset(number)) }

func (m *Multipart) check() error {
	switch {
	case m.PartSize <= 0 || m.PartSize%PartUnit != 0:
		return errPartSize
	case m.Size <= 0 || m.Size > MaxMultipart:
		return ErrTooLarge
	}
	return checkKey(m.Key)
}

// checkPart refuses a part that the object does not have.
func (m *Multipart) checkPart(number int) error {
	if err := m.check(); err != nil {
		return err
	}
	if number < 1 || number > m.Count() {
		return fmt.Errorf("part %d of %d: %w", number, m.Count(), ErrRange)
	}
	return nil
}

// Part is a part that was written.
type Part struct {
	Number int
	// Tag is by what the store recognises the bytes of the part; opaque, may be empty.
	Tag string
}

// PartWriter writes one part. It is for one goroutine, and whoever created it closes it.
type PartWriter interface {
	// Write adds bytes; ErrSize when they are more than the part has.
	io.Writer

	// Commit stores the part, and returns its tag. own is the sum of its bytes, which the
	// caller has taken anyway: a store that needs it does not take it once more; nil: the
	// caller has none. ErrSize: fewer bytes than the part has. ErrNotFound: the store knows
	// nothing of the object any more. Other writers are kept from the part until Close, so
	// that its outcome can be recorded before.
	Commit(own *Sum) (tag string, err error)

	// Close ends the writer. What was not committed is not part of the object.
	Close() error
}

// LostPartsError names parts that are not in the store as they were recorded: they have to
// be written again.
type LostPartsError struct {
	Numbers []int
	// All: the store knows nothing of the object: it has to be begun anew.
	All bool
}

func (e *LostPartsError) Error() string {
	if e.All {
		return "the object store lost the parts of an object"
	}
	return "the object store lost " + strconv.Itoa(len(e.Numbers)) + " parts of an object"
}

// allLost is the error of an object that the store knows nothing of.
func (m *Multipart) allLost() error {
	e := &LostPartsError{All: true}
	for n := range m.Count() {
		e.Numbers = append(e.Numbers, n+1)
	}
	return e
}

// Sum is a SHA-256 over the bytes of an object in order. Its state can be stored, and taken
// up by another process.
type Sum struct {
	digest hash.Hash
	n      int64
}

// NewSum returns a sum over nothing yet.
func NewSum() *Sum { return &Sum{digest: sha256.New()} }

// ResumeSum returns the sum over the first n bytes whose State it is. A state that cannot be
// read, of another version of the program for example, begins at the first byte again.
func ResumeSum(state []byte, n int64) *Sum {
	s := NewSum()
	if n <= 0 || len(state) == 0 {
		return s
	}
	digest := sha256.New()
	if u, ok := digest.(encoding.BinaryUnmarshaler); ok && u.UnmarshalBinary(state) == nil {
		s.digest, s.n = digest, n
	}
	return s
}

// Write adds bytes. It returns no error.
func (s *Sum) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return s.digest.Write(p)
}

// N is the number of bytes so far.
func (s *Sum) N() int64 { return s.n }

// State is what ResumeSum goes on with.
func (s *Sum) State() ([]byte, error) {
	m, ok := s.digest.(encoding.BinaryMarshaler)
	if !ok {
		return nil, errors.New("the state of a SHA-256 cannot be stored")
	}
	return m.MarshalBinary()
}

// Hex is the sum of the bytes so far, in hexadecimal.
func (s *Sum) Hex() string { return hex.EncodeToString(s.digest.Sum(nil)) }

// finish reads what a stored object has behind the bytes of the sum.
func (s *Sum) finish(ctx context.Context, store Store, m *Multipart) error {
	if s.n >= m.Size {
		return nil
	}
	content, _, err := store.Open(ctx, m.Key, s.n, -1)
	if err != nil {
		return err
	}
	defer content.Close()
	if _, err := io.CopyBuffer(s, content, make([]byte, sumBuffer)); err != nil {
		return fmt.Errorf("read an object for its sum: %w", err)
	}
	if s.n != m.Size {
		return fmt.Errorf("read an object for its sum: %w", ErrSize)
	}
	return nil
}

// sumBuffer is what is read at once: it fits the processor's second cache.
const sumBuffer = 256 << 10
