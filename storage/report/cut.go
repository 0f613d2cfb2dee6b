package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// cutTries is how many of the innermost objects and arrays of a document that is cut off are
// left out, one after the other, until what is left follows the rules: a frame without its
// name, its stack, its thread, the threads.
const cutTries = 8

// Mend returns a report that is cut off, as it is when the program ended while it wrote the
// report, without what is incomplete at its end: the beginning of document, closed, with the
// member truncated, and with what is missing of the required members. A uuid that is missing is
// made from the bytes, so that the same beginning has the same one. false: document is no
// beginning of a report, or there is nothing in it but its head. Time is linear in its length.
func Mend(document []byte, limits Limits, now time.Time) ([]byte, Head, bool) {
	digest := sha256.Sum256(document)
	document = bytes.TrimRight(document, "\x00 \t\r\n") // files may be longer than what was written
	c := cutOf(document)
	if c == nil || c.some == 0 {
		return nil, Head{}, false
	}
	for tries := 0; len(c.open) > 0 && tries < cutTries; tries++ {
		mended := append(bytes.Clone(document[:c.open[len(c.open)-1].end]), c.closing()...)
		mended = append(mended[:len(mended)-1], c.missing(digest, now)...)
		if head, err := Check(mended, limits); err == nil {
			return mended, head, true
		}
		c.open = c.open[:len(c.open)-1]
		if len(c.open) == 0 {
			break
		}
		if c.forget(); c.some == 0 {
			break
		}
	}
	return nil, Head{}, false
}

// cut is where the beginning of a document ends.
type cut struct {
	open []container // those that are not closed, the report first
	// members are the required ones that have a value, also the one that is open; count is how
	// many of any name have one.
	members map[string]bool
	count   int
	last    string // the member of the report that was read last
	thread  string // the first key of threads
	main    string // the value of mainThread
	some    int    // how many of the members with something to keep there are
}

// container is an object or array that is not closed.
type container struct {
	array bool
	// end is where it may be cut: behind its last value that is whole, or its own beginning.
	end int
}

// cutOf reads the beginning of a report; nil for a document that is none.
func cutOf(document []byte) *cut {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	c := &cut{members: map[string]bool{}}
	name := "" // that waits for its value
	named := false
	for {
		token, err := d.Token()
		at := int(d.InputOffset())
		if _, number := token.(json.Number); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || number && at == len(document) {
			break // a number that stands at the end may go on
		}
		if err != nil || len(c.open) > maxDepth {
			return nil
		}
		top := len(c.open) - 1
		key, text := token.(string)
		switch {
		case token == json.Delim('{') || token == json.Delim('['):
			if top < 0 && token != json.Delim('{') {
				return nil
			}
			if top == 0 {
				c.begin(name)
			}
			c.open = append(c.open, container{array: token == json.Delim('['), end: at})
			named = false
		case token == json.Delim('}') || token == json.Delim(']'):
			c.open = c.open[:top]
			if top == 0 {
				return nil // it is whole
			}
			c.open[top-1].end, named = at, false
		case top < 0:
			return nil
		case text && !c.open[top].array && !named:
			name, named = key, true
			if top == 1 && c.last == "threads" && c.thread == "" {
				c.thread = key
			}
		default:
			if top == 0 {
				c.begin(name)
				if name == "mainThread" {
					c.main = key
				}
			}
			c.open[top].end, named = at, false
		}
	}
	if len(c.open) == 0 {
		return nil
	}
	return c
}

// begin notes a member of the report that has a value.
func (c *cut) begin(name string) {
	c.last = name
	c.count++
	if slices.Contains(required[:], name) {
		c.members[name] = true
	}
	if keeps(name) {
		c.some++
	}
}

// keeps reports whether a member says something of the crash.
func keeps(name string) bool {
	return name == "threads" || name == "attributes" || name == "classifiers" || name == "annotations"
}

// forget leaves out the member of the report that was open, where nothing of it is kept.
func (c *cut) forget() {
	if len(c.open) != 1 {
		return
	}
	c.count--
	if keeps(c.last) {
		c.some--
	}
	delete(c.members, c.last)
	if c.last == "threads" {
		c.thread = ""
	}
}

// closing are the brackets that are missing, innermost first.
func (c *cut) closing() []byte {
	var out []byte
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i].array {
			out = append(out, ']')
		} else {
			out = append(out, '}')
		}
	}
	return out
}

// missing are the members that are to be added behind the others, and the end of the report.
func (c *cut) missing(digest [32]byte, now time.Time) []byte {
	thread := cmp.Or(c.main, c.thread, "0")
	key, _ := json.Marshal(thread) // a string cannot fail
	id := digest[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: made from other bytes
	var out []byte
	if c.count > 0 {
		out = append(out, ',')
	}
	out = append(out, `"truncated":true`...)
	for _, m := range []struct{ name, value string }{
		{"uuid", fmt.Sprintf(`"%x-%x-%x-%x-%x"`, id[:4], id[4:6], id[6:8], id[8:10], id[10:])},
		{"timestamp", strconv.FormatInt(now.Unix(), 10)},
		{"lang", `"unknown"`}, {"langVersion", `"unknown"`}, {"agent", `"unknown"`}, {"agentVersion", `"unknown"`},
		{"threads", `{` + string(key) + `:{}}`}, {"mainThread", string(key)},
	} {
		if !c.members[m.name] {
			out = append(append(append(append(out, ',', '"'), m.name...), '"', ':'), m.value...)
		}
	}
	return append(out, '}')
}
