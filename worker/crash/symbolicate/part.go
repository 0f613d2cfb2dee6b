package symbolicate

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// Part reads the reports of a part of a claim. What it finds for one of them it has for the
// others, and for those of the next part while no symbol file comes or goes (Refresh). It is of
// use for one goroutine.
type Part struct {
	session Session
	located map[locatedKey]*located
	maps    map[scriptKey]*mapWant
	scripts map[scriptKey]*scriptFile
	modules map[string][]symbol.Identifier // by what clients call a debug identifier
}

// maxLocated bounds what a part remembers of each kind: reports may name whatever they like.
const maxLocated = 4096

// located is what serves a want, for all reports that have it.
type located struct {
	native  Native
	mapping Mapping
	script  SourceMap
	file    symbolication.File
	err     error
	byBuild bool // the build that a report names may have led to it
	// lacking is what those have that lack it, and need the digest of their need; nil: none of
	// them was read yet.
	lacking *symbolication.Missing
	need    [32]byte
}

type locatedKey struct {
	project   int64
	arch, key string
}

// NewPart returns a part whose files are those of a session.
func NewPart(s Session) *Part {
	p := &Part{session: s}
	p.reset()
	return p
}

func (p *Part) reset() {
	p.located, p.maps, p.scripts = map[locatedKey]*located{}, map[scriptKey]*mapWant{}, map[scriptKey]*scriptFile{}
	p.modules = map[string][]symbol.Identifier{}
}

// Read looks up what a report needs; nil when it needs nothing. It is ErrUnasked when answers
// are not known: all that the report looks for so far is noted, and it is to be read again
// after Ask. Another error comes from the store: nothing is known then.
func (p *Part) Read(ctx context.Context, in Input) (*Result, error) {
	r := &reading{Input: in, part: p, doc: &symbolication.Document{}, files: map[int64]int{},
		opened: map[*located]*opened{}, left: maxFrames}
	kinds := r.kinds()
	if len(kinds) == 0 {
		return nil, nil
	}
	for _, read := range kinds {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	if r.unasked {
		return nil, ErrUnasked
	}
	return r.result(), nil
}

// Ask asks for all that reports looked for and the session does not know.
func (p *Part) Ask(ctx context.Context) error {
	maps.DeleteFunc(p.located, func(_ locatedKey, l *located) bool { return errors.Is(l.err, ErrUnasked) })
	maps.DeleteFunc(p.scripts, func(_ scriptKey, f *scriptFile) bool { return errors.Is(f.err, ErrUnasked) })
	maps.DeleteFunc(p.maps, func(_ scriptKey, m *mapWant) bool { return m.unasked() })
	return p.session.Ask(ctx)
}

// Renew drops what was not at hand: it may be for the next reports.
func (p *Part) Renew() {
	maps.DeleteFunc(p.located, func(_ locatedKey, l *located) bool { return errors.Is(l.err, ErrCold) })
	maps.DeleteFunc(p.scripts, func(_ scriptKey, f *scriptFile) bool { return errors.Is(f.err, ErrCold) })
	maps.DeleteFunc(p.maps, func(_ scriptKey, m *mapWant) bool {
		return m.located != nil && (errors.Is(m.located.err, ErrCold) || errors.Is(m.cold, ErrCold))
	})
}

// Refresh begins with the reports of another part: what came or went meanwhile is seen. No report
// waits for Ask.
func (p *Part) Refresh(ctx context.Context) error {
	holds, err := p.session.Refresh(ctx)
	switch {
	case err != nil:
		return err
	case holds:
		maps.DeleteFunc(p.located, func(_ locatedKey, l *located) bool { return l.byBuild })
	default:
		p.reset()
	}
	return nil
}

// Full reports whether the reports that wait for Ask should be read to their end before
// others, and Forget be called: what they look for takes much memory.
func (p *Part) Full() bool {
	return p.session.Full() || len(p.located) >= maxLocated || len(p.maps) >= maxLocated || len(p.scripts) >= maxLocated ||
		len(p.modules) >= maxLocated
}

// Forget drops what the part found.
func (p *Part) Forget() {
	p.reset()
	p.session.Forget()
}

// locate looks for a file once, by get.
func (p *Part) locate(at Place, w *want, get func(Query, *located) (symbolication.File, error)) *located {
	w.name, w.version = clean(w.name), clean(w.version)
	key := locatedKey{project: at.ProjectID, arch: w.arch, key: w.key()}
	if l := p.located[key]; l != nil {
		return l
	}
	l := &located{err: ErrMissing, byBuild: slices.ContainsFunc(w.ids, ofBuild)}
	if len(w.ids) > 0 {
		l.file, l.err = get(Query{Place: at, Identifiers: w.ids, Arch: w.arch}, l)
	}
	p.located[key] = l
	return l
}

// ofBuild reports whether files are looked for by their build.
func ofBuild(id symbol.Identifier) bool {
	return id.Type == symbolfile.BuildIdentifier || id.Type == symbolfile.VersionIdentifier
}

// identifiersOf reads what a client calls the debug identifier of a module.
func (p *Part) identifiersOf(text string) []symbol.Identifier {
	ids, known := p.modules[text]
	if !known {
		ids = nativeIdentifiers(text)
		p.modules[text] = ids
	}
	return ids[:len(ids):len(ids)]
}
