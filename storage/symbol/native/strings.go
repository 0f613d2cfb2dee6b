package native

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync"
)

const (
	// maxString bounds a name: mangled names of generated code reach some ten thousand
	// bytes. What is longer is cut off.
	maxString = 1 << 16
	// maxInterned bounds the strings that are known to be there already (some 70 MiB). Above it
	// they are forgotten: a string may then be there twice.
	maxInterned = 2 << 20
)

// interner writes strings one after another, each with its length, the same one once.
type interner struct {
	spool spool
	seed  maphash.Seed
	known map[uint64]uint64 // hash of the text: its offset, and 16 bits of its length above
	head  []byte
	count int64
}

func newInterner(folder string) interner {
	return interner{spool: spool{folder: folder}, seed: maphash.MakeSeed(), known: map[uint64]uint64{}}
}

// add returns the offset of a string.
func (t *interner) add(text string) (uint64, error) {
	if len(text) > maxString {
		text = text[:maxString]
	}
	key := maphash.String(t.seed, text)
	if v, ok := t.known[key]; ok && v>>48 == uint64(len(text))&0xffff {
		return v & (1<<48 - 1), nil
	}
	if len(t.known) >= maxInterned {
		clear(t.known)
	}
	offset := uint64(t.spool.size)
	t.head = append(binary.AppendUvarint(t.head[:0], uint64(len(text))), text...)
	if _, err := t.spool.Write(t.head); err != nil {
		return 0, err
	}
	t.known[key] = offset | uint64(len(text))&0xffff<<48
	t.count++
	return offset, nil
}

// texts reads strings by their offsets and keeps some of them.
type texts struct {
	from  part
	plain cache
	clear cache
}

// at returns the string at an offset.
func (t *texts) at(offset uint64) (string, error) {
	if text, ok := t.plain.get(offset); ok {
		return text, nil
	}
	text, err := readText(&t.from, offset)
	if err != nil {
		return "", err
	}
	t.plain.put(offset, text)
	return text, nil
}

// function returns the name at an offset, as it is and demangled.
func (t *texts) function(offset uint64) (name, function string, err error) {
	if name, err = t.at(offset); err != nil {
		return "", "", err
	}
	if !decorated(name) {
		return name, name, nil
	}
	function, ok := t.clear.get(offset)
	if !ok {
		function = Demangle(name)
		t.clear.put(offset, function)
	}
	return name, function, nil
}

func readText(from *part, offset uint64) (string, error) {
	if offset >= uint64(from.size) {
		return "", fmt.Errorf("index: a string lies outside of it")
	}
	left := from.size - int64(offset)
	var buffer []byte
	p, err := from.read(&buffer, int64(offset), int(min(128, left)))
	if err != nil {
		return "", err
	}
	n, skip := binary.Uvarint(p)
	if skip <= 0 || n > maxString || int64(n) > left-int64(skip) {
		return "", fmt.Errorf("index: a string is damaged")
	}
	end := skip + int(n)
	if end > len(p) {
		if p, err = from.read(&buffer, int64(offset), end); err != nil {
			return "", err
		}
	}
	return string(p[skip:end]), nil
}

// cacheBytes bounds each half of a cache of strings.
const cacheBytes = 1 << 20

// cache keeps what was used lately: two maps, of which the older is dropped when the
// newer is full.
type cache struct {
	mu         sync.Mutex
	newer, old map[uint64]string
	size       int
}

func (c *cache) get(key uint64) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := c.newer[key]; ok {
		return text, true
	}
	text, ok := c.old[key]
	if ok {
		c.keep(key, text)
	}
	return text, ok
}

func (c *cache) put(key uint64, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, text)
}

func (c *cache) keep(key uint64, text string) {
	if c.size >= cacheBytes {
		c.old, c.newer, c.size = c.newer, nil, 0
	}
	if c.newer == nil {
		c.newer = map[uint64]string{}
	}
	c.newer[key] = text
	c.size += len(text) + 64
}
