// Package symbols is slipway symbols: it reads symbol files, traces and dumps on this machine,
// without a server.
//
// The files are parsed as a worker parses them: in child processes with bounds on memory and time,
// into indexes in a temporary folder that goes with the command. So what is printed here is what the
// product would make of the same files, and a file that is refused here is refused there.
package symbols

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// Command reads symbol files on this machine as the service reads them: to try a
// file before it is uploaded, and to read a trace that is at hand.
type Command struct {
	Identify identify `cmd:"" help:"Print what symbol files are, and the identifiers by which crashes find them."`
	Retrace  retrace  `cmd:"" help:"Retrace a stack trace with a mapping of ProGuard or R8."`
	Position position `cmd:"" help:"Look up positions in a source map."`
	Lookup   lookup   `cmd:"" help:"Look up addresses in a file of native code."`
	Stack    stack    `cmd:"" help:"Print the stacks of a minidump or a report of PLCrashReporter."`
}

// localSymbol is a symbol file that was read into an index in a temporary folder.
type localSymbol struct {
	path    string // as it was asked for, and where it is in that archive
	format  filetype.Format
	size    int64
	indexed parse.Indexed
	err     error // *symbol.InvalidError: why it could not be read
	index   *symbol.File
	file    *os.File
}

// localSymbols reads files in a child process. close removes what it wrote.
type localSymbols struct {
	children *child.Pool
	folder   string
	read     []*localSymbol
}

func newLocalSymbols(s *setting.Settings, log *slog.Logger) (*localSymbols, error) {
	folder, err := os.MkdirTemp(s.SymbolFolder, "slipway-symbols-")
	if err != nil {
		return nil, fmt.Errorf("a folder for indexes: %w", err)
	}
	children, err := child.NewPool(child.Config{Children: 1, Folder: folder, Log: log,
		Limits: child.Limits{Memory: s.SymbolReaderBytes}})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &localSymbols{children: children, folder: folder}, nil
}

func (l *localSymbols) close() {
	for _, r := range l.read {
		if r.file != nil {
			_ = r.file.Close()
		}
	}
	l.children.Close()
	_ = os.RemoveAll(l.folder)
}

// open reads all symbol files in a file, which may be an archive; format is what the caller
// expects, "" for anything.
func (l *localSymbols) open(ctx context.Context, path, format string) ([]*localSymbol, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open symbols: %w", err)
	}
	folder, err := os.MkdirTemp(l.folder, "members-")
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	var unpacked parse.Unpacked
	err = l.children.Do(ctx, parse.Unpack, parse.UnpackArgs{Path: path, Folder: folder, Name: filepath.Base(path), Format: format}, &unpacked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var found []*localSymbol
	for _, m := range unpacked.Members {
		for slice := range max(m.Slices, 1) {
			one, err := l.openMember(ctx, m, slice)
			if err != nil {
				return nil, err
			}
			one.path = filepath.Join(path, m.Path)
			found = append(found, one)
		}
	}
	l.read = append(l.read, found...)
	if p := unpacked.Problem; p != nil && len(found) == 0 {
		return nil, fmt.Errorf("%s: %s", path, p.Reason)
	}
	return found, nil
}

func (l *localSymbols) openMember(ctx context.Context, m parse.Member, slice int) (*localSymbol, error) {
	one := &localSymbol{format: m.Format, size: m.Size}
	if m.Broken != nil {
		one.err = symbol.Invalid(m.Broken.Code, "%s", m.Broken.Reason)
		return one, nil
	}
	out := filepath.Join(l.folder, "index-"+strconv.Itoa(len(l.read))+"-"+filepath.Base(m.File)+"-"+strconv.Itoa(slice))
	args := parse.IndexArgs{File: m.File, Out: out, Folder: l.folder, Format: m.Format, Slice: slice}
	err := l.children.Do(ctx, parse.Index, args, &one.indexed)
	var invalid *symbol.InvalidError
	if errors.As(err, &invalid) {
		one.err = err
		return one, nil
	}
	if err != nil || one.indexed.Size == 0 {
		return one, err
	}
	if one.file, err = os.Open(out); err != nil {
		return nil, fmt.Errorf("open an index: %w", err)
	}
	one.index, err = symbol.Open(one.file, one.indexed.Size)
	return one, err
}

