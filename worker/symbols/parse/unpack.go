package parse

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

// UnpackArgs name an upload and where its members go.
type UnpackArgs struct {
	Path   string `json:"path"`   // of the upload
	Folder string `json:"folder"` // of the members, empty
	Name   string `json:"name"`   // as the sender calls the upload
	// Format is what the sender says that it is; it decides where the content leaves doubt.
	Format string `json:"format"`
	// Bytes bounds what is unpacked; the default is MaxUnpacked.
	Bytes int64 `json:"bytes"`
}

// Unpacked is what is in an upload.
type Unpacked struct {
	Members []Member `json:"members"`
	// Ignored counts what is no symbol file.
	Ignored int `json:"ignored"`
	// Problem is why the rest of the archive was not read, or why nothing is of use.
	Problem *Problem `json:"problem,omitempty"`
	// Manifest is what the archive says about its members, by path; of uploaders for scripts.
	Manifest map[string]Mention `json:"manifest,omitempty"`
	// Release is that of the manifest.
	Release string `json:"release,omitempty"`
	// Modules are those that the manifest says the sources are of.
	Modules []symbol.Identifier `json:"modules,omitempty"`
}

// Member is a symbol file in an upload.
type Member struct {
	Path     string          `json:"path"` // in the archive; "" for the upload itself
	File     string          `json:"file"` // the temporary file
	Size     int64           `json:"size"`
	SHA256   string          `json:"sha256"`
	Format   filetype.Format `json:"format"`
	Slices   int             `json:"slices"`             // architectures of a Mach-O; 1 for all others
	Supplies []symbol.Link   `json:"supplies,omitempty"` // the links by which other files name this one
	Broken   *Problem        `json:"problem,omitempty"`  // instead of all but Path
}

// The bounds of an archive.
const (
	// MaxUnpacked bytes of an archive: four times the largest upload.
	MaxUnpacked = 16 << 30
	// maxEntries are looked at; web applications have some ten thousand scripts and maps.
	maxEntries = 100_000
	// maxMembers of these are symbol files.
	maxMembers = 20_000
	// maxMember is the largest one, which is the largest file that a child may write.
	maxMember = 8<<30 - 1
	// maxBroken members are reported; a person fixes the first ones first.
	maxBroken = 100
	// maxRatio of what is unpacked to what is packed, above ratioFrom bytes: debug
	// information shrinks to a quarter, mappings to a tenth, and zeros to a thousandth.
	maxRatio  = 200
	ratioFrom = 64 << 20
	// maxPath bounds the path of a member in rows.
	maxPath = 1024
)

// unpacking is one run of the operation.
type unpacking struct {
	args   UnpackArgs
	out    Unpacked
	files  int // made so far
	seen   map[string]string
	looked int
	bytes  int64
	broken int
}

// errFull ends the reading of an archive, with the reason in out.Problem.
var errFull = errors.New("no more of the archive is read")

// unpack is the operation.
func unpack(_ context.Context, args UnpackArgs) (*Unpacked, error) {
	if args.Bytes <= 0 {
		args.Bytes = MaxUnpacked
	}
	f, size, err := open(args.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	u := &unpacking{args: args, seen: map[string]string{}}
	format, what, err := filetype.Of(f, size, args.Name)
	if err != nil {
		return nil, err
	}
	if err := u.read(f, size, format, what); err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	if len(u.out.Members) == 0 && u.out.Problem == nil {
		u.out.Problem = problem(symbol.Unsupported, fmt.Sprintf("none of the %d files in the archive is a symbol file", u.looked))
	}
	return &u.out, nil
}

// read takes the upload itself.
func (u *unpacking) read(f *os.File, size int64, format filetype.Format, what string) error {
	switch {
	case format == filetype.Zip:
		return u.zip(f, size)
	case format == filetype.Tar:
		return u.tar(bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<20))
	case format.Packed():
		return u.packed(f, size, format)
	}
	format = u.doubtful(format)
	if !format.Symbols() {
		u.out.Problem = unusable(what)
		return nil
	}
	sum, err := digest(f, size)
	if err != nil {
		return err
	}
	return u.add(Member{File: u.args.Path, Size: size, SHA256: sum, Format: format})
}

// doubtful returns the format of an upload, which for what is not recognised is the one
// that its sender says: the reader of that format says best what is wrong with it.
func (u *unpacking) doubtful(format filetype.Format) filetype.Format {
	if format != "" && format != filetype.Other {
		return format
	}
	switch u.args.Format {
	case "proguard":
		return filetype.Format(symbol.ProGuard)
	case "sourcemap":
		return filetype.Format(symbol.SourceMap)
	}
	return format
}

func unusable(what string) *Problem {
	if what == "" {
		what = "of an unknown format"
	}
	return problem(symbol.Unsupported, "this file is "+what)
}

// packed unpacks a compressed file, which may be a tar.
func (u *unpacking) packed(f *os.File, size int64, format filetype.Format) error {
	r, stop, err := inflater(io.NewSectionReader(f, 0, size), format)
	if err != nil {
		u.out.Problem = problem(symbol.Malformed, "the compressed file cannot be read: "+err.Error())
		return nil
	}
	defer stop()
	in := bufio.NewReaderSize(&ratioReader{r: r, packed: size}, 1<<20)
	head, err := in.Peek(512)
	if err != nil && err != io.EOF {
		u.out.Problem = reading(err)
		return nil
	}
	if filetype.IsTar(head) {
		return u.tar(in)
	}
	path, n, sum, err := u.write(in)
	if err != nil {
		return u.refuse("", err)
	}
	return u.take(Member{File: path, Size: n, SHA256: sum}, u.args.Name, true)
}

