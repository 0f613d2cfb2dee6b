package symbolicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/wasm"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

func TestWasmPlaces(t *testing.T) {
	t.Parallel()
	const url = "https://shop.example/shop.wasm"
	for name, c := range map[string]struct {
		frame  report.Frame
		url    string
		offset uint64
		ok     bool
	}{
		"V8, cut at colons": {report.Frame{Function: "total", Library: "wasm://wasm/cc54f776", Column: 220},
			"wasm://wasm/cc54f776", 220, true},
		"V8 as it is":           {report.Frame{Function: "total", Path: url + ":wasm-function[3]:0xdc"}, url, 0xdc, true},
		"with the number":       {report.Frame{Library: url + ":wasm-function[3]", Column: 220}, url, 220, true},
		"in the name":           {report.Frame{Function: url + ":wasm-function[3]:0xdc", Library: url}, url, 0xdc, true},
		"Firefox":               {report.Frame{Function: "wasm-function[3]", Library: url + ":wasm-function[3]:0xdc"}, url, 0xdc, true},
		"with an address":       {report.Frame{Function: "f", Library: url, Address: "0xdc"}, url, 0xdc, true},
		"line 1":                {report.Frame{Function: "f", Path: url + "?v=2", Line: 1, Column: 221}, url + "?v=2", 220, true},
		"the number alone":      {report.Frame{Function: "wasm-function[3]", Library: url}, url, wasm.IndexAddress(3), true},
		"Safari, no module":     {report.Frame{Function: "wasm-function[3]", Library: "[wasm code]"}, "", 0, false},
		"no place":              {report.Frame{Function: "f", Library: url}, url, 0, false},
		"a script":              {report.Frame{Function: "f", Library: "https://shop.example/wasm/shop.js", Line: 1, Column: 221}, "", 0, false},
		"a number that is none": {report.Frame{Function: "wasm-function[x]", Library: url}, url, 0, false},
		"an offset that is not": {report.Frame{Library: url + ":wasm-function[3]:0xffffffffff"}, url, wasm.IndexAddress(3), true},
	} {
		p, ok := wasmPlaceOf(&c.frame)
		require.Equal(t, c.ok, ok, name)
		require.Equal(t, c.url, p.url, name)
		if ok {
			require.Equal(t, c.offset, p.address, name)
		}
	}
}

func TestWasmModules(t *testing.T) {
	t.Parallel()
	table := addressTable{
		0xdc: {{Function: "shop::price", File: "shop.cc", Line: 6, Inlined: true},
			{Function: "shop::total", File: "shop.cc", Line: 14}},
		0xc0:                 {{Function: "run", Public: true}},
		wasm.IndexAddress(4): {{Function: "shop::crash", Public: true}},
	}
	stack := `{"funcName":"total","library":"wasm://wasm/cc54f776","column":220},{"funcName":"wasm-function[2]",` +
		`"library":"wasm://wasm/cc54f776:wasm-function[2]:0xc0"},
		{"funcName":"run","library":"wasm://wasm/cc54f776","column":192},{"funcName":"wasm-function[4]","library":"wasm://wasm/cc54f776"},` +
		`{"funcName":"main","path":"/app/main.js","line":4,"column":9}`
	in := parsed(t, "nodejs", "", stack, "")
	s := &fake{natives: map[string]addressTable{"url wasm://wasm/cc54f776": table}}
	res, err := readReport(t, s, in)
	require.NoError(t, err)
	require.Equal(t, []string{"shop::price shop.cc:6", "shop::total shop.cc:14", "run :0", "run :0", "shop::crash :0", "main :4"},
		functions(res.Report))
	require.Equal(t, symbolication.DebugInfo, res.Document.Threads[0].Replaced[0].Frames[0].Method)

	in = parsed(t, "nodejs", "", stack, `,"attributes":{"debugIds":"{\"wasm://wasm/cc54f776\":\"`+debugID+`\"}"}`)
	res, err = readReport(t, &fake{natives: map[string]addressTable{"debug_id " + debugID: table}}, in)
	require.NoError(t, err)
	require.Equal(t, "shop::price shop.cc:6", functions(res.Report)[0], "by the debug id that the client sent")
}

// A module is looked for by its address within the release, and its source map after it.
func TestWasmByAddress(t *testing.T) {
	t.Parallel()
	const more = `,"attributes":{"release":"7"}`
	stack := `{"funcName":"total","library":"https://shop.example/app/shop.wasm:wasm-function[1]:0xdc"}`
	in := parsed(t, "javascript", "", stack, more)
	maps := map[string]SourceMap{"url ~/app/shop.wasm.map 7": scriptTable{"1:221": {{Function: "total", File: "shop.ts", Line: 8}}}}
	res, err := readReport(t, &fake{maps: maps}, in)
	require.NoError(t, err)
	require.Equal(t, "total shop.ts:8", functions(res.Report)[0])

	table := addressTable{0xdc: {{Function: "total", File: "shop.cc", Line: 14}}}
	res, err = readReport(t, &fake{maps: maps, natives: map[string]addressTable{"url ~/app/shop.wasm 7": table}}, in)
	require.NoError(t, err)
	require.Equal(t, "total shop.cc:14", functions(res.Report)[0], "the module knows more")

	names := addressTable{0xdc: {{Function: "total", Public: true}}}
	res, err = readReport(t, &fake{maps: maps, natives: map[string]addressTable{"url ~/app/shop.wasm 7": names}}, in)
	require.NoError(t, err)
	require.Equal(t, "total shop.ts:8", functions(res.Report)[0], "the map has the line, the module only the name")

	res, err = readReport(t, &fake{}, in)
	require.NoError(t, err)
	require.Equal(t, crash.SymbolsMissing, res.State)
	require.Len(t, res.Needs, 1)
	need := res.Needs[0]
	require.Equal(t, []string{"native", "shop.wasm", "7", wasm.Arch}, []string{need.Kind, need.Name, need.Version, need.Arch})
	require.Contains(t, need.LookedFor, symbol.Identifier{Type: symbol.URL, Value: "~/app/shop.wasm", Release: "7"})
}
