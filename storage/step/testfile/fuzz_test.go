package testfile

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzRead holds the reader of cases to its promises: an error says its line, and what is
// read is written in a form that is read as the same, and written the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("name: a\nsteps:\n- tool: {type: pause, args: {time: 1}}\n"))
	f.Add([]byte("{name: 'a', tags: [\"\\x00\"], intent: \"a\\r\\nb \"}"))
	f.Add([]byte("name: |2\n   a\n\n b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(text)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		first, err := c.Write()
		if err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		again, err := Read(first)
		if err != nil {
			t.Fatalf("cannot be read again: %v\n%s", err, first)
		}
		if again.Digest() != c.Digest() || again.ID != c.ID || again.Revision != c.Revision {
			t.Fatalf("comes back as another:\n%s", first)
		}
		second, err := again.Write()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("is written in two ways (%v):\n%s\n%s", err, first, second)
		}
		const id, revision = "0123456789abcdef01234567", "0123456789abcdef01234567-0123456789ab"
		stamped, err := Restamp(text, id, revision)
		if err != nil {
			t.Fatalf("cannot be stamped: %v", err)
		}
		if c, err = Read(stamped); err != nil || c.ID != id || c.Revision != revision || c.Digest() != again.Digest() {
			t.Fatalf("is another when it is stamped (%v):\n%s", err, stamped)
		}
	})
}

// FuzzReadSentences does so for the reader of Markdown: an id that is written is read, and
// changes nothing else.
func FuzzReadSentences(f *testing.F) {
	f.Add([]byte(sentences))
	f.Add([]byte("# a\nb\n# c\nd"))
	f.Add([]byte("## a\r\n<!-- slipway: 0123456789abcdef01234567 -->\r\nb"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ReadSentences(text)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		const id, digest = "0123456789abcdef01234567", "0123456789ab"
		for i := range s.Tests {
			again, err := ReadSentences(Mark(text, &s.Tests[i], id, digest))
			if err != nil {
				t.Fatalf("%q cannot be read with an id: %v", text, err)
			}
			if len(again.Tests) != len(s.Tests) || again.Tests[i].ID != id || again.Tests[i].Digest != digest ||
				again.Tests[i].Text != s.Tests[i].Text {
				t.Fatalf("%q: an id changed test %d: %+v, before %+v", text, i, again.Tests, s.Tests)
			}
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	var refused *Error
	if !errors.As(err, &refused) || refused.Line < 1 || refused.Text == "" {
		t.Fatalf("an error without a line: %v", err)
	}
}
