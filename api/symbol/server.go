package symbol

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// SymbolServer serves GET /symbolserver/FILE/ID/FILE and /symbolserver/KEY/FILE/ID/FILE,
// the layout of symbol stores: program databases by GUID and age, images by time stamp and
// size, Breakpad's files by debug id, and the keys of SSQP for ELF and Mach-O
// (https://github.com/dotnet/symstore/blob/main/docs/specs/SSQP_Key_Conventions.md).
// Compressed files (.pd_), pointers and index2.txt are not there.
func (h *Handlers) SymbolServer(c *gin.Context) error {
	caller, parts, err := h.identify(c, segments(c))
	if err != nil {
		return err
	}
	if len(parts) != 3 {
		return storage.ErrNotFound
	}
	kinds, features, id, ok := wantedOf(parts[1], parts[2])
	if !ok {
		return storage.ErrNotFound
	}
	found, err := h.find(c, caller.OrganizationID, kinds, features, id)
	if err != nil {
		return err
	}
	return h.serve(c, found)
}

// ssqp are the prefixes of SSQP's keys, the longer before those that begin them.
var ssqp = []struct {
	prefix   string
	kind     symbol.Kind
	features func() []string
}{
	{"elf-buildid-sym-", symbol.ELF, debugFeatures},
	{"elf-buildid-", symbol.ELF, func() []string { return []string{featureText} }},
	{"mach-uuid-sym-", symbol.MachO, debugFeatures},
	{"mach-uuid-", symbol.MachO, func() []string { return []string{featureText} }},
}

// wantedOf reads what a path of a symbol server names by its second and third part.
func wantedOf(key, file string) (kinds []symbol.Kind, features []string, id symbol.Identifier, ok bool) {
	key, file = strings.ToLower(key), strings.ToLower(file)
	for _, s := range ssqp {
		if hex, found := strings.CutPrefix(key, s.prefix); found {
			id, ok = symbol.Identifier{Type: symbol.CodeID, Value: hex}.Normalize()
			return []symbol.Kind{s.kind}, s.features(), id, ok
		}
	}
	of := symbol.Identifier{Type: symbol.CodeID, Value: key}
	kind := symbol.PE
	switch {
	case strings.HasSuffix(file, ".sym"):
		of.Type, kind = symbol.DebugID, symbol.Breakpad
	case strings.HasSuffix(file, ".pdb"):
		of.Type, kind = symbol.DebugID, symbol.PDB
	case strings.HasSuffix(file, "_"), strings.HasSuffix(file, ".ptr"):
		return nil, nil, of, false
	}
	id, ok = of.Normalize()
	return []symbol.Kind{kind}, nil, id, ok
}
