package description

import (
	"slices"
)

const (
	// Version is that of OpenAPI which Modernize writes.
	Version = "3.1.1"
	// dialect is that of the schemas: JSON Schema 2020-12 with the words of OpenAPI.
	dialect = "https://spec.openapis.org/oas/3.1/dialect/base"
)

// Modernize makes a description of OpenAPI 3.0 one of 3.1, whose schemas are those of JSON
// Schema: nullable becomes a type, example a list of examples, and a bound that is exclusive a
// number. Parameters and bodies keep their example, which 3.1 has as well.
func Modernize(document *Node) {
	document.Set("openapi", NewLiteral(Version))
	if document.Get("jsonSchemaDialect") == nil {
		at := slices.Index(document.Names, "openapi") + 1
		document.Names = slices.Insert(document.Names, at, "jsonSchemaDialect")
		document.Values = slices.Insert(document.Values, at, NewLiteral(dialect))
	}
	modernizeBelow(document)
}

// modernizeBelow looks for schemas in what is none.
func modernizeBelow(n *Node) {
	for i, value := range n.Values {
		name := ""
		if n.Kind == Object {
			name = n.Names[i]
		}
		switch name {
		case "schema":
			modernizeSchema(value)
		case "schemas":
			each(value, modernizeSchema)
		case "example", "examples": // values
		default:
			modernizeBelow(value)
		}
	}
}

func each(n *Node, do func(*Node)) {
	for _, value := range n.Values {
		do(value)
	}
}

func modernizeSchema(s *Node) {
	for i, name := range s.Names {
		switch value := s.Values[i]; name {
		case "properties", "patternProperties", "allOf", "anyOf", "oneOf":
			each(value, modernizeSchema)
		case "items", "additionalProperties", "not":
			modernizeSchema(value)
		case "example":
			s.Names[i], s.Values[i] = "examples", NewArray(value)
		}
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		switch value := s.Get(exclusive); {
		case value.Is(true):
			s.Set(exclusive, s.Get(bound))
			s.Delete(bound)
		case value.Is(false):
			s.Delete(exclusive)
		}
	}
	if s.Get("nullable").Is(true) {
		nullable(s)
	}
	s.Delete("nullable")
}

// nullable says null beside what a schema says. One that is made of another says it as any of
// the two, since the other does not allow null, or allows it as well.
func nullable(s *Node) {
	null := &Node{Kind: Object}
	null.Set("type", NewLiteral("null"))
	if all := s.Get("allOf"); all != nil && len(all.Values) == 1 && s.Get("properties") == nil {
		at := slices.Index(s.Names, "allOf")
		s.Names[at], s.Values[at] = "anyOf", NewArray(all.Values[0], null)
		s.Delete("type")
		return
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		if list := s.Get(name); list != nil {
			list.Values = append(list.Values, null)
			s.Delete("type")
			return
		}
	}
	if kind := s.Get("type"); kind != nil && kind.Kind == Literal {
		s.Set("type", NewArray(kind, NewLiteral("null")))
	}
}
