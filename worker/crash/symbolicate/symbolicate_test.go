package symbolicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// fake is a Session by "type value release" of identifiers.
type fake struct {
	natives  map[string]addressTable
	mappings map[string]Mapping
	maps     map[string]SourceMap
	scripts  map[string]Script
	build    int64
	err      error
	holds    bool // what Refresh returns
	asked    []Query
}

func named[T any](f *fake, q Query, files map[string]T) (found T, file symbolication.File, err error) {
	f.asked = append(f.asked, q)
	if f.err != nil {
		return found, file, f.err
	}
	for _, id := range q.Identifiers {
		if v, ok := files[strings.TrimSpace(string(id.Type)+" "+id.Value+" "+id.Release)]; ok {
			return v, symbolication.File{SymbolID: 1, FileID: int64(len(id.Value)), Name: "file", Identifier: id}, nil
		}
	}
	return found, file, ErrMissing
}

func (f *fake) Native(_ context.Context, q Query) (Native, symbolication.File, error) {
	found, file, err := named(f, q, f.natives)
	if err != nil {
		return nil, file, err
	}
	return found, file, nil
}
func (f *fake) Mapping(_ context.Context, q Query) (Mapping, symbolication.File, error) {
	return named(f, q, f.mappings)
}
func (f *fake) SourceMap(_ context.Context, q Query) (SourceMap, symbolication.File, error) {
	return named(f, q, f.maps)
}
func (f *fake) Script(_ context.Context, q Query) (Script, symbolication.File, error) {
	return named(f, q, f.scripts)
}
func (f *fake) Build(context.Context, Place, crash.BuildRef) (int64, error) { return f.build, f.err }

func (f *fake) Named(string) (bool, error)            { return true, nil }
func (f *fake) Ask(context.Context) error             { return nil }
func (f *fake) Full() bool                            { return false }
func (f *fake) Refresh(context.Context) (bool, error) { return f.holds, nil }
func (f *fake) Forget()                               {}

// addressTable has the frames at relative addresses.
type addressTable map[uint64][]native.Frame

func (a addressTable) Lookup(address uint64) ([]native.Frame, error) { return a[address], nil }

// javaTable has lines by "class.method:line".
type javaTable map[string][][]JavaResult

func (j javaTable) Stack(_ string, frames []JavaFrame) ([]JavaLine, error) {
	lines := make([]JavaLine, len(frames))
	for i, f := range frames {
		lines[i].Alternatives = j[fmt.Sprintf("%s.%s:%d", f.Class, f.Method, f.Line)]
	}
	return lines, nil
}
func (j javaTable) Class(name string) (string, bool, error) {
	return "shop.CartError", name == "a.x", nil
}
func (j javaTable) Text(text string) (string, error) {
	return strings.ReplaceAll(text, "a.b.c", "shop.Cart.price"), nil
}

// scriptTable has frames by "line:column".
type scriptTable map[string][]symbolication.Frame

func (s scriptTable) Frames(at ScriptPlace, _ *ScriptPlace, _ Script) ([]symbolication.Frame, error) {
	return s[fmt.Sprintf("%d:%d", at.Line, at.Column)], nil
}

type scriptText struct{ url string }

func (s scriptText) MapURL() string  { return s.url }
func (s scriptText) DebugID() string { return "" }
func (s scriptText) Excerpt(line int) (*symbolication.Source, error) {
	return &symbolication.Source{Start: int64(line), Lines: []string{"return price"}}, nil
}

func parsed(t *testing.T, lang, symbolicationMember, stack, more string) Input {
	t.Helper()
	doc := fmt.Appendf(nil, `{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":%q,"langVersion":"1","agent":"a",
		"agentVersion":"1","mainThread":"0","symbolication":%q,"threads":{"0":{"stack":[%s]}}%s}`, lang, symbolicationMember, stack, more)
	r, err := report.Parse(doc)
	require.NoError(t, err)
	return Input{Place: Place{OrganizationID: 1, ProjectID: 2}, Report: r, Document: doc}
}

func functions(r *report.Report) (list []string) {
	for _, f := range r.Threads[0].Frames {
		list = append(list, fmt.Sprintf("%s %s:%d", f.Function, f.Path, f.Line))
	}
	return list
}

const debugID = "C1A2B3C4D5E6F708192A3B4C5D6E7F800"

