package testfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxSentences bounds the tests of a Markdown file: each is a generation of minutes.
	maxSentences = 200
	// maxMarkdown bounds a Markdown file in bytes.
	maxMarkdown = 1 << 20
)

// Sentences are the tests that a Markdown file asks for. Each heading of the second level
// is one, or each of the first in a file that has no second: its text is the name of the
// test, and what stands below it the sentence.
//
// In front of the headings may be front matter between lines of ---: url, targets, suite
// and tags of all of them.
type Sentences struct {
	URL     string
	Targets []Target
	Suite   string
	Tags    []string
	Tests   []Sentence
}

// Sentence is a test that a file asks for.
type Sentence struct {
	Name string
	Text string
	Line int // of its heading, from 1
	// ID is the case that it has become, and Digest what it was made from; "": none yet.
	// They stand in a comment below the heading.
	ID, Digest string

	comment int // the line of the comment, from 1; 0 without one
}

// Digest returns what a test depends on: the sentence, the address and the targets.
func (s *Sentences) Digest(of *Sentence) string {
	text, err := json.Marshal([]any{of.Text, s.URL, targetsOf(s.Targets)})
	if err != nil {
		return "" // of nothing that was read
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:digestLength]
}

var (
	heading = regexp.MustCompile(`^(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	fence   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	marked  = regexp.MustCompile(`^[ \t]*<!--[ \t]*slipway:[ \t]*([0-9a-f]{24})(?:[ \t]+([0-9a-f]{12}))?[ \t]*-->[ \t]*$`)
	remark  = regexp.MustCompile(`(?s)<!--.*?(-->|\z)`)
)

// ReadSentences reads a Markdown file. Its errors are *Error.
func ReadSentences(text []byte) (*Sentences, error) {
	if len(text) > maxMarkdown {
		return nil, wrong(1, "the file has more than %d MiB", maxMarkdown>>20)
	}
	lines := linesOf(text)
	s, first, err := frontMatter(lines)
	if err != nil {
		return nil, err
	}
	heads := headings(lines, first)
	level := 1
	for _, h := range heads {
		if h.level == 2 {
			level = 2
		}
	}
	for i, h := range heads {
		if h.level != level {
			continue
		}
		end := len(lines)
		for _, next := range heads[i+1:] {
			if next.level <= level {
				end = next.line
				break
			}
		}
		if err := s.add(h, lines[h.line+1:end]); err != nil {
			return nil, err
		}
	}
	if len(s.Tests) == 0 {
		return nil, wrong(1, "the file has no test: a heading (## Buy a lamp) with what to do below it")
	}
	return s, nil
}

// linesOf are the lines without their ends.
func linesOf(text []byte) []string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	lines := strings.Split(strings.ToValidUTF8(string(text), "\ufffd"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// add reads a test from its heading and the lines below.
func (s *Sentences) add(h head, below []string) error {
	t := Sentence{Name: h.text, Line: h.line + 1}
	if t.Name == "" {
		return wrong(t.Line, "a test needs a name: ## Buy a lamp")
	}
	for _, other := range s.Tests {
		if other.Name == t.Name {
			return wrong(t.Line, "the heading %q stands in line %d too", t.Name, other.Line)
		}
	}
	for i, line := range below {
		if match := marked.FindStringSubmatch(line); match != nil && t.comment == 0 {
			t.ID, t.Digest, t.comment = match[1], match[2], h.line+2+i
		}
	}
	t.Text = strings.TrimSpace(remark.ReplaceAllString(strings.Join(below, "\n"), ""))
	if t.Text == "" {
		return wrong(t.Line, "the test %q has no sentence below its heading", t.Name)
	}
	if len(s.Tests) == maxSentences {
		return wrong(t.Line, "a file has at most %d tests", maxSentences)
	}
	s.Tests = append(s.Tests, t)
	return nil
}

// head is a heading; line is from 0.
type head struct {
	line, level int
	text        string
}

// headings finds the headings, which code and comments do not have.
func headings(lines []string, from int) (found []head) {
	inside, comment := "", false
	for i := from; i < len(lines); i++ {
		line := lines[i]
		if mark := fence.FindStringSubmatch(line); mark != nil && !comment {
			switch {
			case inside == "":
				inside = mark[1]
			case strings.HasPrefix(mark[1], inside):
				inside = ""
			}
			continue
		}
		if inside != "" {
			continue
		}
		if comment || strings.Contains(line, "<!--") {
			comment = !strings.Contains(line[strings.LastIndex(line, "<!--")+1:], "-->")
			continue
		}
		if match := heading.FindStringSubmatch(line); match != nil {
			found = append(found, head{i, len(match[1]), strings.TrimSpace(match[2])})
		}
	}
	return found
}

// frontMatter reads what stands between lines of --- at the beginning, and returns the
// line behind it, from 0.
func frontMatter(lines []string) (*Sentences, int, error) {
	s := &Sentences{}
	if strings.TrimRight(lines[0], " \t") != "---" {
		return s, 0, nil
	}
	end := 1
	for end < len(lines) && strings.TrimRight(lines[end], " \t") != "---" {
		end++
	}
	if end == len(lines) {
		return nil, 0, wrong(1, "the front matter has no end: a line of ---")
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(lines[1:end], "\n")), &document); err != nil {
		return nil, 0, below(misread(err))
	}
	if len(document.Content) == 0 {
		return s, end + 1, nil
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, 0, wrong(2, "the front matter has members: url, targets, suite, tags")
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if err := s.member(top.Content[i], top.Content[i+1]); err != nil {
			return nil, 0, below(err)
		}
	}
	return s, end + 1, nil
}

// below moves an error of the front matter to its line of the file.
func below(err error) error {
	var of *Error
	if errors.As(err, &of) {
		return &Error{Line: of.Line + 1, Text: of.Text}
	}
	return err
}

func (s *Sentences) member(key, value *yaml.Node) (err error) {
	if err := plain(key, 0); err != nil {
		return err
	}
	if err := plain(value, 0); err != nil {
		return err
	}
	switch key.Value {
	case "url":
		s.URL, err = textOf(key, value)
	case "suite":
		s.Suite, err = textOf(key, value)
	case "tags":
		s.Tags, err = readTags(value)
	case "targets":
		s.Targets, err = readTargets(value)
	default:
		return wrong(key.Line, "%s is unknown here: there are url, targets, suite, tags", key.Value)
	}
	return err
}

// Mark writes the id of the case and the digest of what it was made from below the heading
// of a test. Every other byte stays.
func Mark(text []byte, of *Sentence, id, digest string) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	at := of.Line - 1
	end := "\n"
	if bytes.HasSuffix(lines[at], []byte("\r\n")) {
		end = "\r\n"
	}
	entry := []byte("<!-- slipway: " + id + " " + digest + " -->")
	if of.comment > 0 {
		old := lines[of.comment-1]
		lines[of.comment-1] = append(entry, old[len(bytes.TrimRight(old, "\r\n")):]...)
		return bytes.Join(lines, nil)
	}
	if !bytes.HasSuffix(lines[at], []byte("\n")) {
		lines[at] = append(bytes.Clone(lines[at]), end...)
	}
	lines[at] = append(append(bytes.Clone(lines[at]), entry...), end...)
	return bytes.Join(lines, nil)
}
