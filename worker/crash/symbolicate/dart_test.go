package symbolicate

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const dartBuild = "4dbecf547733e72ae1688d73ebb5f062"

// dartHeadText is the head of a trace of an Android phone, as the virtual machine of Dart 3 writes it.
const dartHeadText = `*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***
pid: 8210, tid: 8231, name 1.ui
os: android arch: arm64 comp: yes sim: no
build_id: '` + dartBuild + `'
isolate_dso_base: 7de0e44000, vm_dso_base: 7de0e44000
isolate_instructions: 7de0efa840, vm_instructions: 7de0ee4000
`

const dartText = dartHeadText + `    #00 abs 0000007de0f63ae8 virt 000000000011fae8 _kDartIsolateSnapshotInstructions+0x692a8
<asynchronous suspension>
    #01 abs 0000007de0f63a04 virt 000000000011fa04 _kDartIsolateSnapshotInstructions+0x691c4
    #02 abs 0000007de0fed7a8 virt 00000000001a97a8 _kDartIsolateSnapshotInstructions+0xf2f68
`

// dartTable is a file whose section begins elsewhere than where the program was laid out, as on iOS.
func dartTable(t *testing.T, start uint64) addressTable {
	t.Helper()
	at, ok := native.SectionAddress("_kDartIsolateSnapshotInstructions")
	require.True(t, ok)
	cart := func(name string, line uint32, inlined bool) native.Frame {
		return native.Frame{Symbol: name, Function: name, File: "package:shop/cart.dart", Line: line, Inlined: inlined}
	}
	return addressTable{
		at:              {{Symbol: native.SectionStart(start), Public: true}},
		start + 0x692a8: {cart("Price.cents", 21, true), cart("_CartState.pay", 42, false)},
		start + 0x691c4: {cart("_CartState.build.<anonymous closure>", 7, false)},
		start + 0xf2f68: {{Symbol: "_kDartIsolateSnapshotInstructions", Public: true}},
	}
}

func dartFrames(more string) string {
	return `{"funcName":"_kDartIsolateSnapshotInstructions+0x692a8","address":"0x7de0f63ae8"` + more + `},
		{"funcName":"abs 0000007de0f63a04 virt 000000000011fa04 _kDartIsolateSnapshotInstructions+0x691c4"` + more + `},
		{"funcName":"_kDartIsolateSnapshotInstructions+0xf2f68","address":"0x7de0fed7a8"` + more + `}`
}

func TestDartFrames(t *testing.T) {
	t.Parallel()
	want := []string{"Price.cents package:shop/cart.dart:21", "_CartState.pay package:shop/cart.dart:42",
		"_CartState.build.<anonymous closure> package:shop/cart.dart:7", "_kDartIsolateSnapshotInstructions+0xf2f68 :0"}
	head := `,"attributes":{"error.stack":` + strconv.Quote(dartHeadText) + `}`
	module := `,"modules":[{"start":"0x7de0e44000","size":16777216,"code_file":"/data/app/lib/arm64/libapp.so","debug_identifier":"` +
		dartBuild + `"}]`
	for name, in := range map[string]Input{
		"the frame names the file": parsed(t, "dart", "", dartFrames(`,"debug_identifier":"`+dartBuild+`"`), ""),
		"the module does":          parsed(t, "flutter", "", dartFrames(""), module),
		"the module of its library": parsed(t, "flutter", "", dartFrames(`,"library":"libapp.so"`),
			strings.Replace(module, "0x7de0e44000", "0x10", 1)),
		"so does the trace as text": parsed(t, "dart", "", dartFrames(""), `,"attributes":{"error.stack":`+strconv.Quote(dartText)+`}`),
		"not all lines are in texts": parsed(t, "dart", "", dartFrames(""), strings.Replace(head, `ctions: 7de0ee4000\n`,
			`ctions: 7de0ee4000\n #00 abs 1\n`, 1)),
	} {
		res, err := readReport(t, &fake{natives: map[string]addressTable{"build_id " + dartBuild: dartTable(t, 0x5000)}}, in)
		require.NoError(t, err)
		require.Equal(t, want, functions(res.Report), name)
		require.Equal(t, crash.SymbolsPartial, res.State, "%s: the last frame lies where the file has no function", name)
	}
}

func TestDartAddresses(t *testing.T) {
	t.Parallel()
	// A file that does not say where the section begins: by the address, which is that of the call.
	table := addressTable{0x11fae8: {{Function: "_CartState.pay", File: "package:shop/cart.dart", Line: 42}}}
	for _, stack := range []string{
		`{"funcName":"abs 0000007de0f63ae8 virt 000000000011fae8 _kDartIsolateSnapshotInstructions+0x692a8"}`,
		`{"funcName":"abs 0000007de0f63ae8 unit 1 virt 000000000011fae8 _kDartIsolateSnapshotInstructions+0x692a8"}`,
		`{"funcName":"_kDartIsolateSnapshotInstructions+0x692a8","address":"0x7de0f63ae8"}`,
	} {
		in := parsed(t, "dart", "", `{"funcName":"outer","line":1},`+stack, `,"attributes":{"error.stack":`+strconv.Quote(dartText)+`}`)
		res, err := readReport(t, &fake{natives: map[string]addressTable{"build_id " + dartBuild: table}}, in)
		require.NoError(t, err)
		require.Equal(t, "_CartState.pay package:shop/cart.dart:42", functions(res.Report)[1], stack)
	}
}