// take recognises a member and adds it when it is a symbol file; else its file is removed.
// alone means that the upload has no other.
func (u *unpacking) take(m Member, name string, alone bool) error {
	f, size, err := open(m.File)
	if err != nil {
		return err
	}
	defer f.Close()
	format, what, err := filetype.Of(f, size, name)
	if err != nil {
		return err
	}
	if alone {
		format = u.doubtful(format)
	}
	switch {
	case format.Symbols():
		m.Format = format
		return u.add(m)
	case format.Archive() || format.Packed():
		_ = os.Remove(m.File)
		return u.refuse(m.Path, symbol.Invalid(symbol.Unsupported, "an archive within an archive is not unpacked"))
	}
	if err := os.Remove(m.File); err != nil {
		return err
	}
	u.bytes -= m.Size
	if alone {
		u.out.Problem = unusable(what)
	}
	u.out.Ignored++
	return nil
}

// add adds a symbol file, unless it is there already.
func (u *unpacking) add(m Member) error {
	if before, ok := u.seen[m.Path]; ok {
		if m.File != u.args.Path {
			_ = os.Remove(m.File)
		}
		if before == m.SHA256 {
			return nil
		}
		return u.refuse(m.Path, symbol.Invalid(symbol.Malformed, "the archive has two files of this name; the first one is read"))
	}
	if len(u.seen) >= maxMembers {
		u.out.Problem = problem(symbol.TooLarge, fmt.Sprintf("the archive has more than %d symbol files; the others are not read", maxMembers))
		return errFull
	}
	u.seen[m.Path] = m.SHA256
	if err := look(&m, u.args.Folder); err != nil {
		return err
	}
	u.out.Members = append(u.out.Members, m)
	return nil
}

// refuse records what is wrong with a member. What is not the file's fault is returned.
func (u *unpacking) refuse(path string, err error) error {
	p := reading(err)
	if p == nil {
		return err
	}
	if path == "" {
		u.out.Problem = p
		return nil
	}
	if u.broken++; u.broken > maxBroken {
		u.out.Ignored++
		return nil
	}
	u.out.Members = append(u.out.Members, Member{Path: path, Slices: 1, Broken: p})
	return nil
}

// reading returns the problem that an error of unpacking is; nil when the machine is at
// fault.
func reading(err error) *Problem {
	var wrong *symbol.InvalidError
	var broken *artifact.InvalidError
	var system *os.PathError
	switch {
	case errors.As(err, &wrong):
		return problemOf(wrong)
	case errors.As(err, &broken):
		return problem(symbol.Malformed, broken.Reason)
	case errors.As(err, &system):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return problem(symbol.Truncated, "the file ends in the middle of its compressed data")
	}
	return problem(symbol.Malformed, "the compressed data cannot be read: "+err.Error())
}

// write writes what r yields to a new temporary file, and returns its digest.
func (u *unpacking) write(r io.Reader) (path string, size int64, sum string, err error) {
	u.files++
	path = filepath.Join(u.args.Folder, fmt.Sprintf("%06d", u.files))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", 0, "", err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	left := u.args.Bytes - u.bytes
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(f, hash), io.LimitReader(r, min(left, maxMember)+1))
	if err != nil {
		return "", 0, "", err
	}
	if size > left {
		u.out.Problem = problem(symbol.TooLarge, fmt.Sprintf("the archive unpacks to more than %d MiB", u.args.Bytes>>20))
		return "", 0, "", errFull
	}
	if size > maxMember {
		return "", 0, "", symbol.Invalid(symbol.TooLarge, "this file unpacks to more than %d MiB", maxMember>>20)
	}
	u.bytes += size
	return path, size, hex.EncodeToString(hash.Sum(nil)), nil
}

func open(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func digest(r io.ReaderAt, size int64) (string, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(r, 0, size)); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// ratioReader refuses what unpacks to far more than there is.
type ratioReader struct {
	r      io.Reader
	packed int64
	read   int64
}

func (r *ratioReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.read += int64(n)
	if r.read > ratioFrom && r.read/maxRatio > r.packed {
		return 0, symbol.Invalid(symbol.TooLarge, "this file unpacks to more than %d times its size", maxRatio)
	}
	return n, err
}

// memberPath returns the path of a member as rows have it, with slashes; an error for one
// that leads out of the archive. Nothing is ever written under it, but it becomes part of
// addresses and is shown to people.
func memberPath(name string) (string, error) {
	path := strings.ReplaceAll(name, `\`, "/")
	shown := strings.ToValidUTF8(strings.ReplaceAll(path, "\x00", "�"), "�")
	if len(shown) > maxPath {
		shown = shown[:maxPath]
		for !utf8.ValidString(shown) {
			shown = shown[:len(shown)-1]
		}
		return shown, symbol.Invalid(symbol.Malformed, "the name of this file in the archive has more than %d bytes", maxPath)
	}
	if shown == "" {
		return "?", symbol.Invalid(symbol.Malformed, "a file in the archive has no name")
	}
	if shown != path {
		return shown, symbol.Invalid(symbol.Malformed, "the name of this file in the archive is not text")
	}
	if strings.HasPrefix(path, "/") || len(path) > 1 && path[1] == ':' {
		return shown, symbol.Invalid(symbol.Malformed, "the name of this file in the archive is an absolute path")
	}
	clean := []string{}
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			return shown, symbol.Invalid(symbol.Malformed, "the name of this file leads out of the archive")
		default:
			clean = append(clean, part)
		}
	}
	return strings.Join(clean, "/"), nil
}
