// Package inspection reads uploaded packages in child processes.
//
// It is what storage/artifact/inspect does, at a distance: a child (package child) reads the
// file by ranges over its pipes, with limits on processor time, memory and what it may read,
// and without files and network. A file that hurts its reader costs its upload, and the next
// one has another child.
//
// An inspection has parts. The identity comes first: what the file is, the app's
// identifier and version. Without it the file is refused. What follows (resources, signer,
// icon) is left out when its reader dies of it: a second child reads the rest, within what is
// left of the file's processor time, and the package says what is missing in its warnings.
//
// Organizations have places in turn (package admission). Places are few, and each is for
// some ten milliseconds; who waits for one too long gets an error that is
// context.DeadlineExceeded and may come again.
//
// Failures: *artifact.InvalidError when the file is no package, is broken or takes too much;
// context.DeadlineExceeded when there was no place, or the file's store was slow;
// the store's error when it failed; all else is a trouble of the machine.
package inspection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks/admission"
	"github.com/slipway-qa/slipway/tasks/child"
)

// The limits of one file. Real packages take some tens of milliseconds, and less than 32 MiB.
const (
	// Memory is beyond what a child has at its start.
	Memory = 64 << 20
	// firstCPU is the processor time of the first child that reads a file; what it does not
	// read in three quarters of that is left out. secondCPU is that of another one, after the
	// first has died. Together with the upload itself they are less than two seconds.
	firstCPU  = 1100 * time.Millisecond
	secondCPU = 400 * time.Millisecond
	// defaultTimeout is that of one child, as the clock has it: the machine and the store
	// may be busy.
	defaultTimeout = 10 * time.Second
	// maxRead is what may be read of a file, with what is read again. Half a per cent to 14 %
	// of a package are usual, and a few MiB.
	maxRead = 256 << 20
)

// defaultReaders at once fit beside a server of some hundred MiB.
const defaultReaders = 4

// Config is what an Inspector needs.
type Config struct {
	// Readers is how many files are read at once; default 4.
	Readers int
	// Program is the path of the executable; "" is the one that runs. Its main function calls
	// child.Serve with Operations.
	Program string
	// Timeout bounds one child, as the clock has it; default 10 s.
	Timeout time.Duration
	Log     *slog.Logger
}

// Inspector inspects files. It is safe for concurrent use.
type Inspector struct {
	room     *admission.Room
	children *child.Pool
	log      *slog.Logger
}

