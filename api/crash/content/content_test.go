package content

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

const symbolicatedReport = `{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":"java","langVersion":"1","agent":"a",
	"agentVersion":"1","mainThread":"0","threads":{"0":{"stack":[{"funcName":"a.b.c","line":1,"library":"SourceFile"},
	{"funcName":"a.b.d"},{"funcName":"a.b.e"},{"funcName":"known"}]}}}`

// TestFramesInTheAnswer checks what a frame was, what it is, what served it, and what it lacks.
func TestFramesInTheAnswer(t *testing.T) {
	t.Parallel()
	id := symbol.Identifier{Type: symbol.MappingID, Value: "1"}
	doc, err := json.Marshal(symbolication.Document{
		Threads: []symbolication.Thread{{ID: "0", Replaced: []symbolication.Replacement{
			{Index: 0, File: 1, Frames: []symbolication.Frame{
				{Function: "shop.Cart.price", File: "Cart.java", Line: 7, Inlined: true, Method: symbolication.Mapping,
					Source: &symbolication.Source{Start: 6, Lines: []string{"a", "</script>"}}},
				{Function: "shop.Cart.total", File: "Cart.java", Line: 12, Method: symbolication.Mapping}},
				Alternatives: [][]symbolication.Frame{{{Function: "shop.Cart.other"}}}},
			{Index: 1, Hidden: true}, {Index: 2, Missing: 1}}}},
		Files:   []symbolication.File{{SymbolID: 3, FileID: 4, Name: "mapping.txt", Kind: symbol.ProGuard, Identifier: id}},
		Missing: []symbolication.Missing{{Kind: "proguard", Name: "lib", LookedFor: []symbol.Identifier{id}, Reason: "no file", Frames: 1}},
		Texts:   []symbolication.Text{{Where: "attributes.error.stack", Text: "at shop.Cart", File: 1}}})
	require.NoError(t, err)
	view, symbols := SymbolicationOf(&crash.Symbolication{State: crash.SymbolsPartial, Missing: 1, At: time.Unix(5, 0), Frames: doc})
	require.Equal(t, crash.SymbolsPartial, view.State)
	require.Equal(t, "lib", view.Missing[0].Name)
	require.Equal(t, 1, view.Missing[0].Frames)
	require.EqualValues(t, 3, view.Texts[0].Symbols.ID)

	threads, omitted := Threads(Report([]byte(symbolicatedReport)), []byte(symbolicatedReport), symbols)
	require.Zero(t, omitted)
	require.Len(t, threads, 1)
	require.Equal(t, 1, threads[0].FramesHidden)
	frames := threads[0].Frames
	require.Len(t, frames, 4)
	require.Equal(t, "shop.Cart.price", frames[0].Function)
	require.True(t, frames[0].Inlined)
	require.Nil(t, frames[0].Alternatives)
	require.Equal(t, &rawView{Index: 0, Function: "a.b.c", Line: 1}, frames[1].Raw)
	require.Equal(t, &Served{3, 4, "mapping.txt", symbol.ProGuard, id}, frames[1].Symbols)
	require.Equal(t, symbolication.Mapping, frames[1].Method)
	require.Equal(t, "shop.Cart.other", frames[1].Alternatives[0][0].Function)
	require.Equal(t, "a.b.e", frames[2].Function)
	require.Equal(t, 0, *frames[2].Missing)
	require.Equal(t, []symbol.Identifier{id}, view.Missing[0].LookedFor)
	require.Equal(t, Frame{Function: "known", index: 3}, frames[3])
	text, err := json.Marshal(threads)
	require.NoError(t, err)
	require.NotContains(t, string(text), "</script>")

	view, symbols = SymbolicationOf(nil)
	require.Equal(t, crash.SymbolsNone, view.State)
	require.Nil(t, view.At)
	threads, _ = Threads(Report([]byte(symbolicatedReport)), []byte(symbolicatedReport), symbols)
	require.Len(t, threads[0].Frames, 4)

	// A document that names what it does not have is shown all the same.
	_, symbols = SymbolicationOf(&crash.Symbolication{State: crash.SymbolsComplete,
		Frames: []byte(`{"threads":[{"id":"0","replaced":[{"index":0,"file":9,"missing":9,"frames":[{"function":"f","method":"mapping"}]},{"index":1,"missing":9}]}]}`)})
	threads, _ = Threads(Report([]byte(symbolicatedReport)), []byte(symbolicatedReport), symbols)
	require.Nil(t, threads[0].Frames[0].Symbols)
	require.Nil(t, threads[0].Frames[1].Missing)
}

