package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

const (
	// unknown is a member that nothing has.
	unknown = "unbeknown"
	// misplaced is one that bodies of the authoring interface have, or may have, elsewhere.
	misplaced = "headless"
)

// maxLevels follows the schemas that hold themselves, those of tools and selectors, into
// the next of them.
const maxLevels = 8

// lenient are the operations that ignore members which they do not know, because their
// clients send some, by what their paths begin with. All others must not.
func lenient(path string) bool {
	return slices.ContainsFunc([]string{
		"/api/1/", "/api/2/", // the documents of these versions
		"/api/upload", "/upload", "/api/v3/builds/upload", "/api/v3/symbols", // uploads
		"/post", "/api/post", "/api/unique-events", "/api/summed-events", "/api/tunnel", "/{universe}", // submissions
		"/install", "/session", "/sign-", "/invite", "/me/", "/udid", "/mail/", "/ops/", // pages, and what mail servers send
	}, func(prefix string) bool {
		return strings.HasPrefix(path, prefix) && path != "/api/v3/symbols/{id}" && path != "/api/v3/symbols/{id}/index" &&
			path != "/api/v3/symbols/known"
	})
}

// An unknown member is sent at every level of every body of the description. It is
// refused with its path; at the top of a body of the authoring interface the answer says
// that it was ignored, unless the name has a meaning elsewhere. Only those that are lenient may say nothing.
func TestNothingIsLostInSilence(t *testing.T) {
	t.Parallel()
	w := newContract(t)
	levels, ignored := 0, 0
	var faults []string
	for _, o := range w.operations() {
		if o.method == http.MethodGet || o.method == http.MethodHead || o.method == http.MethodOptions {
			continue
		}
		w.address()
		if o.as == "browser" {
			w.signIn()
		}
		for _, p := range o.probes() {
			levels++
			if fault := w.fault(o, &p); fault != "" {
				faults = append(faults, fault)
			}
			if lenient(o.path) {
				ignored++
			}
		}
	}
	t.Logf("%d levels, %d of them of those that are lenient", levels, ignored)
	require.Empty(t, faults, "%s", strings.Join(faults, "\n"))
	require.Greater(t, levels-ignored, 300)
	require.Greater(t, ignored, 20)
}

// otherwise are operations that this test cannot have do a second time what they do: they
// refuse each of its requests, which loses nothing. TestSpareMembers of api/authoring has
// them succeed.
var otherwise = map[string]bool{
	"POST /v1/ai-authoring/testcases/{id}/runs/{runId}/cancel":  true, // it has ended
	"POST /v1/ai-authoring/testsuites/{id}/runs/{runId}/cancel": true,
	"POST /v1/ai-authoring/testsuites/{id}/run":                 true, // its case has moved
	"POST /v1/ai-authoring/testsuites/{id}/runs/{runId}/rerun":  true,
}

// probe is an unknown member at a level of a body, in several bodies: some are refused
// for another reason before it is met. One at least must meet it.
type probe struct {
	path     string
	top      bool
	variants []sent
}

// fault makes the requests of a probe, and is what is wrong with their answers; "" when
// they are as they must be. None may succeed and say nothing, and one must say something.
func (w *contract) fault(o *operation, p *probe) string {
	text, met := "", false
	for _, s := range p.variants {
		got, err := w.make(s)
		require.NoError(w.t, err)
		fault, said := p.judge(o, got)
		met = met || said
		if fault == "" && said {
			continue
		}
		text = fmt.Sprintf("%s %s: %s: %s\n    sent %.300s\n    received %d %.300s", o.method, o.path, p.path, fault,
			s.body, got.status, got.body)
		if fault != "" {
			return text
		}
	}
	if met || otherwise[o.method+" "+o.path] && p.path == unknown {
		return ""
	}
	return strings.Replace(text, ": \n", ": was not met\n", 1)
}

// judge is what is wrong with an answer, and whether it says what it must of the member.
func (p *probe) judge(o *operation, got receivedAnswer) (fault string, said bool) {
	refused := got.status == http.StatusBadRequest && strings.Contains(string(got.body), p.path)
	_, warned := warnings(got)
	mayWarn := p.top && p.path == unknown && interfaceOf(o.path) == "authoring" && o.method != http.MethodDelete
	switch {
	case got.status >= http.StatusInternalServerError:
		return "an error of ours", false
	case lenient(o.path) && refused:
		return "clients send members of their own here", false
	case lenient(o.path), refused, mayWarn && warned:
		return "", true
	case got.status < http.StatusBadRequest:
		return "was lost in silence", false
	}
	return "", false
}

