package symbolicate

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// maxNativeSources bounds the sources of native code that are looked for of a crash: each is some dozen
// identifiers.
const maxNativeSources = 32

// nativeSource gives a frame the lines around it, when its source came with the debug file, or was
// uploaded for its module. A source that is not there is no need: the frame is readable without.
func (r *reading) nativeSource(ctx context.Context, o *opened, ids []symbol.Identifier, f *symbolication.Frame) error {
	if f.File == "" || f.Line < 1 {
		return nil
	}
	script, known := o.sources[f.File]
	if !known {
		if r.looked >= maxNativeSources {
			return nil
		}
		r.looked++
		var err error
		if script, err = r.openSource(ctx, o, ids, f.File); err != nil {
			return r.unread(err)
		}
		if o.sources == nil {
			o.sources = map[string]Script{}
		}
		o.sources[f.File] = script
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

// openSource looks for the source of a file that debug information names; nil when there is none.
func (r *reading) openSource(ctx context.Context, o *opened, modules []symbol.Identifier, file string) (Script, error) {
	if named, err := r.part.session.Named(file); err != nil || !named {
		return nil, err
	}
	releases := []string{symbol.UploadRelease(o.located.file.SymbolID)}
	for _, id := range modules {
		if id.Type != symbol.URL && len(releases) < 4 {
			releases = append(releases, symbol.SourceRelease(id))
		}
	}
	var ids []symbol.Identifier
	for _, path := range symbol.SourcePaths(file) {
		for _, release := range releases {
			ids = append(ids, symbol.Identifier{Type: symbol.URL, Value: path, Release: release})
		}
	}
	if ids = identifiers(ids...); len(ids) == 0 {
		return nil, nil
	}
	script, _, err := r.part.session.Script(ctx, Query{Place: r.Place, Identifiers: ids})
	var invalid *symbol.InvalidError
	if errors.Is(err, ErrMissing) || errors.As(err, &invalid) {
		return nil, nil
	}
	return script, err
}
