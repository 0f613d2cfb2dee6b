package symbolicate

import (
	"context"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// excerptLines are the lines before and after that of a frame.
const excerptLines = 5

// SourceMap implements Session.
func (s *session) SourceMap(ctx context.Context, q Query) (SourceMap, symbolication.File, error) {
	h, file, err := s.find(ctx, q, symbol.SourceMap)
	if err != nil {
		return nil, file, err
	}
	if h.Opened.Map == nil {
		return nil, file, ErrMissing
	}
	return mapped{h.Opened.Map}, file, nil
}

// Script implements Session.
func (s *session) Script(ctx context.Context, q Query) (Script, symbolication.File, error) {
	h, file, err := s.find(ctx, q, symbol.Source)
	if err != nil {
		return nil, file, err
	}
	if h.Opened.Script == nil {
		return nil, file, ErrMissing
	}
	return text{h.Opened.Script}, file, nil
}

// text is an uploaded script.
type text struct{ script *sourcemap.Script }

func (t text) MapURL() string  { return t.script.SourceMappingURL() }
func (t text) DebugID() string { return t.script.DebugID() }

func (t text) Excerpt(line int) (*symbolication.Source, error) {
	lines, err := t.script.Excerpt(line, excerptLines)
	return sourceOf(lines), absent(err)
}

// mapped is a source map.
type mapped struct{ m *sourcemap.Map }

// Frames reads a place as the frames of the source, the innermost first.
func (x mapped) Frames(at ScriptPlace, caller *ScriptPlace, script Script) ([]symbolication.Frame, error) {
	var call sourcemap.Call
	if t, ok := script.(text); ok {
		call.Script = t.script
	}
	if caller != nil {
		p, ok, err := x.m.Original(caller.Line, caller.Column)
		if err != nil {
			return nil, absent(err)
		}
		if ok {
			call.Name, call.Exact = p.Name, p.Exact
		}
	}
	found, err := x.m.Frames(at.Line, at.Column, call)
	if err != nil {
		return nil, absent(err)
	}
	var frames []symbolication.Frame
	for i := range found {
		f := &found[i]
		if f.Hidden {
			continue
		}
		out := symbolication.Frame{Function: f.Function, File: f.Source, Line: int64(f.Line), Column: int64(f.Column),
			Inlined: f.Inlined, Method: methodOf(f.Method)}
		if out.Source, err = x.excerpt(f); err != nil {
			return nil, absent(err)
		}
		frames = append(frames, out)
	}
	return frames, nil
}

func methodOf(m sourcemap.Method) symbolication.Method {
	switch m {
	case sourcemap.FromScopes, sourcemap.FromFunctionMap:
		return symbolication.MapScopes
	case sourcemap.FromSource:
		return symbolication.MapSource
	case sourcemap.FromNames:
		return symbolication.MapNames
	}
	return symbolication.MapPosition
}

// excerpt reads the lines around a frame, where the map has the source.
func (x mapped) excerpt(f *sourcemap.Frame) (*symbolication.Source, error) {
	if !f.Content {
		return nil, nil
	}
	lines, err := x.m.Excerpt(f.Index, f.Line, excerptLines)
	return sourceOf(lines), err
}

func sourceOf(lines []sourcemap.Line) *symbolication.Source {
	if len(lines) == 0 {
		return nil
	}
	s := &symbolication.Source{Start: int64(lines[0].Number)}
	for _, l := range lines {
		s.Lines = append(s.Lines, l.Text)
	}
	return s
}
