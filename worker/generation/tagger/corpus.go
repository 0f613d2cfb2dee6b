package tagger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Sample is a text with its labels.
type Sample struct {
	Lang, Text string
	Segments   []Segment
}

// Segment is a part of a text that asks for one deed or says one thing that must hold.
type Segment struct {
	From, To int // bytes of the text
	Kind     string
	// Forbidden: the deed must not be done. Late: the check stands before the deeds that it is of.
	Forbidden, Late bool
	Slots           []Slot
}

// Slot is a part of a segment with what it is in it.
type Slot struct {
	From, To int
	Name     string
}

// Deeds are the kinds of segments that something is done in.
var Deeds = []string{"add", "remove", "complete", "reopen", "on", "off", "set", "choose", "rate", "edit", "append", "clear", "open",
	"close", "expand", "collapse", "sort", "filter", "search", "page", "move", "save", "send", "order", "submit", "confirm", "cancel",
	"login", "logout", "navigate", "increase", "decrease", "press", "type", "hover", "select", "upload", "download", "copy", "scroll",
	"resize", "window", "wait", "act"}

// Checks are the kinds of segments that say what must hold; a note says nothing to do or to check.
var Checks = []string{"shown", "gone", "is", "has", "count", "only", "at", "sorted", "same", "if", "note"}

// Slots are the names of slots.
var Slots = []string{"t", "to", "from", "n", "v", "b", "by", "a", "in", "with", "p"}

var (
	segmentStart = regexp.MustCompile(`^\[(!?)([a-z]+)(~?) `)
	slotStart    = regexp.MustCompile(`^\{([a-z]+):`)
)

// ParseSample reads a line of the corpus: the language, a tab, and the text with its labels, as in
//
//	en	[remove Throw {t:the oldest} out], [count {a:3} {t:members} should be left]
//
// where " / " is the end of a line of the text.
func ParseSample(line string) (Sample, error) {
	lang, rest, ok := strings.Cut(line, "\t")
	if !ok {
		return Sample{}, fmt.Errorf("no tab: %.60q", line)
	}
	s := Sample{Lang: lang}
	var text strings.Builder
	var seg *Segment
	var slot *Slot
	fail := func(what string) (Sample, error) {
		return Sample{}, fmt.Errorf("%s at %d: %.80q", what, len(line)-len(rest), line)
	}
	for rest != "" {
		switch c := rest[0]; {
		case c == '[':
			m := segmentStart.FindStringSubmatch(rest)
			if seg != nil || m == nil || !slices.Contains(Deeds, m[2]) && !slices.Contains(Checks, m[2]) {
				return fail("no segment")
			}
			if deed := slices.Contains(Deeds, m[2]); deed && m[3] != "" || !deed && m[1] != "" {
				return fail("no segment") // a deed is not late, and a check not forbidden
			}
			seg = &Segment{From: text.Len(), Kind: m[2], Forbidden: m[1] != "", Late: m[3] != ""}
			rest = rest[len(m[0]):]
		case c == ']':
			if seg == nil || slot != nil || seg.From == text.Len() {
				return fail("no end of a segment")
			}
			seg.To = text.Len()
			s.Segments = append(s.Segments, *seg)
			seg, rest = nil, rest[1:]
		case c == '{':
			m := slotStart.FindStringSubmatch(rest)
			if seg == nil || slot != nil || m == nil || !slices.Contains(Slots, m[1]) {
				return fail("no slot")
			}
			slot, rest = &Slot{From: text.Len(), Name: m[1]}, rest[len(m[0]):]
		case c == '}':
			if slot == nil || slot.From == text.Len() {
				return fail("no end of a slot")
			}
			slot.To = text.Len()
			seg.Slots = append(seg.Slots, *slot)
			slot, rest = nil, rest[1:]
		case strings.HasPrefix(rest, " / "):
			text.WriteByte('\n')
			rest = rest[3:]
		default:
			text.WriteByte(c)
			rest = rest[1:]
		}
	}
	if seg != nil || slot != nil || len(s.Segments) == 0 {
		return fail("not closed")
	}
	s.Text = text.String()
	return s, nil
}

// Corpus reads the samples of all files of a folder, in the order of their names. Empty lines are none.
func Corpus(folder fs.FS) ([]Sample, error) {
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, fmt.Errorf("list the corpus: %w", err)
	}
	var out []Sample
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("read the corpus: %w", err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			s, err := ParseSample(line)
			if err != nil {
				return nil, fmt.Errorf("%s, line %d: %w", name, i+1, err)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// Digest is what samples are told apart by: another one stands for other texts or labels.
func Digest(samples []Sample) string {
	h := sha256.New()
	for i := range samples {
		fmt.Fprintln(h, samples[i])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest is that of the samples which t has learned from.
func (t *Tagger) Digest() string { return t.digest }
