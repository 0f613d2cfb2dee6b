package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/description"
	"github.com/slipway-qa/slipway/api/examples"
)

// updateVariable writes api/examples anew, from what the server answers.
const updateVariable = "UPDATE_EXAMPLES"

const examplesFolder = "../../api/examples"

// withoutExample are the operations that have no example, with the reason.
func withoutExample() map[string]string {
	const signed = "its address is signed and ends: what leads to it has an example"
	reasons := map[string]string{
		"GET /openapi.json":                      "the description itself",
		"GET /objects/{key}":                     signed,
		"HEAD /objects/{key}":                    signed,
		"GET /api/v3/builds/{id}/gate/badge.svg": signed,
		"GET /session/{link}":                    "the page of a mailed link, which is used once: POST has an example",
		"GET /install/{name}/manifest.plist":     "its address is signed and ends: the page has it",
		"PATCH /api/1/projects/{id}/builds":      "it refuses all requests: the build stands in the path of the other one",
		"GET /invite/{secret}":                   "the page of an invitation: api/install",
		"GET /mail/unsubscribe/{token}":          "the page of a mail: api/mail",
		"GET /ops/queues/{any}":                  "files of the pages on queues",
		"GET /udid/done":                         "the page that a device opens after it answered: api/install",
		"GET /buildid/{path}":                    "debuggers ask for files of native programs: TestDebuggersAsk of processtest",
		"GET /debuginfod/{path}":                 "as /buildid",
		"GET /symbolserver/{path}":               "as /buildid",
	}
	for path, reason := range surfaceAbsent() {
		if path != v3+"/settings/storage" {
			reasons["GET "+path] = reason
		}
	}
	maps.Copy(reasons, surfaceElsewhere())
	return reasons
}

// exampleWalk holds what the walk of the changes asks and reads against the examples: each request
// must be as the description and its example say, and so must its answer.
type exampleWalk struct {
	*surface
	description *openapi3.T
	kept        map[string]examples.Example // by operationId
	recorded    map[string]examples.Example
	// due are the paths that are read after a request of surfaceChanges, by its number:
	// when what they show is there, and not yet removed.
	due    map[int][]request
	places map[string]string
	faults []string
}

func newExampleWalk(w *surface) *exampleWalk {
	w.t.Helper()
	text, err := os.ReadFile("../../api/openapi.json")
	require.NoError(w.t, err)
	e := &exampleWalk{surface: w, recorded: map[string]examples.Example{}, due: map[int][]request{}, places: map[string]string{}}
	e.description, err = openapi3.NewLoader().LoadFromData(text)
	require.NoError(w.t, err)
	e.kept, err = examples.All()
	require.NoError(w.t, err)
	changes := surfaceChanges()
	for _, r := range changes {
		for path, name := range placesOf(r.path) {
			if e.places[path] == "" {
				e.places[path] = name
			}
		}
	}
	maps.Copy(e.places, surfacePlaces())
	for _, path := range slices.Sorted(maps.Keys(w.doc)) {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			_, described := w.doc[path][strings.ToLower(method)]
			if name := method + " " + path; described && withoutExample()[name] == "" &&
				!slices.ContainsFunc(changes, func(r request) bool { return r.method+" "+r.pattern() == name }) {
				at := nearest(changes, path, e.saved(changes, path))
				e.due[at] = append(e.due[at], request{method: method, path: path, query: surfaceQueries()[path]})
			}
		}
	}
	w.ids["docsfile"] = "start.js"
	w.observe = e.record
	return e
}

// saved is the number of the change after which the values of a path are known.
func (e *exampleWalk) saved(changes []request, path string) (at int) {
	for _, place := range named.FindAllStringSubmatchIndex(path, -1) {
		name := e.places[path[:place[1]]]
		at = max(at, slices.IndexFunc(changes, func(r request) bool { return strings.Contains(";"+r.save, ";"+name+"=") }))
	}
	return at
}

// nearest is the number of the last change whose path has most in common with a path.
// that is not before the first one which may be.
func nearest(changes []request, path string, from int) (at int) {
	most := -1
	if strings.HasPrefix(path, "/me") {
		path = "/session/{link}" // which begins what these pages belong to
	}
	parts := strings.Split(path, "/")
	for i, r := range changes {
		if r.method == remove || r.want >= 300 && r.want != http.StatusSeeOther {
			continue
		}
		common := 0
		for k, part := range strings.Split(r.pattern(), "/") {
			if k >= len(parts) || parts[k] != part {
				break
			}
			common++
		}
		if common >= most && i >= from {
			most, at = common, i
		}
	}
	if from > 0 && most <= len([]string{"", "api", "v3"}) {
		return from // nothing else is about it
	}
	return at
}

