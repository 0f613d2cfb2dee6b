package trace

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha1" //nolint:gosec // the viewer's names of resources, no protection
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
)

// maxRaw bounds what a stream holds before compression: the viewer reads all of it into
// memory.
const maxRaw = 128 << 20

// stream is a file of the zip that is compressed as it grows.
type stream struct {
	packed bytes.Buffer
	flate  *flate.Writer
	sum    hash.Hash32
	size   int64
}

func newStream() *stream {
	s := &stream{sum: crc32.NewIEEE()}
	s.flate, _ = flate.NewWriter(&s.packed, flate.BestSpeed) // the level is valid
	return s
}

// write adds bytes. Nothing that it writes to can fail.
func (s *stream) write(data []byte) {
	_, _ = s.flate.Write(data)
	_, _ = s.sum.Write(data)
	s.size += int64(len(data))
}

// resource is a file that was compressed at once.
type resource struct {
	name   string
	packed []byte
	method uint16
	sum    uint32
	size   int64
}

// line writes a line to a stream, unless the zip would become larger than it may.
func (r *Recorder) line(to *stream, line []byte) {
	if r.size()+int64(len(line))/4 > MaxBytes || to.size+int64(len(line)) > maxRaw {
		r.full = true
		return
	}
	to.write(line)
	to.write([]byte{'\n'})
}

// size is that of the zip so far, without what the compressors hold back.
func (r *Recorder) size() int64 {
	return int64(r.trace.packed.Len()) + int64(r.network.packed.Len()) + r.stored + 256*int64(len(r.resources)) + 128<<10
}

// roomFor reports whether some bytes, before compression, fit beside what must follow.
func (r *Recorder) roomFor(size int) bool {
	if r.full || r.size()+int64(size)/2 > MaxBytes-closing || r.trace.size+int64(size) > maxRaw-closing {
		r.full = true
		r.note(fmt.Sprintf("The trace is cut: it has reached %d MB", MaxBytes>>20))
	}
	return !r.full
}

// store keeps a resource and returns its name below resources/; "" where it does not fit.
// The bytes are as they may be shown.
func (r *Recorder) store(data []byte, kind string, most int) string {
	if len(data) > most {
		r.note(fmt.Sprintf("Resources of more than %d KiB are left out", most>>10))
		return ""
	}
	sum := sha1.Sum(data) //nolint:gosec // see above
	key := hex.EncodeToString(sum[:])
	if kind != "" {
		key += "." + kind
	}
	if r.resources[key] != nil {
		return key
	}
	if len(r.resources) >= maxResources {
		r.note(fmt.Sprintf("The trace is cut: it has %d resources", maxResources))
		return ""
	}
	if !r.roomFor(len(data)) {
		return ""
	}
	res := &resource{name: "resources/" + key, packed: data, method: zip.Store, sum: crc32.ChecksumIEEE(data), size: int64(len(data))}
	if packed := deflate(data); len(packed) < len(data)*9/10 {
		res.packed, res.method = packed, zip.Deflate
	} else {
		res.packed = bytes.Clone(data)
	}
	r.resources[key] = res
	r.stored += int64(len(res.packed))
	return key
}

func deflate(data []byte) []byte {
	s := newStream()
	s.write(data)
	_ = s.flate.Close()
	return s.packed.Bytes()
}

// archive returns the zip.
func (r *Recorder) archive() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(f resource) error {
		w, err := z.CreateRaw(&zip.FileHeader{Name: f.name, Method: f.method, CRC32: f.sum,
			CompressedSize64: uint64(len(f.packed)), UncompressedSize64: uint64(f.size)})
		if err != nil {
			return err
		}
		_, err = w.Write(f.packed)
		return err
	}
	files := []resource{}
	for _, of := range []struct {
		name string
		s    *stream
	}{{"trace.trace", r.trace}, {"trace.network", r.network}} {
		if err := of.s.flate.Close(); err != nil {
			return nil, fmt.Errorf("compress a trace: %w", err)
		}
		files = append(files, resource{of.name, of.s.packed.Bytes(), zip.Deflate, of.s.sum.Sum32(), of.s.size})
	}
	for _, f := range files {
		if err := add(f); err != nil {
			return nil, fmt.Errorf("write a trace: %w", err)
		}
	}
	for _, f := range r.resources {
		if err := add(*f); err != nil {
			return nil, fmt.Errorf("write a trace: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write a trace: %w", err)
	}
	return out.Bytes(), nil
}
