package parse

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

// IndexArgs name a symbol file and where its index goes.
type IndexArgs struct {
	File   string          `json:"file"`   // the symbol file
	Out    string          `json:"out"`    // the index, which is not there yet
	Folder string          `json:"folder"` // of temporary files
	Format filetype.Format `json:"format"`
	Slice  int             `json:"slice"` // of a Mach-O, from 0
	// URL is where a source map is from, for its relative sources.
	URL string `json:"url,omitempty"`
	// Companions is a file that WriteCompanions wrote; "" when there are none.
	Companions string `json:"companions,omitempty"`
}

// Indexed is what was read out of a symbol file.
type Indexed struct {
	Kind symbol.Kind `json:"kind"`
	Arch string      `json:"arch,omitempty"`
	// Size of the index, in bytes; 0 when the file has nothing to look up and no index.
	Size int64 `json:"size"`
	// Features say what the index has.
	Features []string `json:"features"`
	Facts    Facts    `json:"facts"`
	// InlineMap is the source map within a script, as a temporary file beside the index.
	InlineMap *Member `json:"inline_map,omitempty"`
}

// Facts are what a symbol file says about itself. They are kept beside its row, so that the
// same bytes need not be read again.
type Facts struct {
	Identifiers []symbol.Identifier `json:"identifiers,omitempty"`
	// Generated is the file that a source map is for.
	Generated string `json:"generated,omitempty"`
	// SourceMap is the reference of a script to its map.
	SourceMap string `json:"source_map,omitempty"`
	// InlineMap: the script holds its map.
	InlineMap bool `json:"inline_map,omitempty"`
	// SourceURL is the address that a script says it has.
	SourceURL string `json:"source_url,omitempty"`
	// Managed: it is of .NET, whose stack traces name assemblies and no identifiers.
	Managed bool `json:"managed,omitempty"`
	// Supplies are the links by which other files name this one, and Lacks those of the
	// files that were not there when it was read.
	Supplies []symbol.Link `json:"supplies,omitempty"`
	Lacks    []symbol.Link `json:"lacks,omitempty"`
	// Dropped counts what the reader could not use, and Warnings say what it was.
	Dropped  int64    `json:"dropped,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// maxWarnings of a file are kept.
const maxWarnings = 10

// warn adds warnings, bounded.
func (f *Facts) warn(texts ...string) {
	for _, text := range texts {
		if text != "" && len(f.Warnings) < maxWarnings {
			f.Warnings = append(f.Warnings, clip(text))
		}
	}
}

// clip bounds a text that comes from a file and is kept.
func clip(text string) string {
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// The features of an index.
const (
	Functions = "functions"
	Lines     = "lines"
	Inlines   = "inlines"
	Publics   = "publics"
	Unwind    = "unwind"
	Scopes    = "scopes"
	Sources   = "sources"
	Text      = "text"
	// Names: the file has names of classes alone, as an obfuscation map of Dart.
	Names = "names"
)

// input is a symbol file that is being read.
type input struct {
	IndexArgs
	file io.ReaderAt
	size int64
	out  io.Writer
}

// index is the operation.
func index(_ context.Context, args IndexArgs) (_ *Indexed, err error) {
	read := reader(symbol.Kind(args.Format))
	if read == nil {
		return nil, symbol.Invalid(symbol.Unsupported, "files of the format %s are not read", args.Format)
	}
	f, size, err := open(args.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := os.OpenFile(args.Out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	done, err := read(input{IndexArgs: args, file: f, size: size, out: out})
	if err != nil {
		return nil, err
	}
	done.Kind = symbol.Kind(args.Format)
	info, err := out.Stat()
	if err != nil {
		return nil, err
	}
	done.Size = info.Size()
	return done, nil
}

// reader returns what reads files of a kind; nil for no kind.
func reader(kind symbol.Kind) func(input) (*Indexed, error) {
	switch kind {
	case symbol.ELF, symbol.MachO, symbol.PE:
		return readBinary
	case symbol.Breakpad:
		return readBreakpad
	case symbol.PDB:
		return readPDB
	case symbol.PortablePDB:
		return readPortablePDB
	case symbol.Wasm:
		return readWasm
	case symbol.ProGuard:
		return readMapping
	case symbol.SourceMap:
		return readSourceMap
	case symbol.Source:
		return readScript
	}
	return nil
}

// temporaries returns a maker of temporary files that are gone when they are closed.
func temporaries(folder string) func() (*os.File, error) {
	n := 0
	return func() (*os.File, error) {
		n++
		path := filepath.Join(folder, fmt.Sprintf("section-%d-%d", os.Getpid(), n))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		return f, os.Remove(path)
	}
}
