// Package debugfile finds files that read crashes: debug information, mappings, source maps
// and scripts. It looks at them as the server does (storage/symbol/filetype), so that what is sent
// is what the server has a use for.
//
// Find takes files as they are named, and searches folders: an Xcode archive, the output of a
// Gradle build, a folder of web assets. A file that is named and is none of these is an error;
// in a folder it is passed over. Links are not followed, and .git and node_modules not entered.
//
// Inject (inject.go) writes debug ids into scripts and their source maps.
package debugfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

// maxFiles bounds what is found: more is a wrong folder.
const maxFiles = 20_000

// File is a file that reads crashes.
type File struct {
	Path string // as it is opened
	// Name is how the server calls it: below the folder that was named, with slashes.
	Name   string
	Format filetype.Format
	Size   int64
	// Identifiers are the names by which crashes find it, as far as they can be told without
	// reading all of it.
	Identifiers []symbol.Identifier
	// Names: it is an obfuscation map of Dart, which goes with the debug files of its program.
	Names bool
}

// Web reports whether the file's name is the address of a script or module.
func (f *File) Web() bool {
	return slices.Contains([]symbol.Kind{symbol.SourceMap, symbol.Source, symbol.Wasm, symbol.PortablePDB}, symbol.Kind(f.Format))
}

// Sole reports whether an identifier of the file stands for nothing else: where the server has
// it, it has the file. A library and its debug information have the same, and so have a script
// and its map.
func (f *File) Sole() bool {
	return slices.Contains([]symbol.Kind{symbol.Breakpad, symbol.PDB, symbol.ProGuard}, symbol.Kind(f.Format)) && len(f.Identifiers) > 0
}

// SHA256 is the digest of the content, in hexadecimal.
func (f *File) SHA256() (string, error) {
	in, err := os.Open(f.Path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", fmt.Errorf("%s: %w", f.Path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// UselessError is a file that was named and is of no use for crashes.
type UselessError struct{ Path, What string }

func (e *UselessError) Error() string {
	return e.Path + " is no symbol file: it is " + e.What
}

// errTooMany ends a search.
var errTooMany = fmt.Errorf("there are more than %d symbol files: name a folder with less in it", maxFiles)

// Find looks at a file, or searches a folder.
func Find(path string) ([]File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		f, what, err := look(path, filepath.Base(path))
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, &UselessError{path, what}
		}
		return []File{*f}, nil
	}
	root := path
	if strings.HasSuffix(path, ".xcarchive") {
		root = filepath.Join(path, "dSYMs") // beside it is the app, which iOS has stripped
	}
	var found []File
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == root:
			return fs.SkipAll
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") && path != root:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, _, err := look(path, filepath.ToSlash(name))
		if err != nil || f == nil || !f.wanted() {
			return err
		}
		if len(found) == maxFiles {
			return errTooMany
		}
		found = append(found, *f)
		return nil
	})
	return found, err
}

// look recognises a file; nil with what it is for one without use.
func look(path, name string) (*File, string, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, "", err
	}
	if info.Size() == 0 {
		return nil, "empty: it has 0 bytes", nil
	}
	format, what, err := filetype.Of(in, info.Size(), name)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	f := &File{Path: path, Name: name, Format: format, Size: info.Size()}
	if format == filetype.Other || format == "" {
		if what == "" {
			what = "of a kind that is not known"
		}
		return nil, what, nil
	}
	f.Identifiers, err = identify(in, f)
	var invalid *symbol.InvalidError
	if errors.As(err, &invalid) {
		return nil, "damaged: " + invalid.Reason, nil
	}
	if errors.Is(err, errNoDebug) {
		return nil, "not linked, or a memory dump", nil
	}
	return f, "", err
}

// wanted reports whether a file that was found in a folder is sent: a script where it leads to
// its map, an archive where its name says that it has symbols.
func (f *File) wanted() bool {
	base := strings.ToLower(path.Base(f.Name))
	switch {
	case f.Format.Archive():
		return strings.Contains(base, "symbols") || strings.Contains(base, "dsym")
	case f.Format.Packed():
		return false
	case f.Format == filetype.Format(symbol.Source):
		return isScript(base) && (len(f.Identifiers) > 0 || leadsToMap(f.Path))
	}
	return true
}

// isScript reports whether a name is that of a script that browsers and apps run.
func isScript(name string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs", ".bundle", ".jsbundle"}, path.Ext(name))
}

// errNoDebug is a binary that no crash asks for.
var errNoDebug = errors.New("no debug information")

// native reads the identifiers of ELF, Mach-O and PE, of each slice.
func native(r io.ReaderAt, size int64, name string) ([]symbol.Identifier, error) {
	files, err := binary.OpenAll(r, size)
	if err != nil {
		return nil, err
	}
	var ids []symbol.Identifier
	for _, f := range files {
		split := strings.HasSuffix(name, ".dwo") || strings.HasSuffix(name, ".dwp")
		if !split && (f.Type == binary.Core || f.Type == binary.Object) {
			return nil, errNoDebug
		}
		ids = append(ids, f.Identifiers()...)
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
