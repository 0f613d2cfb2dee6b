package main

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// merge puts what a fragment says about an operation over what code says. The members of
// the fragment win, but for schemas of types: these it completes.
func merge(base, over *yaml.Node, at string) (*yaml.Node, error) {
	if base == nil || base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode || member(base, "$ref") != nil ||
		member(over, "$ref") != nil {
		return over, nil
	}
	err := members(over, func(name string, value *yaml.Node) error {
		combine := merge
		if name == "schema" {
			combine = mergeSchema
		}
		merged, err := combine(member(base, name), value, at+"/"+name)
		if err != nil {
			return err
		}
		with(base, name, merged)
		return nil
	})
	return base, err
}

// compositions are the members of a schema that name others in its place.
func compositions() []string { return []string{"$ref", "allOf", "anyOf", "oneOf"} }

func composed(n *yaml.Node) bool {
	return slices.ContainsFunc(compositions(), func(name string) bool { return member(n, name) != nil })
}

// mergeSchema completes the schema of a type. It cannot say of it what is not so: name a
// member or a value that the type has not, or another type.
func mergeSchema(base, over *yaml.Node, at string) (*yaml.Node, error) {
	switch {
	case base == nil || len(base.Content) == 0:
		return over, nil
	case composed(over):
		if member(base, "properties") != nil {
			return nil, fmt.Errorf("%s: the type has members of its own", at)
		}
		return over, nil
	case member(base, "allOf") != nil && len(member(base, "allOf").Content) > 1:
		parts := member(base, "allOf").Content
		own, err := mergeSchema(parts[len(parts)-1], over, at)
		parts[len(parts)-1] = own
		return base, err
	case composed(base):
		if member(over, "type") != nil || member(over, "enum") != nil {
			return nil, fmt.Errorf("%s: the type is that of another schema", at)
		}
		if member(base, "$ref") != nil {
			base = with(object(), "allOf", list(base)) // nothing may stand beside a reference
		}
	}
	err := members(over, func(name string, value *yaml.Node) error {
		merged, err := mergeMember(base, name, value, at)
		if err != nil {
			return err
		}
		with(base, name, merged)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := member(base, "nullable"); n != nil && n.Value == "false" {
		without(base, "nullable")
	}
	return base, nil
}

func mergeMember(base *yaml.Node, name string, value *yaml.Node, at string) (*yaml.Node, error) {
	known := member(base, name)
	switch {
	case name == "type" && known != nil && known.Value != value.Value:
		return nil, fmt.Errorf("%s: the type is %s, not %s", at, known.Value, value.Value)
	case name == "enum" && known != nil:
		for _, word := range value.Content {
			if !slices.ContainsFunc(known.Content, func(n *yaml.Node) bool { return n.Value == word.Value }) {
				return nil, fmt.Errorf("%s: the type has no value %s", at, word.Value)
			}
		}
	case name == "required" && known != nil:
		return union(known, value), nil
	case name == "properties" && known != nil:
		err := members(value, func(property string, schema *yaml.Node) error {
			if member(known, property) == nil {
				return fmt.Errorf("%s: the type has no member %s", at, property)
			}
			if schema.ShortTag() == "!!null" { // another spelling, or one that this route refuses
				without(known, property)
				return nil
			}
			merged, err := mergeSchema(member(known, property), schema, at+"/"+property)
			if err != nil {
				return err
			}
			with(known, property, merged)
			return nil
		})
		return known, err
	case (name == "items" || name == "additionalProperties") && value.Kind == yaml.MappingNode:
		return mergeSchema(known, value, at+"/"+name)
	}
	return value, nil
}

// union is a list with the elements of both.
func union(a, b *yaml.Node) *yaml.Node {
	all := list(a.Content...)
	for _, element := range b.Content {
		if !slices.ContainsFunc(a.Content, func(n *yaml.Node) bool { return n.Value == element.Value }) {
			all.Content = append(all.Content, element)
		}
	}
	return all
}