func TestDartTexts(t *testing.T) {
	t.Parallel()
	in := parsed(t, "dart", "", `{"funcName":"main","line":1}`, `,"annotations":{"log":{"last":`+
		strconv.Quote(strings.ReplaceAll(dartText, "    #", "I/flutter: #"))+`}}`)
	res, err := readReport(t, &fake{natives: map[string]addressTable{"build_id " + dartBuild: dartTable(t, 0x5000)}}, in)
	require.NoError(t, err)
	require.Len(t, res.Document.Texts, 1)
	require.Equal(t, "annotations.log.last", res.Document.Texts[0].Where)
	require.Equal(t, dartHeadText+`I/flutter: #0      Price.cents (package:shop/cart.dart:21)
I/flutter: #1      _CartState.pay (package:shop/cart.dart:42)
<asynchronous suspension>
I/flutter: #2      _CartState.build.<anonymous closure> (package:shop/cart.dart:7)
I/flutter: #02 abs 0000007de0fed7a8 virt 00000000001a97a8 _kDartIsolateSnapshotInstructions+0xf2f68
`, res.Document.Texts[0].Text)
	require.Equal(t, crash.SymbolsComplete, res.State)

	// Two traces, each of a program of its own.
	other := strings.Repeat("ab", 16)
	two := dartText + strings.ReplaceAll(dartText, dartBuild, other)
	in = parsed(t, "dart", "", `{"funcName":"main","line":1}`, `,"attributes":{"error.stack":`+strconv.Quote(two)+`}`)
	f := &fake{natives: map[string]addressTable{"build_id " + other: dartTable(t, 0)}}
	res, err = readReport(t, f, in)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(res.Document.Texts[0].Text, "#0      Price.cents"))
	require.Equal(t, crash.SymbolsPartial, res.State)
	require.Contains(t, res.Needs[0].LookedFor, symbol.Identifier{Type: symbol.BuildID, Value: dartBuild})
	require.Equal(t, "libapp.so", res.Needs[0].Name)
}

func TestDartWithoutItsFile(t *testing.T) {
	t.Parallel()
	in := parsed(t, "dart", "", dartFrames(""), `,"attributes":{"error.stack":`+
		strconv.Quote(strings.Replace(dartText, "os: android", "os: ios", 1))+`}`)
	res, err := readReport(t, &fake{}, in)
	require.NoError(t, err)
	require.Equal(t, crash.SymbolsMissing, res.State)
	require.Len(t, res.Needs, 1, "frames and text need one file")
	require.Equal(t, "App", res.Needs[0].Name)
	require.Equal(t, "_kDartIsolateSnapshotInstructions+0x692a8 :0", functions(res.Report)[0])
	require.NotEmpty(t, res.Lacking(0))

	res, err = readReport(t, &fake{}, parsed(t, "dart", "", dartFrames(""), ""))
	require.NoError(t, err)
	require.Equal(t, crash.SymbolsNone, res.State, "nothing says which file")
}

func TestDartHeads(t *testing.T) {
	t.Parallel()
	h := dartHeadOf("os=linux, arch=x64, comp=no, sim=no\nbuild_id='ab12', \nisolate_dso_base=7f00, vm_dso_base=7f00\n")
	require.Equal(t, dartHead{units: []dartUnit{{buildID: "ab12", base: 0x7f00}}}, h)
	h = dartHeadOf("build_id: 'ab12'\nisolate_dso_base: 1000, vm_dso_base: 1000\n" +
		"loading_unit: 1, build_id: 'ab12', dso_base: 1000, instructions: 1080\n" +
		"loading_unit: 2, build_id: 'cd34', dso_base: 9000, instructions: 9080\n")
	require.Len(t, h.units, 3)
	require.Equal(t, "ab12", h.unitOf(dartPlace{absolute: 0x1100}).buildID)
	require.Equal(t, "cd34", h.unitOf(dartPlace{absolute: 0x9100}).buildID, "the deferred part that lies there")
	require.Equal(t, "cd34", h.unitOf(dartPlace{absolute: 0x1100, unit: 2}).buildID)
	require.Nil(t, (&dartHead{}).unitOf(dartPlace{absolute: 1}))
	for _, bad := range []string{"", "abs", "abs x", "abs 1 virt", "virt", "foo", "_kDart", "_kDartIsolateSnapshotInstructions+0x", "unit 1"} {
		_, ok := parseDartFrame(bad)
		require.False(t, ok, bad)
	}
}

func FuzzDartTrace(f *testing.F) {
	f.Add(dartText)
	f.Add("loading_unit: 2, build_id: 'cd34', dso_base: ffffffffffffffff, instructions: 1\n" +
		"#00 abs 1 unit 2 virt 2 _kDartVmSnapshotInstructions+0xffffffffffffffff")
	f.Add("#99999999999 abs 1")
	f.Fuzz(func(t *testing.T, text string) {
		in := parsed(t, "dart", "", `{"funcName":"main","line":1}`, "")
		in.Document = []byte(dartSection)
		in.Report.Attributes = append(in.Report.Attributes[:0:0], report.Attribute{Key: "error.stack", Value: text})
		res, err := readReport(t, &fake{natives: map[string]addressTable{"build_id " + dartBuild: dartTable(t, 0)}}, in)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Needs) > maxFiles {
			t.Fatalf("%d files are looked for", len(res.Needs))
		}
	})
}
