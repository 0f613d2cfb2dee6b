package command

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// zipDSYMs packs the dSYMs of a folder (a dSYM, a folder of them, an Xcode archive) into a
// temporary zip, which done removes.
func zipDSYMs(folder string) (f *client.File, done func(), err error) {
	done = func() {}
	names, err := dsymFiles(folder)
	if err != nil {
		return nil, done, fail(Misused, "%w", err)
	}
	if len(names) == 0 {
		return nil, done, fail(Misused, "%s: there is no dSYM in it (DEBUG_INFORMATION_FORMAT = dwarf-with-dsym)", folder)
	}
	out, err := os.CreateTemp("", "slipway-dsym-*.zip")
	if err != nil {
		return nil, done, fail(Failed, "%w", err)
	}
	done = func() { _ = os.Remove(out.Name()) }
	if err := writeZip(out, folder, names); err != nil {
		out.Close()
		return nil, done, fail(Failed, "pack %s: %w", folder, err)
	}
	if err := out.Close(); err != nil {
		return nil, done, fail(Failed, "pack %s: %w", folder, err)
	}
	f, err = client.OpenFile(out.Name(), strings.TrimSuffix(filepath.Base(folder), ".xcarchive")+".dSYM.zip")
	return f, done, err
}

// dsymFiles lists the files inside of dSYMs below a folder, which may be one itself.
func dsymFiles(folder string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && strings.Contains(filepath.ToSlash(path), ".dSYM/") {
			names = append(names, path)
		}
		return nil
	})
	return names, err
}

func writeZip(out io.Writer, folder string, names []string) error {
	z := zip.NewWriter(out)
	base := filepath.Dir(folder)
	for _, name := range names {
		inside, err := filepath.Rel(base, name)
		if err != nil {
			return err
		}
		w, err := z.Create(filepath.ToSlash(inside))
		if err != nil {
			return err
		}
		in, err := os.Open(name)
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
