package fingerprint

import "strings"

// sourcePlace returns the source file that a message without a stack names with a line: where a
// program panicked, failed a check or ran out of memory. It is the first one, as in
//
//	thread 'main' panicked at src/ring.rs:77:19:
//	Allowed memory size exhausted in /srv/shop/Export.php on line 88
//	FATAL watchdog.cc(88): stuck
func sourcePlace(line string) string {
	line = truncate(line, maxMessage)
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && !strings.ContainsRune(" '\"`,;<>=|[]{}", rune(line[end])) {
			end++
		}
		if file := placeFile(line[i:end], line[end:]); file != "" {
			return file
		}
		i = end + 1
	}
	return ""
}

// placeFile returns the file of a word that is one with a line, in the word or after it.
func placeFile(word, after string) string {
	for i := strings.IndexByte(word, '.'); i > 0; {
		rest := word[i+1:]
		extension := identifier(rest, 0)
		if isSourceExtension(extension) {
			tail := rest[len(extension):]
			lined := len(tail) > 1 && (tail[0] == ':' || tail[0] == '(') && isDigit(tail[1])
			next := strings.TrimLeft(after, " ")
			if lined || tail == "" && (hasPrefixAny(next, "on line ", "line ") || strings.HasPrefix(after, ", line ")) {
				name, _ := fileName(strings.TrimLeft(word[:i], "(") + "." + extension)
				return name
			}
		}
		next := strings.IndexByte(rest, '.')
		if next < 0 {
			return ""
		}
		i += 1 + next
	}
	return ""
}

func isSourceExtension(s string) bool {
	switch s {
	case "c", "cc", "cpp", "cxx", "h", "hpp", "m", "mm", "rs", "go", "swift", "java", "kt", "scala", "cs", "fs", "vb", "php", "py", "rb", "js", "ts", "jsx", "tsx", "mjs", "dart", "ex", "exs", "erl", "hs", "ml", "lua", "pl", "pm", "nim", "zig", "jl":
		return true
	}
	return false
}

// isNamedByFile reports whether functions in a source file are named shortly, so that the file is a
// part of their name: of languages without rules of their own.
func isNamedByFile(file string) bool {
	return hasSuffixAny(file, ".hs", ".lhs", ".ml", ".lua", ".pl", ".pm", ".nim", ".jl", ".R", ".tcl", ".cr")
}
