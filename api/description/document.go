// Package description changes the text of an OpenAPI description and leaves its order and
// layout as they are, so that two versions of the file can be compared line by line.
//
// A document is a tree of nodes that keeps the order of members. Parse refuses a member that
// is there twice: a reader would keep one of the two, and nobody says which.
//
//	document, err := description.Parse(text)
//	description.Modernize(document) // OpenAPI 3.0 becomes 3.1
//	text = document.Text()
//
// The changes are functions of the document alone, and making one twice is making it once: the
// program in cmd/describe can be run on a file whenever somebody wrote to it.
package description

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Kind is what a node is.
type Kind byte

const (
	Object  Kind = '{'
	Array   Kind = '['
	Literal Kind = 'v'
)

// Node is a JSON value.
type Node struct {
	Kind Kind
	// Names are those of the members of an object, in their order.
	Names []string
	// Values are the members of an object or the elements of an array.
	Values []*Node
	// literal is the text of what is neither.
	literal string
}

// maxDepth is more than any description has, and what a stack bears.
const maxDepth = 500

// Parse reads a document.
func Parse(text []byte) (*Node, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	node, err := read(decoder, "", maxDepth)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return node, nil
}

func read(decoder *json.Decoder, at string, depth int) (*Node, error) {
	if depth == 0 {
		return nil, fmt.Errorf("%s: is too deep", at)
	}
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	node := &Node{Kind: Literal}
	switch token {
	case json.Delim('{'):
		node.Kind = Object
	case json.Delim('['):
		node.Kind = Array
	default:
		node.literal = encoded(token)
		return node, nil
	}
	for decoder.More() {
		below := fmt.Sprintf("%s/%d", at, len(node.Values))
		if node.Kind == Object {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			text, _ := name.(string)
			if below = at + "/" + text; slices.Contains(node.Names, text) {
				return nil, fmt.Errorf("%s: is there twice", below)
			}
			node.Names = append(node.Names, text)
		}
		value, err := read(decoder, below, depth-1)
		if err != nil {
			return nil, err
		}
		node.Values = append(node.Values, value)
	}
	_, err = decoder.Token()
	return node, err
}

// encoded is a value as JSON on one line, with < and > as they are.
func encoded(value any) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // texts, numbers and the like can be written
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// NewLiteral returns the node of a text, a number, a boolean or null.
func NewLiteral(value any) *Node { return &Node{Kind: Literal, literal: encoded(value)} }

// NewArray returns an array of nodes.
func NewArray(elements ...*Node) *Node { return &Node{Kind: Array, Values: elements} }

// Get returns a member at a path of names; nil when there is none.
func (n *Node) Get(path ...string) *Node {
	for _, name := range path {
		if n == nil || n.Kind != Object {
			return nil
		}
		at := slices.Index(n.Names, name)
		if at < 0 {
			return nil
		}
		n = n.Values[at]
	}
	return n
}

// Set puts a member into an object, in its place where there is one and else at the end.
func (n *Node) Set(name string, value *Node) {
	if at := slices.Index(n.Names, name); at >= 0 {
		n.Values[at] = value
		return
	}
	n.Names, n.Values = append(n.Names, name), append(n.Values, value)
}

// Delete removes a member.
func (n *Node) Delete(name string) {
	if at := slices.Index(n.Names, name); at >= 0 {
		n.Names, n.Values = slices.Delete(n.Names, at, at+1), slices.Delete(n.Values, at, at+1)
	}
}

// String is the text of a literal that is one; "" of everything else.
func (n *Node) String() (text string) {
	if n != nil && n.Kind == Literal && json.Unmarshal([]byte(n.literal), &text) != nil {
		return ""
	}
	return text
}

// Is reports whether a node is this literal.
func (n *Node) Is(value any) bool {
	return n != nil && n.Kind == Literal && n.literal == encoded(value)
}

// Text is the document with two spaces a level and a line for each member and element.
func (n *Node) Text() []byte {
	var buf bytes.Buffer
	n.write(&buf, "\n")
	buf.WriteByte('\n')
	return buf.Bytes()
}

func (n *Node) write(buf *bytes.Buffer, line string) {
	if n.Kind == Literal {
		buf.WriteString(n.literal)
		return
	}
	end := byte('}')
	if n.Kind == Array {
		end = ']'
	}
	buf.WriteByte(byte(n.Kind))
	for i, value := range n.Values {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.WriteString(line + "  ")
		if n.Kind == Object {
			buf.WriteString(encoded(n.Names[i]) + ": ")
		}
		value.write(buf, line+"  ")
	}
	if len(n.Values) > 0 {
		buf.WriteString(line)
	}
	buf.WriteByte(end)
}

// MarshalJSON makes a node a part of what encoding/json writes.
func (n *Node) MarshalJSON() ([]byte, error) { return n.Text(), nil }

// UnmarshalJSON reads a node.
func (n *Node) UnmarshalJSON(text []byte) error {
	node, err := Parse(text)
	if err == nil {
		*n = *node
	}
	return err
}

// Operations calls a function with each operation, in the order of the document.
func (n *Node) Operations(do func(path, method string, item, operation *Node)) {
	paths := n.Get("paths")
	if paths == nil {
		return
	}
	for i, path := range paths.Names {
		item := paths.Values[i]
		for k, method := range item.Names {
			if item.Values[k].Get("operationId") != nil {
				do(path, method, item, item.Values[k])
			}
		}
	}
}

// Resolve follows the reference that a node may be to a component.
func (n *Node) Resolve(document *Node) *Node {
	for range maxDepth {
		path, found := strings.CutPrefix(n.Get("$ref").String(), "#/")
		if !found {
			break
		}
		n = document.Get(strings.Split(path, "/")...)
	}
	return n
}
