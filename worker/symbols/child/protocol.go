package child

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A frame is the length of a JSON document in four bytes, little-endian, and the document.
const (
	// maxRequest bounds what a child reads: paths and options.
	maxRequest = 4 << 20
	// maxResponse bounds what the parent reads: the threads of a dump, with their stacks.
	maxResponse = 64 << 20
)

// request is what the parent sends.
type request struct {
	Operation string          `json:"operation"`
	Args      json.RawMessage `json:"args"`
}

// response is what the child sends: a result, or what was wrong.
type response struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Invalid *invalid        `json:"invalid,omitempty"` // with the file
	Failure string          `json:"failure,omitempty"` // of the machine
	Panic   string          `json:"panic,omitempty"`   // of the reader
}

type invalid struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

func writeFrame(w io.Writer, v any, most int) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(doc) > most {
		return fmt.Errorf("a message of %d bytes: at most %d are allowed", len(doc), most)
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(doc)), uint32(len(doc)))
	_, err = w.Write(append(frame, doc...))
	return err
}

func readFrame(r io.Reader, v any, most int) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > int64(most) {
		return fmt.Errorf("a message of %d bytes: at most %d are allowed", n, most)
	}
	// Not allocated before it is there.
	doc, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil {
		return err
	}
	if int64(len(doc)) < n {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(doc, v)
}
