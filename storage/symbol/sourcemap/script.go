package sourcemap

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

const (
	// maxScript bounds a script or a source text.
	maxScript = 256 << 20
	// tailSize is how much of a script's end is searched for its comments: a map may stand
	// there as a data URL.
	tailSize = 32 << 20
)

// ScriptSummary says what a script has.
type ScriptSummary struct {
	// SourceMappingURL is that of the last comment; "" for none and for an inline map.
	SourceMappingURL string
	// InlineMap is the map of a data URL; nil for none. Index takes it.
	InlineMap []byte
	// DebugID and SourceURL are those of the comments; "" for none.
	DebugID, SourceURL string
	// Size is that of the text in bytes.
	Size int64
}

// Identifiers returns the identifiers that the script itself has: its debugId.
func (s *ScriptSummary) Identifiers() []symbol.Identifier {
	return (&Summary{DebugID: s.DebugID}).Identifiers()
}

// scriptInfo is what an index says of a script.
type scriptInfo struct {
	Name             string `json:"name,omitempty"`
	SourceMappingURL string `json:"source_mapping_url,omitempty"`
	DebugID          string `json:"debug_id,omitempty"`
	SourceURL        string `json:"source_url,omitempty"`
	Pieces           uint32 `json:"pieces"`
	Size             uint32 `json:"size"`
}

// IndexScript reads a script or a source text of size bytes and writes its index, of kind
// symbol.Source. Options.URL is its name. An *symbol.InvalidError says what is wrong with
// it; other errors are those of r and w.
func IndexScript(r io.ReaderAt, size int64, w io.Writer, opts Options) (*ScriptSummary, error) {
	if size > maxScript {
		return nil, symbol.Invalid(symbol.TooLarge, "the script has %d bytes, more than %d", size, int64(maxScript))
	}
	out := symbol.NewWriter(w, string(symbol.Source), Version)
	out.Begin(sectionText)
	t := &textWriter{out: out}
	in := newInput(r, size)
	binary := false
	var info scriptInfo
	_, info.Pieces, info.Size = t.text(func(keep func(p []byte)) {
		for in.fill() {
			p := in.buf[in.pos:]
			if in.offset() == 0 {
				p = bytes.TrimPrefix(p, []byte("\ufeff"))
			}
			binary = binary || bytes.IndexByte(p, 0) >= 0
			keep(p)
			in.pos = len(in.buf)
		}
	})
	if in.err != nil {
		return nil, in.err
	}
	if binary {
		return nil, symbol.Invalid(symbol.Malformed, "the script is no text: it has a byte 0")
	}
	out.Begin(sectionPieces)
	_, _ = out.Write(t.records) // Close reports the error
	tail := make([]byte, min(size, tailSize))
	if n, err := r.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return nil, fmt.Errorf("read script: %w", err)
	}
	s := comments(tail)
	s.Size = size
	if strings.HasPrefix(s.SourceMappingURL, "data:") {
		s.InlineMap = inlineMap(s.SourceMappingURL)
		s.SourceMappingURL = ""
	}
	info.Name, info.SourceMappingURL, info.DebugID, info.SourceURL = short(opts.URL), short(s.SourceMappingURL),
		short(s.DebugID), short(s.SourceURL)
	out.Begin(sectionInfo)
	text, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	_, _ = out.Write(text) // Close reports the error
	return s, out.Close()
}

func short(s string) string { return s[:min(len(s), maxSource)] }

// comments reads the comments that name a map, a debugId and the script's own URL. Lines are
// read as ECMA-426 does without parsing (JavaScriptExtractSourceMapURL): code behind
// a comment with a map makes it void.
func comments(text []byte) *ScriptSummary {
	s := &ScriptSummary{}
	for len(text) > 0 {
		end, width := lineEnd(text)
		s.readLine(text[:end])
		if width == 0 {
			break
		}
		text = text[end+width:]
	}
	return s
}

// readLine reads the comments of a line.
func (s *ScriptSummary) readLine(line []byte) {
	for len(line) > 0 {
		n := bytes.IndexByte(line, '/')
		if n < 0 {
			n = len(line)
		}
		if len(bytes.TrimSpace(line[:n])) > 0 {
			s.SourceMappingURL = ""
		}
		line = line[n:]
		if len(line) < 2 {
			if len(line) == 1 {
				s.SourceMappingURL = ""
			}
			return
		}
		switch line[1] {
		case '/':
			s.comment(line[2:])
			return
		case '*':
			end := bytes.Index(line[2:], []byte("*/"))
			if end < 0 {
				return
			}
			s.comment(line[2 : 2+end])
			line = line[end+4:]
		default:
			s.SourceMappingURL = ""
			line = line[2:]
		}
	}
}

