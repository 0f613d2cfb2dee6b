package trace

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/run/traffic"
)

const secret = "hush-hush"

func recorder() *Recorder {
	return New(Config{Title: "t", Redact: strings.NewReplacer(secret, "***").Replace})
}

func unzipped(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// document makes a document of one frame.
func document(t testing.TB, s *Snapshotter, tokens ...string) *Document {
	t.Helper()
	text, err := json.Marshal(map[string]any{"realm": "r", "seq": 1, "frames": []any{map[string]any{"id": "frame@1", "tokens": tokens}}})
	require.NoError(t, err)
	doc, err := s.read("w", string(text))
	require.NoError(t, err)
	return doc
}

func TestSubtreesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	r := recorder()
	s := r.NewSnapshotter()
	page := func(text string) *Document {
		return document(t, s, "EHTML", "EP", "Aclass", "a", "Tsome text that is long", "/", "EB", "T"+text, "/", "/")
	}
	f := &frame{known: map[uint64]place{}}
	for i, want := range []struct{ text, html string }{
		{"one", `["HTML",{},["P",{"class":"a"},"some text that is long"],["B",{},"one"]]`},
		{"two", `["HTML",{},[[1,1]],["B",{},"two"]]`},
		{"two", `[[1,2]]`},
		{"one", `[[3,4]]`},
	} {
		require.Equal(t, want.html, string(f.write(page(want.text).trees[0].root)), i)
	}
}

func TestDocumentsAreRedacted(t *testing.T) {
	t.Parallel()
	s := recorder().NewSnapshotter()
	doc := document(t, s, "EHTML", "Atitle", "a "+secret, "A"+secret, "x", "T"+secret, "/")
	f := &frame{known: map[uint64]place{}}
	require.Equal(t, `["HTML",{"title":"a ***"},"***"]`, string(f.write(doc.trees[0].root)))
}

func TestDocumentsThatNoScriptOfOursGives(t *testing.T) {
	t.Parallel()
	s := recorder().NewSnapshotter()
	for name, text := range map[string]string{
		"no JSON": `{`, "no frames": `{}`, "of another": `{"same": true, "realm": "x", "seq": 3}`,
		"no element":      `{"frames": [{"id": "a", "tokens": ["Tx"]}]}`,
		"two roots":       `{"frames": [{"id": "a", "tokens": ["EA", "/", "EB", "/"]}]}`,
		"an end":          `{"frames": [{"id": "a", "tokens": ["/"]}]}`,
		"markup":          `{"frames": [{"id": "a", "tokens": ["EA><script", "/"]}]}`,
		"a cut attribute": `{"frames": [{"id": "a", "tokens": ["EA", "Aclass"]}]}`,
		"an empty token":  `{"frames": [{"id": "a", "tokens": ["EA", ""]}]}`,
		"a frame's name":  `{"frames": [{"id": "a/../b", "tokens": ["EA", "/"]}]}`,
		"one name twice":  `{"frames": [{"id": "a", "tokens": ["EA", "/"]}, {"id": "a", "tokens": ["EA", "/"]}]}`,
		"too deep":        `{"frames": [{"id": "a", "tokens": [` + strings.Repeat(`"EA",`, maxDepth+1) + `"/"]}]}`,
	} {
		_, err := s.read("w", text)
		require.ErrorIs(t, err, errDocument, name)
	}
}

func TestTraceIsBounded(t *testing.T) {
	t.Parallel()
	r := recorder()
	s := r.NewSnapshotter()
	source := rand.NewChaCha8([32]byte{})
	noise := func(n int) string {
		data := make([]byte, n)
		_, _ = source.Read(data)
		return fmt.Sprintf("%x", data)
	}
	for range 60 {
		call := r.Begin(Action{Title: "step"})
		r.End(call, "", true)
		r.Seen(document(t, s, "EHTML", "T"+noise(500<<10), "/"))
	}
	r.mu.Lock()
	require.Empty(t, r.store([]byte(noise(1<<20)), "", MaxResource), "above the bound of one")
	require.Empty(t, r.store([]byte(noise(100)), "", MaxResource), "the trace is full")
	r.mu.Unlock()
	data, err := r.Zip()
	require.NoError(t, err)
	require.Less(t, len(data), MaxBytes)
	require.Greater(t, len(data), MaxBytes/2)
	text := unzipped(t, data)["trace.trace"]
	require.Contains(t, text, "The trace is cut: it has reached 20 MB")
	require.Equal(t, 60+2, strings.Count(text, `"type":"after"`), "the actions go on, and two say what is missing")
}

