package command

import (
	"os"
	"path/filepath"
)

// path returns a path as it is opened: relative ones are below Dir. A working directory that is
// gone leaves the path as it is, and opening it says why.
func (w World) path(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	dir := w.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return path
		}
	}
	return filepath.Join(dir, path)
}
