package content

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

const (
	// sourceLines are shown before and after that of a frame, each up to maxSourceLine bytes.
	sourceLines   = 5
	maxSourceLine = 300
	// maxSourceText bounds the text of an entry that is read, maxSourceShown what the frames of
	// the main thread, and those of all others together, show.
	maxSourceText  = 1 << 20
	maxSourceShown = 512 << 10
)

// sources are the source code entries of a report, by their ids.
type sources struct {
	raw     map[string]json.RawMessage
	entries map[string]*sourceEntry
	shown   map[bool]int // bytes, of the main thread and of others
}

// sourceEntry is a text whose first line has a number; no lines: it has only a path.
type sourceEntry struct {
	start int64
	lines []string
}

// sourcesOf finds the entries of a report with texts.
func sourcesOf(document []byte) *sources {
	s := &sources{entries: map[string]*sourceEntry{}, shown: map[bool]int{}}
	if !bytes.Contains(document, []byte(`"sourceCode"`)) || !bytes.Contains(document, []byte(`"startLine"`)) {
		return s
	}
	var doc struct {
		SourceCode map[string]json.RawMessage `json:"sourceCode"`
	}
	if json.Unmarshal(document, &doc) == nil {
		s.raw = doc.SourceCode
	}
	return s
}

// entry returns an entry by its id.
func (s *sources) entry(id string) *sourceEntry {
	if e := s.entries[id]; e != nil {
		return e
	}
	e := &sourceEntry{}
	s.entries[id] = e
	var doc struct {
		Text      string          `json:"text"`
		StartLine json.RawMessage `json:"startLine"`
	}
	if json.Unmarshal(s.raw[id], &doc) != nil || doc.Text == "" {
		return e
	}
	start, err := strconv.ParseInt(strings.Trim(string(doc.StartLine), `"`), 10, 64)
	if err != nil || start < 0 {
		return e
	}
	e.start, e.lines = start, strings.Split(doc.Text[:min(len(doc.Text), maxSourceText)], "\n")
	return e
}

// around returns the lines around that of a frame, as the client sent them; nil when it sent
// none.
func (s *sources) around(f *report.Frame, main bool) *symbolication.Source {
	if s.raw == nil || f.SourceCode == "" || f.Line < 1 {
		return nil
	}
	e := s.entry(f.SourceCode)
	at := f.Line - e.start
	if at < 0 || at >= int64(len(e.lines)) {
		return nil
	}
	first, last := max(at-sourceLines, 0), min(at+sourceLines+1, int64(len(e.lines)))
	out := &symbolication.Source{Start: e.start + first}
	for _, line := range e.lines[first:last] {
		line = strings.TrimSuffix(line[:min(len(line), maxSourceLine)], "\r")
		out.Lines = append(out.Lines, strings.ToValidUTF8(line, ""))
	}
	if s.shown[main] += out.Size(); s.shown[main] > maxSourceShown {
		return nil
	}
	return out
}
