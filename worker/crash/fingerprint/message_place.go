package fingerprint

import (
	"strconv"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/message"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// sourcePlace returns the source file that a message without a stack names with a line: where a
// program panicked, failed a check or ran out of memory. It is the first one, as in
//
//	thread 'main' panicked at src/ring.rs:77:19:
//	Allowed memory size exhausted in /srv/shop/Export.php on line 88
//	FATAL watchdog.cc(88): stuck
func sourcePlace(line string) string {
	line = scan.Truncate(line, message.Max)
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

// faultPlace returns the module and the offset in it that the log of an operating system names for a
// crash without a stack, "" for another text.
//
//	app[8812]: segfault at 18 ip 000055d0a1c0b3f4 sp 00007ffd9a0e1d30 error 4 in app[55d0a1bf8000+2c000]
//	Faulting module name: shop.dll, version: 1.2.0.0 ... Fault offset: 0x0000000000012f3a
func faultPlace(text string) string {
	text = scan.Truncate(text, message.Max)
	if _, rest, ok := strings.Cut(text, " ip "); ok {
		ip, rest, _ := strings.Cut(rest, " ")
		_, rest, found := strings.Cut(rest, " in ")
		name, rest, bracket := strings.Cut(rest, "[")
		inside, _, closed := strings.Cut(rest, "]")
		if found && bracket && closed {
			return moduleOffset(name, ip, inside)
		}
	}
	_, module, named := strings.Cut(text, "Faulting module name: ")
	_, offset, placed := strings.Cut(text, "Fault offset: ")
	if !named || !placed {
		return ""
	}
	module, _, _ = strings.Cut(module, ",")
	value, ok := scan.Address("0x" + strings.TrimPrefix(firstWord(offset), "0x"))
	if !ok {
		return ""
	}
	return filename.Library(message.FirstLine(module)) + "+0x" + scan.Hex(value)
}

// moduleOffset returns the offset of an instruction in a mapping that the kernel wrote: the start and
// the size, since version 6 behind the offset of the mapping in its file.
func moduleOffset(name, instruction, mapping string) string {
	fields := strings.FieldsFunc(mapping, func(r rune) bool { return r == ',' || r == '+' })
	if len(fields) < 2 || len(fields) > 3 || strings.ContainsAny(name, " \n") {
		return ""
	}
	at, err := strconv.ParseUint(instruction, 16, 64)
	start, wrong := strconv.ParseUint(fields[len(fields)-2], 16, 64)
	if err != nil || wrong != nil || at < start {
		return ""
	}
	return filename.Library(name) + "+0x" + scan.Hex(at-start)
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(message.FirstLine(s), " ")
	return word
}

// placeFile returns the file of a word that is one with a line, in the word or after it.
func placeFile(word, after string) string {
	for i := strings.IndexByte(word, '.'); i > 0; {
		rest := word[i+1:]
		extension := naming.Identifier(rest, 0)
		if isSourceExtension(extension) {
			tail := rest[len(extension):]
			lined := len(tail) > 1 && (tail[0] == ':' || tail[0] == '(') && scan.IsDigit(tail[1])
			next := strings.TrimLeft(after, " ")
			if lined || tail == "" && (scan.HasPrefixAny(next, "on line ", "line ") || strings.HasPrefix(after, ", line ")) {
				name, _ := filename.Normalize(strings.TrimLeft(word[:i], "(") + "." + extension)
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
	case "c", "cc", "cpp", "cxx", "h", "hpp", "m", "mm", "rs", "go", "swift", "java", "kt", "scala", "cs", "fs", "vb", "php",
		"py", "rb", "js", "ts", "jsx", "tsx", "mjs", "dart", "ex", "exs", "erl", "hs", "ml", "lua", "pl", "pm", "nim", "zig", "jl":
		return true
	}
	return false
}

// isNamedByFile reports whether functions in a source file are named shortly, so that the file is a
// part of their name: of languages without rules of their own.
func isNamedByFile(file string) bool {
	return scan.HasSuffixAny(file, ".hs", ".lhs", ".ml", ".lua", ".pl", ".pm", ".nim", ".jl", ".R", ".tcl", ".cr")
}