// TestModulesAndSourceCode checks what a report says of its modules, with what was found, and
// the source code that came with it.
func TestModulesAndSourceCode(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("line\n", 20) + strings.Repeat("x", 400) + "\r\nlast"
	doc := fmt.Appendf(nil, `{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":"go","langVersion":"1","agent":"a",
		"agentVersion":"1","mainThread":"0","threads":{"0":{"stack":[{"funcName":"f","line":"121","sourceCode":"s"},
		{"funcName":"g","line":9,"sourceCode":"s"},{"funcName":"h","line":1,"sourceCode":"path"},{"funcName":"i","line":122,"sourceCode":"s"},
		{"funcName":"j","line":122,"sourceCode":"none"}]}},
		"sourceCode":{"s":{"text":%q,"startLine":101},"path":{"path":"a.go"},"none":{}},
		"modules":[{"start":"0x1000","size":16,"code_file":"/opt/shop","debug_identifier":"AA"},{"start":"4096"},{"size":"0x10"}]}`, text)
	r := Report(doc)
	require.NotNil(t, r)
	d := &symbolication.Document{Files: []symbolication.File{{SymbolID: 7}}, Missing: []symbolication.Missing{{Name: "x"}},
		Modules: []symbolication.Module{{Index: 0, File: 1}, {Index: 1, Missing: 1}, {Index: 9, File: 1}, {Index: -1}}}
	threads, _ := Threads(r, doc, d)
	frames := threads[0].Frames
	require.EqualValues(t, 116, frames[0].Source.Start)
	require.Equal(t, []string{"line", "line", "line", "line", "line", strings.Repeat("x", 300), "last"}, frames[0].Source.Lines)
	require.EqualValues(t, 117, frames[3].Source.Start)
	for _, n := range []int{1, 2, 4} {
		require.Nil(t, frames[n].Source, n)
	}
	require.Equal(t, "a.go", frames[2].File)
	modules, omitted := Modules(r, d)
	require.Zero(t, omitted)
	require.Len(t, modules, 3)
	require.True(t, *modules[0].DebugFileExists)
	require.EqualValues(t, 16, *modules[0].Size)
	require.EqualValues(t, 7, modules[0].Symbols.ID)
	require.False(t, *modules[1].DebugFileExists)
	require.Nil(t, modules[1].Symbols)
	require.Nil(t, modules[1].Size)
	require.Nil(t, modules[2].DebugFileExists)
	require.EqualValues(t, 16, *modules[2].Size)
}

// TestAnswerIsBounded checks a report of many frames, each with the whole source.
func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	stack := strings.TrimSuffix(strings.Repeat(`{"funcName":"f","line":500,"sourceCode":"s"},`, 20_000), ",")
	doc := fmt.Appendf(nil, `{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":"go","langVersion":"1","agent":"a",
		"agentVersion":"1","mainThread":"1","threads":{"0":{"stack":[%[1]s]},"1":{"stack":[{"funcName":"f","line":500,"sourceCode":"s"}]}},
		"sourceCode":{"s":{"text":%[2]q,"startLine":1}}}`, stack, strings.Repeat(strings.Repeat("x", 1000)+"\n", 1000))
	threads, _ := Threads(Report(doc), doc, &symbolication.Document{})
	require.NotNil(t, threads[1].Frames[0].Source, "the main thread has room of its own")
	text, err := json.Marshal(threads)
	require.NoError(t, err)
	require.Less(t, len(text), 4<<20)
}

// TestTextsOfFramesAreBounded checks names of megabytes, and many long ones.
func TestTextsOfFramesAreBounded(t *testing.T) {
	t.Parallel()
	long := fmt.Sprintf(`{"funcName":%q,"library":"l"},`, strings.Repeat("x", 1<<20))
	many := strings.Repeat(fmt.Sprintf(`{"funcName":%q},`, strings.Repeat("y", 1500)), 9000)
	doc := fmt.Appendf(nil,
		`{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":"c","langVersion":"1","agent":"a","agentVersion":"1",
		"mainThread":"1","threads":{"0":{"stack":[%s{"funcName":"last"}]},"1":{"stack":[%s{"funcName":"f"}]}},"modules":[{"code_file":%q}]}`,
		many, long, strings.Repeat("z", 1<<20))
	r := Report(doc)
	threads, _ := Threads(r, doc, &symbolication.Document{})
	require.Len(t, threads[0].Frames, 1398)
	require.Equal(t, 9001, len(threads[0].Frames)+threads[0].FramesOmitted)
	require.Len(t, threads[1].Frames, 2)
	require.Len(t, threads[1].Frames[0].Function, MaxFrameText)
	modules, _ := Modules(r, &symbolication.Document{})
	text, err := json.Marshal([]any{threads, modules})
	require.NoError(t, err)
	require.Less(t, len(text), 5<<20)
}
