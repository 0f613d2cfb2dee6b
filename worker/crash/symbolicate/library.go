package symbolicate

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/symbolication"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// Library is a Symbols of the store's files.
type Library struct {
	db     *storage.DB
	open   func(context.Context, library.Query) (*library.Handle, error)
	builds *builds
}

// NewLibraries returns one that never waits for the object store, and one that does.
func NewLibraries(db *storage.DB, l *library.Library) (warm, waiting *Library) {
	b := &builds{now: time.Now, known: map[buildKey]build{}}
	return &Library{db, l.Warm, b}, &Library{db, l.Open, b}
}

// find opens the file that serves a query.
func (l *Library) find(ctx context.Context, q Query, kinds ...symbol.Kind) (*library.Handle, symbolication.File, error) {
	want := library.Query{OrganizationID: q.OrganizationID, ProjectID: q.ProjectID, Kinds: kinds}
	for _, id := range q.Identifiers {
		if id.Type == symbolfile.VersionIdentifier {
			continue // its build is not there, or named by its number as well
		}
		if id.Type != symbolfile.BuildIdentifier {
			want.Identifiers = append(want.Identifiers, id)
			continue
		}
		n, err := strconv.ParseInt(id.Value, 10, 64)
		if err != nil {
			return nil, symbolication.File{}, ErrMissing
		}
		want.BuildID = n
	}
	if len(want.Identifiers) == 0 && want.BuildID == 0 {
		return nil, symbolication.File{}, ErrMissing
	}
	h, err := l.open(ctx, want)
	if err != nil {
		return nil, symbolication.File{}, absent(err)
	}
	return h, symbolication.File{SymbolID: h.File.UploadID, FileID: h.File.ID, Name: fileName(h), Kind: h.File.Kind, Identifier: h.By}, nil
}

// absent reads the errors of the library.
func absent(err error) error {
	switch {
	case errors.Is(err, library.ErrMissing):
		return ErrMissing
	case errors.Is(err, library.ErrCold):
		return ErrCold
	}
	return err
}

// fileName is what a file is called: the name of the upload, and where it is in it.
func fileName(h *library.Handle) string {
	switch {
	case h.File.Path == "":
		return h.Name
	case h.Name == "":
		return h.File.Path
	}
	return h.Name + "/" + h.File.Path
}

// Native implements Symbols. Of a module that was built for several architectures each is a
// file with identifiers of its own.
func (l *Library) Native(ctx context.Context, q Query) (Native, symbolication.File, error) {
	h, file, err := l.find(ctx, q, symbol.ELF, symbol.MachO, symbol.PE, symbol.PDB, symbol.Breakpad)
	if err != nil {
		return nil, file, err
	}
	if h.Native == nil {
		return nil, file, ErrMissing
	}
	return addresses{h.Native}, file, nil
}

// addresses is an index of native code.
type addresses struct{ index *native.Index }

func (a addresses) Lookup(address uint64) ([]native.Frame, error) {
	frames, err := a.index.Lookup(address)
	return frames, absent(err)
}

// Mapping implements Symbols.
func (l *Library) Mapping(ctx context.Context, q Query) (Mapping, symbolication.File, error) {
	h, file, err := l.find(ctx, q, symbol.ProGuard)
	if err != nil {
		return nil, file, err
	}
	if h.Opened.Mapping == nil {
		return nil, file, ErrMissing
	}
	return retracer{h.Opened.Mapping}, file, nil
}

// retracer is a Mapping of ProGuard or R8.
type retracer struct{ mapping *proguard.Mapping }

func (r retracer) Stack(exception string, frames []JavaFrame) ([]JavaLine, error) {
	in := make([]proguard.Frame, len(frames))
	for i, f := range frames {
		in[i] = proguard.Frame{Class: f.Class, Method: f.Method, File: f.File, Line: f.Line}
	}
	found, err := r.mapping.Stack(exception, in)
	if err != nil {
		return nil, absent(err)
	}
	lines := make([]JavaLine, len(found))
	for i := range found {
		if !found[i].ClassKnown {
			continue
		}
		if len(found[i].Alternatives) == 0 {
			lines[i].Alternatives = [][]JavaResult{nil} // the compiler's
		}
		for _, a := range found[i].Alternatives {
			lines[i].Alternatives = append(lines[i].Alternatives, javaResults(a))
		}
	}
	return lines, nil
}

func javaResults(frames []proguard.Frame) []JavaResult {
	out := make([]JavaResult, len(frames))
	for i := range frames {
		f := &frames[i]
		out[i] = JavaResult{JavaFrame: JavaFrame{Class: f.Class, Method: f.Method, File: f.File, Line: f.Line},
			Inlined: f.Inlined, Synthesized: f.Synthetic}
		if f.Result != "" {
			out[i].Signature = f.Signature()
		}
	}
	return out
}

func (r retracer) Class(name string) (string, bool, error) {
	clear, ok, err := r.mapping.Class(name)
	return clear, ok, absent(err)
}

func (r retracer) Text(text string) (string, error) {
	clear, err := r.mapping.Text(text, false)
	return clear, absent(err)
}

// builds remembers for a moment which builds reports name: those of one application come
// together.
type builds struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[buildKey]build
}

type buildKey struct {
	project int64
	ref     crash.BuildRef
}

type build struct {
	id    int64
	until time.Time
}

const (
	// buildAge is how long a build is remembered; one that is uploaded is found after it.
	buildAge = 2 * time.Second
	// maxBuilds bounds how many: clients may name whatever they like.
	maxBuilds = 1000
)

// Build implements Symbols.
func (l *Library) Build(ctx context.Context, at Place, ref crash.BuildRef) (int64, error) {
	b, key := l.builds, buildKey{at.ProjectID, ref}
	b.mu.Lock()
	got, ok := b.known[key]
	b.mu.Unlock()
	if ok && b.now().Before(got.until) {
		return got.id, nil
	}
	id, err := crash.FindBuild(ctx, l.db, at.ProjectID, ref)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) >= maxBuilds {
		clear(b.known)
	}
	b.known[key] = build{id, b.now().Add(buildAge)}
	return id, nil
}
