package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/description"
	"github.com/slipway-qa/slipway/api/examples"
)

// stable replaces what is another one in each run, and what looks like a key, by values of the
// same form that mean nothing.
type stable struct {
	plain *strings.Replacer
	seen  map[string]string
}

func newStable(base string) *stable {
	const host = "slipway.example.org"
	return &stable{plain: strings.NewReplacer(base, "https://"+host, strings.TrimPrefix(base, "http://"), host), seen: map[string]string{}}
}

var changing = []struct {
	pattern *regexp.Regexp
	form    func(n int, text string) string
}{
	{regexp.MustCompile(`\bslp_[a-z]+_[\w-]+`), func(_ int, text string) string {
		kind, _, _ := strings.Cut(strings.TrimPrefix(text, "slp_"), "_")
		return "slp_" + kind + "_example"
	}},
	{regexp.MustCompile(`\bwhsec_[\w/+=-]+`), func(int, string) string { return "whsec_example" }},
	{regexp.MustCompile(`\boidc_[0-9a-f]{48}\b`), func(int, string) string { return "oidc_example" }},
	{regexp.MustCompile(`\boidc-[0-9a-f]{8}-[0-9a-f]{4}\b`), func(int, string) string { return "oidc-0198c0de-0000" }},
	{regexp.MustCompile(`\b[a-z2-7]{26}\b`), func(int, string) string { return "exampleexampleexampleexamp" }},
	{regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`), func(int, string) string { return "eyJhbGciOiJIUzI1NiJ9.e30.ZXhhbXBsZQ" }},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), func(n int, _ string) string {
		return fmt.Sprintf("0198c0de-0000-7000-8000-%012x", n)
	}},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), func(int, string) string { return strings.Repeat("0123456789abcdef", 4) }},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), func(n int, _ string) string { return fmt.Sprintf("0198c0de00007000800000%010x", n) }},
	{regexp.MustCompile(`\b[0-9a-f]{24}\b`), func(n int, _ string) string { return fmt.Sprintf("6957c0de%016x", n) }},
	{regexp.MustCompile(`\b20[23]\d-\d\d-\d\d(T|%20|\+| )\d\d(:|%3A)\d\d(:|%3A)\d\d(\.\d+)?`), func(_ int, text string) string {
		return "2026-01-02" + strings.ReplaceAll(text[10:11], "%", "T") + "03:04:05"
	}},
	{regexp.MustCompile(`\b20[23]\d-\d\d-\d\d\b`), func(int, string) string { return "2026-01-02" }},
	{regexp.MustCompile(`\b1[78]\d{8}\b`), func(int, string) string { return "1767323045" }},
	{regexp.MustCompile(`\b1[78]\d{11}\b`), func(int, string) string { return "1767323045000" }},
	{regexp.MustCompile(`([?&](?:sig|signature|token|key)=)[\w%-]{16,}`), func(_ int, text string) string {
		name, _, _ := strings.Cut(text, "=")
		return name + "=example"
	}},
}

// text is a text with other values in place of those that change.
func (s *stable) text(text string) string {
	text = s.plain.Replace(text)
	for i, c := range changing {
		text = c.pattern.ReplaceAllStringFunc(text, func(found string) string {
			key := fmt.Sprint(i, found)
			if s.seen[key] == "" {
				s.seen[key] = c.form(len(s.seen)+1, found)
			}
			return s.seen[key]
		})
	}
	return text
}

func (s *stable) fields(fields map[string]string) map[string]string {
	if len(fields) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out[name] = s.text(fields[name])
	}
	return out
}

// bodyLength is what a body of an example may have: it is read, and there are hundreds.
const bodyLength = 2 << 10

// document is a body with other values in place of those that change, cut to its bound.
func (s *stable) document(text []byte) *description.Node {
	whole, err := description.Parse(text)
	if err != nil {
		return description.NewLiteral(string(text)) // which no schema takes
	}
	for _, cut := range []struct{ elements, length, depth int }{{2, 1000, 9}, {1, 300, 9}, {1, 120, 4}, {1, 80, 3}, {1, 60, 2}} {
		n := s.cut(whole, cut.elements, cut.length, cut.depth)
		var compact bytes.Buffer
		if json.Compact(&compact, n.Text()) == nil && compact.Len() <= bodyLength || cut.depth == 2 {
			return n
		}
	}
	return whole
}

// cut is a copy with lists and texts of at most so many elements and bytes; lists that are
// deeper than so many lists are empty.
func (s *stable) cut(n *description.Node, elements, length, depth int) *description.Node {
	out := &description.Node{Kind: n.Kind}
	switch n.Kind {
	case description.Object:
		for i, name := range n.Names {
			value := s.cut(n.Values[i], elements, length, depth-1)
			if text := value.String(); text != "" && (name == "hint" || strings.HasSuffix(name, "_hint")) {
				value = description.NewLiteral("mple") // the end of a key
			}
			out.Set(s.text(name), value)
		}
	case description.Array:
		if depth <= 0 {
			return out
		}
		for _, value := range n.Values[:min(len(n.Values), elements)] {
			out.Values = append(out.Values, s.cut(value, elements, length, depth-1))
		}
	default:
		if text := n.String(); text != "" {
			text = s.text(text)
			if len(text) > length {
				text = strings.ToValidUTF8(text[:length], "") + "…"
			}
			return description.NewLiteral(text)
		}
		number := bytes.TrimSpace(n.Text())
		if made, err := description.Parse([]byte(s.text(string(number)))); err == nil {
			return made
		}
		return n
	}
	return out
}

// alike holds what was asked and answered now against the example: the same members of the
// same types, whatever their values are.
func alike(op *openapi3.Operation, kept, now examples.Example) error {
	for name, of := range map[string]func(examples.Request) map[string]string{
		"path":  func(r examples.Request) map[string]string { return r.Path },
		"query": func(r examples.Request) map[string]string { return r.Query },
		"form":  func(r examples.Request) map[string]string { return r.Form },
		"parts": func(r examples.Request) map[string]string { return r.Parts },
	} {
		a, b := sortedNames(of(kept.Request)), sortedNames(of(now.Request))
		if !slices.Equal(a, b) {
			return fmt.Errorf("%s of the request: %v, not %v", name, b, a)
		}
	}
	if err := sameMembers(valueOf(kept.Request.Body), valueOf(now.Request.Body), nil, "request"); err != nil {
		return err
	}
	if kept.Answer.Status != now.Answer.Status || kept.Answer.Type != now.Answer.Type {
		return fmt.Errorf("%d %s, not %d %s", now.Answer.Status, now.Answer.Type, kept.Answer.Status, kept.Answer.Type)
	}
	var schemas []*openapi3.Schema
	if response := op.Responses.Status(now.Answer.Status); response != nil {
		if media := response.Value.Content.Get("application/json"); media != nil && media.Schema != nil {
			schemas = append(schemas, media.Schema.Value)
		}
	}
	return sameMembers(valueOf(kept.Answer.Body), valueOf(now.Answer.Body), schemas, "answer")
}

func sortedNames(fields map[string]string) []string {
	return slices.Sorted(maps.Keys(fields))
}

// sameMembers compares the names and types of two documents. Members that a schema calls
// optional, and those of objects that may hold any, may be there or not: what a worker has
// done by now decides on them. Null stands for every type.
func sameMembers(kept, now any, schemas []*openapi3.Schema, at string) error {
	if kept == nil || now == nil {
		return nil
	}
	if a, b := fmt.Sprintf("%T", kept), fmt.Sprintf("%T", now); a != b {
		return fmt.Errorf("%s: %s, not %s", at, b, a)
	}
	all := branches(schemas)
	switch a := kept.(type) {
	case []any:
		b, _ := now.([]any)
		if len(a) == 0 || len(b) == 0 {
			return nil
		}
		var items []*openapi3.Schema
		for _, s := range all {
			if s.Items != nil {
				items = append(items, s.Items.Value)
			}
		}
		return sameMembers(a[0], b[0], items, at+"[0]")
	case map[string]any:
		b, _ := now.(map[string]any)
		for name := range a {
			if _, there := b[name]; !there && must(all, name) {
				return fmt.Errorf("%s.%s is missing", at, name)
			}
		}
		for name, value := range b {
			old, there := a[name]
			if !there && must(all, name) {
				return fmt.Errorf("%s.%s is new", at, name)
			}
			if err := sameMembers(old, value, memberSchemas(all, name), at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberSchemas are the schemas of a member of an object that may be a map. Where schemas say
// nothing of the member it may hold anything.
func memberSchemas(schemas []*openapi3.Schema, name string) (below []*openapi3.Schema) {
	for _, s := range schemas {
		switch property := s.Properties[name]; {
		case property != nil:
			below = append(below, property.Value)
		case s.AdditionalProperties.Schema != nil:
			below = append(below, s.AdditionalProperties.Schema.Value)
		}
	}
	if len(schemas) > 0 && len(below) == 0 {
		return []*openapi3.Schema{{}}
	}
	return below
}

// branches are schemas with those that they are made of.
func branches(schemas []*openapi3.Schema) (all []*openapi3.Schema) {
	for _, s := range schemas {
		all = append(all, s)
		for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
			all = append(all, branches([]*openapi3.Schema{part.Value})...)
		}
	}
	return all
}

// must reports whether a member has to be there: one of the schemas requires it, or there is
// none.
func must(schemas []*openapi3.Schema, name string) bool {
	return len(schemas) == 0 || slices.ContainsFunc(schemas, func(s *openapi3.Schema) bool { return slices.Contains(s.Required, name) })
}

// Nothing of a run stays in an example that could open a door or differs in the next run.
func TestStable(t *testing.T) {
	t.Parallel()
	s := newStable("http://127.0.0.1:4711")
	for _, c := range []struct{ text, want string }{
		{"http://127.0.0.1:4711/x?a=1", "https://slipway.example.org/x?a=1"},
		{"slp_api_local_AbC-9_z and slp_link_x-y", "slp_api_example and slp_link_example"},
		{"at 2026-11-29T04:30:05.123456Z", "at 2026-01-02T03:04:05Z"},
		{"on 2026-11-29", "on 2026-01-02"},
		{"whsec_v/Ar5f0Zl+Bc=", "whsec_example"},
		{"5f0c1b0a-1111-4222-8333-444455556666 or 11111111-1111-4222-8333-444455556666, 5f0c1b0a-1111-4222-8333-444455556666",
			"0198c0de-0000-7000-8000-000000000001 or 0198c0de-0000-7000-8000-000000000002, 0198c0de-0000-7000-8000-000000000001"},
	} {
		s.seen = map[string]string{}
		require.Equal(t, c.want, s.text(c.text))
	}
	long := strings.Repeat("a long text ", 300)
	document := s.document([]byte(`{"key":{"hint":"WgzQ"},"at":1796000000,"list":[1,2,3],"text":"` + long + `"}`))
	var got struct {
		Key  struct{ Hint string }
		At   int64
		List []int
		Text string
	}
	require.NoError(t, json.Unmarshal(document.Text(), &got))
	require.Equal(t, "mple", got.Key.Hint)
	require.EqualValues(t, 1767323045, got.At)
	require.Equal(t, []int{1, 2}, got.List)
	require.Less(t, len(got.Text), 1100)
}

func TestSameMembers(t *testing.T) {
	t.Parallel()
	schema := openapi3.NewObjectSchema().WithProperty("id", openapi3.NewInt64Schema()).WithProperty("note", openapi3.NewStringSchema())
	schema.Required = []string{"id"}
	list := openapi3.NewArraySchema().WithItems(schema)
	byName := openapi3.NewObjectSchema().WithAdditionalProperties(schema)
	anything := openapi3.NewObjectSchema().WithAnyAdditionalProperties()
	for _, c := range []struct {
		kept, now string
		fault     string
		of        *openapi3.Schema // an object with an id when there is none
	}{
		{`{"id":1}`, `{"id":2,"note":"x"}`, "", nil},
		{`{"id":1,"note":"x"}`, `{"id":2}`, "", nil},
		{`{"id":1}`, `{"note":"x"}`, "answer.id is missing", nil},
		{`{"note":"x"}`, `{"id":1}`, "answer.id is new", nil},
		{`{"id":1}`, `{"id":"1"}`, "answer.id: string, not float64", nil},
		{`{"id":null}`, `{"id":"1"}`, "", nil},
		{`[{"id":1}]`, `[]`, "", list},
		{`[{"id":1}]`, `[{"id":2},{"id":3}]`, "", list},
		{`[{"id":1}]`, `[{"note":"x"}]`, "answer[0].id is missing", list},
		{`{"id":1}`, `[]`, "answer: []interface {}, not map[string]interface {}", nil},
		{`{"redis":{"id":1}}`, `{"redis":{"id":2,"note":"x"}}`, "", byName},
		{`{"redis":{"id":1}}`, `{"redis":{"note":"x"}}`, "answer.redis.id is missing", byName},
		{`{"redis":{"id":1}}`, `{"postgres":{"id":2}}`, "", byName},
		{`{"redis":{"id":1}}`, `{"redis":{"note":"x"}}`, "", anything},
	} {
		var kept, now any
		require.NoError(t, json.Unmarshal([]byte(c.kept), &kept))
		require.NoError(t, json.Unmarshal([]byte(c.now), &now))
		of := c.of
		if of == nil {
			of = schema
		}
		err := sameMembers(kept, now, []*openapi3.Schema{of}, "answer")
		if c.fault == "" {
			require.NoError(t, err, "%+v", c)
		} else {
			require.EqualError(t, err, c.fault, "%+v", c)
		}
	}
}
