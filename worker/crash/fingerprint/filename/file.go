// Package filename reads the names of source files and libraries in frames.
//
// Directories, hosts, queries and the hashes of bundlers differ between machines and builds of one
// source. What is left is the last element of a path, with the directory above it where many files
// have that name, so that the same file has the same name in every report. Paths of Unix and
// Windows, URLs, and what engines write around them are read alike.
package filename

import (
	"path"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// maxFile bounds the part of a path that is read, from its end.
const maxFile = 1024

// Normalize returns the name under which a source file stands in the material:
// its last element without the hash of a bundler, since directories differ
// between machines. Names that many files have ("index.js", "views.py") keep the
// directory above them.
//
//	https://cdn.example/a/3f9a1c/main.3f9a1c22.js?v=7  ->  main.js
//	src/cart.ts, dist/cart.js                          ->  cart.js
func Normalize(file string) (string, rule.Set) {
	dir, base, rules := Split(file)
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch ext {
	case ".ts", ".tsx", ".jsx", ".mjs", ".cjs":
		base = stem + ".js" // what it is compiled to
		rules.Add(rule.FileHash)
	}
	if dir != "" && isRepeatedName(stem) && !scan.IsOneOf(dir, "src", "dist", "build", "out", "lib") {
		return dir + "/" + base, rules
	}
	if dir != "" {
		rules.Add(rule.FileDirectory)
	}
	return base, rules
}

// isRepeatedName reports whether the packages or pages of one application all have
// a file of that name: the directory above it distinguishes them.
func isRepeatedName(name string) bool {
	switch name {
	case "index", "__init__", "__main__", "mod", "views", "models", "forms", "serializers", "tasks", "admin", "signals",
		"handler", "handlers", "service", "services", "controller", "controllers", "repository", "urls", "schemas", "resolvers",
		"permissions", "reducer", "actions", "selectors", "page", "layout", "route", "+page", "+layout", "+server", "+page.server":
		return true
	}
	return false
}

// Title returns a file as people should see it: the last two elements.
func Title(file string) string {
	dir, base, _ := Split(file)
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// Split returns the last two elements of a path, a Windows path or a URL,
// without query and hash; dir is "" when there is none or it is a hash.
func Split(file string) (dir, base string, rules rule.Set) {
	if len(file) > maxFile {
		file = file[len(file)-maxFile:]
	}
	file = scan.OneLine(file, maxFile)
	file = scriptPath(file)
	web := scan.HasPrefixAny(file, "http://", "https://")
	if i := strings.Index(file, "://"); i >= 0 {
		rules.Add(rule.FileURL)
		file = file[i+len("://"):]
		// The host of a URL is no directory.
		if host := strings.IndexByte(file, '/'); host >= 0 {
			file = file[host+1:]
		}
	}
	if i := strings.IndexAny(file, "?#"); i > 0 {
		file = file[:i]
		rules.Add(rule.FileQuery)
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
	if dir == "." || dir == ".." || isHash(dir) || scan.AllDigits(dir) || strings.HasSuffix(dir, ":") {
		dir = ""
	}
	if web && path.Ext(base) == "" && !strings.HasPrefix(base, "<") {
		return "", inlineScript, rules // a page: its address has ids and slugs
	}
	if name := generatedFile(base); name != base {
		base = name
		rules.Add(rule.FileHash)
	}
	return dir, base, rules
}

// inlineScript stands for the file of a script that a page has in itself.
const inlineScript = "inline script"

// scriptPath returns the path in what engines write around one: where evaluated
// code came from, the loaders of a module, the place in the file.
func scriptPath(file string) string {
	if strings.HasPrefix(file, "blob:") {
		return "blob"
	}
	for range 4 {
		rest, ok := strings.CutPrefix(file, "eval at ")
		i := strings.IndexByte(rest, '(')
		if !ok || i < 0 {
			break
		}
		file = rest[i+1:]
		if end := strings.IndexByte(file, ')'); end >= 0 {
			file = file[:end]
		}
	}
	file = strings.TrimPrefix(file, "address at ")
	if rest, ok := strings.CutPrefix(file, "node:"); ok && path.Ext(rest) == "" {
		return rest + ".js" // as older versions of Node write it
	}
	if i := strings.Index(file, " line "); i > 0 && strings.Contains(file[i:], " > ") {
		file = file[:i] // "https://x/app.js line 5 > eval"
	}
	if i := strings.LastIndexByte(file, '!'); i >= 0 && i+1 < len(file) && strings.Contains(file, "loader") {
		file = file[i+1:]
	}
	if i := strings.Index(file, "//&"); i > 0 {
		file = file[:i] // index.bundle//&platform=ios
	}
	// main.js:1:2345; not the drive of C:\shop.
	for range 2 {
		i := strings.LastIndexByte(file, ':')
		if i <= 1 || !scan.AllDigits(file[i+1:]) || len(file)-i > 9 || strings.HasSuffix(file[:i], "/") {
			break
		}
		if strings.HasSuffix(file[:i], "localhost") || strings.Count(file, "/") < 3 && strings.Contains(file, "://") {
			break // the port of a host
		}
		file = file[:i]
	}
	return file
}

// generatedFile returns the name of a source file without what tools generate:
// hashes, numbers of chunks, and the whole of names that a cache, a notebook or a
// generator made up.
func generatedFile(base string) string {
	switch base {
	case "index.android.bundle", "index.ios.bundle", "index.bundle", "main.jsbundle":
		return "main.bundle" // React Native's, on every platform
	}
	ext := path.Ext(base)
	name := strings.TrimSuffix(base, ext)
	switch ext {
	case ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".css", ".map", ".wasm", ".jsbundle", ".bundle":
		return dropFileHash(base)
	case ".php", ".phtml":
		if isHash(name) {
			return "compiled" + ext // a template in Laravel's or Twig's cache
		}
	case ".py":
		if scan.AllDigits(name) {
			return "cell" + ext // /tmp/ipykernel_4711/1234567.py
		}
	}
	if len(base) > 2 && base[0] == '<' && base[len(base)-1] == '>' {
		for _, p := range [...]string{"<ipython-input-", "<decorator-gen-", "<attrs generated ", "<doctest ", "<makefun-gen-",
			"<string", "<input"} {
			if strings.HasPrefix(base, p) {
				return strings.TrimRight(p, "- ") + ">"
			}
		}
	}
	return base
}

// Library returns the last element of a library's path without a version
// after its extension: /usr/lib/libssl.so.1.1 -> libssl.so.
func Library(library string) string {
	if len(library) > maxFile {
		library = library[len(library)-maxFile:]
	}
	library = strings.TrimRight(scan.OneLine(library, maxFile), `/\`)
	library = library[strings.LastIndexAny(library, `/\`)+1:]
	if i := strings.Index(library, ".so."); i > 0 {
		library = library[:i+len(".so")]
	}
	return library
}

// Tail returns the part of a path that is searched.
func Tail(file string) string {
	if len(file) > maxFile {
		return file[len(file)-maxFile:]
	}
	return file
}

// Location returns the file of a frame: the source file when it is known,
// else the library.
func Location(sourcePath, library string) string {
	if sourcePath != "" {
		return sourcePath
	}
	return library
}
