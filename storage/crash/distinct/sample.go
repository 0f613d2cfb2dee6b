// Package distinct counts the users of a day, a version or a group in bounded space: exactly
// while they are few, then as an estimate.
//
// A Sample keeps hashes and no ids, and is stored as bytes with what it counts. Samples add up:
// the users of a month are those of its days, of whom each counts once. Nothing can be taken out
// of one again.
package distinct

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// maxSample is how many users are counted exactly. With more the number is an
// estimate, whose standard error is 1/sqrt(maxSample-2): 3 %.
const maxSample = 1024

// Sample counts distinct ids in bounded space: it keeps the maxSample smallest of
// their hashes, ascending. As long as all fit, their number is exact; then the
// greatest kept one says how densely hashes lie, and so how many there are (Bar-Yossef
// et al., Counting distinct elements in a data stream, 2002). Two samples add up to
// that of both sets together, so days can be counted over.
type Sample []uint64

// Hash is the hash of a user's id.
func Hash(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:])
}

// Add takes hashes in, and reports whether the sample changed.
func (d *Sample) Add(hashes ...uint64) bool {
	changed := false
	for _, h := range hashes {
		if len(*d) >= maxSample && h >= (*d)[len(*d)-1] {
			continue
		}
		at, known := slices.BinarySearch(*d, h)
		if known {
			continue
		}
		*d = slices.Insert(*d, at, h)
		if len(*d) > maxSample {
			*d = (*d)[:maxSample]
		}
		changed = true
	}
	return changed
}

// Count returns the number of distinct ids.
func (d Sample) Count() int64 {
	if len(d) < maxSample {
		return int64(len(d))
	}
	greatest := float64(d[maxSample-1]) / math.MaxUint64
	return int64(math.Round((maxSample - 1) / greatest))
}

// Parse reads a sample as Bytes writes it.
func Parse(b []byte) Sample {
	d := make(Sample, 0, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		d.Add(binary.BigEndian.Uint64(b))
	}
	return d
}

// Bytes writes a sample for Parse.
func (d Sample) Bytes() []byte {
	b := make([]byte, 0, 8*len(d))
	for _, h := range d {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return b
}
