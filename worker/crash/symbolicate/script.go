package symbolicate

import (
	"cmp"
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
	joined   string            // the releases as one text
	debugIDs map[string]string // by the address of the script
	maps     map[scriptName]*opened
	sources  map[string]Script // by their address; nil: not uploaded
}

// scriptName is a script as a frame names it.
type scriptName struct{ debugID, url string }

// readScripts maps the frames of all threads, and the traces in text.
func (r *reading) readScripts(ctx context.Context) error {
	s := r.newScripts()
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

// newScripts is what the report says of its scripts as a whole.
func (r *reading) newScripts() *scripts {
	s := &scripts{maps: map[scriptName]*opened{}, sources: map[string]Script{}, debugIDs: debugIDsOf(r.Report)}
	for _, v := range []string{r.Report.Attribute("release"), r.Build.Version} {
		if v = clean(strings.TrimSpace(v)); v != "" && !slices.Contains(s.releases, v) {
			s.releases = append(s.releases, v)
		}
	}
	s.joined = strings.Join(s.releases, "\x00")
	return s
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

// hermesMark stands before the address of a script that Hermes runs as bytecode. The column is the
// offset in the bytecode then, which counts from 0, and so do the columns of the map that the packager
// composes (https://hermesengine.dev/docs/stack-traces).
const hermesMark = "address at "

// scriptOf is the address of a frame's script.
func scriptOf(f *report.Frame) string {
	if f.Path != "" {
		return strings.TrimPrefix(f.Path, hermesMark)
	}
	return strings.TrimPrefix(f.Library, hermesMark)
}

// isPlace reports whether a frame lies in a script: with a line, and not in the engine.
func isPlace(f *report.Frame) bool {
	url := scriptOf(f)
	return f.Line > 0 && url != "" && !isWasm(url) && !strings.HasPrefix(url, "node:") && !strings.HasPrefix(url, "<") && url != "native" &&
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
	column := max(f.Column, 0)
	if strings.HasPrefix(cmp.Or(f.Path, f.Library), hermesMark) {
		column++
	}
	return &ScriptPlace{Line: int(min(f.Line, 1<<31-1)), Column: int(min(column, 1<<31-1)), Function: f.Function}
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
	name := scriptName{debugID, url}
	if o := s.maps[name]; o != nil {
		return o, nil
	}
	o := &opened{}
	s.maps[name] = o
	if len(r.opened) >= maxFiles {
		return o, nil
	}
	m, err := s.mapOf(ctx, r, name)
	if err != nil || m == nil {
		return o, err
	}
	if o, err = r.open(&m.want, m.located); err != nil {
		return nil, err
	}
	if o.text == nil {
		o.text = m.script
	}
	s.maps[name] = o
	return o, nil
}

// scriptKey is a script of which reports of a project look for the map, or for the text.
type scriptKey struct {
	scriptName
	project  int64
	releases string
	// announced: the report says that there are maps.
	announced bool
}

// mapWant is the map that a script needs; located is nil when nobody said that there is one.
type mapWant struct {
	want    want
	located *located
	script  Script
	cold    error // the script cannot be read now
}

func (m *mapWant) unasked() bool {
	return m.located != nil && (errors.Is(m.located.err, ErrUnasked) || errors.Is(m.cold, ErrUnasked))
}

// mapOf looks for the map of a script; nil when nobody said that there is one.
func (s *scripts) mapOf(ctx context.Context, r *reading, name scriptName) (*mapWant, error) {
	key := scriptKey{scriptName: name, project: r.ProjectID, releases: s.joined, announced: r.Report.Symbolication == "sourcemap"}
	if m := r.part.maps[key]; m != nil {
		if m.located == nil {
			return nil, nil
		}
		return m, r.unread(m.cold)
	}
	ids := identifiers(symbol.Identifier{Type: symbol.ScriptID, Value: name.debugID})
	w := want{kind: "sourcemap", name: path.Base(slashes(name.url)), ids: ids}
	w.loose = len(ids) == 0 && !key.announced
	w.announced = !w.loose || served(name.url)
	if !w.announced {
		// A plain path: it is one of a map only if it is the name of one.
		switch named, err := r.part.session.Named(name.url); {
		case errors.Is(err, ErrUnasked):
			r.unasked = true
			return nil, nil
		case err != nil:
			return nil, err
		case !named:
			r.part.maps[key] = &mapWant{}
			return nil, nil
		}
	}
	w.ids = append(w.ids, s.urls(append(scriptCandidates(name.url), mapCandidates(name.url, "")...))...)
	if len(s.releases) > 0 {
		w.version = s.releases[0]
	}
	m := &mapWant{}
	var err error
	if m.script, err = s.uploaded(ctx, r, name.url); err != nil {
		m.cold = err
	}
	if m.script != nil {
		w.announced = true
		more := identifiers(symbol.Identifier{Type: symbol.ScriptID, Value: m.script.DebugID()})
		if mapURL := m.script.MapURL(); mapURL != "" {
			more = append(more, s.urls(mapCandidates(name.url, mapURL))...)
		}
		w.ids = union(w.ids, more)
	}
	m.located = r.part.locate(r.Place, &w, func(q Query, l *located) (file symbolication.File, err error) {
		l.script, file, err = r.part.session.SourceMap(ctx, q)
		return file, err
	})
	m.want = w
	r.part.maps[key] = m
	return m, r.unread(m.cold)
}

// scriptFile is an uploaded script, for all reports of a part.
type scriptFile struct {
	script Script
	err    error
}

// uploaded finds the script itself, whose last lines name its map; nil when it was not
// uploaded.
func (s *scripts) uploaded(ctx context.Context, r *reading, url string) (Script, error) {
	if named, err := r.part.session.Named(url); err != nil || !named {
		return nil, err
	}
	key := scriptKey{scriptName: scriptName{url: url}, project: r.ProjectID, releases: s.joined}
	f := r.part.scripts[key]
	if f == nil {
		f = &scriptFile{err: ErrMissing}
		if ids := s.urls(scriptCandidates(url)); len(ids) > 0 {
			f.script, _, f.err = r.part.session.Script(ctx, Query{Place: r.Place, Identifiers: ids})
		}
		r.part.scripts[key] = f
	}
	if f.err == nil {
		return f.script, nil
	}
	if errors.Is(f.err, ErrMissing) {
		return nil, nil
	}
	return nil, f.err
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
		if script, err = s.uploaded(ctx, r, f.File); err != nil {
			if err := r.unread(err); err != nil {
				return err
			}
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
