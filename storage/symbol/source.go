package symbol

import (
	"path"
	"strconv"
	"strings"
)

// maxSourcePaths bounds the paths under which a source is looked for: the folders of the machine that
// compiled it stand before those of the archive.
const maxSourcePaths = 16

// SourceRelease is the release of the addresses of sources that were uploaded for a module: an
// identifier of it, as a debug file has it too.
func SourceRelease(module Identifier) string { return string(module.Type) + " " + module.Value }

// UploadRelease is the release of the addresses of sources that came in one archive with debug files.
func UploadRelease(upload int64) string { return "symbols " + strconv.FormatInt(upload, 10) }

// SourcePath is the address of a source of native code by its path in an archive, or on the machine
// that compiled it.
func SourcePath(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	if len(file) > 2 && file[1] == ':' { // a drive
		file = file[2:]
	}
	return "~" + path.Clean("/"+file)
}

// SourcePaths are the addresses under which the source of a file that debug information names may have
// been uploaded, the longest first: the whole path, and what is left without its first folders.
func SourcePaths(file string) []string {
	rest := strings.TrimPrefix(SourcePath(file), "~/")
	var paths []string
	for rest != "" && len(paths) < maxSourcePaths {
		paths = append(paths, "~/"+rest)
		_, after, found := strings.Cut(rest, "/")
		if !found {
			break
		}
		rest = after
	}
	return paths
}
