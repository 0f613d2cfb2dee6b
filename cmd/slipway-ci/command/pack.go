package command

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/debugfile"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

const (
	// batchBytes bounds what goes into one archive, so that one that is refused costs little.
	batchBytes = 256 << 20
	// batchFiles bounds their number.
	batchFiles = 500
)

// alone reports whether a file is sent as it is: an archive, and a mapping, whose name and id
// are its own. The obfuscation map of Dart is found by the debug files beside it.
func alone(f *debugfile.File) bool {
	return f.Format.Archive() || f.Format.Packed() || f.Format == filetype.Format(symbol.ProGuard) && !f.Names
}

// batches are the files that go together.
func batches(files []*symbolView) [][]*symbolView {
	var all [][]*symbolView
	var open []*symbolView
	var bytes int64
	for _, f := range files {
		if alone(&f.file) {
			all = append(all, []*symbolView{f})
			continue
		}
		if len(open) > 0 && (bytes+f.Size > batchBytes || len(open) == batchFiles) {
			all, open, bytes = append(all, open), nil, 0
		}
		open, bytes = append(open, f), bytes+f.Size
	}
	if len(open) > 0 {
		all = append(all, open)
	}
	return all
}

// packed is a batch as one file: several are a temporary zip, and so is a script, whose place in
// its folder is part of its name. done removes it.
func packed(batch []*symbolView) (f *client.File, done func(), err error) {
	first := batch[0]
	if len(batch) == 1 && !first.file.Web() {
		f, err = client.OpenFile(first.Path, filepath.Base(first.Path))
		return f, func() {}, err
	}
	var files []zipped
	for _, v := range batch {
		files = append(files, zipped{v.Name, v.Path})
	}
	return zipFile(fmt.Sprintf("%s-and-%d-more.zip", filepath.Base(first.Path), len(batch)-1), first.Path, files)
}

// zipped is a file in a zip.
type zipped struct{ name, path string }

// zipFile packs files into a temporary zip that the server calls name, and that is known by a place
// in another process too. The same files are the same bytes again. done removes it.
func zipFile(name, place string, files []zipped) (f *client.File, done func(), err error) {
	done = func() {}
	out, err := os.CreateTemp("", "slipway-*.zip")
	if err != nil {
		return nil, done, outcome.Fail(outcome.Failed, "%w", err)
	}
	done = func() { _ = os.Remove(out.Name()) }
	err = writeZip(out, files)
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		done()
		return nil, func() {}, outcome.Fail(outcome.Failed, "pack %s: %w", name, err)
	}
	if f, err = client.OpenFile(out.Name(), name); err != nil {
		done()
		return nil, func() {}, err
	}
	f.Place = place
	return f, done, nil
}

func writeZip(out io.Writer, files []zipped) error {
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	seen := map[string]int{}
	for _, f := range files {
		name := f.name
		// Two folders may have files of one name; crashes ask for their identifiers.
		if n := seen[name]; n > 0 {
			name = fmt.Sprintf("%d/%s", n, name)
		}
		seen[f.name]++
		w, err := z.Create(strings.TrimPrefix(filepath.ToSlash(name), "/"))
		if err != nil {
			return err
		}
		in, err := os.Open(f.path)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return z.Close()
}
