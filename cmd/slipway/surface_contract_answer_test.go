package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// receivedAnswer is an answer of the walk.
type receivedAnswer struct {
	status int
	header http.Header
	body   []byte
}

// check holds an answer against the description of its operation.
func (o *operation) check(got receivedAnswer) error {
	if got.status == http.StatusInternalServerError {
		return errors.New("an internal error")
	}
	if err := common(o.path, got); err != nil {
		return err
	}
	response := o.op.Responses.Status(got.status)
	if response == nil {
		return fmt.Errorf("the status is not described")
	}
	for name, header := range response.Value.Headers {
		if got.header.Get(name) == "" && header.Value.Required {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return agrees(response.Value.Content, got)
}

// common are the rules that no operation is exempt from.
func common(path string, got receivedAnswer) error {
	if got.header.Get("X-Request-Id") == "" {
		return errors.New("there is no X-Request-Id")
	}
	legacy := interfaceOf(path) == "legacy"
	if got.status < 400 {
		if value, ok := decoded(got).(map[string]any); ok && legacy {
			if _, has := value["message"]; has {
				return errors.New("a success has a member message")
			}
		}
		return nil
	}
	if kind, _, _ := mime.ParseMediaType(got.header.Get("Content-Type")); interfaceOf(path) == "page" &&
		(kind == "text/html" || kind == "text/plain") {
		return nil // for people, and for what shows a line of text to them
	}
	if len(got.body) == 0 && path == "/objects/{key}" {
		return nil // HEAD
	}
	object, _ := decoded(got).(map[string]any)
	failure, _ := object["error"].(map[string]any)
	ok := false
	switch interfaceOf(path) {
	case "legacy":
		_, code := object["code"].(float64)
		text, _ := object["message"].(string)
		ok = object["status"] == "fail" && code && text != ""
	case "authoring":
		code, _ := failure["code"].(string)
		detail, _ := failure["detail"].(string)
		ok = code != "" && detail != ""
	case "crash":
		code, _ := failure["code"].(float64)
		text, _ := failure["message"].(string)
		ok = code > 0 && text != ""
	default:
		text, _ := object["error"].(string)
		ok = text != ""
	}
	if !ok {
		return errors.New("the error has not the shape of its interface")
	}
	return nil
}

// interfaceOf is the interface that a path belongs to, as the documents have them.
func interfaceOf(path string) string {
	for _, p := range []struct{ prefix, of string }{
		{"/api/1", "legacy"}, {"/api/2", "legacy"}, {"/api/upload", "legacy"}, {"/upload", "legacy"},
		{"/v1/ai-authoring", "authoring"}, {"/post", "crash"}, {"/api/post", "crash"}, {"/api/unique-events", "crash"},
		{"/api/summed-events", "crash"}, {"/api/tunnel", "crash"}, {"/{universe}", "crash"},
		{"/install", "page"}, {"/me", "page"}, {"/session", "page"}, {"/sign-", "page"}, {"/invite", "page"},
		{"/udid", "page"}, {"/mail/", "page"},
		{"/buildid", "page"}, {"/debuginfod", "page"}, {"/symbolserver", "page"},
	} {
		if rest, ok := strings.CutPrefix(path, p.prefix); ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(p.prefix, "-") ||
			strings.HasSuffix(p.prefix, "/")) {
			return p.of
		}
	}
	return "v3"
}

func isJSON(got receivedAnswer) bool {
	kind, _, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	return kind == "application/json"
}

func decoded(got receivedAnswer) (value any) {
	if isJSON(got) && json.Unmarshal(got.body, &value) != nil {
		return nil
	}
	return value
}

// agrees holds content type and body against the description.
func agrees(content openapi3.Content, got receivedAnswer) error {
	if len(got.body) == 0 {
		return nil // a 204, a redirect, or the answer to HEAD
	}
	if len(content) == 0 {
		if got.status/100 == 3 {
			return nil // the line that a redirect has for people
		}
		return fmt.Errorf("a body is not described: %s", got.header.Get("Content-Type"))
	}
	kind, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type %q: %w", got.header.Get("Content-Type"), err)
	}
	media := content.Get(kind)
	if media == nil {
		return fmt.Errorf("the content type %s is not described", kind)
	}
	if kind != "application/json" || media.Schema == nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(got.body, &value); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if err := media.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.EnableFormatValidation()); err != nil {
		text, _, _ := strings.Cut(err.Error(), "\nSchema:")
		return fmt.Errorf("not as its schema: %s", text)
	}
	if names := undescribed(value, []*openapi3.Schema{media.Schema.Value}, ""); len(names) > 0 {
		slices.Sort(names)
		return fmt.Errorf("members are not described: %s", strings.Join(slices.Compact(names), ", "))
	}
	return nil
}

// undescribed are the members of a document that none of the schemas has.
func undescribed(value any, schemas []*openapi3.Schema, at string) (names []string) {
	var all []*openapi3.Schema
	for len(schemas) > 0 {
		s := schemas[0]
		schemas = schemas[1:]
		if s == nil {
			continue
		}
		all = append(all, s)
		for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
			schemas = append(schemas, part.Value)
		}
	}
	switch value := value.(type) {
	case []any:
		var items []*openapi3.Schema
		for _, s := range all {
			if s.Items != nil {
				items = append(items, s.Items.Value)
			}
		}
		for _, element := range value {
			names = append(names, undescribed(element, items, at+"[]")...)
		}
	case map[string]any:
		var below []*openapi3.Schema
		open, closed := false, false
		for _, s := range all {
			if s.AdditionalProperties.Schema != nil {
				below, open = append(below, s.AdditionalProperties.Schema.Value), true
			}
			open = open || s.AdditionalProperties.Has != nil && *s.AdditionalProperties.Has
			closed = closed || len(s.Properties) > 0
		}
		for name, member := range value {
			var of []*openapi3.Schema
			for _, s := range all {
				if property := s.Properties[name]; property != nil {
					of = append(of, property.Value)
				}
			}
			switch {
			case len(of) > 0:
				names = append(names, undescribed(member, of, at+"."+name)...)
			case open:
				names = append(names, undescribed(member, below, at+"."+name)...)
			case closed:
				names = append(names, at+"."+name)
			}
		}
	}
	return names
}

// unruly are the places of a description that break a rule of OpenAPI which the
// library does not hold it to.
func unruly(value any, at string) (places []string) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			places = append(places, unruly(element, fmt.Sprintf("%s/%d", at, i))...)
		}
	case map[string]any:
		if _, ok := value["nullable"].(bool); ok {
			places = append(places, at+": nullable is a word of OpenAPI 3.0")
		}
		types, _ := value["type"].([]any)
		if list, ok := value["enum"].([]any); ok && slices.Contains(types, any("null")) && !slices.Contains(list, any(nil)) {
			places = append(places, at+": may be null, and null is none of enum")
		}
		if _, ok := value["$ref"]; ok && len(value) > 1 {
			places = append(places, at+": what stands beside $ref is ignored")
		}
		for name, member := range value {
			if name != "example" && name != "default" && name != "examples" {
				places = append(places, unruly(member, at+"/"+name)...)
			}
		}
	}
	return places
}
