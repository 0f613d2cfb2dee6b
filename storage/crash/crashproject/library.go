package crashproject

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// Bounds on the libraries that a crash project names: each is compared with each frame of each of
// its reports.
const (
	maxLibraries   = 100
	maxLibraryText = 200
	minLibraryText = 2 // one letter begins the names of half a program
)

// CleanLibraries returns the list of what is not a project's own code, without blanks around and
// repetitions: beginnings of functions' names ("acme", "com.acme"), folders ("vendor/acme") and
// modules ("libacme.so"). *storage.InvalidError names the entry that is none.
func CleanLibraries(list []string) ([]string, error) {
	if len(list) > maxLibraries {
		return nil, &storage.InvalidError{Field: "libraries", Msg: fmt.Sprintf("must have at most %d entries", maxLibraries)}
	}
	clean, seen := make([]string, 0, len(list)), map[string]bool{}
	for i, text := range list {
		field := fmt.Sprintf("libraries[%d]", i)
		text = strings.TrimSpace(text)
		switch {
		case len(text) < minLibraryText || len(text) > maxLibraryText:
			return nil, &storage.InvalidError{Field: field, Msg: fmt.Sprintf("must have %d to %d bytes", minLibraryText, maxLibraryText)}
		case strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f }):
			return nil, &storage.InvalidError{Field: field, Msg: "must be one line of text"}
		case strings.Trim(text, `/\.:*`) == "":
			return nil, &storage.InvalidError{Field: field, Msg: "must name something"}
		}
		if !seen[text] {
			clean, seen[text] = append(clean, text), true
		}
	}
	return clean, nil
}
