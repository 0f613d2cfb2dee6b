package artifacttest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

var le = binary.LittleEndian

// entry is one file of an archive.
type entry struct {
	name   string
	data   []byte
	stored bool
	// packed is data in deflated form, and size its length, when it is there already.
	packed []byte
	size   int
}

// zipped writes an archive, with bytes in front of its directory as APKs have them. It is
// archive/zip's work, but for archives with hundreds of thousands of entries.
func zipped(block []byte, entries ...entry) []byte {
	var out bytes.Buffer
	var directory []byte
	for _, e := range entries {
		packed, size, method := e.packed, e.size, uint16(8)
		switch {
		case e.stored:
			packed, size, method = e.data, len(e.data), 0
		case packed == nil:
			packed, size = deflated(e.data), len(e.data)
		}
		var common []byte // of both headers
		common = le.AppendUint16(common, 20)
		common = le.AppendUint16(common, 0)
		common = le.AppendUint16(common, method)
		common = le.AppendUint32(common, 0)
		common = le.AppendUint32(common, crc32.ChecksumIEEE(e.data))
		common = le.AppendUint32(common, uint32(len(packed)))
		common = le.AppendUint32(common, uint32(size))
		common = le.AppendUint16(common, uint16(len(e.name)))
		common = le.AppendUint16(common, 0)
		directory = append(directory, "PK\x01\x02\x14\x00"...)
		directory = append(directory, common...)
		directory = append(directory, make([]byte, 10)...)
		directory = le.AppendUint32(directory, uint32(out.Len()))
		directory = append(directory, e.name...)
		out.WriteString("PK\x03\x04")
		out.Write(common)
		out.WriteString(e.name)
		out.Write(packed)
	}
	out.Write(block)
	end := []byte("PK\x05\x06\x00\x00\x00\x00")
	end = le.AppendUint16(end, uint16(len(entries)))
	end = le.AppendUint16(end, uint16(len(entries)))
	end = le.AppendUint32(end, uint32(len(directory)))
	end = le.AppendUint32(end, uint32(out.Len()))
	return slices.Concat(out.Bytes(), directory, end, []byte{0, 0})
}

func deflated(data []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		panic(err) // a constant level
	}
	_, _ = w.Write(data)
	_ = w.Close()
	return out.Bytes()
}

// zeros returns n zero bytes in deflated form, and their number.
func zeros(n int) ([]byte, int) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	_, _ = io.CopyN(w, zeroReader{}, int64(n))
	_ = w.Close()
	return out.Bytes(), n
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