// only reads the one file of a kind in a file.
func (l *localSymbols) only(ctx context.Context, path string, kind symbol.Kind) (*symbol.File, error) {
	found, err := l.open(ctx, path, string(kind))
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		switch {
		case f.err != nil && len(found) == 1:
			return nil, fmt.Errorf("%s: %w", path, f.err)
		case f.index != nil && f.indexed.Kind == kind:
			return f.index, nil
		}
	}
	return nil, fmt.Errorf("%s holds no file of the kind %s", path, kind)
}

type identify struct {
	Files []string `arg:"" help:"Symbol files, or archives of them."`
}

// Run prints a line for each symbol file, and one for each identifier.
func (c *identify) Run(ctx context.Context, s *setting.Settings, log *slog.Logger) error {
	l, err := newLocalSymbols(s, log)
	if err != nil {
		return err
	}
	defer l.close()
	for _, path := range c.Files {
		found, err := l.open(ctx, path, "")
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.err != nil {
				fmt.Printf("%s: %s cannot be read: %v\n", f.path, f.format, f.err)
				continue
			}
			fmt.Printf("%s: %s %s\n", f.path, f.indexed.Kind, strings.TrimSpace(f.indexed.Arch+" "+strings.Join(f.indexed.Features, ", ")))
			for _, id := range f.indexed.Facts.Identifiers {
				fmt.Printf("  %s %s\n", id.Type, id.Value)
			}
		}
	}
	return nil
}

type retrace struct {
	Verbose bool   `short:"v" help:"Print methods with their types."`
	Mapping string `arg:"" help:"Mapping of ProGuard or R8, or an archive that holds one."`
	Trace   string `arg:"" optional:"" help:"Text with stack traces; standard input without one."`
}

// maxTrace bounds a text to retrace, in bytes.
const maxTrace = 256 << 20

// Run prints the text retraced.
func (c *retrace) Run(ctx context.Context, s *setting.Settings, log *slog.Logger) error {
	l, err := newLocalSymbols(s, log)
	if err != nil {
		return err
	}
	defer l.close()
	index, err := l.only(ctx, c.Mapping, symbol.ProGuard)
	if err != nil {
		return err
	}
	mapping, err := proguard.Open(index)
	if err != nil {
		return err
	}
	from := io.Reader(os.Stdin)
	if c.Trace != "" && c.Trace != "-" {
		f, err := os.Open(c.Trace)
		if err != nil {
			return fmt.Errorf("open the trace: %w", err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxTrace+1))
	if err != nil {
		return fmt.Errorf("read the trace: %w", err)
	}
	if len(text) > maxTrace {
		return fmt.Errorf("the trace is longer than %d bytes", maxTrace)
	}
	retraced, err := mapping.Text(string(text), c.Verbose)
	if err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, retraced)
	return err
}

type position struct {
	Map    string   `arg:"" help:"Source map."`
	Places []string `arg:"" optional:"" help:"Places in the generated file as LINE:COLUMN, both from 1; standard input, one a line, without any."`
}

// Run prints for each place where it is in the sources.
func (c *position) Run(ctx context.Context, s *setting.Settings, log *slog.Logger) error {
	l, err := newLocalSymbols(s, log)
	if err != nil {
		return err
	}
	defer l.close()
	index, err := l.only(ctx, c.Map, symbol.SourceMap)
	if err != nil {
		return err
	}
	m, err := sourcemap.Open(index)
	if err != nil {
		return err
	}
	return eachArgument(c.Places, func(place string) error {
		lineText, columnText, _ := strings.Cut(place, ":")
		line, err1 := strconv.Atoi(lineText)
		column, err2 := strconv.Atoi(columnText)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%q is no place: LINE:COLUMN", place)
		}
		frames, err := m.Frames(line, column, sourcemap.Call{})
		if err != nil {
			return err
		}
		for _, f := range frames {
			fmt.Printf("%s %s at %s:%d:%d\n", place, orUnknown(f.Function), orUnknown(f.Source), f.Line, f.Column)
		}
		if len(frames) == 0 {
			fmt.Println(place, "is not mapped")
		}
		return nil
	})
}

// eachArgument calls do for the arguments, or for the lines of standard input.
func eachArgument(arguments []string, do func(string) error) error {
	for _, a := range arguments {
		if err := do(a); err != nil {
			return err
		}
	}
	if len(arguments) > 0 {
		return nil
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			if err := do(text); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func orUnknown(name string) string {
	if name == "" {
		return "??"
	}
	return name
}
