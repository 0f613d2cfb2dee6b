// Package examples holds a request and an answer of each operation, and puts them into the
// OpenAPI description.
//
// A file has the operations of a tag, by operationId. TestEveryChangingRouteIsAudited of
// cmd/slipway sends these requests to a real server: each must be as the description says,
// and be answered with the status and the members of its example. `make examples` writes the
// files anew from what came back. Ids, times, keys and addresses are replaced by ones that mean
// nothing, lists are cut to a few elements and long texts to their beginning.
//
// An operation without a file entry has no example in the description: the test has the list of
// these, with reasons.
package examples

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/api/description"
)

//go:embed *.json
var files embed.FS

// Example is a request for an operation and its answer.
type Example struct {
	Request Request `json:"request"`
	Answer  Answer  `json:"answer"`
}

// Request is what is sent. It has at most one of Body, Form and Parts.
type Request struct {
	Path  map[string]string `json:"path,omitempty"`
	Query map[string]string `json:"query,omitempty"`
	Body  *description.Node `json:"body,omitempty"`
	Form  map[string]string `json:"form,omitempty"`
	// Parts are those of a multipart form; a file is its name.
	Parts map[string]string `json:"parts,omitempty"`
}

// Answer is what comes back. It has Body when it is JSON, and the beginning of its Text when
// it is another text that is no page.
type Answer struct {
	Status int               `json:"status"`
	Type   string            `json:"type,omitempty"`
	Body   *description.Node `json:"body,omitempty"`
	Text   string            `json:"text,omitempty"`
}

// All returns the examples by operationId.
func All() (map[string]Example, error) {
	all := map[string]Example{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		var some map[string]Example
		if err := json.Unmarshal(text, &some); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for id, example := range some {
			if _, twice := all[id]; twice {
				return fmt.Errorf("%s: %s is there twice", name, id)
			}
			all[id] = example
		}
		return nil
	})
	return all, err
}

// Add puts the examples into a description: into the body of the request and the answer with
// its status, and into the parameters of operations that only read. An example that is there
// already was written by a person, who knows better, and stays.
//
// A parameter of what changes something has no example: /docs fills it in, and the id of a
// real thing would be one click from its end. A component is shared with these, so it has none
// either.
func Add(document *description.Node) error {
	all, err := All()
	if err != nil {
		return err
	}
	document.Operations(func(_, method string, _, operation *description.Node) {
		example, found := all[operation.Get("operationId").String()]
		if !found {
			return
		}
		if method == "get" || method == "head" {
			example.Request.addToParameters(document, operation)
		}
		example.Request.addToBody(document, operation)
		if response := operation.Get("responses", fmt.Sprint(example.Answer.Status)).Resolve(document); response != nil {
			example.Answer.addTo(response)
		}
	})
	return nil
}

func (r *Request) addToParameters(document, operation *description.Node) {
	list := operation.Get("parameters")
	if list == nil {
		return
	}
	for _, p := range list.Values {
		// One that is a reference has no "in".
		values := map[string]map[string]string{"path": r.Path, "query": r.Query}[p.Get("in").String()]
		schema := p.Get("schema").Resolve(document)
		if value, given := values[p.Get("name").String()]; given && !exemplary(p) && !exemplary(schema) {
			p.Set("example", typed(schema, value))
		}
	}
}

func (r *Request) addToBody(document, operation *description.Node) {
	content := operation.Get("requestBody").Resolve(document).Get("content")
	if media := content.Get("application/json"); media != nil && r.Body != nil && !exemplary(media) {
		media.Set("example", r.Body)
	}
	for kind, fields := range map[string]map[string]string{"application/x-www-form-urlencoded": r.Form, "multipart/form-data": r.Parts} {
		if media := content.Get(kind); media != nil && fields != nil && !exemplary(media) {
			media.Set("example", form(media.Get("schema").Resolve(document), fields))
		}
	}
}

// exemplary reports whether a parameter, a schema or a body has an example already.
func exemplary(n *description.Node) bool {
	return n.Get("example") != nil || n.Get("examples") != nil
}

// typed is the value of a parameter: a number where its schema says so.
func typed(schema *description.Node, value string) *description.Node {
	switch schema.Get("type").String() {
	case "integer", "number", "boolean":
		if node, err := description.Parse([]byte(value)); err == nil {
			return node
		}
	case "array":
		return description.NewArray(typed(schema.Get("items"), value))
	}
	return description.NewLiteral(value)
}

// form is an object of the fields of a form.
func form(schema *description.Node, fields map[string]string) *description.Node {
	n := &description.Node{Kind: description.Object}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		n.Set(name, typed(schema.Get("properties", name), fields[name]))
	}
	return n
}

func (a *Answer) addTo(response *description.Node) {
	media := response.Get("content", a.Type)
	switch {
	case media == nil, exemplary(media):
	case a.Body != nil:
		media.Set("example", a.Body)
	case a.Text != "":
		media.Set("example", description.NewLiteral(a.Text))
	}
}
