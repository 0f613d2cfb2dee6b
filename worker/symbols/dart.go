package symbols

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// maxMapPrograms bounds the programs that an obfuscation map is named by: a build of Flutter makes one
// for each architecture.
const maxMapPrograms = 32

// nameMaps names the obfuscation maps of an upload by the programs whose debug files came with them: a
// map does not say itself what it is of, and stack traces have the build id.
func (r *run) nameMaps() {
	var ids []symbol.Identifier
	for i := range r.files {
		if r.files[i].Kind != symbol.ELF && r.files[i].Kind != symbol.MachO {
			continue
		}
		for _, id := range r.files[i].Identifiers {
			if id.Type == symbol.CodeID && len(ids) < maxMapPrograms {
				ids = append(ids, symbol.Identifier{Type: symbol.MappingID, Value: id.Value})
			}
		}
	}
	for i := range r.files {
		f := &r.files[i]
		if f.Kind != symbol.ProGuard || !slices.Contains(f.Features, parse.Names) {
			continue
		}
		for _, id := range ids {
			if id, ok := id.Normalize(); ok && !slices.Contains(f.Identifiers, id) {
				f.Identifiers = append(f.Identifiers, id)
			}
		}
	}
}
