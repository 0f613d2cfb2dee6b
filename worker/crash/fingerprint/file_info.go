package fingerprint

import (
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/noise"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

// fileInfo is what the rules need to know about a frame's file. Frames of one
// stack share files, so that what is known of the last one is kept.
type fileInfo struct {
	path, library string
	family        language.Family // by the file's name
	system        bool            // whether it is a library's, for the family in systemFamily
	systemFamily  language.Family
	systemKnown   bool // system was found
	name          string
	rules         rule.Set
	nameKnown     bool
}

// reset prepares the info for a file, with family set.
func (f *fileInfo) reset(path, library string) {
	if f.path == path && f.library == library {
		return
	}
	*f = fileInfo{path: path, library: library}
	if f.family = language.OfFile(path); f.family == language.Unknown {
		f.family = language.OfFile(library)
	}
}

func (f *fileInfo) isSystem(fam language.Family) bool {
	if !f.systemKnown || f.systemFamily != fam {
		f.system, f.systemFamily, f.systemKnown = noise.IsSystemFile(fam, f.path, f.library), fam, true
	}
	return f.system
}

func (f *fileInfo) fileName() (string, rule.Set) {
	if !f.nameKnown {
		f.name, f.rules = filename.Normalize(filename.Location(f.path, f.library))
		f.nameKnown = true
	}
	return f.name, f.rules
}
