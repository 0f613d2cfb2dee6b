package child

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// A frame is its kind in one byte, the length of its content in four, little-endian, and
// the content: a JSON document, but for reads and their data.
const (
	frameRequest  = 'q' // to the child
	frameData     = 'd' // to the child: a status in one byte, and the bytes that it asked for
	frameResponse = 'r' // to the parent: the last one of a request
	framePartial  = 'p' // to the parent: a result that is not whole yet
	frameRead     = 'a' // to the parent: an offset in eight bytes and a length in four
)

const (
	// maxRequest bounds what a child reads: paths and options.
	maxRequest = 4 << 20
	// maxResponse bounds what the parent reads: the threads of a dump, with their stacks.
	maxResponse = 64 << 20
	// maxRead bounds one read of the parent's file.
	maxRead = 1 << 20
	// frameHead is the size of kind and length.
	frameHead = 5
	readSize  = 12
)

// The status of data.
const (
	dataWhole  = 0
	dataEnd    = 1 // the file ends before
	dataFailed = 2 // the file cannot be read
)

// request is what the parent sends.
type request struct {
	Operation string          `json:"operation"`
	Args      json.RawMessage `json:"args"`
	CPU       time.Duration   `json:"cpu"`
	File      bool            `json:"file,omitempty"` // there is one to read
	Size      int64           `json:"size,omitempty"` // of the file
}

// response is what the child sends: a result, or what was wrong.
type response struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Invalid *invalid        `json:"invalid,omitempty"` // with the file
	Failure string          `json:"failure,omitempty"` // of the machine
	Panic   string          `json:"panic,omitempty"`   // of the reader
	// Retire: the child has become large or slow, and should serve no further request.
	Retire bool `json:"retire,omitempty"`
}

type invalid struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// writeJSON writes a frame with a document of at most so many bytes.
func writeJSON(w io.Writer, kind byte, v any, most int) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(doc) > most {
		return fmt.Errorf("a message of %d bytes: at most %d are allowed", len(doc), most)
	}
	return writeFrame(w, kind, doc)
}

// writeFrame writes a frame whose content consists of parts.
func writeFrame(w io.Writer, kind byte, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	frame := make([]byte, frameHead, frameHead+n)
	frame[0] = kind
	binary.LittleEndian.PutUint32(frame[1:], uint32(n))
	for _, p := range parts {
		frame = append(frame, p...)
	}
	_, err := w.Write(frame)
	return err
}

// readFrame reads a frame with a content of at most so many bytes.
func readFrame(r io.Reader, most int) (kind byte, content []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[1:]))
	if n > int64(most) {
		return 0, nil, fmt.Errorf("a message of %d bytes: at most %d are allowed", n, most)
	}
	if n <= maxRead+1 {
		content = make([]byte, n)
		_, err = io.ReadFull(r, content)
	} else if content, err = io.ReadAll(io.LimitReader(r, n)); int64(len(content)) < n && err == nil {
		// A longer one is not allocated before it is there.
		err = io.ErrUnexpectedEOF
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return head[0], content, err
}