func nativeModules(start string) string {
	return `,"modules":[{"start":"` + start + `","size":65536,"code_file":"/opt/shop","debug_identifier":"` + debugID + `"}]`
}

func TestNativeAddresses(t *testing.T) {
	t.Parallel()
	table := addressTable{
		0x10: {{Function: "price", File: "cart.c", Line: 3, Inlined: true}, {Function: "total", File: "cart.c", Line: 9}},
		0x1f: {{Function: "main", File: "main.c", Line: 4}}, // the call before 0x20
		0x30: {{Symbol: "_start", Public: true}},
	}
	in := parsed(t, "c", "", `{"address":"0x400010"},{"address":"4194336"},{"funcName":"known","address":"0x400020"},
		{"address":"0x400031"},{"address":"0x400050"},{"address":"0x900000"}`, nativeModules("0x400000"))
	s := &fake{natives: map[string]addressTable{"debug_id " + debugID: table}}
	res, err := readReport(t, s, in)
	require.NoError(t, err)
	require.Equal(t, crash.SymbolsPartial, res.State)
	require.Equal(t, []string{"price cart.c:3", "total cart.c:9", "main main.c:4", "known :0", "_start :0", " :0", " :0"},
		functions(res.Report))
	require.Len(t, s.asked, 3, "a module and each of its sources are asked for once")
	replaced := res.Document.Thread("0")
	require.Equal(t, symbolication.DebugInfo, replaced[0].Frames[0].Method)
	require.Equal(t, symbolication.PublicSymbol, replaced[3].Frames[0].Method)
	require.True(t, replaced[0].Frames[0].Inlined)
	require.Equal(t, debugID, res.Document.Files[0].Identifier.Value)
	require.Equal(t, []symbolication.Module{{Index: 0, File: 1}}, res.Document.Modules)
	// The file may be a stripped one: that with the debug information may come later.
	require.Len(t, res.Document.Missing, 1)
	require.Contains(t, res.Document.Missing[0].Reason, "has no function at these addresses")
	require.Equal(t, 1, res.Document.Missing[0].Frames)
	require.Equal(t, 1, replaced[4].Missing)
	require.Len(t, res.Needs, 1)
	require.True(t, res.Needs[0].Found)
	require.Empty(t, res.Lacking(5), "what lies there does not change when symbols arrive as it does without any")
}

func TestNativeMissing(t *testing.T) {
	t.Parallel()
	in := parsed(t, "c", "", `{"funcName":"known"},{"address":"0x400010"},{"address":"0x400020"}`, nativeModules("0x400000"))
	res, err := readReport(t, &fake{}, in)
	require.NoError(t, err)
	require.Equal(t, crash.SymbolsMissing, res.State)
	require.Len(t, res.Needs, 1)
	lack := need.Need{Kind: "native", Name: "shop", LookedFor: []symbol.Identifier{{Type: symbol.DebugID, Value: debugID}}}
	lack.Digest = need.Digest(&lack)
	require.Equal(t, lack, res.Needs[0])
	require.Equal(t, 2, res.Document.Missing[0].Frames)
	require.Equal(t, []symbolication.Module{{Index: 0, Missing: 1}}, res.Document.Modules)
	require.Equal(t, "", res.Lacking(0))
	require.Equal(t, "debug_id "+debugID, res.Lacking(1))

	cold, err := readReport(t, &fake{err: ErrCold}, in)
	require.NoError(t, err)
	require.True(t, cold.Cold)
	require.Equal(t, crash.SymbolsPending, cold.State)
	require.Empty(t, cold.Needs)
	require.Equal(t, "debug_id "+debugID, cold.Lacking(1), "the key is bound while the file is fetched")

	_, err = readReport(t, &fake{err: errors.New("the store is down")}, in)
	require.EqualError(t, err, "the store is down")

	spoiled, err := readReport(t, &fake{err: symbol.Invalid(symbol.Truncated, "cut off")}, in)
	require.NoError(t, err)
	require.Contains(t, spoiled.Document.Missing[0].Reason, "cut off")

	none := parsed(t, "c", "", `{"funcName":"known"}`, "")
	res, err = readReport(t, &fake{}, none)
	require.NoError(t, err)
	require.Nil(t, res)
}

