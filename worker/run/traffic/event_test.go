package traffic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func newRecorder(cfg Config) *Recorder {
	return &Recorder{cfg: cfg, open: map[key]*Entry{}, watchers: map[int]func(Entry){}, received: make(chan struct{})}
}

func sentEvent(id int, address, value string) json.RawMessage {
	return json.RawMessage(
		fmt.Sprintf(`{"context":"c","navigation":null,"redirectCount":0,"timestamp":1000,"request":{"request":"%d","method":"GET",
"url":%q,"headers":[{"name":"a","value":{"type":"string","value":%q}},{"name":"b","value":{"type":"base64","value":"aGk="}},
{"name":"B","value":{"type":"string","value":"hi"}}],"timings":{}}}`, id, address, value))
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	r := newRecorder(Config{MaxEntries: 100, MaxBytes: 1 << 20, MaxBody: 1})
	for i := range 1000 {
		r.sent(sentEvent(i, "http://a/"+strings.Repeat("p", 100<<10), strings.Repeat("v", 100<<10)))
	}
	require.LessOrEqual(t, r.size, 1<<20)
	require.Equal(t, 1000, r.lost+len(r.entries))
	require.Len(t, r.open, len(r.entries), "nothing else is remembered of what was forgotten")
	last := r.Entries()[len(r.entries)-1]
	require.Len(t, last.URL, maxPart)
	require.Equal(t, []Header{{"a", strings.Repeat("v", maxPart)}, {"b", "hi"}}, last.RequestHeaders)
	require.Equal(t, 1000, last.Number)
}

func TestWhatNeverLeavesTheBrowserIsNotRecorded(t *testing.T) {
	r := newRecorder(Config{MaxEntries: 100, MaxBytes: 1 << 20})
	for i, address := range []string{"data:text/plain,x", "blob:http://a/b"} {
		r.sent(sentEvent(i, address, ""))
	}
	r.sent(json.RawMessage(`{}`))
	r.completed(json.RawMessage(`[1]`))
	require.Empty(t, r.Entries())
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(sentEvent(1, "http://a/#b", "v")))
	f.Add([]byte(`{"redirectCount":-1,"request":{"request":"1","timings":{"timeOrigin":1e300,"requestStart":-1e300}},` +
		`"response":{"status":-5,"headers":[{"name":"a","value":{"type":"base64","value":"?"}}],"content":{"size":-9}},"errorText":"x"}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		r := newRecorder(Config{MaxEntries: 3, MaxBytes: 1 << 16})
		for _, handle := range []func(json.RawMessage){r.sent, r.started, r.completed, r.failed, r.sent} {
			handle(params)
		}
		if len(r.entries) > 3 || len(r.open) > len(r.entries) {
			t.Fatalf("%d entries, %d open", len(r.entries), len(r.open))
		}
		for _, e := range r.Entries() {
			if e.BodySize < 0 || e.TransferSize < 0 {
				t.Fatal("a size below zero")
			}
		}
	})
}