// read reads what is due after a change.
func (e *exampleWalk) read(change int) {
	for _, r := range e.due[change] {
		path := r.path
		r.path = e.place(e.places, path)
		for _, parts := range named.FindAllStringSubmatch(r.path, -1) {
			if find := surfaceValues()[parts[2]]; find != "" {
				e.wait(parts[2], find)
			}
		}
		op := e.description.Paths.Value(path).GetOperation(r.method)
		switch {
		case strings.HasPrefix(path, "/ops/"), path == "/metrics", strings.HasPrefix(path, v3+"/operate"):
			r.as = "operator"
		case strings.HasPrefix(path, "/me"):
			r.as = "browser"
		case op.Security == nil || len(*op.Security) == 0:
			r.as = "none"
		}
		e.send(r)
	}
}

// record keeps what was asked and answered.
func (e *exampleWalk) record(r request, got receivedAnswer) {
	item := e.description.Paths.Value(r.pattern())
	if item == nil || item.GetOperation(r.method) == nil {
		return
	}
	op := item.GetOperation(r.method)
	if withoutExample()[r.method+" "+r.pattern()] != "" {
		return
	}
	if _, known := e.recorded[op.OperationID]; known {
		return // the first one is the example
	}
	if r.pattern() == "/session/{link}" && r.method == post {
		e.cookie, _, _ = strings.Cut(got.header.Get("Set-Cookie"), ";")
	}
	if got.status >= 400 && got.status != r.want {
		e.faults = append(e.faults, fmt.Sprintf("%s %s: %d %.300s", r.method, r.path, got.status, got.body))
		return
	}
	same := newStable(e.base)
	now := examples.Example{Request: e.asked(op, r, same), Answer: answered(got, same)}
	e.recorded[op.OperationID] = now
	params := slices.Concat(item.Parameters, op.Parameters)
	for _, err := range []error{asDescribed(op, params, now.Request), describes(op, got)} {
		if err != nil {
			e.faults = append(e.faults, fmt.Sprintf("%s %s: %v", r.method, r.path, err))
		}
	}
	kept, found := e.kept[op.OperationID]
	if os.Getenv(updateVariable) != "" {
		return
	}
	if !found {
		e.faults = append(e.faults, fmt.Sprintf("%s %s has no example", r.method, r.path))
		return
	}
	if err := alike(op, kept, now); err != nil {
		e.faults = append(e.faults, fmt.Sprintf("%s %s: not as its example: %v", r.method, r.path, err))
	}
}

// describes holds an answer against the description of its operation.
func describes(op *openapi3.Operation, got receivedAnswer) error {
	response := op.Responses.Status(got.status)
	if response == nil {
		return fmt.Errorf("%d is not described", got.status)
	}
	return agrees(response.Value.Content, got)
}

// end reports what was wrong, and writes the examples where it is asked to and nothing was.
func (e *exampleWalk) end() {
	e.t.Helper()
	tags := map[string]map[string]examples.Example{}
	writes := os.Getenv(updateVariable) != ""
	operations, names := map[string]bool{}, map[string]bool{}
	for path, item := range e.description.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			example, asked := e.recorded[op.OperationID]
			reason := withoutExample()[name]
			operations[op.OperationID], names[name] = true, true
			if _, found := e.kept[op.OperationID]; found && reason != "" && !writes {
				e.faults = append(e.faults, name+" has an example, and a reason in withoutExample for having none")
			}
			switch {
			case !asked && reason == "":
				e.faults = append(e.faults, name+" was not asked: it needs an example, or a reason in withoutExample")
			case asked:
				if tags[op.Tags[0]] == nil {
					tags[op.Tags[0]] = map[string]examples.Example{}
				}
				tags[op.Tags[0]][op.OperationID] = example
			}
		}
	}
	for name := range withoutExample() {
		if !names[name] {
			e.faults = append(e.faults, name+" has a reason in withoutExample and is no operation")
		}
	}
	for id := range e.kept {
		if !operations[id] && !writes {
			e.faults = append(e.faults, id+" has an example and is no operation: make examples")
		}
	}
	slices.Sort(e.faults)
	require.Empty(e.t, e.faults, "%s", strings.Join(e.faults, "\n"))
	if writes {
		old, err := filepath.Glob(filepath.Join(examplesFolder, "*.json"))
		require.NoError(e.t, err)
		for _, name := range old {
			require.NoError(e.t, os.Remove(name))
		}
		for tag, list := range tags {
			text, err := json.Marshal(list)
			require.NoError(e.t, err)
			node, err := description.Parse(text)
			require.NoError(e.t, err)
			require.NoError(e.t, os.WriteFile(filepath.Join(examplesFolder, strings.ReplaceAll(tag, " ", "-")+".json"), node.Text(), 0o644))
		}
	}
}