// TestNamesOfTheClient checks dumps whose client knew public symbols only.
func TestNamesOfTheClient(t *testing.T) {
	t.Parallel()
	table := addressTable{0x10: {{Function: "price", File: "cart.m", Line: 3}}, 0x1f: {{Function: "_public", Public: true}}}
	in := parsed(t, "objc", "", `{"funcName":"price","address":"0x400010"},{"funcName":"known","address":"0x400020"}`,
		nativeModules("0x400000"))
	files := &fake{natives: map[string]addressTable{"debug_id " + debugID: table}}
	res, err := readReport(t, files, in)
	require.NoError(t, err)
	require.Nil(t, res, "the client symbolicated the report")

	in.Dump = true
	res, err = readReport(t, files, in)
	require.NoError(t, err)
	require.Equal(t, []string{"price cart.m:3", "known :0"}, functions(res.Report))

	res, err = readReport(t, &fake{}, in)
	require.NoError(t, err)
	require.Len(t, res.Needs, 1, "the debug file that arrives later has the lines")
	require.Equal(t, "", res.Lacking(0), "a name is the same in each build")
}

// TestWhatStandsThereIsBounded checks a file that says the most everywhere.
func TestWhatStandsThereIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("f", 900)
	alternative := make([]JavaResult, 150)
	for i := range alternative {
		alternative[i] = JavaResult{JavaFrame: JavaFrame{Class: long, Method: "m", File: long}, Signature: long}
	}
	var frames []string
	for range 500 {
		frames = append(frames, `{"funcName":"a.b.c"}`)
	}
	in := parsed(t, "java", "proguard", strings.Join(frames, ","), `,"attributes":{"symbolication_id":"1"}`)
	res, err := readReport(t, &fake{mappings: map[string]Mapping{"mapping_id 1": javaTable{"a.b.c:0": {alternative, alternative}}}}, in)
	require.NoError(t, err)
	doc, err := json.Marshal(res.Document)
	require.NoError(t, err)
	require.Less(t, len(doc), 10<<20)
	require.NotEmpty(t, res.Document.Thread("0"))
	require.Equal(t, 500, len(res.Document.Thread("0"))+res.Document.Omitted)
}

func TestNativeModules(t *testing.T) {
	t.Parallel()
	table := map[string]addressTable{"debug_id " + debugID: {0x10: {{Function: "price"}}}}
	for name, c := range map[string]struct{ frame, modules string }{
		"in range": {`{"address":"0x400010"}`, nativeModules("0x400000")},
		"by identifier": {`{"address":"0x400010","debug_identifier":"` + debugID + `"}`,
			`,"modules":[{"start":"0x400000","code_file":"/opt/shop","debug_identifier":"` + debugID + `"}]`},
		"an offset":          {`{"address":"0x10","debug_identifier":"` + debugID + `","library":"shop"}`, ""},
		"an offset, by name": {`{"address":"0x10","library":"/x/shop"}`, nativeModules("0x400000")},
		"a UUID":             {`{"address":"0x10","debug_identifier":"c1a2b3c4-d5e6-f708-192a-3b4c5d6e7f80"}`, ""},
	} {
		res, err := readReport(t, &fake{natives: table}, parsed(t, "c", "minidump", c.frame, c.modules))
		require.NoError(t, err, name)
		require.Equal(t, []string{"price :0"}, functions(res.Report), name)
	}
}

func TestJava(t *testing.T) {
	t.Parallel()
	table := javaTable{
		"a.b.c:1": {{{JavaFrame: JavaFrame{"shop.Cart", "price", "Cart.java", 7}, Inlined: true},
			{JavaFrame: JavaFrame{"shop.Cart", "total", "Cart.java", 12}, Signature: "int total(int)"}},
			{{JavaFrame: JavaFrame{"shop.Cart", "other", "Cart.java", 0}}}},
		"a.b.d:2": {nil},
	}
	stack := `{"funcName":"a.b.c","line":"1"},{"funcName":"a.b.d","line":2},{"funcName":"java.lang.Thread.run","line":3}`
	text := `,"classifiers":["a.x"],"attributes":{"symbolication_id":"7A3F","error.stack":"a.x\n\tat a.b.c(SourceFile:1)"},
		"annotations":{"log":["x","W/A: at a.b.c(Unknown Source:1)"]}`
	in := parsed(t, "java", "proguard", stack, text)
	res, err := readReport(t, &fake{mappings: map[string]Mapping{"mapping_id 7a3f": table}}, in)
	require.NoError(t, err)
	require.Equal(t, []string{"shop.Cart.price Cart.java:7", "shop.Cart.total Cart.java:12", "java.lang.Thread.run :3"}, functions(res.Report))
	require.Equal(t, []string{"shop.CartError"}, res.Report.Classifiers)
	p := res.Document.Thread("0")
	require.Equal(t, "shop.Cart.other", p[0].Alternatives[0][0].Function)
	require.True(t, p[1].Hidden)
	require.Equal(t, "int total(int)", p[0].Frames[1].Signature)
	require.Equal(t, []symbolication.Text{
		{Where: "attributes.error.stack", Text: "a.x\n\tat shop.Cart.price(SourceFile:1)", File: 1},
		{Where: "annotations.log", Text: "W/A: at shop.Cart.price(Unknown Source:1)", File: 1}}, res.Document.Texts)
	doc, err := json.Marshal(res.Document)
	require.NoError(t, err)
	again, err := symbolication.Decode(doc)
	require.NoError(t, err)
	require.Equal(t, res.Report, again.Apply(in.Report))
}

