package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// bodies are requests with other bodies.
func (o *operation) bodies() (list []sent) {
	content := openapi3.Content{}
	if o.op.RequestBody != nil {
		content = o.op.RequestBody.Value.Content
	}
	if media := content["application/json"]; media != nil {
		list = append(list, o.documents(media.Schema.Value)...)
	}
	if media := content["application/x-www-form-urlencoded"]; media != nil {
		list = append(list, o.forms(media.Schema.Value)...)
	}
	if media := content["multipart/form-data"]; media != nil {
		list = append(list, o.multiparts(media.Schema.Value)...)
	}
	valid := o.valid()
	add := func(what, kind string, body []byte) {
		s := valid
		s.what, s.kind, s.body = "body "+what, kind, body
		list = append(list, s)
	}
	for _, kind := range []string{"", "text/plain", "application/xml", "application/json; charset=utf-16", "application/json",
		"application/x-www-form-urlencoded",
		"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=x",
		"multipart/form-data; boundary=" + strings.Repeat("b", 80), ";", "\xff"} {
		add("as "+kind, kind, valid.body)
		add("empty as "+kind, kind, nil)
	}
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		add("other than "+kind, kind, []byte("\x00\xff\x1f\x8b garbage \n--x\r\n\r\n"))
		add("long", kind, bytes.Repeat([]byte("[1,2],"), 200_000))
	}
	for _, text := range []string{"null", "[]", "1", `"x"`, "{", "{}", "{}{}", "{} x", "[1", "\ufeff{}", `{"a":1,"a":2}`,
		`{"__proto__":{}}`, `{"":0}`,
		strings.Repeat(`{"a":`, 12_000), strings.Repeat("[", 500_000), strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000)} {
		add(fmt.Sprintf("%.20s", text), "application/json", []byte(text))
	}
	if len(valid.body) > 2 {
		add("cut off", valid.kind, valid.body[:len(valid.body)-len(valid.body)/3])
		add("twice", valid.kind, slices.Concat(valid.body, valid.body))
	}
	return list
}

// mark stands where a value is to be put that is not valid JSON.
const mark = "\u27e8mark\u27e9"

// documents changes each member that the schema has, one by one.
func (o *operation) documents(schema *openapi3.Schema) (list []sent) {
	base := o.members
	if base == nil {
		base = map[string]any{}
	}
	members := membersOf(schema, 5)
	for _, at := range members {
		open := encoded(withMember(base, at.path, mark))
		values := oddJSON()
		for _, value := range at.schema.Enum {
			values = append(values, string(encoded(value)), strings.ToUpper(string(encoded(value))))
		}
		for _, value := range append(slices.Clone(at.schema.Examples), at.schema.Default) {
			if value != nil {
				values = append(values, string(encoded(value)))
			}
		}
		add := func(what string, body []byte) {
			s := o.valid()
			s.kind, s.body = "application/json", body
			s.what = fmt.Sprintf("member %s %.40s", strings.Join(at.path, "."), what)
			list = append(list, s)
		}
		quoted := encoded(mark)
		for _, value := range values {
			add(value, bytes.Replace(open, quoted, []byte(value), 1))
		}
		add("absent", encoded(withMember(base, at.path, nil)))
		name := encoded(at.path[len(at.path)-1])
		add("twice", bytes.Replace(open, slices.Concat(name, []byte(":"), quoted), slices.Concat(name, []byte(":1,"), name, []byte(`:"x"`)), 1))
	}
	return list
}

type memberAt struct {
	path   []string
	schema *openapi3.Schema
}

