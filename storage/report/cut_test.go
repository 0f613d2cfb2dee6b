package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var mendedAt = time.Unix(1_800_000_000, 0)

const wholeReport = `{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1700000000,"lang":"c","langVersion":"11","agent":"a",` +
	`"agentVersion":"1",
 "mainThread":"7","classifiers":["SIGSEGV"],"threads":{"7":{"name":"main","fault":true,"stack":[{"funcName":"pay","line":3},` +
	`{"address":"0x1f"},{"funcName":"main"}]},
 "8":{"name":"other","stack":[]}},"attributes":{"user":"ann","n":17,"on":true},"annotations":{"k":[1,2,{"x":null}]}}`

// Each beginning of a report is kept from the first thing on that says something, and what is
// kept grows with it.
func TestMendKeepsWhatCanBeRead(t *testing.T) {
	t.Parallel()
	frames, before := 0, 0
	for n := range len(wholeReport) {
		doc := []byte(wholeReport[:n])
		mended, head, ok := Mend(doc, Limits{}, mendedAt)
		require.Equal(t, wholeReport[:n], string(doc), "it is not written over")
		if !ok {
			require.Less(t, n, strings.Index(wholeReport, `["SIGSEGV"`)+1, wholeReport[:n])
			continue
		}
		r, err := Parse(mended)
		require.NoError(t, err, string(mended))
		require.Equal(t, "0b5ac4c2", fmt.Sprintf("%x", head.UUID[:4]))
		require.EqualValues(t, 1700000000, r.Timestamp)
		require.Equal(t, "7", r.MainThread)
		var marked struct{ Truncated bool }
		require.NoError(t, json.Unmarshal(mended, &marked))
		require.True(t, marked.Truncated)
		frames = len(r.Threads[0].Frames)
		require.GreaterOrEqual(t, frames, before)
		before = frames
		if strings.Contains(wholeReport[:n], `"n":17,`) {
			require.Equal(t, "17", r.Attribute("n"))
		}
	}
	require.Equal(t, 3, frames)
}

func TestMendOfParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, holds string }{
		"a number may go on":          {`{"attributes":{"n":17`, `"attributes":{},"truncated":true`},
		"without a uuid":              {`{"attributes":{"a":"b"},"tim`, `"attributes":{"a":"b"},"truncated":true,"uuid":"`},
		"zeros behind":                {`{"attributes":{"a":"b","c` + "\x00\x00\n", `{"attributes":{"a":"b"},"truncated":true`},
		"main thread named before":    {`{"mainThread":"9","threads":{"9":{"na`, `"threads":{"9":{}},"truncated"`},
		"its thread is not there":     {`{"mainThread":"9","attributes":{"a":1},"threads":{"`, `"threads":{"9":{}}`},
		"a frame without its name":    {`{"threads":{"1":{"stack":[{"funcName":"f"},{"line":3`, `"stack":[{"funcName":"f"}]`},
		"nothing whole":               {`{"threads":{"1`, ""},
		"no object":                   {`["threads",{"attributes":`, ""},
		"whole":                       {`{"attributes":{}}`, ""},
		"broken":                      {`{"attributes":{"a":b`, ""},
		"broken before":               {`{"attributes"::{"a":1`, ""},
		"nothing but the head":        {`{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":17`, ""},
		"twice":                       {`{"attributes":{},"attributes":{"a":1`, `{"attributes":{},"truncated"`},
		"of the wrong type":           {`{"timestamp":"x","attributes":{"a":1`, ""},
		"empty":                       {"", ""},
		"deep":                        {`{"annotations":` + strings.Repeat("[", 5000), ""},
		"not UTF-8":                   {"{\"attributes\":{\"a\":\"\xff\",", ""},
		"a character that is cut off": {"{\"attributes\":{\"a\":1,\"b\":\"\xc3", `"attributes":{"a":1}`},
	} {
		mended, _, ok := Mend([]byte(c.doc), Limits{}, mendedAt)
		require.Equal(t, c.holds != "", ok, "%s: %s", name, mended)
		require.Contains(t, string(mended), c.holds, name)
		again, _, _ := Mend([]byte(c.doc), Limits{}, mendedAt)
		require.Equal(t, mended, again, name)
	}
}

func TestSentAt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{`1700000000`: 1700000000, `"1700000000"`: 1700000000, `1700000000123`: 1700000000,
		`1700000000.9`:           1700000000,
		`"2023-11-14T22:13:20Z"`: 1700000000, `"2023-11-14T23:13:20.5+01:00"`: 1700000000, `null`: 0, `-5`: 0, `{"a":1}`: 0,
		`1e300`: 0, `"x"`: 0, `"9999-12-31T23:59:59Z"`: 253402300799} {
		doc := wholeReport[:len(wholeReport)-1] + `,"sent_at":` + text + `}`
		head, err := Check([]byte(doc), Limits{})
		require.NoError(t, err, text)
		require.Equal(t, want, head.SentAt, text)
		require.True(t, head.UnknownMembers)
	}
}

func FuzzMend(f *testing.F) {
	for n := 0; n < len(wholeReport); n += 37 {
		f.Add([]byte(wholeReport[:n]))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := bytes.Clone(doc)
		mended, head, ok := Mend(doc, Limits{}, mendedAt)
		if !bytes.Equal(before, doc) {
			t.Fatal("written over")
		}
		if !ok {
			return
		}
		if !json.Valid(mended) || len(mended) > 7*len(doc)+400 {
			t.Fatalf("%d bytes of %d: %s", len(mended), len(doc), mended)
		}
		if again, err := Check(mended, Limits{}); err != nil || again.UUID != head.UUID {
			t.Fatalf("%v: %s", err, mended)
		}
	})
}
