package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// Records of the format and their fixed lengths.
const (
	localSignature     = "PK\x03\x04"
	directorySignature = "PK\x01\x02"
	endSignature       = "PK\x05\x06"
	locatorSignature   = "PK\x06\x07"
	end64Signature     = "PK\x06\x06"

	localLength     = 30
	directoryLength = 46
	endLength       = 22
	locatorLength   = 20
	end64Length     = 56

	maxComment = 1<<16 - 1
)

// windowSize is how much of a directory is read by one call.
const windowSize = 1 << 20

var le = binary.LittleEndian

// endRecord is the record at the end of the archive.
type endRecord struct {
	entries uint64
	length  int64 // of the directory
	offset  int64 // of the directory, as written
	at      int64 // where the record itself begins: the directory ends there
	exact   bool  // entries is exact, not modulo 65,536
}

// Open reads the directory of a zip file. A broken one is an
// *artifact.InvalidError.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	a := &Archive{ctx: context.Background(), r: &errorRecorder{r: r}, size: size}
	if err := a.open(); err != nil {
		if fault := a.r.first(); fault != nil {
			return nil, fault
		}
		return nil, err
	}
	return a, nil
}

func (a *Archive) open() error {
	tail := make([]byte, min(a.size, maxComment+endLength+locatorLength))
	if _, err := a.r.ReadAt(tail, a.size-int64(len(tail))); err != nil {
		return classifyRead("the file ends early", err)
	}
	e, err := a.findEnd(tail)
	if err != nil {
		return err
	}
	if e.length > MaxDirectory {
		return invalid("the archive's directory takes %d bytes; %d are allowed", e.length, MaxDirectory)
	}
	// Counts of more than 65,535 wrap where there is no zip64 record.
	if e.entries > MaxEntries {
		return invalid("the archive has %d entries; %d are allowed", e.entries, MaxEntries)
	}
	return a.readDirectory(e, tail)
}

// findEnd finds the end record. A comment behind it must reach to the end of the
// file exactly; where none does, the last record with room for its comment counts.
func (a *Archive) findEnd(tail []byte) (endRecord, error) {
	found := -1
	for i := len(tail) - endLength; i >= 0; i-- {
		if string(tail[i:i+4]) != endSignature {
			continue
		}
		left := len(tail) - i - endLength - int(le.Uint16(tail[i+20:]))
		if left == 0 {
			found = i
			break
		}
		if left > 0 && found < 0 {
			found = i
		}
	}
	if found < 0 {
		return endRecord{}, invalid("the file is no zip archive, or its end is missing")
	}
	record := tail[found:]
	if disk := le.Uint16(record[4:]); disk != 0 && disk != 0xffff {
		return endRecord{}, invalid("the archive is one of several volumes")
	}
	e := endRecord{
		entries: uint64(le.Uint16(record[10:])),
		length:  int64(le.Uint32(record[12:])),
		offset:  int64(le.Uint32(record[16:])),
		at:      a.size - int64(len(tail)-found),
	}
	if e.entries != 0xffff && e.length != 0xffffffff && e.offset != 0xffffffff {
		return e, nil
	}
	if found < locatorLength || string(tail[found-locatorLength:][:4]) != locatorSignature {
		return e, nil // 65,535 entries are possible without zip64
	}
	return a.end64(e, int64(le.Uint64(tail[found-locatorLength+8:])))
}

// end64 reads the zip64 record, which is at the locator's offset or, when other
// bytes precede the archive, right before the locator.
func (a *Archive) end64(e endRecord, at int64) (endRecord, error) {
	record := make([]byte, end64Length)
	for _, at := range []int64{at, e.at - locatorLength - end64Length} {
		if at < 0 || at > e.at-locatorLength-end64Length {
			continue
		}
		if _, err := a.r.ReadAt(record, at); err != nil {
			return e, classifyRead("the archive's directory lies outside the file", err)
		}
		if string(record[:4]) != end64Signature {
			continue
		}
		e.entries, e.exact = le.Uint64(record[32:]), true
		e.length = int64(le.Uint64(record[40:]))
		e.offset = int64(le.Uint64(record[48:]))
		e.at = at
		if e.length < 0 || e.offset < 0 {
			return e, invalid("the archive's directory lies outside the file")
		}
		return e, nil
	}
	return e, invalid("the archive's zip64 record is missing")
}

