package command

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// zipDSYMs packs the dSYMs of a folder (a dSYM, a folder of them, an Xcode archive) into a
// temporary zip, which done removes.
func zipDSYMs(folder string) (f *client.File, done func(), err error) {
	var files []zipped
	base := filepath.Dir(folder)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || !strings.Contains(filepath.ToSlash(path), ".dSYM/") {
			return nil
		}
		name, err := filepath.Rel(base, path)
		files = append(files, zipped{name, path})
		return err
	})
	if err != nil {
		return nil, func() {}, outcome.Fail(outcome.Misused, "%w", err)
	}
	if len(files) == 0 {
		return nil, func() {}, outcome.Fail(outcome.Misused, "%s: there is no dSYM in it (DEBUG_INFORMATION_FORMAT = dwarf-with-dsym)",
			folder)
	}
	return zipFile(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(folder), ".xcarchive"), ".dSYM")+".dSYM.zip", folder, files)
}
