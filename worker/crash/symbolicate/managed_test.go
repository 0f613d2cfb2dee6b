package symbolicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/portablepdb"
)

func TestAssemblies(t *testing.T) {
	t.Parallel()
	for library, want := range map[string]string{"Shop": "Shop", "/app/Shop.dll": "Shop", `C:\app\Shop.Core.EXE`: "Shop.Core",
		"Shop, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null": "Shop", "": "", ".dll": ".dll", "/": ""} {
		require.Equal(t, want, assemblyOf(&report.Frame{Library: library}), library)
	}
	for library, want := range map[string]bool{"Shop": true, "System.Private.CoreLib": false, "mscorlib": false,
		"Microsoft.Extensions.Hosting": false, "": false} {
		require.Equal(t, want, managedPlace(&report.Frame{Library: library, MethodToken: 0x06000001}), library)
	}
	require.False(t, managedPlace(&report.Frame{Library: "Shop", MethodToken: 0x06000001, Line: 3}), "the runtime knew the line")
	require.False(t, managedPlace(&report.Frame{Library: "Shop"}))
}

func TestManagedPlaces(t *testing.T) {
	t.Parallel()
	at := func(token uint32, offset int64) uint64 {
		address, ok := portablepdb.Address(token, offset)
		require.True(t, ok)
		return address
	}
	table := addressTable{at(0x06000002, 3): {native.Frame{File: "/src/Cart.cs", Line: 9, Column: 9}}, at(0x06000006, 12): {native.Frame{}}}
	stack := `{"funcName":"Shop.Cart.Total","library":"Shop","metadata_token":100663298,"il":3},
		{"funcName":"Shop.Program.Main","library":"Shop","metadata_token":100663302,"il":12,"line":0},
		{"funcName":"Shop.Program.Known","library":"Shop","metadata_token":100663298,"il":3,"line":4},
		{"funcName":"Shop.Program.None","library":"Shop","metadata_token":100663298,"il":null},
		{"funcName":"Shop.Program.Odd","library":"Shop","metadata_token":"x","il":-1},
		{"funcName":"System.Action.Invoke","library":"System.Private.CoreLib","metadata_token":100663298,"il":3}`
	in := parsed(t, "csharp", "", stack, `,"attributes":{"application.version":"1.4"}`)
	in.Build.Version = "1.4"
	want := []string{"Shop.Cart.Total /src/Cart.cs:9", "Shop.Program.Main :0", "Shop.Program.Known :4", "Shop.Program.None :0",
		"Shop.Program.Odd :0",
		"System.Action.Invoke :0"}
	for _, id := range []string{"url ~/Shop.pdb 1.4", "url Shop.dll 1.4", "url ~/Shop.pdb"} {
		res, err := readReport(t, &fake{natives: map[string]addressTable{id: table}}, in)
		require.NoError(t, err)
		require.Equal(t, want, functions(res.Report), id)
		require.Equal(t, crash.SymbolsComplete, res.State)
	}

	res, err := readReport(t, &fake{}, in)
	require.NoError(t, err)
	require.Equal(t, "Shop.Cart.Total :0", functions(res.Report)[0], "the name that it has stays")
	require.Len(t, res.Needs, 1)
	require.Equal(t, []string{"native", "Shop.pdb", "1.4", portablepdb.Arch}, []string{res.Needs[0].Kind, res.Needs[0].Name,
		res.Needs[0].Version, res.Needs[0].Arch})
	require.Contains(t, res.Needs[0].LookedFor, symbol.Identifier{Type: symbol.URL, Value: "~/Shop.pdb", Release: "1.4"})

	in = parsed(t, "csharp", "", stack, `,"modules":[{"start":"0","size":1,"code_file":"/app/Shop.dll","debug_identifier":"`+debugID+`"}]`)
	res, err = readReport(t, &fake{natives: map[string]addressTable{"debug_id " + debugID: table}}, in)
	require.NoError(t, err)
	require.Equal(t, want, functions(res.Report), "by the identifier of the module")
}