// asked is a request as an example has it.
func (e *exampleWalk) asked(op *openapi3.Operation, r request, s *stable) examples.Request {
	out := examples.Request{Path: s.fields(e.pathValues(r)), Query: s.fields(first(e.text(r.query)))}
	switch text := e.text(r.body); {
	case r.files != nil:
		out.Parts = map[string]string{}
		for field, content := range r.files {
			name, _, _ := strings.Cut(e.text(content), "|")
			out.Parts[field] = s.text(name)
		}
	case text == "{}" && op.RequestBody == nil, r.kind != "": // as good as none, or bytes
	case strings.HasPrefix(text, "{"):
		out.Body = s.document([]byte(text))
	case text != "":
		out.Form = s.fields(first(text))
	}
	return out
}

func (e *exampleWalk) pathValues(r request) map[string]string {
	values := map[string]string{}
	for _, parts := range named.FindAllStringSubmatch(r.path, -1) {
		values[parts[1]] = e.fill(parts[0])
	}
	return values
}

// first are the fields of a query or a form, the first value of each.
func first(text string) map[string]string {
	all, _ := url.ParseQuery(strings.TrimPrefix(text, "?"))
	fields := map[string]string{}
	for name := range all {
		fields[name] = all.Get(name)
	}
	return fields
}

// textLength is enough of a text that is no JSON to see what it is.
const textLength = 400

// answered is an answer as an example has it.
func answered(got receivedAnswer, s *stable) examples.Answer {
	out := examples.Answer{Status: got.status}
	if len(got.body) == 0 {
		return out
	}
	out.Type, _, _ = mime.ParseMediaType(got.header.Get("Content-Type"))
	switch {
	case out.Type == "application/json":
		out.Body = s.document(got.body)
	case strings.HasPrefix(out.Type, "text/") && out.Type != "text/html":
		text := s.text(strings.ToValidUTF8(string(got.body), "\uFFFD"))
		out.Text = text[:min(len(text), textLength)]
	}
	return out
}

// asDescribed holds a request against the description.
func asDescribed(op *openapi3.Operation, params openapi3.Parameters, r examples.Request) error {
	for in, values := range map[string]map[string]string{"path": r.Path, "query": r.Query} {
		for name, value := range values {
			at := slices.IndexFunc(params, func(p *openapi3.ParameterRef) bool {
				return p.Value.In == in && (p.Value.Name == name || p.Value.Name == "attribute.KEY" && strings.HasPrefix(name, "attribute."))
			})
			if at < 0 {
				return fmt.Errorf("the parameter %s is not described", name)
			}
			if schema := params[at].Value.Schema; schema != nil {
				if err := schema.Value.VisitJSON(scalar(schema.Value, value)); err != nil {
					return fmt.Errorf("the parameter %s: %w", name, err)
				}
			}
		}
	}
	if r.Body == nil && r.Form == nil && r.Parts == nil {
		return nil
	}
	if op.RequestBody == nil {
		return errors.New("a body is not described")
	}
	content := op.RequestBody.Value.Content
	if r.Body != nil {
		media := content.Get("application/json")
		if media == nil {
			return errors.New("a body of JSON is not described")
		}
		if err := media.Schema.Value.VisitJSON(valueOf(r.Body), openapi3.VisitAsRequest()); err != nil {
			return fmt.Errorf("the body: %w", err)
		}
		return nil
	}
	kind, fields := "application/x-www-form-urlencoded", r.Form
	if r.Parts != nil {
		kind, fields = "multipart/form-data", r.Parts
	}
	media := content.Get(kind)
	if media == nil {
		return fmt.Errorf("a body of %s is not described", kind)
	}
	members := map[string]any{}
	for name, value := range fields {
		property := media.Schema.Value.Properties[name]
		if property == nil {
			return fmt.Errorf("the field %s is not described", name)
		}
		members[name] = scalar(property.Value, value)
	}
	return media.Schema.Value.VisitJSON(members, openapi3.VisitAsRequest())
}

// scalar is the value of a text that a query or a form has.
func scalar(schema *openapi3.Schema, text string) any {
	switch {
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	case schema.Type.Is("boolean"):
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case schema.Type.Is("array"):
		var list []any
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, scalar(schema.Items.Value, part))
		}
		return list
	}
	return text
}

func valueOf(n *description.Node) (value any) {
	if n != nil {
		if err := json.Unmarshal(bytes.TrimSpace(n.Text()), &value); err != nil {
			panic(err) // a node is valid JSON
		}
	}
	return value
}