// readDirectory reads the entries, a window at a time. The names of a window are
// cut from one string: a string for each entry would cost more than the names.
func (a *Archive) readDirectory(e endRecord, tail []byte) error {
	base := e.at - e.length - e.offset // bytes in front of the archive
	if base < 0 || e.offset > a.size {
		return invalid("the archive's directory is cut off: it would begin in front of the file")
	}
	start := e.at - e.length
	if base > 0 && a.signatureAt(e.offset) {
		// The directory is at its offset, with something between it and its end.
		start, base = e.offset, 0
	}
	a.directory = start
	count := uint64(e.length / directoryLength)
	if e.exact {
		count = min(count, e.entries)
	}
	a.entries = make([]Entry, 0, min(count, MaxEntries)) // growing would take twice as much

	buffer := make([]byte, min(e.length, windowSize))
	var names []byte
	for left := e.length; left >= directoryLength; {
		part := buffer[:min(left, windowSize)]
		at := start + e.length - left
		if in := at - (a.size - int64(len(tail))); in >= 0 {
			part = tail[in : in+int64(len(part))]
		} else if _, err := a.r.ReadAt(part, at); err != nil {
			return classifyRead("the archive's directory is cut off", err)
		}
		first := len(a.entries)
		names = names[:0]
		used, done, err := a.readWindow(part, base, &names)
		if err != nil {
			return err
		}
		text := string(names)
		for i := first; i < len(a.entries); i++ {
			n := len(a.entries[i].Name)
			a.entries[i].Name, text = text[:n], text[n:]
		}
		if done || used == 0 {
			break
		}
		left -= int64(used)
	}
	if n := uint64(len(a.entries)); n < e.entries {
		return invalid("the archive's directory is cut off: it holds %d of %d entries", n, e.entries)
	}
	if e.exact {
		a.entries = a.entries[:e.entries]
	}
	a.entries = slices.Clip(a.entries)
	return nil
}

// readWindow reads the records that lie in part as a whole. Names are appended to
// names; each entry's Name has the right length only until the window is done.
func (a *Archive) readWindow(part []byte, base int64, names *[]byte) (used int, done bool, err error) {
	for len(part)-used >= directoryLength {
		h := part[used:]
		if string(h[:4]) != directorySignature {
			return used, true, nil
		}
		name := int(le.Uint16(h[28:]))
		extra := int(le.Uint16(h[30:]))
		length := directoryLength + name + extra + int(le.Uint16(h[32:]))
		if name > MaxName {
			return 0, true, invalid("an entry of the archive has a name of %d bytes; %d are allowed", name, MaxName)
		}
		if length > len(h) {
			return used, false, nil
		}
		if len(a.entries) == MaxEntries {
			return 0, true, invalid("the archive has more than %d entries", MaxEntries)
		}
		raw := h[directoryLength : directoryLength+name]
		*names = append(*names, raw...)
		entry := Entry{
			Name:   placeholder[:name],
			Method: le.Uint16(h[10:]),
			flags:  le.Uint16(h[8:]),
			crc:    le.Uint32(h[16:]),
			Packed: int64(le.Uint32(h[20:])),
			Size:   int64(le.Uint32(h[24:])),
			offset: int64(le.Uint32(h[42:])),
		}
		zip64(&entry, h[directoryLength+name:][:extra])
		if entry.offset >= 0 {
			entry.offset += base // an overflow is negative, and fails when read
		}
		a.entries = append(a.entries, entry)
		used += length
	}
	return used, false, nil
}

// placeholder provides the length of names that are not cut yet.
var placeholder = string(make([]byte, MaxName))

// zip64 replaces the fields that refer to the extra field. A value beyond 63 bits
// becomes negative and fails when the entry is read.
func zip64(e *Entry, extra []byte) {
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			return
		}
		field := extra[:n]
		extra = extra[n:]
		if id != 1 {
			continue
		}
		for _, v := range []*int64{&e.Size, &e.Packed, &e.offset} {
			if *v == 0xffffffff && len(field) >= 8 {
				*v = int64(le.Uint64(field))
				field = field[8:]
			}
		}
		return
	}
}

func (a *Archive) signatureAt(offset int64) bool {
	var sig [4]byte
	_, err := a.r.ReadAt(sig[:], offset)
	return err == nil && string(sig[:]) == directorySignature
}

func invalid(format string, args ...any) error {
	return &artifact.InvalidError{Reason: fmt.Sprintf(format, args...)}
}

// classifyRead returns an *artifact.InvalidError for a short file, and the error of
// a reader that failed as it is.
func classifyRead(reason string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid("%s", reason)
	}
	return err
}
