package body_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
)

type members struct {
	Name     string            `json:"name"`
	Folder   *string           `json:"folder"`
	Team     *int64            `json:"team_id"`
	Count    int               `json:"count"`
	On       *bool             `json:"on"`
	All      *body.Switch      `json:"all"`
	Tags     body.List         `json:"tags"`
	Names    []string          `json:"names"`
	Metadata map[string]string `json:"metadata"`
	Inner    *struct {
		Deep *int64 `json:"deep"`
	} `json:"inner"`
	Hidden string `json:"-"`
}

func read(t testing.TB, kind, text string, into any, unknown ...body.Unknown) error {
	t.Helper()
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/", strings.NewReader(text))
	if kind != "" {
		c.Request.Header.Set("Content-Type", kind)
	}
	return body.Read(c, into, unknown...)
}

func multi(t *testing.T, build func(*multipart.Writer)) (kind, text string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	build(w)
	require.NoError(t, w.Close())
	return w.FormDataContentType(), buf.String()
}

func p[T any](v T) *T { return &v }

func TestJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]members{
		"":     {},
		"  \n": {},
		"{}":   {},
		`{"name":"a","folder":"","team_id":7,"count":2,"on":false,"all":1}`: {Name: "a", Folder: p(""), Team: p(int64(7)),
			Count: 2, On: p(false), All: p(body.Switch(true))},
		`{"folder":null,"team_id":null,"tags":null,"all":null}`: {},
		`{"tags":[" a ","b","a","",7],"all":"off","names":[]}`: {Tags: body.List{"a", "b", "7"},
			All: p(body.Switch(false)), Names: []string{}},
		`{"tags":"a, b,,a"}`: {Tags: body.List{"a", "b"}},
		`{"tags":""}`:        {Tags: body.List{}},
		`{"metadata":{"a":"1","b":null},"metadata_c":"3","metadata.d":"4"}`: {Metadata: map[string]string{"a": "1", "b": "", "c": "3", "d": "4"}},
	} {
		for _, kind := range []string{"", body.TypeJSON, "application/JSON; charset=utf-8"} {
			var got members
			require.NoError(t, read(t, kind, text, &got), text)
			require.Equal(t, want, got, text)
		}
	}
}

