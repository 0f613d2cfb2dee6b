package inspect

import (
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// isNative reports whether an archive is one of Android's native libraries with their
// symbols: it has libraries in folders named by their architecture
// (lib/arm64-v8a/libapp.so), with whatever the compiler left beside them, or nothing but
// libraries. It is known to be no app.
func isNative(entries []archive.Entry) bool {
	files, libraries := 0, 0
	for _, e := range entries {
		name := strings.ReplaceAll(e.Name, `\`, "/")
		base := path.Base(name)
		if strings.HasSuffix(name, "/") || strings.HasPrefix(base, ".") || strings.HasPrefix(name, "__MACOSX/") {
			continue
		}
		files++
		if !isLibrary(base) {
			continue
		}
		if isABI(path.Base(path.Dir(name))) {
			return true
		}
		libraries++
	}
	return libraries > 0 && libraries == files
}

// isLibrary reports whether a file name is that of a library, or of its symbols alone.
func isLibrary(name string) bool {
	for _, end := range []string{".so", ".so.dbg", ".so.sym", ".so.debug"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isABI reports whether a folder is named as Android names an architecture.
func isABI(folder string) bool {
	switch folder {
	case "arm64-v8a", "armeabi-v7a", "armeabi", "x86", "x86_64", "riscv64", "mips", "mips64":
		return true
	}
	return false
}
