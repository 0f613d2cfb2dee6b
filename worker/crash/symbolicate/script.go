package symbolicate

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// ScriptPlace is a place in a generated script, and the function that the trace names there.
// Line and column count from 1; column 0 is not known.
type ScriptPlace struct {
	Line, Column int
	Function     string
}

// SourceMap reads places in a script as places in its sources.
type SourceMap interface {
	// Frames returns the frames at a place, the innermost first, with the lines around them;
	// none: nothing is mapped there. caller is the next frame outwards when it lies in the same
	// script, else nil; script is the uploaded script, nil when it was not uploaded.
	Frames(at ScriptPlace, caller *ScriptPlace, script Script) ([]symbolication.Frame, error)
}

// Script is an uploaded script.
type Script interface {
	// MapURL is its sourceMappingURL, "" when it has none.
	MapURL() string
	// DebugID is its debugId, "" when it has none.
	DebugID() string
	// Excerpt returns the lines around one, counted from 1; nil when it has no such line.
	Excerpt(line int) (*symbolication.Source, error)
}

func isScript(lang string) bool {
	switch strings.ToLower(lang) {
	case "javascript", "js", "nodejs", "node", "typescript", "browser", "react-native", "electron", "hermes":
		return true
	}
	return false
}

// wantsMaps reports whether the report is one of scripts.
func (r *reading) wantsMaps() bool {
	return r.Report.Symbolication == "sourcemap" || r.Report.Symbolication == "" && isScript(r.Report.Lang)
}

// scripts are what one report knows of its scripts.
type scripts struct {
	releases []string
	debugIDs map[string]string // by the address of the script
	maps     map[string]*opened
	sources  map[string]Script // by their address; nil: not uploaded
}

// readScripts maps the frames of all threads, and the traces in text.
func (r *reading) readScripts(ctx context.Context) error {
	s := &scripts{maps: map[string]*opened{}, sources: map[string]Script{}, debugIDs: debugIDsOf(r.Report)}
	for _, v := range []string{r.Report.Attribute("release"), r.Build.Version} {
		if v = clean(strings.TrimSpace(v)); v != "" && !slices.Contains(s.releases, v) {
			s.releases = append(s.releases, v)
		}
	}
	for _, t := range r.threads() {
		for i := range t.Frames {
			if !isPlace(&t.Frames[i]) || !r.take() {
				continue
			}
			if err := r.readScript(ctx, s, t, i); err != nil {
				return err
			}
		}
	}
	return r.mapTexts(ctx, s)
}

// debugIDsOf reads what some clients send beside the frames: the debug ids of scripts by their
// addresses, as JSON in an attribute.
func debugIDsOf(r *report.Report) map[string]string {
	for _, name := range [...]string{"debugIds", "debug_ids"} {
		var ids map[string]string
		if text := r.Attribute(name); text != "" && json.Unmarshal([]byte(text), &ids) == nil {
			return ids
		}
	}
	return nil
}

// scriptOf is the address of a frame's script.
func scriptOf(f *report.Frame) string {
	if f.Path != "" {
		return f.Path
	}
	return f.Library
}

// isPlace reports whether a frame lies in a script: with a line, and not in the engine.
func isPlace(f *report.Frame) bool {
	url := scriptOf(f)
	return f.Line > 0 && url != "" && !strings.HasPrefix(url, "node:") && !strings.HasPrefix(url, "<") && url != "native" &&
		!strings.HasPrefix(url, "internal/")
}

func (r *reading) readScript(ctx context.Context, s *scripts, t *report.Thread, index int) error {
	f := &t.Frames[index]
	url := scriptOf(f)
	o, err := r.openMap(ctx, s, url, f.DebugIdentifier)
	if err != nil {
		return err
	}
	if o.script == nil {
		r.lack(t.ID, index, o, false)
		return nil
	}
	var caller *ScriptPlace
	if index+1 < len(t.Frames) && scriptOf(&t.Frames[index+1]) == url {
		caller = placeOf(&t.Frames[index+1])
	}
	found, err := o.script.Frames(*placeOf(f), caller, o.text)
	if err != nil {
		return r.unread(err)
	}
	p := symbolication.Replacement{Index: index, File: o.file}
	for _, one := range found[:min(len(found), maxInlines)] {
		if err := r.uploadedSource(ctx, s, &one); err != nil {
			return err
		}
		p.Frames = append(p.Frames, cleanFrame(one))
	}
	if len(p.Frames) > 0 {
		r.replace(t.ID, p)
	}
	return nil
}

func placeOf(f *report.Frame) *ScriptPlace {
	return &ScriptPlace{Line: int(min(f.Line, 1<<31-1)), Column: int(min(max(f.Column, 0), 1<<31-1)), Function: f.Function}
}