func TestJSONRefused(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`[]`: "body", `null`: "body", `"x"`: "body", `{`: "body", `{"name":"a"} x`: "body", `{}{}`: "body", "{\"name\":\"\x01\"}": "body",
		`{"name":1}`: "name", `{"team_id":"7"}`: "team_id", `{"team_id":1.5}`: "team_id", `{"team_id":99999999999999999999}`: "team_id",
		`{"on":"x"}`: "on", `{"all":2}`: "all", `{"all":[]}`: "all", `{"tags":7}`: "tags", `{"tags":[{}]}`: "tags", `{"tags":[null]}`: "tags",
		`{"metadata":[]}`: "metadata", `{"metadata_x":1}`: "metadata_x", `{"inner":{"deep":"x"}}`: "inner.deep",
		`{"name":"a\u0000b"}`: "name", `{"metadata":{"a\u0000":"x"}}`: "metadata",
		`{"tags":["` + strings.Repeat(`x","`, 3) + `\u0000"]}`:            "tags",
		`{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: "body",
		`{"names":["` + strings.Repeat(`x","`, 1001) + `"]}`:              "names",
		"{\"name\":\"a\xffb\"}":                                           "name", "{\"tags\":[\"a\",\"b\",\"\xe4\"]}": "tags[2]",
		"{\"inner\":{\"other\":[{\"x\":\"\xc3\"}]}}": "inner.other[0].x",
		"{\"unknown\":\"\xed\xa0\x80\"}":             "unknown", "{\"a\xff\":1}": "a\ufffd", "{\"name\":\"a\"}\xff": "body",
		"{\"name\":\xff}": "body",
	} {
		var invalid *storage.InvalidError
		err := read(t, body.TypeJSON, text, &members{})
		require.ErrorAs(t, err, &invalid, "%.60s", text)
		require.Equal(t, field, invalid.Field, "%.60s", text)
	}
	require.NoError(t, read(t, "text/plain", "", &members{}), "nothing is of no type")
	var large *http.MaxBytesError
	require.ErrorAs(t, read(t, body.TypeJSON, strings.Repeat(" ", body.MaxBytes+1), &members{}), &large)
	require.Error(t, read(t, body.TypeJSON, "{}", members{}), "no pointer")
}

func TestForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]members{
		"": {},
		"name=a+b&folder=&team_id=7&count=2&on=off&all=yes": {Name: "a b", Folder: p(""), Team: p(int64(7)), Count: 2,
			On: p(false), All: p(body.Switch(true))},
		"team_id=&on=&count=&all=":                 {},
		"tags=a,b&tags=c&tags[]=a&tags[]=d&names=": {Tags: body.List{"a", "b", "c", "d"}, Names: []string{}},
		"metadata.a=1&metadata_b=2&metadata[c]=3":  {Metadata: map[string]string{"a": "1", "b": "2", "c": "3"}},
	} {
		var got members
		require.NoError(t, read(t, body.TypeForm, text, &got), text)
		require.Equal(t, want, got, text)

		values, err := url.ParseQuery(text)
		require.NoError(t, err)
		kind, parts := multi(t, func(w *multipart.Writer) {
			for name, list := range values {
				for _, value := range list {
					require.NoError(t, w.WriteField(name, value))
				}
			}
		})
		got = members{}
		require.NoError(t, read(t, kind, parts, &got), text)
		require.Equal(t, want, got, text)
	}
}

func TestFormsRefused(t *testing.T) {
	t.Parallel()
	kind, file := multi(t, func(w *multipart.Writer) {
		part, err := w.CreateFormFile("name", "a.txt")
		require.NoError(t, err)
		_, err = part.Write([]byte("x"))
		require.NoError(t, err)
	})
	for _, one := range []struct{ kind, text, field string }{
		{body.TypeForm, "team_id=x", "team_id"}, {body.TypeForm, "on=maybe", "on"}, {body.TypeForm, "name=%ff", "name"},
		{body.TypeForm, "name=a%00", "name"}, {body.TypeForm, "name=%zz", "body"}, {body.TypeForm, "metadata.k=%ff", "metadata"},
		{body.TypeForm, "inner=x", "inner"},
		{kind, file, "name"}, {kind, file[:40], "body"}, {body.TypeMultipart, "x", "body"},
		{"text/plain", "name=a", "Content-Type"}, {";;;", "{}", "Content-Type"},
	} {
		var invalid *storage.InvalidError
		require.ErrorAs(t, read(t, one.kind, one.text, &members{}), &invalid, one.text)
		require.Equal(t, one.field, invalid.Field, one.text)
	}
}

func TestFormThatWasParsedBefore(t *testing.T) {
	t.Parallel()
	kind, parts := multi(t, func(w *multipart.Writer) {
		require.NoError(t, w.WriteField("api_key", "secret"))
		require.NoError(t, w.WriteField("name", "a"))
	})
	for kind, text := range map[string]string{body.TypeForm: "api_key=secret&name=a", kind: parts} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("PUT", "/?name=of-the-query", strings.NewReader(text))
		c.Request.Header.Set("Content-Type", kind)
		if body.Type(c.Request) == body.TypeForm {
			require.NoError(t, c.Request.ParseForm())
		} else {
			require.NoError(t, c.Request.ParseMultipartForm(1<<20))
		}
		var got members
		require.NoError(t, body.Read(c, &got))
		require.Equal(t, members{Name: "a"}, got)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"name":"a","tags":["x"],"metadata":{"a":"b"},"metadata_c":"d"}`, `{"all":"on"`,
		"name=a&tags[]=b&metadata[x]=y", "{\"a\":[[[["} {
		f.Add(body.TypeJSON, seed)
		f.Add(body.TypeForm, seed)
		f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n"+seed+"\r\n--x--\r\n")
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		var got members
		err := read(t, kind, text, &got)
		var invalid *storage.InvalidError
		var large *http.MaxBytesError
		if err != nil && !errors.As(err, &invalid) && !errors.As(err, &large) {
			t.Fatalf("%v", err)
		}
		if err != nil {
			return
		}
		again, err := json.Marshal(got)
		if err != nil || bytes.Contains(again, []byte(`\u0000`)) || len(got.Tags) > 1000 {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

// curl -d calls JSON a form, unless it is told otherwise.
func TestJSONThatCallsItselfAForm(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"name":"a&b=c%20+","team_id":7}`, "\r\n\t {\"name\":\"a&b=c%20+\",\"team_id\":7}"} {
		var got members
		require.NoError(t, read(t, body.TypeForm, text, &got))
		require.Equal(t, members{Name: "a&b=c%20+", Team: p(int64(7))}, got)
	}
	var got members
	require.Error(t, read(t, body.TypeForm, `{"name":`, &got))
	require.ErrorContains(t, read(t, body.TypeForm, strings.Repeat(" ", 600)+"{", &got), "is unknown here", "too far behind to be JSON")
	require.NoError(t, read(t, body.TypeForm, "name=%7Bx", &got))
	require.Equal(t, "{x", got.Name)
	got = members{}
	require.NoError(t, read(t, body.TypeForm, "", &got))
	require.Equal(t, members{}, got)
}

// TestLongList: a list of many, and the body of a DELETE.
func TestLongList(t *testing.T) {
	t.Parallel()
	var in struct {
		Emails body.LongList `json:"emails"`
	}
	of := func(n int) string { return strings.TrimSuffix(strings.Repeat("a@example.com,", n), ",") }
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat("x", 1+i%7) + strings.Repeat("y", i/7) + ",")
		}
		return b.String()
	}
	for _, send := range []string{http.MethodPost, http.MethodDelete} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(send, "/", strings.NewReader("emails="+of(5)+"&emails=b@example.com&emails[]=c%2Bd@example.com"))
		c.Request.Header.Set("Content-Type", body.TypeForm)
		in.Emails = nil
		require.NoError(t, body.Read(c, &in), send)
		require.Equal(t, body.LongList{"a@example.com", "b@example.com", "c+d@example.com"}, in.Emails, send)
	}
	require.NoError(t, read(t, body.TypeJSON, `{"emails":["a@example.com","b@example.com, c@example.com"]}`, &in))
	require.Equal(t, body.LongList{"a@example.com", "b@example.com, c@example.com"}, in.Emails)
	require.NoError(t, read(t, body.TypeJSON, `{"emails":"`+numbered(1500)+`"}`, &in))
	require.Len(t, in.Emails, 1500)
	var many strings.Builder
	for i := range body.MaxLong + 1 {
		fmt.Fprintf(&many, "u%d@example.com,", i)
	}
	var invalid *storage.InvalidError
	require.ErrorAs(t, read(t, body.TypeForm, "emails="+many.String(), &in), &invalid)
	require.Equal(t, "emails", invalid.Field)
}
