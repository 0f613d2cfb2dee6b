package proguard

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// lineReader splits a text into lines that end with LF, CR LF, or CR, as Java does.
type lineReader struct {
	in    *bufio.Reader
	long  []byte // a line that is longer than the buffer
	rest  []byte // what follows a CR within the line that was read last
	again bool   // rest holds a line
	count int
	// ended: the line read last has no end of line, it is the last of the text.
	ended bool
}

func newLineReader(r io.ReaderAt, size int64) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 256<<10)}
}

// next returns the next line without its end, valid until the next call; io.EOF after
// the last one.
func (l *lineReader) next() ([]byte, error) {
	line := l.rest
	if !l.again {
		var err error
		if line, err = l.read(); err != nil {
			return nil, err
		}
	}
	l.again = false
	l.count++
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		l.rest, l.again = line[i+1:], true
		line = line[:i]
	}
	return line, nil
}

// read returns the text up to the next LF, without CR LF or LF.
func (l *lineReader) read() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(l.long) > maxLine {
				return nil, symbol.Invalid(symbol.TooLarge, "line %d of the mapping is longer than %d bytes", l.count+1, maxLine)
			}
			line, err = l.in.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	switch {
	case err == io.EOF && len(line) > 0:
		l.ended = true
	case err != nil:
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// cursor walks along a line.
type cursor struct {
	line []byte
	at   int
}

// byteOrderMark may stand before the first line, and counts as a blank.
var byteOrderMark = []byte("\xef\xbb\xbf")

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\v' || c == '\f' }

// blanks skips blanks and reports whether there were any.
func (c *cursor) blanks() bool {
	from := c.at
	for c.at < len(c.line) {
		switch {
		case isBlank(c.line[c.at]):
			c.at++
		case bytes.HasPrefix(c.line[c.at:], byteOrderMark):
			c.at += len(byteOrderMark)
		default:
			return c.at > from
		}
	}
	return c.at > from
}

func (c *cursor) done() bool { return c.at >= len(c.line) }

// take skips a text and reports whether it was there.
func (c *cursor) take(text string) bool {
	if len(c.line)-c.at >= len(text) && string(c.line[c.at:c.at+len(text)]) == text {
		c.at += len(text)
		return true
	}
	return false
}

// inName marks the ASCII bytes that a name can have. Java virtual machines allow any
// letter in a name but ". ; [ /", and "<" and ">" but in the names of initializers;
// mappings qualify names with dots, and types with brackets.
var inName = func() (table [256]bool) {
	for i := range table {
		table[i] = i > ' ' && i != 0x7f && !bytes.ContainsRune([]byte("():;,\"{}"), rune(i)) || i >= 0x80
	}
	return table
}()

// name returns the name that begins here, up to a blank, a delimiter, or an arrow;
// empty when there is none.
func (c *cursor) name() []byte {
	from := c.at
	for c.at < len(c.line) && inName[c.line[c.at]] {
		if c.line[c.at] == '-' && c.at+1 < len(c.line) && c.line[c.at+1] == '>' {
			break
		}
		c.at++
	}
	return c.line[from:c.at]
}

// number returns the decimal number that begins here; false when there is none or it
// is larger than a line number can be.
func (c *cursor) number() (int32, bool) {
	var n int64
	from := c.at
	for c.at < len(c.line) && c.line[c.at]-'0' <= 9 {
		if n = n*10 + int64(c.line[c.at]-'0'); n > maxLineNumber {
			return 0, false
		}
		c.at++
	}
	return int32(n), c.at > from
}
