package body_test

import (
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
)

// opaque reads itself later, and any members until then.
type opaque struct{ text []byte }

func (o *opaque) UnmarshalJSON(text []byte) error {
	o.text = text
	return nil
}

// own reads itself from its fields and from one more name.
type own struct {
	Index int  `json:"index"`
	Below *own `json:"below"`
}

func (o *own) UnmarshalJSON(text []byte) error {
	type plain own
	return json.Unmarshal(text, (*plain)(o))
}

func (own) OtherMembers() []string { return []string{"nth"} }

type common struct {
	ID int `json:"id"`
}

type nested struct {
	common
	Steps []struct {
		Tool *own              `json:"tool"`
		Any  any               `json:"any"`
		Raw  opaque            `json:"raw"`
		Free map[string]any    `json:"free"`
		Tags []string          `json:"tags"`
		Meta map[string]string `json:"meta"`
	} `json:"steps"`
	Each map[string]*common `json:"each"`
	Meta map[string]string  `json:"meta"`
	Late json.RawMessage    `json:"late"`
}

func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	for text, unknown := range map[string]string{
		`{"id":1,"ID":1,"iD":1}`: "", // as encoding/json reads them
		`{"steps":[{"tool":{"index":1,"nth":2,"below":{"nth":1}},"any":{"x":{"y":1}},"raw":{"x":1},"free":{"x":{"y":[{}]}}}]}`: "",
		`{"late":{"x":[{"y":1}]},"each":{"x":{"id":1}},"meta.x":"1","meta_y":"2","meta":{"z":"3"}}`:                            "",
		`{"steps":null,"each":null}`: "",
		`{"x":1}`:                    "x", `{"steps":[{},{"x":1}]}`: "steps[1].x", `{"steps":[{"tool":{"x":1}}]}`: "steps[0].tool.x",
		`{"steps":[{"tool":{"below":{"below":{"not":true}}}}]}`:               "steps[0].tool.below.below.not",
		`{"steps":[{"tags":["a"],"any":[[{"x":1}]]},{},{"tool":null,"y":1}]}`: "steps[2].y",
		`{"each":{"a":{"id":1},"b":{"x":1}}}`:                                 "each.b.x", `{"meta_":"1"}`: "meta_", `{"":1}`: `""`,
		`{"steps":[{"meta":{"a":"1"},"meta.b":"2"}]}`: "steps[0].meta.b",
		`{"steps":[{"meta_b":{"deep":1}}]}`:           "steps[0].meta_b", // read at the top only
		`{"common":{"id":1}}`:                         "common", `{"a":{"b":1},"c":2}`: "a", `{"id":1,"b.c":2}`: "b.c",
		`{"` + strings.Repeat("n", 5000) + `":1}`: strings.Repeat("n", 200) + "...",
	} {
		err := read(t, body.TypeJSON, text, &nested{})
		if unknown == "" {
			require.NoError(t, err, text)
			continue
		}
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid, text)
		require.Equal(t, unknown, invalid.Field, text)
		require.NoError(t, read(t, body.TypeJSON, text, &nested{}, body.IgnoreUnknown), text)
	}
	require.EqualError(t, read(t, "", `{"nmae":1}`, &struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}{}), "nmae: is unknown here: there are name, url; was name meant?")
	require.EqualError(t, read(t, "", `{"nmae":1}`, &struct{}{}), "nmae: is no member of this request, which has none")
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	for text, unknown := range map[string]string{
		"name=a&names=x&names[]=y&metadata.a=1&metadata_b=2&metadata[c]=3&api_key=secret": "",
		"nam=a": "nam", "Name=a": "Name", "name[x]=a": "name[x]", "metadata=x": "metadata", "metadata[]=x": "metadata[]",
		"metadata_=x": "metadata_",
		"zzz=1&yyy=1": "yyy", "=1": `""`, "Hidden=x": "Hidden", "api_key[]=1": "api_key[]",
	} {
		values, err := url.ParseQuery(text)
		require.NoError(t, err)
		kind, parts := multi(t, func(w *multipart.Writer) {
			for name := range values {
				require.NoError(t, w.WriteField(name, values.Get(name)))
			}
		})
		for kind, text := range map[string]string{body.TypeForm: text, kind: parts} {
			err := read(t, kind, text, &members{})
			if unknown == "" {
				require.NoError(t, err, text)
				continue
			}
			if unknown == `""` && kind != body.TypeForm {
				continue // a part without a name is none
			}
			var invalid *storage.InvalidError
			require.ErrorAs(t, err, &invalid, text)
			require.Equal(t, unknown, invalid.Field, text)
			require.NoError(t, read(t, kind, text, &members{}, body.IgnoreUnknown), text)
		}
	}
}

func TestReadNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", " null ": "", "{}": "",
		`{"a":1}`: "a: is no member of this request, which has none", "[]": "body: must be a JSON object"} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(t.Context(), "DELETE", "/", strings.NewReader(text))
		err := body.ReadNone(c)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want)
	}
}

// The caller decides, and is asked in the order of the text, until it refuses.
func TestCallerDecides(t *testing.T) {
	t.Parallel()
	var seen []string
	decide := func(m body.Member) error {
		seen = append(seen, fmt.Sprint(m.Path, " ", m.Top, " ", m.Known))
		if !m.Top {
			return storage.Invalid(m.Path, "stop")
		}
		return nil
	}
	err := read(t, "", `{"b":{"x":{"y":1}},"a":[{"z":1}],"id":1,"each":{"k":{"q":1,"r":2}}}`, &nested{}, decide)
	require.EqualError(t, err, "each.k.q: stop")
	require.Equal(t, []string{"b true [id steps each meta late]", "a true [id steps each meta late]", "each.k.q false [id]"}, seen)
}

// A hostile text takes time in proportion to its length: twice the members, twice the work.
func TestUnknownMembersOfAHostileText(t *testing.T) {
	t.Parallel()
	// Members below a long name, each of which would repeat it in its path.
	text := `{"` + strings.Repeat("n", 1<<20) + `":{` + strings.TrimSuffix(strings.Repeat(`"x":{},`, 200_000), ",") + `}}`
	asked := 0
	require.NoError(t, read(t, "", text, &nested{}, func(body.Member) error { asked++; return nil }))
	require.Equal(t, 1, asked, "what is below a member that was taken is not looked at")
	deep := strings.Repeat(`{"below":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	require.ErrorContains(t, read(t, "", deep, &own{}), "deep")
	require.NoError(t, body.Check([]byte(`{"id":1}`), reflect.TypeFor[*common](), body.Refuse))
	require.ErrorContains(t, body.Check([]byte(`{"x":1}`), reflect.TypeFor[common](), body.Refuse), "x: is unknown here")
	require.ErrorContains(t, body.Check([]byte(`{"meta.a":"1"}`), reflect.TypeFor[nested](), body.Refuse),
		"meta.a: is unknown here", "a part of a body has no top")
}