// comment reads a comment: # or @, and name=value without white space in the value.
func (s *ScriptSummary) comment(c []byte) {
	if len(c) < 2 || c[0] != '#' && c[0] != '@' {
		return
	}
	name, value, ok := strings.Cut(strings.TrimSpace(string(c[1:])), "=")
	if !ok || strings.ContainsAny(value, " \t\v\f\"'`") { // a quote: the comment is part of a string
		return
	}
	switch name {
	case "sourceMappingURL":
		s.SourceMappingURL = value
	case "debugId":
		s.DebugID = value
	case "sourceURL":
		s.SourceURL = value
	}
}

// inlineMap returns the content of a data URL (RFC 2397); nil when it is wrong.
func inlineMap(u string) []byte {
	head, body, ok := strings.Cut(u, ",")
	if !ok {
		return nil
	}
	if text, err := url.PathUnescape(body); err == nil {
		body = text
	}
	if !strings.HasSuffix(head, ";base64") {
		return []byte(body)
	}
	body = strings.TrimRight(body, "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(body, "-_") {
		encoding = base64.RawURLEncoding
	}
	text, err := encoding.DecodeString(body)
	if err != nil {
		return nil
	}
	return text
}

// Script is an index of a script or a source text that was opened. It is safe for
// concurrent use.
type Script struct {
	info         scriptInfo
	pieces, text table
	found        functionCache
}

// OpenScript reads an index of a script.
func OpenScript(f *symbol.File) (*Script, error) {
	if f.Kind != string(symbol.Source) || f.Version != Version {
		return nil, fmt.Errorf("an index of kind %q in version %d is not one of scripts in version %d", f.Kind, f.Version, Version)
	}
	s := &Script{}
	text, err := f.ReadSection(sectionInfo, 1<<20)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &s.info); err != nil {
		return nil, fmt.Errorf("read the index of a script: %w", err)
	}
	pieces, packed := f.Section(sectionPieces), f.Section(sectionText)
	s.pieces, s.text = table{size: pieces.Size(), r: pieces}, table{size: packed.Size(), r: packed}
	if s.pieces.size != int64(s.info.Pieces)*pieceSize {
		return nil, fmt.Errorf("the index of a script is wrong: its tables are too small")
	}
	if f.Size <= maxHeld {
		if err := s.pieces.hold(); err != nil {
			return nil, err
		}
		if err := s.text.hold(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// SourceMappingURL returns the address of the map in the script's comment; "" for none.
func (s *Script) SourceMappingURL() string { return s.info.SourceMappingURL }

// DebugID returns the debugId of the comment; "" for none.
func (s *Script) DebugID() string { return s.info.DebugID }

// SourceURL returns the script's own URL of the comment; "" for none.
func (s *Script) SourceURL() string { return s.info.SourceURL }

// Cost returns how many bytes of memory the script takes, at most.
func (s *Script) Cost() int64 {
	return int64(len(s.pieces.held)+len(s.text.held)) + functionCost(int64(s.info.Size)) + 4<<10
}

func (s *Script) file() file {
	return file{has: true, pieces: s.info.Pieces, size: s.info.Size}
}

// Excerpt returns the lines around a line, as Map.Excerpt does.
func (s *Script) Excerpt(line, around int) ([]Line, error) {
	if line < 1 {
		return nil, nil
	}
	return around1(&textReader{pieces: &s.pieces, text: &s.text}, s.file(), line, around)
}

// functions returns the functions of the script.
func (s *Script) functions() (*javascript.List, error) {
	return s.found.get(0, func() (*javascript.List, error) {
		text, ok, err := (&textReader{pieces: &s.pieces, text: &s.text}).all(s.file(), javascript.MaxText)
		if err != nil || !ok {
			return &javascript.List{}, err
		}
		return javascript.Functions(text, cutQuery(s.info.Name)), nil
	})
}

// Function returns the name of the function around a position, counted from 1; false when
// none is known. "<anonymous>" is one without a name.
func (s *Script) Function(line, column int) (string, bool, error) {
	if line < 1 || column < 1 {
		return "", false, nil
	}
	list, err := s.functions()
	if err != nil || !list.Known {
		return "", false, err
	}
	f := list.Find(javascript.Place{Line: uint32(line - 1), Column: uint32(column - 1)})
	if f == nil || f.Unknown {
		return "", false, nil
	}
	return f.Name, true, nil
}

// declared returns where the name of the function around a position stands.
func (s *Script) declared(line, column int) (javascript.Place, bool, error) {
	list, err := s.functions()
	if err != nil || !list.Known || line < 1 || column < 1 {
		return javascript.Place{}, false, err
	}
	f := list.Find(javascript.Place{Line: uint32(line - 1), Column: uint32(column - 1)})
	if f == nil || f.Unknown || f.Token.Column == 1<<32-1 {
		return javascript.Place{}, false, nil
	}
	return f.Token, true, nil
}
