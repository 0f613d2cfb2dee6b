package sourcemap

import (
	"encoding/binary"
	"fmt"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// perBlock is how many texts of a table are found by one offset.
const perBlock = 32

// stringWriter writes a table of texts: each as its length and 1 (uvarint, 0 for none)
// and its bytes; and where every 32nd begins, as a section of its own.
type stringWriter struct {
	out   *symbol.Writer
	name  string
	count int
	size  uint32
	at    []byte
	buf   []byte
}

func newStrings(out *symbol.Writer, name string) *stringWriter {
	out.Begin(name)
	return &stringWriter{out: out, name: name}
}

func (t *stringWriter) add(s []byte) {
	t.begin(uint64(len(s)) + 1)
	t.buf = append(t.buf, s...)
	t.flush()
}

func (t *stringWriter) null() {
	t.begin(0)
	t.flush()
}

func (t *stringWriter) begin(head uint64) {
	if t.count%perBlock == 0 {
		t.at = binary.LittleEndian.AppendUint32(t.at, t.size)
	}
	t.count++
	t.buf = binary.AppendUvarint(t.buf[:0], head)
}

func (t *stringWriter) flush() {
	t.size += uint32(len(t.buf))
	_, _ = t.out.Write(t.buf) // Close reports the error
}

func (t *stringWriter) close() {
	t.out.Begin(t.name + atSuffix)
	_, _ = t.out.Write(t.at) // Close reports the error
}

// stringsLater keeps texts until another table is written.
type stringsLater struct {
	section string
	texts   []*string
}

func (t *stringsLater) add(s string) { t.texts = append(t.texts, &s) }
func (t *stringsLater) null()        { t.texts = append(t.texts, nil) }

func (t *stringsLater) write(out *symbol.Writer) error {
	w := newStrings(out, t.section)
	for _, s := range t.texts {
		if s == nil {
			w.null()
		} else {
			w.add([]byte(*s))
		}
	}
	w.close()
	return nil
}

// stringTable reads a table of texts.
type stringTable struct {
	at, text *table
	count    int
}

// get returns text n; false when it is none.
func (t *stringTable) get(n int) (string, bool, error) {
	if n < 0 || n >= t.count {
		return "", false, nil
	}
	block := n / perBlock
	head, err := t.at.bytes(int64(block)*4, 4)
	if err != nil {
		return "", false, err
	}
	from, to := int64(binary.LittleEndian.Uint32(head)), t.text.size
	if next := int64(block+1) * 4; next < t.at.size {
		if head, err = t.at.bytes(next, 4); err != nil {
			return "", false, err
		}
		to = int64(binary.LittleEndian.Uint32(head))
	}
	p, err := t.text.bytes(from, to-from)
	if err != nil {
		return "", false, err
	}
	for i := n % perBlock; ; i-- {
		s, rest, ok, err := nextString(p)
		if err != nil || i == 0 {
			return string(s), ok, err
		}
		p = rest
	}
}

// all returns every text, for a table that is in memory; nil for one that is none.
func (t *stringTable) all() ([]*string, error) {
	p, err := t.text.bytes(0, t.text.size)
	if err != nil {
		return nil, err
	}
	kept := string(p)
	list := make([]*string, t.count)
	texts := make([]string, t.count)
	for n := range list {
		s, rest, ok, err := nextString(p)
		if err != nil {
			return nil, err
		}
		if ok {
			end := len(kept) - len(rest)
			texts[n] = kept[end-len(s) : end]
			list[n] = &texts[n]
		}
		p = rest
	}
	return list, nil
}

func nextString(p []byte) (s, rest []byte, ok bool, err error) {
	n, used := binary.Uvarint(p)
	if used <= 0 || n > uint64(len(p)-used)+1 {
		return nil, nil, false, fmt.Errorf("a table of the source map's index is cut off")
	}
	p = p[used:]
	if n == 0 {
		return nil, p, false, nil
	}
	return p[:n-1], p[n-1:], true, nil
}
