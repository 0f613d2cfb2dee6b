package symbolicate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/symbolication"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// Library is a Source of the store's files.
type Library struct {
	db    *storage.DB
	files *library.Library
	waits bool
}

// NewLibraries returns one that never waits for the object store, and one that does.
func NewLibraries(db *storage.DB, l *library.Library) (warm, waiting *Library) {
	return &Library{db: db, files: l}, &Library{db: db, files: l, waits: true}
}

// Begin implements Source: one statement.
func (l *Library) Begin(ctx context.Context, organization int64) (Session, error) {
	s, err := l.files.Begin(ctx, organization)
	if err != nil {
		return nil, err
	}
	return &session{Session: s, db: l.db, waits: l.waits, builds: map[crash.NamedBuild]int64{}, wanted: map[crash.NamedBuild]bool{}}, nil
}

// session finds files of the store, and the builds that reports name.
type session struct {
	*library.Session
	db     *storage.DB
	waits  bool
	builds map[crash.NamedBuild]int64 // 0: not there
	wanted map[crash.NamedBuild]bool
}

// namesFeature is what an obfuscation map of Dart has, as the reader of symbol files calls it.
const namesFeature = "names"

// find opens the file that serves a query.
func (s *session) find(ctx context.Context, q Query, kinds ...symbol.Kind) (*library.Handle, symbolication.File, error) {
	want := library.Query{ProjectID: q.ProjectID, Kinds: kinds}
	if want.Without = namesFeature; q.Names {
		want.Feature, want.Without = namesFeature, ""
	}
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
	open := func() (*library.Handle, error) { return s.Warm(want) }
	if s.waits {
		open = func() (*library.Handle, error) { return s.Open(ctx, want) }
	}
	h, err := open()
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
	case errors.Is(err, library.ErrUnasked):
		return ErrUnasked
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

// Native implements Session. Of a module that was built for several architectures each is a
// file with identifiers of its own.
func (s *session) Native(ctx context.Context, q Query) (Native, symbolication.File, error) {
	h, file, err := s.find(ctx, q, symbol.ELF, symbol.MachO, symbol.PE, symbol.PDB, symbol.Breakpad, symbol.Wasm,
		symbol.PortablePDB)
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

// Mapping implements Session.
func (s *session) Mapping(ctx context.Context, q Query) (Mapping, symbolication.File, error) {
	h, file, err := s.find(ctx, q, symbol.ProGuard)
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

// Named implements Session.
func (s *session) Named(address string) (bool, error) {
	named, err := s.Session.Named(address)
	return named, absent(err)
}

// Refresh implements Session.
func (s *session) Refresh(ctx context.Context) (bool, error) {
	clear(s.builds)
	return s.Session.Refresh(ctx)
}

// Build implements Session.
func (s *session) Build(_ context.Context, at Place, ref crash.BuildRef) (int64, error) {
	named := crash.NamedBuild{ProjectID: at.ProjectID, BuildRef: ref}
	id, known := s.builds[named]
	if !known {
		s.wanted[named] = true
		return 0, ErrUnasked
	}
	return id, nil
}

// Ask implements Session: two statements for the builds, and what the files take.
func (s *session) Ask(ctx context.Context) error {
	if len(s.wanted) > 0 {
		list := slices.Collect(maps.Keys(s.wanted))
		found, err := crash.FindBuilds(ctx, s.db, list)
		if err != nil {
			return err
		}
		for _, named := range list {
			s.builds[named] = found[named]
		}
		clear(s.wanted)
	}
	return s.Session.Ask(ctx)
}
