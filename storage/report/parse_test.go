package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, doc string) *Report {
	t.Helper()
	head, err := Check([]byte(doc), Limits{})
	require.NoError(t, err)
	r, err := Parse(head.Document)
	require.NoError(t, err)
	return r
}

func TestParseNative(t *testing.T) {
	t.Parallel()
	r := parse(t, samples["native"])
	require.Equal(t, Frame{Address: "0x7fff1234", Guessed: true, Faulted: true}, r.Threads[0].Frames[0])
	require.Equal(t, "140734492676660", r.Threads[0].Frames[1].Address)
	require.Equal(t, []Module{{Start: "140734492672000", Size: "8192", CodeFile: "/lib/libc.so.6", Version: "2.36",
		DebugFile: "libc.so.6", DebugIdentifier: "AB12"}}, r.Modules)
	require.Len(t, r.Fingerprint, 32)
	require.EqualValues(t, 31, r.Fingerprint[31])
}

func TestParsePython(t *testing.T) {
	t.Parallel()
	r := parse(t, samples["python"])
	require.Equal(t, "140735212345678", r.MainThread)
	require.Equal(t, "140735212345600", r.EntryThread)
	require.Equal(t, []string{"ValueError"}, r.Classifiers)
	require.Equal(t, Frame{Function: "run", Line: 17, SourceCode: "/srv/app.py", Path: "/srv/app.py", Library: "/srv/app.py"},
		r.Threads[0].Frames[0])
	require.Equal(t, "boom \uFFFD", r.Attribute("error.message"))
	require.Equal(t, "worker", r.FaultThread().Name)
}

func TestParseJava(t *testing.T) {
	t.Parallel()
	r := parse(t, samples["java"])
	require.Equal(t, "proguard", r.Symbolication)
	require.Equal(t, map[string]string{"decaf": "Main.java"}, r.Sources)
	main := r.FaultThread()
	require.Equal(t, "main", main.ID)
	require.Equal(t, "Main.java", main.Frames[0].Path)
	require.Empty(t, main.Frames[1].Path)
	require.Zero(t, main.Frames[1].Line)
}

// The order of threads is kept, whatever the ids: the first faulting one is
// the main thread.
func TestThreadOrder(t *testing.T) {
	t.Parallel()
	r := parse(t, strings.Replace(minimal, `{"0":{}}`, `{"9":{},"z":{"fault":true},"0":{},"a":{"fault":true}}`, 1))
	var ids []string
	for _, thread := range r.Threads {
		ids = append(ids, thread.ID)
	}
	require.Equal(t, []string{"9", "z", "0", "a"}, ids)
	require.Equal(t, "z", r.FaultThread().ID)
}

func TestParseText(t *testing.T) {
	t.Parallel()
	r := parse(t, samples["escapes"])
	require.Equal(t, "\uFFFD", r.Lang)
	require.Equal(t, "😀", r.Agent)
	require.Equal(t, "\uFFFD", r.AgentVersion)
	require.Equal(t, "a\uFFFDb", r.Threads[0].Name)
	require.Equal(t, "1", r.Threads[0].ID)
	for raw, want := range map[string]string{
		`\"\\\/\b\f\n\r\t`:       "\"\\/\b\f\n\r\t",
		`\u00e9\u4E2D`:           "é中",
		`\ud83dA`:                "\uFFFDA",
		`\ud83d\u0041`:           "\uFFFDA",
		`\ude00\ud83d\ude00`:     "\uFFFD😀",
		`\ud83d\ud83d\ude00`:     "\uFFFD😀",
		`x\u0000`:                "x\uFFFD",
		`a long text, no escape`: "a long text, no escape",
	} {
		require.Equal(t, want, text{raw: []byte(raw), escaped: true}.String(), raw)
	}
}

func TestParsePositions(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		`1`: 1, `"12"`: 12, `"0"`: 0, `-2`: 0, `"-2"`: 0, `"x"`: 0, `""`: 0, `null`: 0, `7.0`: 7, `7.5`: 0,
		`1e3`: 0, `99999999999999999999999`: 0, `9223372036854775807`: 9223372036854775807,
	} {
		r := parse(t, frame(`"funcName":"f","line":`+raw+`,"column":`+raw))
		require.Equal(t, want, r.Threads[0].Frames[0].Line, raw)
		require.Equal(t, want, r.Threads[0].Frames[0].Column, raw)
	}
}

func TestParseAttributes(t *testing.T) {
	t.Parallel()
	r := parse(t, with(`"attributes":{"a":1,"b":"x","c":true,"d":null,"e":1.50,"a":"last","f":false}`))
	require.Equal(t, []Attribute{
		{"a", "last"}, {"b", "x"}, {"c", true}, {"d", nil}, {"e", json.Number("1.50")}, {"f", false},
	}, r.Attributes)
	require.Equal(t, "1.50", r.Attribute("e"))
	require.Equal(t, "true", r.Attribute("c"))
	require.Equal(t, "false", r.Attribute("f"))
	require.Empty(t, r.Attribute("d"))
	require.Empty(t, r.Attribute("none"))
}

// The report must not hold on to the document's memory, which is reused.
func TestParseCopies(t *testing.T) {
	t.Parallel()
	doc := []byte(samples["go"])
	r, err := Parse(doc)
	require.NoError(t, err)
	clear(doc)
	require.Equal(t, "1", r.MainThread)
	require.Equal(t, "main.main", r.Threads[0].Frames[0].Function)
	require.Equal(t, "main.go", r.Threads[0].Frames[0].Path)
	require.Equal(t, "1.7e9", r.Attribute("cpu.boottime"))
}

// Clients of .NET say in which place of which method a frame is.
func TestParseManaged(t *testing.T) {
	t.Parallel()
	doc := `{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":"csharp","langVersion":"1","agent":"a","agentVersion":"1",` +
		`"mainThread":"0","threads":{"0":{"stack":[
		{"funcName":"f","metadata_token":100663298,"il":0},{"funcName":"f","metadata_token":100663298},{"funcName":"f",` +
		`"metadata_token":100663298,"il":-1},
		{"funcName":"f","metadata_token":4294967296,"il":1},{"funcName":"f","metadata_token":null,"il":1}]}}}`
	r, err := Parse([]byte(doc))
	require.NoError(t, err)
	require.Equal(t, Frame{Function: "f", MethodToken: 0x06000002}, r.Threads[0].Frames[0])
	for _, f := range r.Threads[0].Frames[1:] {
		require.Equal(t, Frame{Function: "f"}, f)
	}
}
