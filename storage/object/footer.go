package object

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
)

// footer is what a folder knows about an object besides its bytes. It stands
// behind them in the same file, so that one rename replaces both at once:
//
//	bytes | footer as JSON | length of the JSON, 4 bytes big-endian | magic
type footer struct {
	ContentType string `json:"type"`
	SHA256      string `json:"sha256"` // of the bytes, hexadecimal
}

const (
	footerMagic = "SLIPOBJ1"
	footerTail  = 4 + len(footerMagic)
	// maxFooter is well above 200 bytes of content type, escaped, and a digest.
	maxFooter = 4 << 10
)

// errFooter: the file was not written by a folder store, or was cut.
var errFooter = errors.New("object file is damaged")

func (f footer) encode() ([]byte, error) {
	out, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(out)))
	return append(out, footerMagic...), nil
}

// readFooter reads the footer of a file of the given length, and returns the
// number of bytes before it.
func readFooter(r io.ReaderAt, length int64) (footer, int64, error) {
	if length < int64(footerTail) {
		return footer{}, 0, errFooter
	}
	tail := make([]byte, footerTail)
	if _, err := r.ReadAt(tail, length-int64(footerTail)); err != nil && err != io.EOF {
		return footer{}, 0, err
	}
	size := int64(binary.BigEndian.Uint32(tail))
	start := length - int64(footerTail) - size
	if string(tail[4:]) != footerMagic || size > maxFooter || start < 0 {
		return footer{}, 0, errFooter
	}
	raw := make([]byte, size)
	if _, err := r.ReadAt(raw, start); err != nil && err != io.EOF {
		return footer{}, 0, err
	}
	var f footer
	if json.Unmarshal(raw, &f) != nil || len(f.SHA256) != 64 {
		return footer{}, 0, errFooter
	}
	return f, start, nil
}
