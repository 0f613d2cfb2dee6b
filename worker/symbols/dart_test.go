package symbols

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// A map of names gets the build ids of the debug files beside it, a mapping of R8 does not.
func TestNameMaps(t *testing.T) {
	t.Parallel()
	given := symbol.Identifier{Type: symbol.MappingID, Value: "ab12"}
	ids := func(value string) []symbol.Identifier {
		return []symbol.Identifier{{Type: symbol.BuildID, Value: value}, {Type: symbol.CodeID, Value: value}}
	}
	r := &run{files: []symbolfile.File{
		{Kind: symbol.ProGuard, Features: []string{parse.Names}, Identifiers: []symbol.Identifier{given}},
		{Kind: symbol.ELF, Identifiers: ids("4dbecf547733e72a")},
		{Kind: symbol.ProGuard, Features: []string{parse.Functions}},
		{Kind: symbol.MachO, Identifiers: ids("1111111122222222")},
		{Kind: symbol.PE, Identifiers: ids("3333333344444444")},
	}}
	want := []symbol.Identifier{given, {Type: symbol.MappingID, Value: "4dbecf547733e72a"}, {Type: symbol.MappingID,
		Value: "1111111122222222"}}
	for range 2 {
		r.nameMaps()
		require.Equal(t, want, r.files[0].Identifiers, "once each")
	}
	require.Empty(t, r.files[2].Identifiers)
}
