// Package jsonpath reads the paths into JSON documents that checks of responses have, and selects
// by them.
//
// Both come from outside: the path from who wrote the test, the document from whatever the page
// asked. Of RFC 9535 it takes what costs no more than the document is long.
package jsonpath

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
)

// maxPath is bytes of a JSONPath; a longer one was not written by a person.
const maxPath = 500

// Path is a JSONPath (RFC 9535). So that its cost grows no faster than the document, it
// has one selector in a pair of brackets, one "..", and one filter: without "..", and
// without a $ inside.
type Path struct{ path *jsonpath.Path }

// Parse reads a JSONPath. The error's text is for the author of the step.
func Parse(text string) (Path, error) {
	if len(text) > maxPath {
		return Path{}, errors.New("has at most " + strconv.Itoa(maxPath) + " bytes")
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		return Path{}, errors.New("must be a JSONPath of RFC 9535, such as $.items[0].name")
	}
	for _, segment := range path.Query().Segments() {
		if len(segment.Selectors()) > 1 {
			return Path{}, errors.New("must have one selector in a pair of brackets")
		}
	}
	filters, deep := strings.Count(text, "?"), strings.Count(text, "..")
	if filters > 1 || deep > 1 || filters == 1 && (deep > 0 || strings.Count(text, "$") > 1) {
		return Path{}, errors.New("must have one .. or one filter, and no $ in the filter")
	}
	return Path{path}, nil
}

// Select returns what the path selects of a JSON document, as texts: strings as they are,
// other values as JSON. The error is that of a text that is no JSON.
func (p Path) Select(doc []byte) ([]string, error) {
	decoder := json.NewDecoder(strings.NewReader(string(doc)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	var found []string
	for _, node := range p.path.Select(value) {
		if text, ok := node.(string); ok {
			found = append(found, text)
			continue
		}
		text, err := json.Marshal(node)
		if err != nil {
			return nil, err
		}
		found = append(found, string(text))
	}
	return found, nil
}
