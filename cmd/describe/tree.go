package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/description"
)

// The document and its parts are trees of YAML nodes: they keep the order of members, and
// numbers as they are written.

// text is a string.
func text(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// truth is a boolean.
func truth(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(b)}
}

// list is an array.
func list(elements ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: elements}
}

// object is an object without members.
func object() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// refTo leads to a component.
func refTo(kind, name string) *yaml.Node {
	return with(object(), "$ref", text("#/components/"+kind+"/"+name))
}

// member returns a member of an object; nil: it has none, or is no object.
func member(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		at := place(n, name)
		if at < 0 {
			return nil
		}
		n = n.Content[at+1]
	}
	return n
}

func place(n *yaml.Node, name string) int {
	if n == nil || n.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

// with sets a member, and returns the object.
func with(n *yaml.Node, name string, value *yaml.Node) *yaml.Node {
	if at := place(n, name); at >= 0 {
		n.Content[at+1] = value
		return n
	}
	n.Content = append(n.Content, text(name), value)
	return n
}

// without removes a member, and returns it; nil: there was none.
func without(n *yaml.Node, name string) *yaml.Node {
	at := place(n, name)
	if at < 0 {
		return nil
	}
	value := n.Content[at+1]
	n.Content = slices.Delete(n.Content, at, at+2)
	return value
}

// members calls do with each member of an object, in order.
func members(n *yaml.Node, do func(name string, value *yaml.Node) error) error {
	if n == nil {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := do(n.Content[i].Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// ordered sorts the members of an object: those that are named as named, the others behind
// them as they are.
func ordered(n *yaml.Node, names ...string) *yaml.Node {
	sorted := object()
	for _, name := range names {
		if value := without(n, name); value != nil {
			with(sorted, name, value)
		}
	}
	n.Content = append(sorted.Content, n.Content...)
	return n
}

// byName sorts the members of an object by their names.
func byName(n *yaml.Node) *yaml.Node {
	var names []string
	for i := 0; i < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	slices.Sort(names)
	return ordered(n, names...)
}

// copied is a copy that shares nothing.
func copied(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, inner := range n.Content {
		c.Content[i] = copied(inner)
	}
	return &c
}

// checkTree refuses what JSON cannot hold: members that are there twice, aliases, dates and
// numbers of YAML alone.
func checkTree(n *yaml.Node) error {
	seen := map[string]bool{}
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[inner.Value] {
				return fmt.Errorf("line %d: %s is there twice", inner.Line, inner.Value)
			}
			seen[inner.Value] = true
			continue
		}
		if err := checkTree(inner); err != nil {
			return err
		}
	}
	if n.Kind == yaml.AliasNode {
		return fmt.Errorf("line %d: an alias", n.Line)
	}
	switch tag := n.ShortTag(); tag {
	case "!!int", "!!float", "!!bool", "!!null":
		if !json.Valid([]byte(n.Value)) {
			return fmt.Errorf("line %d: %s is no value of JSON: write it in quotes, or in full", n.Line, n.Value)
		}
	case "!!str", "!!seq", "!!map", "!!timestamp":
	default:
		return fmt.Errorf("line %d: %s", n.Line, tag)
	}
	return nil
}

// jsonTree is a tree of YAML as one of JSON; checkTree has refused what JSON cannot hold.
func jsonTree(n *yaml.Node) *description.Node {
	switch n.Kind {
	case yaml.MappingNode:
		object := &description.Node{Kind: description.Object}
		for i := 0; i < len(n.Content); i += 2 {
			object.Names = append(object.Names, n.Content[i].Value)
			object.Values = append(object.Values, jsonTree(n.Content[i+1]))
		}
		return object
	case yaml.SequenceNode:
		array := description.NewArray()
		for _, element := range n.Content {
			array.Values = append(array.Values, jsonTree(element))
		}
		return array
	}
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		return description.NewLiteral(json.RawMessage(n.Value))
	}
	return description.NewLiteral(n.Value)
}
