// Package pattern matches the paths and modules of stacks, and other texts of reports, against
// what people wrote: the owners of code and the conditions of rules share it.
//
// * stands for any text. What is matched is cut to its bound, and a pattern has few wildcards,
// whose parts take the first place where they are: the time of a match is linear in the text.
package pattern

import "strings"

const (
	// MaxWildcards bounds the wildcards of a pattern: each new group, and each report, is
	// matched against all.
	MaxWildcards = 8
	// MaxPlaces bounds the paths and modules of a stack that are matched, maxText the bytes of
	// one, and of another text.
	MaxPlaces = 64
	maxText   = 1024
)

// MatchesPlace reports whether the pattern matches a path or a module: all of it, or all behind one
// of its slashes or dots. * stands for any text. A pattern that ends with a slash means all
// that is below it.
func MatchesPlace(pattern, place string) bool {
	place = strings.ReplaceAll(place[:min(len(place), maxText)], `\`, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if strings.HasSuffix(pattern, "/") {
		pattern += "*"
	}
	parts := strings.Split(pattern, "*")
	// The first part begins at the beginning or behind a separator.
	for at := 0; at <= len(place); {
		if strings.HasPrefix(place[at:], parts[0]) {
			if len(parts) > 1 {
				// What follows a later beginning also follows this one: one look is enough, and
				// the time that a place takes is linear in its length.
				return matchRest(place[at+len(parts[0]):], parts[1:])
			}
			if at+len(parts[0]) == len(place) {
				return true
			}
		}
		next := strings.IndexAny(place[at:], "/.")
		if next < 0 {
			return false
		}
		at += next + 1
	}
	return false
}

// matchRest matches what is behind the first part; each part takes the first place where it is,
// and the last one the end.
func matchRest(text string, parts []string) bool {
	for _, part := range parts[:len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// Matches reports whether a pattern matches all of a text; * stands for any text.
func Matches(pattern, text string) bool {
	text = text[:min(len(text), maxText)]
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, found := strings.CutPrefix(text, parts[0])
	return found && matchRest(rest, parts[1:])
}