// warnings are those of an answer that name the unknown member.
func warnings(got receivedAnswer) (text string, found bool) {
	answer, _ := decoded(got).(map[string]any)
	data, _ := answer["data"].(map[string]any)
	list, _ := data["warnings"].([]any)
	for _, item := range list {
		if text, _ = item.(string); strings.Contains(text, unknown) {
			return text, true
		}
	}
	return "", false
}

// probes are those of an operation, in each of its kinds of bodies.
func (o *operation) probes() (list []probe) {
	content := openapi3.Content{}
	if o.op.RequestBody != nil {
		content = o.op.RequestBody.Value.Content
	} else if !lenient(o.path) {
		content = openapi3.NewContentWithJSONSchema(openapi3.NewObjectSchema())
	}
	if media := content["application/json"]; media != nil {
		for _, path := range levelsOf(media.Schema.Value, maxLevels) {
			list = append(list, o.probe(append(slices.Clone(path), unknown)))
			if len(path) == 0 && interfaceOf(o.path) == "authoring" {
				list = append(list, o.probe([]string{misplaced}))
			}
		}
	}
	add := func(s sent) { list = append(list, probe{path: unknown, top: true, variants: []sent{s}}) }
	if content["application/x-www-form-urlencoded"] != nil {
		form := url.Values{}
		maps.Copy(form, o.form)
		form.Set(unknown, "1")
		s := o.valid()
		s.kind, s.body = "application/x-www-form-urlencoded", []byte(form.Encode())
		add(s)
	}
	if content["multipart/form-data"] != nil {
		parts := map[string]string{}
		maps.Copy(parts, o.parts)
		parts[unknown] = "1"
		s := o.valid()
		s.kind, s.body = multi(parts)
		add(s)
	}
	return list
}

// probe puts the member into the valid body, and into one in which nothing stands beside
// it: what is there may not go with it.
func (o *operation) probe(path []string) probe {
	p := probe{path: pathText(path), top: len(path) == 1}
	base, ok := o.members.(map[string]any)
	if !ok {
		base = map[string]any{}
	}
	alone := maps.Clone(base)
	delete(alone, path[0])
	for _, members := range []map[string]any{base, alone, {}} {
		if name, ok := members["name"].(string); ok && len(path) == 1 && interfaceOf(o.path) == "authoring" {
			members = maps.Clone(members)
			members["name"] = name + "_" + path[0] // it may be given once
		}
		s := o.valid()
		s.what, s.kind, s.body = "unknown "+p.path, "application/json", encoded(withMember(members, path, 1))
		p.variants = append(p.variants, s)
	}
	return p
}

// pathText writes a path as failures do.
func pathText(path []string) string {
	text := path[0]
	for _, part := range path[1:] {
		if part == "0" {
			text += "[0]"
			continue
		}
		text += "." + part
	}
	return text
}

// levelsOf are the paths of the objects in a document of the schema, as deep as the
// schemas that hold themselves are followed; free objects have no unknown members.
func levelsOf(schema *openapi3.Schema, depth int) (list [][]string) {
	if schema == nil || depth == 0 {
		return nil
	}
	add := func(paths ...[]string) {
		for _, path := range paths {
			if !slices.ContainsFunc(list, func(known []string) bool { return slices.Equal(known, path) }) {
				list = append(list, path)
			}
		}
	}
	for _, part := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		add(levelsOf(part.Value, depth)...)
	}
	free := schema.AdditionalProperties.Has != nil && *schema.AdditionalProperties.Has || schema.AdditionalProperties.Schema != nil
	if slices.Contains(schema.Type.Slice(), "object") && !free {
		add([]string{})
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if name == "state" && schema.Properties["hasText"] != nil {
			continue // of a selector: which there are depends on its role, which is looked at first
		}
		for _, below := range levelsOf(schema.Properties[name].Value, depth-1) {
			add(append([]string{name}, below...))
		}
	}
	if schema.Items != nil {
		for _, below := range levelsOf(schema.Items.Value, depth-1) {
			add(append([]string{"0"}, below...))
		}
	}
	return list
}