func TestJavaMappings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		symbolication, frame, attributes string
		build                            crash.BuildRef
		want                             []symbol.Identifier
		bound                            string
	}{
		"the given id, then that of the compiler": {"proguard", `{"funcName":"a.b.c"}`, `"pg_map_id":"2","symbolication_id":"1"`,
			crash.BuildRef{},
			[]symbol.Identifier{{Type: symbol.MappingID, Value: "1"}, {Type: symbol.MappingID, Value: "2"}}, "mapping_id 1"},
		"the source file": {"", `{"funcName":"a.b.c","library":"r8-map-id-55"}`, ``, crash.BuildRef{},
			[]symbol.Identifier{{Type: symbol.MappingID, Value: "55"}}, "mapping_id 55"},
		"the build": {"proguard", `{"funcName":"a.b.c"}`, ``, crash.BuildRef{Version: "1"},
			[]symbol.Identifier{{Type: "build", Value: "9"}, {Type: "version", Value: "1"}}, "build 9"},
		"a build that may come": {"proguard", `{"funcName":"a.b.c"}`, ``, crash.BuildRef{ID: "none", Version: "1", VersionCode: "34"},
			[]symbol.Identifier{{Type: "version", Value: "1", Release: "34"}, {Type: "version", Value: "1"}}, "version 1 34"},
		"the build of what looks obfuscated": {"", `{"funcName":"a.b.c","library":"SourceFile"}`, ``, crash.BuildRef{Version: "1"},
			[]symbol.Identifier{{Type: "build", Value: "9"}, {Type: "version", Value: "1"}}, "build 9"},
		"what looks obfuscated, of a build that may come": {"", `{"funcName":"a.b.c","library":"SourceFile"}`, ``,
			crash.BuildRef{ID: "none", Version: "1"},
			[]symbol.Identifier{{Type: "version", Value: "1"}}, ""},
		"readable":           {"", `{"funcName":"shop.Cart.price"}`, ``, crash.BuildRef{Version: "1"}, nil, ""},
		"nothing but a flag": {"proguard", `{"funcName":"a.b.c"}`, ``, crash.BuildRef{}, nil, ""},
	} {
		in := parsed(t, "java", c.symbolication, c.frame, `,"attributes":{`+c.attributes+`}`)
		in.Build = c.build
		files := &fake{build: 9}
		if c.build.ID == "none" {
			files.build = 0
		}
		res, err := readReport(t, files, in)
		require.NoError(t, err, name)
		if res == nil {
			require.Empty(t, c.want, name)
			continue
		}
		require.Equal(t, crash.SymbolsMissing, res.State, name)
		require.Equal(t, c.bound, res.Lacking(0), name)
		if len(c.want) == 0 {
			require.Empty(t, res.Needs, name)
			require.Contains(t, res.Document.Missing[0].Reason, "names nothing")
			continue
		}
		require.Equal(t, c.want, res.Needs[0].LookedFor, name)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	table := scriptTable{"1:20": {{Function: "price", File: "src/cart.ts", Line: 3, Column: 5, Method: symbolication.MapScopes, Inlined: true},
		{Function: "total", File: "src/cart.ts", Line: 9, Method: symbolication.MapNames}}}
	const url, id = "https://shop.example.com/a/main.js", "85314830-023f-4cf1-a267-535f4e37bb17"
	frame := func(more string) string {
		return `{"funcName":"t","line":1,"column":20,"library":"` + url + `"` + more +
			`},{"funcName":"r","library":"node:internal/x","line":1,"column":2}`
	}
	for name, c := range map[string]struct {
		more, attributes string
		symbols          fake
	}{
		"by debug id":        {`,"debug_identifier":"` + id + `"`, ``, fake{maps: map[string]SourceMap{"debugId " + id: table}}},
		"by a list of ids":   {``, `"debugIds":"{\"` + url + `\":\"` + id + `\"}"`, fake{maps: map[string]SourceMap{"debugId " + id: table}}},
		"by release and url": {``, `"release":"1.2"`, fake{maps: map[string]SourceMap{"url ~/a/main.js.map 1.2": table}}},
		"by url":             {``, `"release":"1.2"`, fake{maps: map[string]SourceMap{"url " + url + ".map": table}}},
		"by the script's words": {``, ``, fake{scripts: map[string]Script{"url " + url: scriptText{"maps/m.map"}},
			maps: map[string]SourceMap{"url ~/a/maps/m.map": table}}},
	} {
		in := parsed(t, "javascript", "", frame(c.more), `,"attributes":{`+c.attributes+`}`)
		res, err := readReport(t, &c.symbols, in)
		require.NoError(t, err, name)
		require.Equal(t, crash.SymbolsComplete, res.State, name)
		require.Equal(t, []string{"price src/cart.ts:3", "total src/cart.ts:9", "r :1"}, functions(res.Report), name)
	}
	// The source was uploaded beside the map.
	in := parsed(t, "javascript", "sourcemap", frame(""), `,"attributes":{"stack":"Error: x\n    at t (`+url+`:1:20)\n    at q (x.js:1:1)"}`)
	res, err := readReport(t, &fake{maps: map[string]SourceMap{"url " + url + ".map": table},
		scripts: map[string]Script{"url src/cart.ts": scriptText{}}}, in)
	require.NoError(t, err)
	require.Equal(t, []string{"return price"}, res.Document.Thread("0")[0].Frames[0].Source.Lines)
	require.Equal(t, "Error: x\n    at price (src/cart.ts:3:5)\n    at total (src/cart.ts:9:0)\n    at q (x.js:1:1)",
		res.Document.Texts[0].Text)
}

