package inspection

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/inspect"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks/child"
)

// Names of the operations.
const (
	readPackage = "read-package"
	readSymbols = "read-symbols"
)

// Operations returns what a child can do.
func Operations() map[string]child.Operation {
	inspector := inspect.New()
	return map[string]child.Operation{
		readPackage: child.TypedFile(func(ctx context.Context, f *child.File, a args) (*artifact.Package, error) {
			p, err := inspector.Package(ctx, a.input(f), a.Platform, a.Generic)
			return p, invalid(err)
		}),
		readSymbols: child.TypedFile(func(ctx context.Context, f *child.File, a args) (*artifact.Symbols, error) {
			s, err := inspector.Symbols(ctx, a.input(f))
			return s, invalid(err)
		}),
	}
}

// RunChild ends the process with the exit code of a child when it was started as one. The
// main functions of tests call it first.
func RunChild() {
	if child.IsChild(os.Args[1:]) {
		os.Exit(child.Serve(os.Args[1:], Operations()))
	}
}

// args are the arguments of both operations.
type args struct {
	Name     string          `json:"name"`
	Vendor   string          `json:"vendor"`
	Platform string          `json:"platform,omitempty"`
	Generic  bool            `json:"generic,omitempty"`
	Skip     []artifact.Part `json:"skip,omitempty"` // parts that are left out
}

func arguments(f File, skip []artifact.Part) args {
	return args{Name: f.Name, Vendor: f.Vendor, Platform: f.Platform, Generic: f.Generic, Skip: skip}
}

// part is what a child sends before it begins a part.
type part struct {
	Part  artifact.Part     `json:"part"`
	Known *artifact.Package `json:"known"`
}

// input returns the file as the readers of packages have it.
func (a args) input(f *child.File) artifact.Input {
	return artifact.Input{Reader: f, Size: f.Size(), Name: a.Name, Vendor: a.Vendor,
		Part: func(next artifact.Part, known *artifact.Package) bool {
			if slices.Contains(a.Skip, next) {
				return false
			}
			return f.Send(part{Part: next, Known: known}) == nil
		}}
}

// invalid returns the error as the parent expects it.
func invalid(err error) error {
	var wrong *artifact.InvalidError
	switch {
	case errors.As(err, &wrong):
		return symbol.Invalid(symbol.Malformed, "%s", wrong.Reason)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return symbol.Invalid(symbol.Truncated, "the file ends early")
	}
	return err
}
