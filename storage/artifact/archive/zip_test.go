package archive_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// file is an entry to write, with wrong fields where they are set.
type file struct {
	name      string
	data      string // inflated
	method    uint16 // 8: data are deflated
	say       uint16 // the method that is written, when not 0
	size      int64  // the size that is written, when not 0
	packed    int64  // the packed size that is written, when not 0
	offset    int64  // the offset that is written, when not 0
	zip64     bool   // sizes and offset stand in an extra field
	encrypted bool
}

// container is a zip file to write.
type container struct {
	files   []file
	prefix  string // in front of the archive, unknown to its offsets
	comment string
	zip64   bool
	count   int   // the number of entries that is written, when not 0
	length  int64 // the length of the directory that is written, when not 0
}

var le = binary.LittleEndian

func (c container) bytes(t testing.TB) []byte {
	t.Helper()
	var out, directory bytes.Buffer
	for _, f := range c.files {
		at := int64(out.Len())
		data := []byte(f.data)
		if f.method == 8 {
			data = deflate(t, data)
		}
		method, size, packed := f.method, int64(len(f.data)), int64(len(data))
		if f.say != 0 {
			method = f.say
		}
		if f.size != 0 {
			size = f.size
		}
		if f.packed != 0 {
			packed = f.packed
		}
		if f.offset != 0 {
			at = f.offset
		}
		var flags uint16
		if f.encrypted {
			flags = 1
		}
		h := le.AppendUint16([]byte("PK\x03\x04\x14\x00"), flags)
		h = le.AppendUint16(h, method)
		h = append(h, make([]byte, 8)...)
		h = le.AppendUint32(h, uint32(packed))
		h = le.AppendUint32(h, uint32(size))
		h = le.AppendUint16(h, uint16(len(f.name)))
		h = le.AppendUint16(h, 0)
		out.Write(append(append(h, f.name...), data...))

		var extra []byte
		short := [3]uint32{uint32(packed), uint32(size), uint32(at)}
		if f.zip64 {
			short = [3]uint32{0xffffffff, 0xffffffff, 0xffffffff}
			extra = le.AppendUint16([]byte{0x99, 0x99, 0, 0, 1, 0}, 24)
			for _, v := range []int64{size, packed, at} {
				extra = le.AppendUint64(extra, uint64(v))
			}
		}
		d := le.AppendUint16([]byte("PK\x01\x02\x14\x00\x14\x00"), flags)
		d = le.AppendUint16(d, method)
		d = append(d, make([]byte, 8)...)
		d = le.AppendUint32(d, short[0])
		d = le.AppendUint32(d, short[1])
		d = le.AppendUint16(d, uint16(len(f.name)))
		d = le.AppendUint16(d, uint16(len(extra)))
		d = append(d, make([]byte, 10)...)
		d = le.AppendUint32(d, short[2])
		directory.Write(append(append(d, f.name...), extra...))
	}
	count, length, offset := len(c.files), int64(directory.Len()), int64(out.Len())
	if c.count != 0 {
		count = c.count
	}
	if c.length != 0 {
		length = c.length
	}
	out.Write(directory.Bytes())
	end := []byte("PK\x05\x06\x00\x00\x00\x00")
	if c.zip64 {
		at := out.Len()
		r := append([]byte("PK\x06\x06"), make([]byte, 20)...)
		for _, v := range []int64{int64(count), int64(count), length, offset} {
			r = le.AppendUint64(r, uint64(v))
		}
		r = append(r, "PK\x06\x07\x00\x00\x00\x00"...)
		r = le.AppendUint64(r, uint64(at))
		r = le.AppendUint32(r, 1)
		out.Write(r)
		end = append(end, bytes.Repeat([]byte{0xff}, 12)...)
	} else {
		end = le.AppendUint16(end, uint16(count))
		end = le.AppendUint16(end, uint16(count))
		end = le.AppendUint32(end, uint32(length))
		end = le.AppendUint32(end, uint32(offset))
	}
	end = le.AppendUint16(end, uint16(len(c.comment)))
	out.Write(append(end, c.comment...))
	return append([]byte(c.prefix), out.Bytes()...)
}

func deflate(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// counted counts the calls of a reader.
type counted struct {
	r     io.ReaderAt
	calls int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	return c.r.ReadAt(p, off)
}

// failing fails from an offset on, as a store does that went away.
type failing struct {
	r    io.ReaderAt
	from int64
	err  error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, f.err
	}
	return f.r.ReadAt(p, off)
}
