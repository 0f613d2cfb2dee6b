package fingerprint

import (
	"path"
	"strings"
)

// maxFile bounds the part of a path that is read, from its end.
const maxFile = 1024

// location returns the file of a frame: the source file when it is known,
// else the library.
func location(sourcePath, library string) string {
	if sourcePath != "" {
		return sourcePath
	}
	return library
}

// fileInfo is what the rules need to know about a frame's file. Frames of one
// stack share files, so that what is known of the last one is kept.
type fileInfo struct {
	path, library string
	family        family // by the file's name
	system        bool   // whether it is a library's, for the family in systemFamily
	systemFamily  family
	systemKnown   bool // system was found
	name          string
	rules         Rules
	nameKnown     bool
}

// reset prepares the info for a file, with family set.
func (f *fileInfo) reset(path, library string) {
	if f.path == path && f.library == library {
		return
	}
	*f = fileInfo{path: path, library: library}
	if f.family = fileFamily(path); f.family == familyUnknown {
		f.family = fileFamily(library)
	}
}

func (f *fileInfo) isSystem(fam family) bool {
	if !f.systemKnown || f.systemFamily != fam {
		f.system, f.systemFamily, f.systemKnown = isSystemFile(fam, f.path, f.library), fam, true
	}
	return f.system
}

func (f *fileInfo) fileName() (string, Rules) {
	if !f.nameKnown {
		f.name, f.rules = fileName(location(f.path, f.library))
		f.nameKnown = true
	}
	return f.name, f.rules
}

// fileName returns the name under which a source file stands in the material:
// its last element without the hash of a bundler, since directories differ
// between machines. Names that many files have ("index.js") keep the directory
// above them.
//
//	https://cdn.example/a/3f9a1c/main.3f9a1c22.js?v=7  ->  main.js
func fileName(file string) (string, Rules) {
	dir, base, rules := splitFile(file)
	if generic := strings.TrimSuffix(base, path.Ext(base)); dir != "" && (generic == "index" || generic == "__init__" || generic == "__main__" || generic == "mod") {
		return dir + "/" + base, rules
	}
	if dir != "" {
		rules |= rulesOf(RuleFileDirectory)
	}
	return base, rules
}

// fileTitle returns a file as people should see it: the last two elements.
func fileTitle(file string) string {
	dir, base, _ := splitFile(file)
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// splitFile returns the last two elements of a path, a Windows path or a URL,
// without query and hash; dir is "" when there is none or it is a hash.
func splitFile(file string) (dir, base string, rules Rules) {
	if len(file) > maxFile {
		file = file[len(file)-maxFile:]
	}
	file = oneLine(file, maxFile)
	if i := strings.Index(file, "://"); i >= 0 {
		rules |= rulesOf(RuleFileURL)
		file = file[i+len("://"):]
		// The host of a URL is no directory.
		if host := strings.IndexByte(file, '/'); host >= 0 {
			file = file[host+1:]
		}
	}
	if i := strings.IndexAny(file, "?#"); i > 0 {
		file = file[:i]
		rules |= rulesOf(RuleFileQuery)
	}
	if strings.IndexByte(file, '\\') >= 0 {
		file = strings.ReplaceAll(file, `\`, "/")
	}
	file = strings.TrimRight(file, "/")
	base = file
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		base = file[i+1:]
		dir = file[:i]
		dir = dir[strings.LastIndexByte(dir, '/')+1:]
	}
	if dir == "." || dir == ".." || isHash(dir) || allDigits(dir) || strings.HasSuffix(dir, ":") {
		dir = ""
	}
	if name := dropFileHash(base); name != base {
		base = name
		rules |= rulesOf(RuleFileHash)
	}
	return dir, base, rules
}

// dropFileHash removes the hashes that bundlers put between the name and the
// extension of a file: main.3f9a1c.js, chunk-2d0a4b5c.js, index-DfG7h12X.css.
func dropFileHash(base string) string {
	ext := path.Ext(base)
	if ext == "" || len(ext) == len(base) {
		return base
	}
	switch ext {
	case ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".css", ".map", ".wasm", ".jsbundle", ".bundle":
	default:
		return base
	}
	name := strings.TrimSuffix(base, ext)
	for range 4 {
		i := strings.LastIndexAny(name, ".-_~")
		if i <= 0 {
			break
		}
		if part := name[i+1:]; isHash(part) {
			name = name[:i]
		} else if inner := name[:i]; part == "chunk" || part == "bundle" || part == "min" || part == "esm" {
			// main.3f9a1c.chunk.js
			k := strings.LastIndexAny(inner, ".-_~")
			if k <= 0 || !isHash(inner[k+1:]) {
				break
			}
			name = inner[:k] + name[i:]
		} else {
			break
		}
	}
	return name + ext
}

// isHash reports whether a word was not written by a person: at least six
// hexadecimal digits of both kinds, or eight and more letters and digits that
// change between small, capital and digit too often for a name.
func isHash(s string) bool {
	if len(s) < 6 || len(s) > 64 {
		return false
	}
	kind := func(c byte) int {
		switch {
		case isDigit(c):
			return 1
		case c >= 'a' && c <= 'z':
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	changes, digit, letter, hex := 0, false, false, true
	for i := 0; i < len(s); i++ {
		k := kind(s[i])
		if k == 0 {
			return false
		}
		digit, letter, hex = digit || k == 1, letter || k != 1, hex && isHex(s[i])
		if i > 0 && kind(s[i-1]) != k {
			changes++
		}
	}
	if hex && digit && (letter || len(s) >= 8) {
		return true
	}
	return len(s) >= 8 && changes >= 4
}

// libraryName returns the last element of a library's path without a version
// after its extension: /usr/lib/libssl.so.1.1 -> libssl.so.
func libraryName(library string) string {
	if len(library) > maxFile {
		library = library[len(library)-maxFile:]
	}
	library = strings.TrimRight(oneLine(library, maxFile), `/\`)
	library = library[strings.LastIndexAny(library, `/\`)+1:]
	if i := strings.Index(library, ".so."); i > 0 {
		library = library[:i+len(".so")]
	}
	return library
}