const (
	// maxSourceLines and maxSourceLine bound the lines around a frame that are kept.
	maxSourceLines = 11
	maxSourceLine  = 300
)

func cleanFrame(f symbolication.Frame) symbolication.Frame {
	f.Function, f.File = clean(f.Function), clean(f.File)
	if f.Source == nil {
		return f
	}
	source := symbolication.Source{Start: f.Source.Start}
	for _, line := range f.Source.Lines[:min(len(f.Source.Lines), maxSourceLines)] {
		line = clean(line)
		source.Lines = append(source.Lines, strings.ToValidUTF8(line[:min(len(line), maxSourceLine)], ""))
	}
	f.Source = &source
	return f
}

// openMap looks for the map of a script: by its debug id, by its release and address, and by
// the address that the uploaded script names.
func (r *reading) openMap(ctx context.Context, s *scripts, url, debugID string) (*opened, error) {
	if debugID == "" {
		debugID = s.debugIDs[url]
	}
	key := debugID + "\x00" + url
	if o := s.maps[key]; o != nil {
		return o, nil
	}
	ids := identifiers(symbol.Identifier{Type: symbol.ScriptID, Value: debugID})
	named := len(ids) > 0
	ids = append(ids, s.urls(append(scriptCandidates(url), mapCandidates(url, "")...))...)
	w := want{kind: "sourcemap", name: path.Base(slashes(url)), ids: ids}
	if len(s.releases) > 0 {
		w.version = s.releases[0]
	}
	w.loose = !named && r.Report.Symbolication != "sourcemap"
	w.announced = !w.loose || served(url)
	script, err := r.uploadedScript(ctx, s, url)
	if err != nil {
		return nil, err
	}
	if script != nil {
		w.announced = true
		more := identifiers(symbol.Identifier{Type: symbol.ScriptID, Value: script.DebugID()})
		if mapURL := script.MapURL(); mapURL != "" {
			more = append(more, s.urls(mapCandidates(url, mapURL))...)
		}
		w.ids = union(w.ids, more)
	}
	o, err := r.open(ctx, w, func(ctx context.Context, q Query, o *opened) (file symbolication.File, err error) {
		o.script, file, err = r.symbols.SourceMap(ctx, q)
		return file, err
	})
	if err != nil {
		return nil, err
	}
	if o.text == nil {
		o.text = script
	}
	s.maps[key] = o
	return o, nil
}

// uploadedScript finds the script itself, whose last lines name its map; nil when it was not
// uploaded.
func (r *reading) uploadedScript(ctx context.Context, s *scripts, url string) (Script, error) {
	ids := s.urls(scriptCandidates(url))
	if len(ids) == 0 || len(s.maps) >= maxFiles {
		return nil, nil
	}
	script, _, err := r.symbols.Script(ctx, Query{Place: r.Place, Identifiers: ids})
	switch {
	case err == nil:
		return script, nil
	case errors.Is(err, ErrMissing):
		return nil, nil
	}
	return nil, r.unread(err)
}

// uploadedSource gives a frame the lines of the source that was uploaded beside the map.
func (r *reading) uploadedSource(ctx context.Context, s *scripts, f *symbolication.Frame) error {
	if f.Source != nil || f.File == "" || f.Line < 1 {
		return nil
	}
	script, known := s.sources[f.File]
	if !known {
		if len(s.sources) >= maxFiles {
			return nil
		}
		var err error
		if script, err = r.uploadedScript(ctx, s, f.File); err != nil {
			return err
		}
		s.sources[f.File] = script
	}
	if script == nil {
		return nil
	}
	source, err := script.Excerpt(int(min(f.Line, 1<<31-1)))
	if err != nil {
		return r.unread(err)
	}
	f.Source = source
	return nil
}

// urls are the identifiers of addresses: within each release, then without one.
func (s *scripts) urls(list []string) []symbol.Identifier {
	var ids []symbol.Identifier
	for _, release := range append(slices.Clone(s.releases), "") {
		for _, u := range list {
			ids = append(ids, symbol.Identifier{Type: symbol.URL, Value: u, Release: release})
		}
	}
	return identifiers(ids...)
}

func union(a, b []symbol.Identifier) []symbol.Identifier {
	for _, id := range b {
		if !slices.Contains(a, id) {
			a = append(a, id)
		}
	}
	return a
}

// served reports whether a script came from a server or out of an app's bundle: these are
// the ones that are built. Scripts of Node are files, which nobody has to map.
func served(url string) bool {
	for _, scheme := range [...]string{"http://", "https://", "app://", "capacitor://", "ionic://", "webpack://"} {
		if strings.HasPrefix(url, scheme) {
			return true
		}
	}
	return strings.HasSuffix(url, ".bundle") || strings.HasSuffix(url, ".jsbundle") || strings.HasSuffix(url, ".min.js")
}