// membersOf are the members of a schema, those of members and of elements with them.
func membersOf(schema *openapi3.Schema, depth int) (list []memberAt) {
	if schema == nil || depth == 0 {
		return nil
	}
	for _, part := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		list = append(list, membersOf(part.Value, depth)...)
	}
	if schema.Items != nil {
		for _, below := range membersOf(schema.Items.Value, depth-1) {
			list = append(list, memberAt{append([]string{"0"}, below.path...), below.schema})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name].Value
		list = append(list, memberAt{[]string{name}, property})
		for _, below := range membersOf(property, depth-1) {
			list = append(list, memberAt{append([]string{name}, below.path...), below.schema})
		}
	}
	return list
}

// withMember is a copy of a document with a value at a path; nil removes what is there.
func withMember(document any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if path[0] == "0" {
		list, _ := document.([]any)
		list = slices.Clone(list)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = withMember(list[0], path[1:], value)
		return list
	}
	object, _ := document.(map[string]any)
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	if len(path) == 1 && value == nil {
		delete(object, path[0])
		return object
	}
	object[path[0]] = withMember(object[path[0]], path[1:], value)
	return object
}

// forms changes each field of a form.
func (o *operation) forms(schema *openapi3.Schema) (list []sent) {
	add := func(what string, form url.Values) {
		s := o.valid()
		s.kind, s.body, s.what = "application/x-www-form-urlencoded", []byte(form.Encode()), "field "+what
		list = append(list, s)
	}
	for _, at := range membersOf(schema, 1) {
		name := at.path[0]
		values := odd()
		for _, value := range at.schema.Enum {
			values = append(values, fmt.Sprint(value))
		}
		for _, value := range values {
			form := maps.Clone(o.form)
			if form == nil {
				form = url.Values{}
			}
			form.Set(name, value)
			add(fmt.Sprintf("%s=%.40q", name, value), form)
		}
		form := maps.Clone(o.form)
		form.Del(name)
		add(name+" absent", form)
		if o.form != nil {
			form = maps.Clone(o.form)
			form[name] = []string{"1", "2"}
			add(name+" twice", form)
		}
	}
	return list
}

// multiparts changes each part of a multipart form.
func (o *operation) multiparts(schema *openapi3.Schema) (list []sent) {
	add := func(what string, parts map[string]string) {
		s := o.valid()
		s.kind, s.body = multi(parts)
		s.what = "part " + what
		list = append(list, s)
	}
	for _, at := range membersOf(schema, 1) {
		name := at.path[0]
		files := []string{"|", "x.apk|PK\x03\x04", "x.ipa|", "../../x.zip|PK\x05\x06" + strings.Repeat("\x00", 18),
			strings.Repeat("n", 400) + ".zip|x",
			"\xff.zip|x", "x.zip|" + strings.Repeat("\x00", 10_000), "x.dSYM.zip|PK", "report.json|{}"}
		for _, value := range append(odd(), files...) {
			parts := maps.Clone(o.parts)
			if parts == nil {
				parts = map[string]string{}
			}
			parts[name] = value
			add(fmt.Sprintf("%s=%.40q", name, value), parts)
		}
		parts := maps.Clone(o.parts)
		delete(parts, name)
		add(name+" absent", parts)
	}
	return list
}

// readBody puts the body of a request of the table into the operation.
func (o *operation) readBody(w *surface, r request) {
	switch text := w.text(r.body); {
	case r.files != nil:
		o.parts = map[string]string{}
		for field, content := range r.files {
			o.parts[field] = w.text(content)
		}
	case strings.HasPrefix(text, "{"):
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&o.members); err != nil {
			w.t.Errorf("%s %s: %v", r.method, r.path, err)
		}
	case text != "":
		form, err := url.ParseQuery(text)
		if err != nil {
			w.t.Errorf("%s %s: %v", r.method, r.path, err)
		}
		o.form = form
	}
}

// otherMethods are requests for the path with methods that it does not have.
func otherMethods(path string, item *openapi3.PathItem) (list []sent) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, "BREW"} {
		if item.GetOperation(method) == nil {
			list = append(list, sent{what: "wrong method", method: method, path: path, as: "owner"})
		}
	}
	return list
}
