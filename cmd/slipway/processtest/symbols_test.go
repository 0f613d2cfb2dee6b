package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// lateMapping has two methods that one short name stands for, told apart by their lines.
const lateMapping = `# pg_map_id: 5f0c1ab
shop.Cart -> a.b:
    1:1:int price(int):40:40 -> c
    1:1:int total(int):55 -> c
    2:2:void send():70:70 -> c
`

// obfuscated is a report whose only frame is a line of a.b.c.
func obfuscated(line int, attributes string) []byte {
	return fmt.Appendf(nil, `{"uuid":%q,"timestamp":1780000000,"lang":"java","langVersion":"17","agent":"backtrace-android","agentVersion":"3",
		"symbolication":"proguard","mainThread":"main","threads":{"main":{"fault":true,"stack":[{"funcName":"a.b.c","line":"%d","library":"SourceFile"}]}},
		"classifiers":["java.lang.IllegalStateException"],"attributes":{%s,"error.message":"no price",
		"error.stack":"java.lang.IllegalStateException: no price\n\tat a.b.c(SourceFile:%d)"}}`, uuid.NewString(), line, attributes, line)
}

// uploadSymbols uploads a symbol file and returns its id.
func (a caller) uploadSymbols(t *testing.T, name, content string) int64 {
	t.Helper()
	body, contentType := form(t, field{"file", name, content})
	res, text := a.do(t, http.MethodPost, "/api/v3/symbols", body.Bytes(), func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
	require.Equal(t, http.StatusCreated, res.StatusCode, "%s", text)
	var answer struct {
		Symbol struct {
			ID int64 `json:"id"`
		} `json:"symbol"`
	}
	require.NoError(t, json.Unmarshal(text, &answer))
	return answer.Symbol.ID
}

// TestLateSymbols uploads a mapping after the crashes that need it: they become readable
// without anyone asking.
func TestLateSymbols(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	first := in.post(t, in.boot.Crash.Token, obfuscated(1, `"symbolication_id":"5f0c1ab"`))
	second := in.post(t, in.boot.Crash.Token, obfuscated(2, `"symbolication_id":"5f0c1ab"`))
	g := in.awaitGroup(t, "java.lang.IllegalStateException", 2)
	require.Contains(t, g.Culprit, "a.b.c")
	require.Equal(t, "missing", in.symbolicated(t, first).Symbolication.State)

	in.uploadSymbols(t, "mapping.txt", lateMapping)

	eventually(t, "the crashes are readable", func() bool {
		return in.symbolicated(t, first).Symbolication.State == "complete" && in.symbolicated(t, second).Symbolication.State == "complete"
	})
	c := in.symbolicated(t, first)
	frames := c.Threads[0].Frames
	require.Len(t, frames, 2)
	require.Equal(t, "shop.Cart.price", frames[0].Function)
	require.True(t, frames[0].Inlined)
	require.Equal(t, 40, frames[0].Line)
	require.Equal(t, "shop.Cart.total", frames[1].Function)
	require.Equal(t, "Cart.java", frames[1].File)
	require.Equal(t, "a.b.c", frames[1].Raw.Function)
	require.Equal(t, "mapping", frames[1].Method)
	require.Equal(t, "5f0c1ab", frames[1].Symbols.Identifier.Value)
	require.Contains(t, c.Symbolication.Texts[0].Text, "shop.Cart.price(Cart.java:40)")
	// Two bugs were in the group: the one that was read first keeps it. That is the newest
	// where the mapping came late; one that comes within moments may be read in any order.
	kept, other, culprit := in.symbolicated(t, second).GroupID, c.GroupID, "shop.Cart.send"
	if kept != g.ID {
		kept, other, culprit = other, kept, "shop.Cart.price"
	}
	require.Equal(t, g.ID, kept)
	require.NotEqual(t, kept, other)
	require.Contains(t, in.group(t, kept).Culprit, culprit)
	var detail struct {
		Group struct {
			SplitInto []struct {
				ID      int64 `json:"id"`
				Crashes int64 `json:"crashes"`
			} `json:"split_into"`
		} `json:"crash_group"`
	}
	in.get(t, fmt.Sprintf("/api/v3/crash-groups/%d", kept), &detail)
	require.Len(t, detail.Group.SplitInto, 1)
	require.Equal(t, other, detail.Group.SplitInto[0].ID)
	require.EqualValues(t, 1, detail.Group.SplitInto[0].Crashes)
	require.Zero(t, in.signal(t, os.Interrupt))
}

// TestMappingOfALaterBuild uploads builds with their mappings after the crashes of their
// versions: one whose version has a build without a mapping, and one whose has none.
func TestMappingOfALaterBuild(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	build := func(version string, more ...field) uploaded {
		fields := append(more, field{"file", "shop.ipa", string(newIPA(t, "com.example.shop", version, "1"))},
			field{name: "api_key", value: in.boot.Owner.APIKey})
		body, contentType := form(t, fields...)
		res, text := caller{base: in.base}.do(t, http.MethodPost, "/api/upload/", body.Bytes(),
			func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		var up uploaded
		require.NoError(t, json.Unmarshal(text, &up))
		return up
	}
	project := build("1.0").ProjectID
	res, text := in.do(t, http.MethodPut, fmt.Sprintf("/api/v3/crash-projects/%d", in.boot.Crash.Project),
		fmt.Appendf(nil, `{"project_id":%s}`, project), asJSON)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	crashes := map[string]uuid.UUID{}
	for _, version := range []string{"1.0", "2.0"} {
		crashes[version] = in.post(t, in.boot.Crash.Token, obfuscated(2, fmt.Sprintf(`"application.version":%q`, version)))
	}
	for version, id := range crashes {
		eventually(t, "the crash of "+version+" is read", func() bool { return in.symbolicated(t, id).Symbolication.State == "missing" })
	}
	for version, id := range crashes {
		build(version, field{"symbols_file", "mapping.txt", lateMapping})
		eventually(t, "the crash of "+version+" is readable", func() bool { return in.symbolicated(t, id).Symbolication.State == "complete" })
		require.Equal(t, "shop.Cart.send", in.symbolicated(t, id).Threads[0].Frames[0].Function)
	}
}

// symbolicatedCrash is a crash with what symbols made of it.
type symbolicatedCrash struct {
	GroupID       int64 `json:"group_id"`
	Symbolication struct {
		State string `json:"state"`
		Texts []struct {
			Text string `json:"text"`
		} `json:"texts"`
		Missing json.RawMessage `json:"missing"`
	} `json:"symbolication"`
	Threads []struct {
		Frames []struct {
			Function string `json:"function"`
			File     string `json:"file"`
			Line     int    `json:"line"`
			Inlined  bool   `json:"inlined"`
			Method   string `json:"method"`
			Raw      struct {
				Function string `json:"function"`
			} `json:"raw"`
			Symbols struct {
				Identifier struct {
					Value string `json:"value"`
				} `json:"identifier"`
			} `json:"symbols"`
		} `json:"frames"`
	} `json:"threads"`
}

func (a caller) symbolicated(t *testing.T, id uuid.UUID) symbolicatedCrash {
	t.Helper()
	var answer struct {
		Crash symbolicatedCrash `json:"crash"`
	}
	a.get(t, "/api/v3/crashes/"+id.String(), &answer)
	return answer.Crash
}