func TestScriptsWithoutMaps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		symbolication, url string
		needs              int
		bound              bool
	}{
		"announced":          {"sourcemap", "/app/main.js", 1, true},
		"of a server":        {"", "https://shop.example.com/main.js", 1, false},
		"a file of Node":     {"", "/app/main.js", 0, false},
		"the engine's frame": {"sourcemap", "node:fs", 0, false},
	} {
		in := parsed(t, "javascript", c.symbolication, `{"funcName":"t","line":1,"column":20,"library":"`+c.url+`"}`, "")
		res, err := readReport(t, &fake{}, in)
		require.NoError(t, err, name)
		require.Len(t, res.Needs, c.needs, name)
		require.Equal(t, c.bound, res.Lacking(0) != "", name)
	}
}

// TestWhatAScriptIsLookedForBy checks that a need has all names under which its map may come,
// those without a release too, which are the last: a map may be uploaded without one.
func TestWhatAScriptIsLookedForBy(t *testing.T) {
	t.Parallel()
	const url = "https://shop.example.com/static/js/a/main.3f9a1c.js?v=12#x"
	in := parsed(t, "javascript", "sourcemap", `{"funcName":"t","line":1,"column":20,"library":"`+url+
		`","debug_identifier":"85314830-023f-4cf1-a267-535f4e37bb17"}`,
		`,"attributes":{"release":"shop@1.2"}`)
	in.Build = crash.BuildRef{Version: "1.2"}
	scripts := map[string]Script{"url " + url: scriptText{"../maps/m.map?v=12"}}
	res, err := readReport(t, &fake{scripts: scripts}, in)
	require.NoError(t, err)
	list := res.Needs[0].LookedFor
	require.LessOrEqual(t, len(list), 96, "the bound of a need, and of a look-up")
	for _, release := range []string{"shop@1.2", "1.2", ""} {
		for _, name := range []string{"~/static/js/a/main.3f9a1c.js.map", "~/static/js/maps/m.map", "main.3f9a1c.js.map"} {
			require.Contains(t, list, symbol.Identifier{Type: symbol.URL, Value: name, Release: release})
		}
	}
}
