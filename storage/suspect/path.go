package suspect

import (
	"path"
	"slices"
	"strings"
)

const (
	// maxPath bounds what is read of a frame's path or function, in bytes: of a longer path its
	// end counts.
	maxPath = 1024
	// telling is how many segments two paths share at least to be taken for one file: a name
	// alone (index.js, mod.rs) is that of many.
	telling = 2
)

// place is where the code of a frame may stand, as the segments of a path.
type place struct {
	segments []string
	stem     bool // the last segment has no extension: it is not known
	fold     bool // of a file system that does not tell letters by their case
}

// places are where the code of a frame may stand, by its path, or by the package that its function
// names where the path is a name only. Without a path the library may be one: that of a script.
func places(f *Frame) []place {
	file := f.File[max(0, len(f.File)-maxPath):]
	p := place{segments: segments(file), fold: strings.Contains(file, `\`)}
	if len(p.segments) >= telling {
		return []place{p}
	}
	name := ""
	if len(p.segments) == 1 && !slices.Contains([]string{"SourceFile", "Unknown Source", "Unknown", "<unknown>", "Native Method"},
		p.segments[0]) {
		name = p.segments[0]
	}
	var list []place
	folder, class := packageOf(f.Function)
	switch {
	case len(folder) == 0:
	case name == "":
		list = append(list, place{segments: append(folder, class), stem: true})
	case slices.Contains([]string{".java", ".kt", ".kts", ".scala", ".groovy"}, path.Ext(name)):
		list = append(list, place{segments: append(folder, name)})
		if path.Ext(name) == ".java" { // a package of Java is its folder: another one's file is another file
			return list
		}
	}
	switch library := segments(f.Library[max(0, len(f.Library)-maxPath):]); {
	case name != "":
		list = append(list, p)
	case len(p.segments) == 0 && len(library) > 0:
		list = append(list, place{segments: library, fold: strings.Contains(f.Library, `\`)})
	}
	return list
}

// segments splits a path as debuggers, browsers and bundlers write it.
func segments(text string) []string {
	text = strings.ReplaceAll(text, `\`, "/")
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		if at := strings.IndexAny(rest, "?#"); at >= 0 {
			rest = rest[:at]
		}
		// What is before the first slash is a host, or the name that a bundler gives the project.
		switch scheme {
		case "http", "https", "webpack", "webpack-internal", "turbopack":
			_, rest, _ = strings.Cut(rest, "/")
		}
		text = rest
	} else if rest, ok := strings.CutPrefix(text, "package:"); ok { // Dart: the package's folder lib
		_, rest, _ = strings.Cut(rest, "/")
		text = "lib/" + rest
	}
	var list []string
	for part := range strings.SplitSeq(text, "/") {
		switch part {
		case "", ".":
		case "..":
			list = list[:max(0, len(list)-1)]
		default:
			list = append(list, part)
		}
	}
	return list
}

// packageOf are the folder and the class that a function of the shape com.example.Cart$Line.pay
// names; none where it has another shape.
func packageOf(function string) (folder []string, class string) {
	function = function[:min(len(function), maxPath)]
	if at := strings.IndexAny(function, "( <"); at >= 0 { // the arguments, or <init>
		function = strings.TrimSuffix(function[:at], ".")
	}
	if at := strings.LastIndexByte(function, '/'); at >= 0 {
		function = function[at+1:] // behind the module
	}
	parts := strings.Split(function, ".")
	// The class is the first name that begins with a capital letter.
	at := slices.IndexFunc(parts, func(part string) bool { return part != "" && part[0] >= 'A' && part[0] <= 'Z' })
	if at < 1 || slices.Contains(parts[:at], "") {
		return nil, ""
	}
	class, _, _ = strings.Cut(parts[at], "$")
	return slices.Clone(parts[:at]), class
}

// shared is how many whole segments a path of a repository and the place have in common at their
// ends, where one of the two is the end of the other; else 0.
func (p *place) shared(segments []string) int {
	n := min(len(p.segments), len(segments))
	for i := 1; i <= n; i++ {
		ours, theirs := p.segments[len(p.segments)-i], segments[len(segments)-i]
		if i == 1 && p.stem {
			theirs = strings.TrimSuffix(theirs, path.Ext(theirs))
		}
		if ours != theirs && !(p.fold && strings.EqualFold(ours, theirs)) {
			return 0
		}
	}
	return n
}

// inFolder reports whether a file of a repository stands in the folder of the place: one of the
// two folders is the end of the other, by at least telling segments.
func (p *place) inFolder(segments []string) bool {
	if len(segments) == 0 || len(p.segments) == 0 {
		return false
	}
	folder := place{segments: p.segments[:len(p.segments)-1], fold: p.fold}
	return folder.shared(segments[:len(segments)-1]) >= telling
}

// key is by what the file of a place is found: its name without extension, in lower case.
func key(segments []string) string {
	if len(segments) == 0 {
		return ""
	}
	name := segments[len(segments)-1]
	return strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
}
