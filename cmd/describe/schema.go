package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3gen"
	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/route"
)

// reflector makes schemas of Go types.
type reflector struct {
	names map[reflect.Type]string // of components
	words map[reflect.Type][]any
}

// extensionOrder lists the members of a schema as its type has them, since properties have no
// order; it goes no further than this file.
const extensionOrder = "x-order"

func newReflector(all []route.Types) (*reflector, error) {
	r, counts := &reflector{names: map[reflect.Type]string{}, words: map[reflect.Type][]any{}}, map[reflect.Type]int{}
	for _, types := range all {
		for _, values := range types.Words {
			v := reflect.ValueOf(values)
			if v.Kind() != reflect.Slice || v.Len() == 0 {
				return nil, fmt.Errorf("words of %T: not a slice with values", values)
			}
			for i := range v.Len() {
				r.words[v.Type().Elem()] = append(r.words[v.Type().Elem()], v.Index(i).Interface())
			}
		}
		for _, schemas := range []map[string]any{types.Schemas, types.Requests} {
			for name, value := range schemas {
				counts[reflect.TypeOf(value)]++
				r.names[reflect.TypeOf(value)] = name
			}
		}
	}
	for t, count := range counts {
		if count > 1 {
			delete(r.names, t) // which one a member has, only a fragment can say
		}
	}
	return r, nil
}

// answer is the schema of a type that is written: what has no omitempty is always there, and
// a pointer may be null.
func (r *reflector) answer(value any) (*yaml.Node, error) { return r.schema(value, false, false) }

// request is the schema of a type that is read. strict: what it does not name is refused.
func (r *reflector) request(value any, strict bool) (*yaml.Node, error) {
	return r.schema(value, true, strict)
}

func (r *reflector) schema(value any, read, strict bool) (*yaml.Node, error) {
	root := reflect.TypeOf(value)
	customize := func(name string, t reflect.Type, tag reflect.StructTag, schema *openapi3.Schema) error {
		if component := r.names[t]; component != "" && !(name == "_root" && t == root) {
			*schema = openapi3.Schema{Nullable: schema.Nullable, AllOf: openapi3.SchemaRefs{{Ref: "#/components/schemas/" + component}}}
		} else {
			r.special(t, schema)
			if t.Kind() == reflect.Struct && schema.Properties != nil {
				r.object(t, schema, read, strict)
			}
		}
		if read || optional(tag) {
			schema.Nullable = false // a pointer says whether the member was there
		}
		return nil
	}
	name := openapi3gen.CreateTypeNameGenerator(func(t reflect.Type) string { return r.names[t] })
	ref, err := openapi3gen.NewSchemaRefForValue(value, nil, openapi3gen.SchemaCustomizer(customize), name)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(ref)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	n := document.Content[0]
	r.tidied(n)
	return n, nil
}

// special are types whose JSON is not that of their kind.
func (r *reflector) special(t reflect.Type, schema *openapi3.Schema) {
	switch {
	case r.words[t] != nil:
		schema.Enum = r.words[t]
	case t == reflect.TypeFor[uuid.UUID]():
		*schema = openapi3.Schema{Type: &openapi3.Types{"string"}, Format: "uuid", Nullable: schema.Nullable}
	case t == reflect.TypeFor[time.Time]():
	case t.Implements(reflect.TypeFor[json.Marshaler]()), reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		*schema = openapi3.Schema{Nullable: schema.Nullable} // the fragment says what it is
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		*schema = openapi3.Schema{Type: &openapi3.Types{"string"}, Nullable: schema.Nullable}
	case t.Kind() == reflect.Uint64:
		schema.Max = nil // as a float it would be another number
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		schema.Format = ""
	}
}

// object says in which order the members are, and which are always there. Members of an
// embedded type with a component are the component's, but in requests: what a part of a
// closed schema does not name is refused.
func (r *reflector) object(t reflect.Type, schema *openapi3.Schema, read, strict bool) {
	if read && strict {
		schema.WithoutAdditionalProperties()
	}
	var parts openapi3.SchemaRefs
	var names []string
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if component := r.names[field.Type]; component != "" && !read && field.Anonymous && name == "" && len(field.Index) == 1 &&
			!shadows(t, field) {
			parts = append(parts, &openapi3.SchemaRef{Ref: "#/components/schemas/" + component})
			for _, inner := range reflect.VisibleFields(field.Type) {
				name, _, _ := strings.Cut(inner.Tag.Get("json"), ",")
				delete(schema.Properties, name)
			}
			continue
		}
		if schema.Properties[name] == nil || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		if !read && !optional(field.Tag) && !throughPointer(t, field.Index) {
			schema.Required = append(schema.Required, name)
		}
	}
	schema.Extensions = map[string]any{extensionOrder: names}
	if parts != nil {
		own := *schema
		own.Nullable = false
		*schema = openapi3.Schema{Nullable: schema.Nullable, AllOf: append(parts, &openapi3.SchemaRef{Value: &own})}
	}
}

// shadows reports whether a type has a member of its own in place of one of an embedded type.
func shadows(t reflect.Type, embedded reflect.StructField) bool {
	inner := map[string]bool{}
	for _, field := range reflect.VisibleFields(embedded.Type) {
		inner[field.Name] = true
	}
	for i := range t.NumField() {
		if inner[t.Field(i).Name] {
			return true
		}
	}
	return false
}

// throughPointer reports whether a field is one of an embedded pointer, which may be nil.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// optional reports whether a member is left out when it is empty.
func optional(tag reflect.StructTag) bool {
	options := strings.Split(tag.Get("json"), ",")[1:]
	return slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
}

// tidied orders the members of a schema as the type has them, and writes a reference as one.
func (r *reflector) tidied(n *yaml.Node) {
	for _, inner := range n.Content {
		inner.Style = 0
		r.tidied(inner)
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	if order := without(n, extensionOrder); order != nil {
		var names []string
		for _, name := range order.Content {
			names = append(names, name.Value)
		}
		ordered(member(n, "properties"), names...)
	}
	if all := member(n, "allOf"); all != nil && len(all.Content) == 1 {
		if member(n, "nullable") == nil {
			*n = *all.Content[0]
			return
		}
		with(n, "type", text(r.typeOf(all.Content[0])))
	}
	ordered(n, "type", "format", "nullable", "enum", "properties", "required", "items", "additionalProperties")
}

// typeOf is the JSON type of a component.
func (r *reflector) typeOf(ref *yaml.Node) string {
	for t, name := range r.names {
		if strings.HasSuffix(member(ref, "$ref").Value, "/"+name) && t.Kind() == reflect.String {
			return "string"
		}
	}
	return "object"
}
