package apple

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"howett.net/plist"
)

// Limits of property lists, each far above what apps have: a big Info.plist has
// 5,000 elements, a profile with 10,000 devices 20,000. Decoding one takes a microsecond and
// some hundred bytes.
const (
	maxPlist      = 8 << 20 // bytes, of a profile too
	maxElements   = 60_000
	maxContainers = 10_000 // of XML: they bound how deep it can be nested
	maxDepth      = 128    // of binary lists
	maxProlog     = 4096   // bytes before the first element of XML; the usual ones are 150
)

var errPlistBomb = errors.New("the property list is too deep or has too many elements")

// dict is a dictionary of a property list. Its methods are lenient: a value of
// another type than expected counts as absent.
type dict map[string]any

// decodePlist decodes an XML or binary property list whose top is a dictionary.
func decodePlist(raw []byte) (dict, error) {
	raw = bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), " \t\r\n")
	var err error
	switch {
	case len(raw) > maxPlist:
		err = errPlistBomb
	case bytes.HasPrefix(raw, []byte("bplist")):
		err = checkBinary(raw)
	case bytes.HasPrefix(raw, []byte("<?xml")), bytes.HasPrefix(raw, []byte("<!")), bytes.HasPrefix(raw, []byte("<plist")):
		// The decoder reads XML that it cannot parse as an old text format, which
		// nests without bounds; so what does not begin like XML is refused at once.
		err = checkXML(raw)
	default:
		err = errors.New("it is no property list")
	}
	if err != nil {
		return nil, err
	}
	var top dict
	err = catchPanic(func() error {
		_, err := plist.Unmarshal(raw, &top)
		return err
	})
	if err != nil {
		return nil, errors.New("it is a broken property list")
	}
	if top == nil {
		return nil, errors.New("its property list is no dictionary")
	}
	return top, nil
}

// checkXML counts tags without parsing them: those in comments count too. Equals
// signs are counted for attributes, which need more memory than all else.
func checkXML(raw []byte) error {
	if !bytes.Contains(raw[:min(len(raw), maxProlog)], []byte("<plist")) {
		return errors.New("it is no property list")
	}
	if bytes.Count(raw, []byte("=")) > maxElements {
		return errPlistBomb
	}
	elements, containers := 0, 0
	for {
		i := bytes.IndexByte(raw, '<')
		if i < 0 {
			return nil
		}
		raw = raw[i+1:]
		name := raw
		if i := bytes.IndexAny(name[:min(len(name), 256)], " \t\r\n/><"); i >= 0 {
			name = name[:i]
		} else {
			name = name[:min(len(name), 256)]
		}
		name = name[bytes.LastIndexByte(name, ':')+1:]
		switch string(name) {
		case "dict", "array", "plist":
			containers++
		}
		if elements++; elements > 2*maxElements || containers > maxContainers {
			return errPlistBomb
		}
	}
}

// checkBinary walks a binary list as it will be expanded. Objects may be shared
// and overlap, so that few bytes can stand for very many values.
func checkBinary(raw []byte) error {
	broken := errors.New("its binary property list is broken")
	if len(raw) < 40 {
		return broken
	}
	trailer := raw[len(raw)-32:]
	w := plistWalk{
		raw:     raw,
		offset:  int(trailer[6]),
		ref:     int(trailer[7]),
		objects: binary.BigEndian.Uint64(trailer[8:]),
		table:   binary.BigEndian.Uint64(trailer[24:]),
	}
	end := uint64(len(raw) - 32)
	if w.offset < 1 || w.offset > 8 || w.ref < 1 || w.ref > 8 || w.table < 9 || w.table >= end {
		return broken
	}
	if w.objects > maxElements {
		return errPlistBomb
	}
	if w.table+w.objects*uint64(w.offset) != end {
		return broken
	}
	ok := w.visit(binary.BigEndian.Uint64(trailer[16:]), 0)
	switch {
	case w.elements > maxElements || w.bytes > maxPlist || w.deep:
		return errPlistBomb
	case !ok:
		return broken
	}
	return nil
}

// plistWalk is one walk over a binary property list.
type plistWalk struct {
	raw            []byte
	offset, ref    int // bytes of an offset and of a reference
	objects, table uint64
	elements       int
	bytes          uint64
	deep           bool
}

// visit walks over an object and what it holds; false ends the walk.
func (w *plistWalk) visit(index uint64, depth int) bool {
	w.elements++
	w.deep = w.deep || depth > maxDepth
	if index >= w.objects || w.deep || w.elements > maxElements {
		return false
	}
	at := number(w.raw[w.table+index*uint64(w.offset):], w.offset)
	if at < 8 || at >= w.table {
		return false
	}
	tag := w.raw[at]
	count, at, ok := w.count(at)
	if !ok {
		return false
	}
	unit := uint64(1)
	switch tag & 0xf0 {
	case 0x40, 0x50: // data, ASCII
	case 0x60: // UTF-16
		unit = 2
	case 0xa0: // array
		unit = uint64(w.ref)
	case 0xd0: // dictionary: keys, then values
		unit = 2 * uint64(w.ref)
	default: // a number, date, boolean: of fixed size, which the decoder checks
		return true
	}
	if count > (w.table-at)/unit {
		return false
	}
	if unit *= count; tag&0xf0 < 0xa0 {
		w.bytes += unit
		return w.bytes <= maxPlist
	}
	for end := at + unit; at < end; at += uint64(w.ref) {
		if !w.visit(number(w.raw[at:], w.ref), depth+1) {
			return false
		}
	}
	return true
}

// count returns the length of an object and the offset of its content.
func (w *plistWalk) count(at uint64) (count, content uint64, ok bool) {
	tag := w.raw[at]
	at++
	if tag&0x0f != 0x0f || tag&0xf0 < 0x40 {
		return uint64(tag & 0x0f), at, true
	}
	if at >= w.table || w.raw[at]&0xf0 != 0x10 || w.raw[at]&0x0f > 3 {
		return 0, 0, false
	}
	n := 1 << (w.raw[at] & 0x0f)
	if at++; at+uint64(n) > w.table {
		return 0, 0, false
	}
	return number(w.raw[at:], n), at + uint64(n), true
}

// number reads n bytes, high first; the caller has checked that raw has them.
func number(raw []byte, n int) uint64 {
	var v uint64
	for _, b := range raw[:n] {
		v = v<<8 | uint64(b)
	}
	return v
}

// text returns a string, or a number as text: version codes can be either.
func (d dict) text(key string) string { return scalar(d[key]) }

// firstText returns the first of several texts that is not empty.
func (d dict) firstText(keys ...string) string {
	for _, key := range keys {
		if s := d.text(key); s != "" {
			return s
		}
	}
	return ""
}

// texts returns the strings and numbers of an array, or a single one.
func (d dict) texts(key string) []string {
	list, ok := d[key].([]any)
	if !ok {
		list = []any{d[key]}
	}
	var texts []string
	for _, v := range list {
		if s := scalar(v); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

func (d dict) flag(key string) bool {
	b, _ := d[key].(bool)
	return b
}

func (d dict) date(key string) time.Time {
	t, _ := d[key].(time.Time)
	return t.UTC()
}

func (d dict) dict(key string) dict {
	m, _ := d[key].(map[string]any)
	return m
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case uint64, int64:
		return fmt.Sprint(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	}
	return ""
}