func TestLinesOfTheConsoleAreBounded(t *testing.T) {
	t.Parallel()
	r := recorder()
	for range maxEvents + 100 {
		r.Console(Line{Time: time.Now(), Level: "info", Text: "again " + secret})
	}
	data, err := r.Zip()
	require.NoError(t, err)
	text := unzipped(t, data)["trace.trace"]
	require.Equal(t, maxEvents, strings.Count(text, `"type":"console"`))
	require.Contains(t, text, "there are too many events")
	require.NotContains(t, text, secret)
}

func TestExchangesCarryNoCredentials(t *testing.T) {
	t.Parallel()
	r := recorder()
	e := traffic.Entry{Method: "POST", URL: "https://ann:" + secret + "@shop.example/a.json?q=" + secret, Status: 200,
		MIMEType:    "application/json; charset=utf-8",
		RequestSize: 9, BodySize: 9, Sent: time.Now(),
		RequestHeaders: []traffic.Header{{Name: "Authorization", Value: "Basic abc"}, {Name: "COOKIE", Value: "abc"},
			{Name: "X-Api-Key", Value: "abc"},
			{Name: "X-CSRF-Token", Value: "abc"}, {Name: "Accept", Value: "text/" + secret}, {Name: "Content-Type", Value: "text/plain"}},
		ResponseHeaders: []traffic.Header{{Name: "Set-Cookie", Value: "abc"}, {Name: "Age", Value: "4"}}}
	r.exchange(&e, traffic.Body{Data: []byte("my " + secret), Text: true}, traffic.Body{Data: []byte(`{"a": "` + secret + `"}`)}, 1)
	binary := traffic.Entry{Method: "GET", URL: "https://shop.example/b", MIMEType: "image/png", Sent: time.Now()}
	r.exchange(&binary, traffic.Body{}, traffic.Body{Data: []byte("\xff" + secret)}, 1)
	data, err := r.Zip()
	require.NoError(t, err)
	files := unzipped(t, data)
	for name, text := range files {
		require.NotContains(t, text, secret, name)
		require.NotContains(t, text, `"abc"`, name)
	}
	require.Contains(t, files["trace.network"], `{"name":"Age","value":"4"}`)
	require.Contains(t, files["trace.network"], `"mimeType":"application/json"`)
	require.Len(t, files, 4, "the events, and two bodies")
	require.Contains(t, files["trace.trace"], "A body with a secret is left out")
}

// FuzzDocument reads what a page may give in place of a snapshot.
func FuzzDocument(f *testing.F) {
	f.Add(`{"realm":"r","seq":1,"width":1,"frames":[{"id":"frame@1","tokens":["EHTML","Aa","b","SstyleAttribute","c","EP","Tx","/","Cs",` +
		`"/"]}],"sheets":{"s":"a{}"}}`)
	f.Add(`{"same":true,"realm":"r","seq":1}`)
	f.Add(`{"frames":[{"id":"a","tokens":["E\u0000","/"]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r := recorder()
		s := r.NewSnapshotter()
		call := r.Begin(Action{Title: text})
		r.End(call, "", true)
		for range 2 {
			doc, err := s.read("w", text)
			if err != nil {
				r.Unseen()
				continue
			}
			r.Seen(doc)
			r.Input(call, Point{1, 1}, doc)
		}
		data, err := r.Zip()
		require.NoError(t, err)
		for line := range strings.Lines(unzipped(t, data)["trace.trace"]) {
			require.True(t, json.Valid([]byte(line)), line)
		}
	})
}
