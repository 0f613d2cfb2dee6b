package filetype

import (
	"bufio"
	"errors"
	"io"
)

// readKeys returns the keys of the outermost object of a JSON text, as far as it is one;
// nil when the text does not begin as an object. The prefix )]}' of maps that are sent to
// browsers is skipped with its line. It keeps nothing of the text, so that a map of any
// size can be told from other JSON; it does not check the syntax.
func readKeys(r io.Reader) (map[string]bool, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if !skipPrefix(in) {
		return nil, nil
	}
	keys := map[string]bool{}
	const most = 1000 // more keys than any source map has
	for depth := 1; depth > 0 && len(keys) < most; {
		c, err := in.ReadByte()
		if err == io.EOF {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			text, err := readString(in)
			if err != nil {
				return keys, ignoreEOF(err)
			}
			if depth == 1 && followedBy(in, ':') {
				keys[text] = true
			}
			if keys["version"] && (keys["mappings"] || keys["sections"]) {
				return keys, nil
			}
		}
	}
	return keys, nil
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// skipPrefix reads up to behind the opening brace; false when there is none.
func skipPrefix(in *bufio.Reader) bool {
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	if mark, _ := in.Peek(3); string(mark) == ")]}" {
		if _, err := in.ReadString('\n'); err != nil {
			return false
		}
	}
	for {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return false
		case c == '{':
			return true
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			return false
		}
	}
}

// readString reads up to behind the closing quote and returns the first bytes.
func readString(in *bufio.Reader) (string, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('"')
		if room := 64 - len(text); room > 0 {
			text = append(text, part[:min(room, len(part))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			// The quote may follow a backslash at the end of the part: one that is odd
			// keeps the next character.
			if odd(part) {
				if _, err := in.ReadByte(); err != nil {
					return "", err
				}
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if odd(part[:len(part)-1]) {
			continue
		}
		return string(text[:max(0, min(len(text), 64)-1)]), nil
	}
}

// odd reports whether a part ends with an odd number of backslashes.
func odd(part []byte) bool {
	n := 0
	for n < len(part) && part[len(part)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// followedBy reports whether the next character that is no blank is c, which stays unread.
func followedBy(in *bufio.Reader, c byte) bool {
	for {
		next, err := in.Peek(1)
		if err != nil {
			return false
		}
		switch next[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = in.Discard(1)
		default:
			return next[0] == c
		}
	}
}