// New returns an inspector, and begins to start its children.
func New(cfg Config) (*Inspector, error) {
	if cfg.Readers <= 0 {
		cfg.Readers = defaultReaders
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	// A place more than the room has, for an organization that has none while others hold all.
	children, err := child.NewPool(child.Config{Program: cfg.Program, Children: cfg.Readers + 1, Warm: min(2, cfg.Readers),
		Limits: child.Limits{Memory: Memory, CPU: firstCPU, FileBytes: 1, Sealed: true, Interactive: true}, Timeout: cfg.Timeout, Log: cfg.Log})
	if err != nil {
		return nil, fmt.Errorf("readers of packages: %w", err)
	}
	room := admission.New(admission.Config{Name: "inspections", Capacity: int64(cfg.Readers), Headroom: 1})
	return &Inspector{room: room, children: children, log: cfg.Log}, nil
}

// Close ends the children. Inspections under way fail.
func (i *Inspector) Close() { i.children.Close() }

// Room is where inspections wait, for metrics.
func (i *Inspector) Room() *admission.Room { return i.room }

// File is a file to inspect.
type File struct {
	// Organization and Key are whose turn the inspection is.
	Organization int64
	Key          string
	// Input is the file; Part has no meaning here.
	artifact.Input
	// Platform and Generic are those of inspect.Inspector.Package.
	Platform string
	Generic  bool
}

// Package inspects an uploaded build: see inspect.Inspector.Package.
func (i *Inspector) Package(ctx context.Context, f File) (*artifact.Package, error) {
	place, err := i.enter(ctx, f)
	if err != nil {
		return nil, err
	}
	defer place.Leave()
	return i.readPackage(ctx, f)
}

// Symbols inspects a symbols file that came with a build: see inspect.Inspector.Symbols.
func (i *Inspector) Symbols(ctx context.Context, f File) (*artifact.Symbols, error) {
	place, err := i.enter(ctx, f)
	if err != nil {
		return nil, err
	}
	defer place.Leave()
	var s artifact.Symbols
	if _, err := i.read(ctx, f, child.Call{Operation: readSymbols, Args: arguments(f, nil), Result: &s}); err != nil {
		return nil, err
	}
	return &s, nil
}

func (i *Inspector) enter(ctx context.Context, f File) (*admission.Place, error) {
	place, err := i.room.Enter(ctx, admission.Caller{Organization: f.Organization, Key: f.Key}, 1)
	var full *admission.FullError
	if errors.As(err, &full) {
		return nil, fmt.Errorf("too many files are being inspected: %w", context.DeadlineExceeded)
	}
	return place, err
}

// readPackage reads a package, and what its first reader died of not again.
func (i *Inspector) readPackage(ctx context.Context, f File) (*artifact.Package, error) {
	var known part // the last one that was begun
	var p artifact.Package
	keep := func(doc json.RawMessage) {
		var next part
		if json.Unmarshal(doc, &next) == nil {
			known = next
		}
	}
	left := warnings{}
	for attempt := 1; ; attempt++ {
		call := child.Call{Operation: readPackage, Args: arguments(f, left.parts()), Result: &p, Partial: keep, CPU: firstCPU, Once: true}
		if attempt > 1 {
			call.CPU = secondCPU
		}
		begun := known.Part
		known.Part = ""
		retry, err := i.read(ctx, f, call)
		var invalid *artifact.InvalidError
		switch {
		case err == nil:
			left.add(&p)
			return &p, nil
		case retry && attempt == 1:
			continue // it may have been killed
		case !errors.As(err, &invalid) || known.Known == nil:
			return nil, err
		case known.Part == "":
			known.Part = begun // the second child died before it came to a part
		}
		left[known.Part] = invalid.Reason
		if attempt > 1 {
			left.addFollowing(known)
			left.add(known.Known)
			return known.Known, nil
		}
	}
}

// read has a child do the call. retry is set when the child died of something that need not
// be the file's.
func (i *Inspector) read(ctx context.Context, f File, call child.Call) (retry bool, err error) {
	if f.Size <= 0 {
		return false, &artifact.InvalidError{Reason: "the file is empty"}
	}
	call.File, call.Size, call.MaxRead = f.Reader, f.Size, maxRead
	err = i.children.Run(ctx, call)
	var invalid *symbol.InvalidError
	switch {
	case err == nil:
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case !errors.As(err, &invalid):
		return false, err
	case child.Late(err):
		// Its processor time is bounded: so the store was slow, or the machine.
		return false, fmt.Errorf("read the file: %w", context.DeadlineExceeded)
	}
	reason := invalid.Reason
	if invalid.Code == symbol.Internal {
		reason = "the file cannot be read: its decoder failed"
	}
	return invalid.Code == symbol.Internal, &artifact.InvalidError{Reason: reason}
}

// warnings are the parts that could not be read, with the reason.
type warnings map[artifact.Part]string

func (w warnings) parts() []artifact.Part {
	var all []artifact.Part
	for p := range w {
		all = append(all, p)
	}
	return all
}

// order is that in which parts are read.
var order = []artifact.Part{artifact.PartResources, artifact.PartProfile, artifact.PartSigner, artifact.PartExecutable, artifact.PartIcon}

// addFollowing adds the parts after the last one that was begun, as far as such a package has them.
func (w warnings) addFollowing(last part) {
	apple := last.Known.Kind == artifact.IPA || last.Known.Kind == artifact.Mac
	after := false
	for _, p := range order {
		ofApple := p == artifact.PartProfile || p == artifact.PartExecutable
		has := p == artifact.PartIcon || ofApple == apple
		if after && has && w[p] == "" {
			w[p] = "reading this file takes too long"
		}
		after = after || p == last.Part
	}
}

// add adds the warnings to a package.
func (w warnings) add(p *artifact.Package) {
	for _, part := range order {
		if reason := w[part]; reason != "" {
			p.Warnings = append(p.Warnings, part.Unread(reason))
		}
	}
}
