package conventions

import "testing"

// A package is a wall that the compiler holds: above these it is two. Nothing counts the lines
// of a file, which holds one idea, or the methods of a type.
const (
	mostFiles = 25
	mostLines = 4500
)

// size is the code of a package without its tests.
type size struct{ files, lines int }

// large reports whether a package of this size should be two.
func (s size) large() bool { return s.files > mostFiles || s.lines > mostLines }

// largePackages are those that are too large, with the number of files that they had when they
// were last cut: what is new goes into packages of its own.
var largePackages = map[string]int{
	"storage/crash":            49,
	"worker/generation/find":   43,
	"worker/generation/intent": 54,
	"worker/generation/plan":   60,
}

// Packages are small, and those that are not do not grow by files.
func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()
	sizes := map[string]size{}
	for _, s := range sources(t) {
		if !s.test {
			had := sizes[s.folder]
			sizes[s.folder] = size{had.files + 1, had.lines + s.lines}
		}
	}
	for folder, now := range sizes {
		before, known := largePackages[folder]
		switch {
		case now.large() && !known:
			t.Errorf("%s has %d files and %d lines: more than %d or %d are two packages", folder, now.files, now.lines, mostFiles, mostLines)
		case known && !now.large():
			t.Errorf("%s is no longer large: take it out of largePackages", folder)
		case known && now.files > before:
			t.Errorf("%s grew from %d files to %d: what is new goes into a package of its own", folder, before, now.files)
		}
	}
	for folder := range largePackages {
		if sizes[folder] == (size{}) {
			t.Errorf("largePackages names %s, which is gone", folder)
		}
	}
}
