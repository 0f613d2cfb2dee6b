package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/library"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

// Children run operations on hostile files in child processes.
type Children interface {
	Do(ctx context.Context, operation string, args, result any) error
}

// DumpReader reads native dumps. A child process with limits parses the bytes; the stacks
// are walked here, for that takes the unwind rules of the symbol files.
type DumpReader struct {
	Children Children
	Objects  object.Store
	Library  *library.Library
	// Folder is for the files that the children read; "" is that of the system.
	Folder string
}

// maxDump bounds a dump. Those with a whole heap are larger than what clients may send.
const maxDump = 512 << 20

// Report implements Dumps.
func (r *DumpReader) Report(ctx context.Context, place symbolicate.Place, format, objectKey string, size int64,
	base []byte) ([]byte, error) {
	if size > maxDump {
		return nil, symbol.Invalid(symbol.TooLarge, "the dump has %d bytes, more than %d", size, maxDump)
	}
	path, err := r.fetch(ctx, objectKey, size)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	var d dump.Dump
	if err := r.Children.Do(ctx, "dump", parse.DumpArgs{Path: path, Format: format}, &d); err != nil {
		return nil, err
	}
	s, err := r.symbols(ctx, place, &d)
	if err != nil {
		return nil, err
	}
	if err := walk.Walk(ctx, &d, s); err != nil {
		return nil, err
	}
	doc, err := d.Report(base)
	if err != nil {
		return nil, symbol.Invalid(symbol.Malformed, "the dump makes no report: %s", err)
	}
	return doc, nil
}

// fetch copies the bytes of a dump into a file.
func (r *DumpReader) fetch(ctx context.Context, key string, size int64) (path string, err error) {
	body, _, err := r.Objects.Open(ctx, key, 0, -1)
	if errors.Is(err, object.ErrNotFound) {
		return "", fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	f, err := os.CreateTemp(r.Folder, "slipway-dump-*")
	if err != nil {
		return "", fmt.Errorf("copy a dump: %w", err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := io.Copy(f, io.LimitReader(body, size)); err != nil {
		return "", fmt.Errorf("copy a dump: %w", err)
	}
	return f.Name(), nil
}

// walkSymbols are the symbol files of the modules of a dump, opened as a walk comes through.
type walkSymbols struct {
	ctx     context.Context
	session *library.Session
	project int64
	dump    *dump.Dump
	modules map[int]*walkModule
}

// walkModule is a module of a dump; nil indexes: there is none.
type walkModule struct{ unwind, functions *native.Index }

// symbols asks which files serve the modules of a dump, for all of them at once.
func (r *DumpReader) symbols(ctx context.Context, place symbolicate.Place, d *dump.Dump) (*walkSymbols, error) {
	session, err := r.Library.Begin(ctx, place.OrganizationID)
	if err != nil {
		return nil, err
	}
	s := &walkSymbols{ctx: ctx, session: session, project: place.ProjectID, dump: d, modules: map[int]*walkModule{}}
	for n := range d.Modules {
		if q, ok := s.query(n); ok {
			session.Note(q)
		}
	}
	return s, session.Ask(ctx)
}

// query asks for the files of a module; false: it has no name that one could have.
func (s *walkSymbols) query(n int) (library.Query, bool) {
	d := &s.dump.Modules[n]
	q := library.Query{ProjectID: s.project, Kinds: []symbol.Kind{symbol.Breakpad, symbol.ELF, symbol.MachO, symbol.PE, symbol.PDB}}
	for _, id := range []symbol.Identifier{{Type: symbol.DebugID, Value: d.DebugID}, {Type: symbol.CodeID, Value: d.CodeID}} {
		if id.Value != "" {
			q.Identifiers = append(q.Identifiers, id)
		}
	}
	return q, len(q.Identifiers) > 0
}

func (s *walkSymbols) module(n int) (*walkModule, error) {
	if m := s.modules[n]; m != nil {
		return m, nil
	}
	m := &walkModule{}
	if q, ok := s.query(n); ok {
		for _, want := range []struct {
			feature string
			to      **native.Index
		}{{"unwind", &m.unwind}, {"", &m.functions}} {
			q.Feature = want.feature
			h, err := s.session.Open(s.ctx, q)
			if err != nil && !errors.Is(err, library.ErrMissing) {
				return nil, err
			}
			if err == nil {
				*want.to = h.Native
			}
		}
	}
	s.modules[n] = m
	return m, nil
}

// Unwind implements walk.Symbols.
func (s *walkSymbols) Unwind(n int, address uint64) (native.Unwind, bool, error) {
	m, err := s.module(n)
	if err != nil || m.unwind == nil {
		return native.Unwind{}, false, err
	}
	u, ok, err := m.unwind.Unwind(address)
	var invalid *symbol.InvalidError
	if errors.As(err, &invalid) {
		return native.Unwind{}, false, nil
	}
	return u, ok, err
}

// Covers implements walk.Symbols.
func (s *walkSymbols) Covers(n int, address uint64) (covered, known bool) {
	m, err := s.module(n)
	if err != nil || m.functions == nil {
		return false, false
	}
	frames, err := m.functions.Lookup(address)
	return err == nil && len(frames) > 0, err == nil
}
