package signature

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

var le = binary.LittleEndian

// Records of zip files.
const (
	endLength  = 22
	maxComment = math.MaxUint16
	offsetAt   = 16 // of the directory's offset in the end record
)

// sections are the parts of an APK. Android reads no zip64.
type sections struct {
	directory int64  // offset of the archive's directory
	end       int64  // offset of the end record
	record    []byte // the end record with its comment
}

// findSections finds the directory of the archive as Android does: by the end
// record whose comment reaches to the end of the file, the one with the shortest
// comment. The directory must lie directly in front of it for a signing block to be
// looked for; that is checked there.
func findSections(r io.ReaderAt, size int64) (sections, error) {
	tail := make([]byte, min(size, maxComment+endLength))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return sections{}, err
	}
	for i := len(tail) - endLength; i >= 0; i-- {
		if string(tail[i:i+4]) != "PK\x05\x06" || int(le.Uint16(tail[i+20:])) != len(tail)-i-endLength {
			continue
		}
		s := sections{end: size - int64(len(tail)-i), record: bytes.Clone(tail[i:])}
		s.directory = int64(le.Uint32(s.record[offsetAt:]))
		length := int64(le.Uint32(s.record[12:]))
		switch {
		case s.directory == math.MaxUint32 || length == math.MaxUint32:
			return sections{}, broken("", "the archive is in the format zip64, which Android does not read")
		case s.directory > s.end || length > s.end-s.directory:
			return sections{}, broken("", "the archive's directory is cut off")
		}
		if s.directory+length != s.end {
			return s, broken("", "the archive's directory does not end where its end record begins")
		}
		return s, nil
	}
	return sections{}, broken("", "the file is no archive, or its end is missing")
}

// block is the signing block: the values of its pairs by their ids.
type block struct {
	offset int64
	values map[uint32][]byte
}

const blockMagic = "APK Sig Block 42"

// Ids of pairs.
const (
	idV2  = 0x7109871a
	idV3  = 0xf05368c0
	idV31 = 0x1b93ad61
)

// readBlock reads the signing block: its length, pairs of a length, an id and a
// value, its length again, and a magic text. A file without one is no error.
// Values of other ids are not read: they may be large. Of several pairs with an id
// the first counts, as on devices.
func readBlock(r io.ReaderAt, directory, end int64) (*block, error) {
	var foot [24]byte
	if directory < 32 {
		return nil, nil
	}
	if _, err := r.ReadAt(foot[:], directory-24); err != nil {
		return nil, err
	}
	length := le.Uint64(foot[:])
	if string(foot[8:]) != blockMagic || length < 24 || length > uint64(directory-8) {
		return nil, nil
	}
	b := &block{offset: directory - 8 - int64(length), values: map[uint32][]byte{}}
	var head [8]byte
	if _, err := r.ReadAt(head[:], b.offset); err != nil {
		return nil, err
	}
	if le.Uint64(head[:]) != length {
		return nil, nil // Android takes the file for one without a block
	}
	at, last := b.offset+8, directory-24
	for range maxPairs {
		if last-at < 12 {
			break
		}
		var pair [12]byte
		if _, err := r.ReadAt(pair[:], at); err != nil {
			return nil, err
		}
		size, id := le.Uint64(pair[:]), le.Uint32(pair[8:])
		if size < 4 || size > uint64(last-at-8) {
			break // what stands in front of it counts
		}
		_, twice := b.values[id]
		if known := id == idV2 || id == idV3 || id == idV31; known && !twice {
			if size > maxBlock {
				return nil, broken("", "the signing block is larger than %d bytes", maxBlock)
			}
			value := make([]byte, size-4)
			if _, err := r.ReadAt(value, at+12); err != nil {
				return nil, err
			}
			b.values[id] = value
		}
		at += 8 + int64(size)
	}
	return b, nil
}

// fields reads parts that have their 32-bit length in front. After a failure all
// further reads return nothing; failed says so.
type fields struct {
	rest   []byte
	failed bool
}

func (f *fields) more() bool { return !f.failed && len(f.rest) > 0 }

// part reads a part with its length in front.
func (f *fields) part() []byte {
	n := f.number()
	if f.failed || uint64(n) > uint64(len(f.rest)) {
		f.failed = true
		return nil
	}
	part := f.rest[:n]
	f.rest = f.rest[n:]
	return part
}

func (f *fields) parts() *fields { return &fields{rest: f.part(), failed: f.failed} }

func (f *fields) number() uint32 {
	if f.failed || len(f.rest) < 4 {
		f.failed = true
		return 0
	}
	n := le.Uint32(f.rest)
	f.rest = f.rest[4:]
	return n
}
