package testfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// number are the members of steps that are numbers. Everywhere else a plain 1e3 or 007 is
// the text that stands there.
var number = map[string]bool{"time": true, "width": true, "height": true, "index": true, "nth": true, "level": true,
	"timeoutMs": true, "timeout": true, "wait": true,
	"advance": true, "max": true, "clickCount": true, "x": true, "y": true, "distance": true, "cpu": true,
	"latitude": true, "longitude": true, "accuracy": true, "latency": true, "down": true, "up": true}

// numberOf are the matchers whose value is a number.
var numberOf = map[string]bool{"count": true, "index": true, "toHaveCount": true, "toBeElementsArrayOfSize": true}

// form says how plain scalars of a value are read.
type form int

const (
	asText  form = iota // text, but for the members that are numbers
	asTyped             // numbers are numbers: capabilities, arguments of a matcher that counts
)

// jsonOf returns a value of YAML as JSON, with members in their order.
func jsonOf(n *yaml.Node, how form) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, n, how, 0); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, n *yaml.Node, how form, depth int) error {
	if err := plain(n, depth); err != nil {
		return err
	}
	switch n.Kind {
	case yaml.MappingNode:
		return writeObject(out, n, how, depth)
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, inner := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, inner, how, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	}
	return writeScalar(out, n, how)
}

// plain refuses what a file of tests has no use for.
func plain(n *yaml.Node, depth int) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return wrong(n.Line, "aliases (*%s) are not known here", n.Value)
	case n.Anchor != "":
		return wrong(n.Line, "anchors (&%s) are not known here", n.Anchor)
	case depth > maxDepth:
		return wrong(n.Line, "values are nested more than %d deep", maxDepth)
	case n.Style&yaml.TaggedStyle != 0:
		return wrong(n.Line, "tags (%s) are not known here", n.Tag)
	}
	return nil
}

func writeObject(out *bytes.Buffer, n *yaml.Node, how form, depth int) error {
	seen := map[string]bool{}
	counts := how == asText && countsOf(n)
	out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := plain(key, depth); err != nil {
			return err
		}
		if key.Kind != yaml.ScalarNode || key.Value == "<<" {
			return wrong(key.Line, "a name must be a text")
		}
		if seen[key.Value] {
			return wrong(key.Line, "%s stands twice", key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			out.WriteByte(',')
		}
		writeString(out, key.Value)
		out.WriteByte(':')
		inner := how
		if key.Value == "with" { // values of parameters are texts, whatever they are called
			if err := writeTexts(out, value, depth+1); err != nil {
				return err
			}
			continue
		}
		if number[key.Value] || counts && key.Value == "args" {
			inner = asTyped
		}
		if err := writeJSON(out, value, inner, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// writeTexts writes a mapping whose plain values are texts: 007 stays what it is.
func writeTexts(out *bytes.Buffer, n *yaml.Node, depth int) error {
	if n.Kind != yaml.MappingNode {
		return writeJSON(out, n, asText, depth)
	}
	plainly := *n
	plainly.Content = make([]*yaml.Node, len(n.Content))
	for i, inner := range n.Content {
		plainly.Content[i] = inner
		if i%2 == 1 && inner.Kind == yaml.ScalarNode && inner.ShortTag() != "!!null" && inner.Anchor == "" && inner.Style&yaml.TaggedStyle == 0 {
			plainly.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: inner.Value, Line: inner.Line}
		}
	}
	if err := plain(&plainly, depth); err != nil {
		return err
	}
	out.WriteByte('{')
	for i := 0; i+1 < len(plainly.Content); i += 2 {
		key := plainly.Content[i]
		if err := plain(key, depth); err != nil {
			return err
		}
		if key.Kind != yaml.ScalarNode || key.Value == "<<" {
			return wrong(key.Line, "a name must be a text")
		}
		for k := 0; k < i; k += 2 {
			if plainly.Content[k].Value == key.Value {
				return wrong(key.Line, "%s stands twice", key.Value)
			}
		}
		if i > 0 {
			out.WriteByte(',')
		}
		writeString(out, key.Value)
		out.WriteByte(':')
		if err := writeJSON(out, plainly.Content[i+1], asText, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// countsOf reports whether a mapping is a matcher whose argument is a number.
func countsOf(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			return numberOf[n.Content[i+1].Value]
		}
	}
	return false
}

// jsonNumber is what JSON takes for a number.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func writeScalar(out *bytes.Buffer, n *yaml.Node, how form) error {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		out.WriteString("null")
	case "!!bool":
		var on bool
		if err := n.Decode(&on); err != nil {
			return wrong(n.Line, "must be true or false")
		}
		fmt.Fprint(out, on)
	case "!!int", "!!float":
		if how == asText {
			writeString(out, n.Value)
			return nil
		}
		if jsonNumber.MatchString(n.Value) {
			out.WriteString(n.Value)
			return nil
		}
		var whole int64
		if tag != "!!int" || n.Decode(&whole) != nil {
			return wrong(n.Line, "%q is no number that a test can have", n.Value)
		}
		out.WriteString(strconv.FormatInt(whole, 10)) // 0x10, 1_000
	case "!!str", "!!timestamp":
		writeString(out, n.Value)
	default:
		return wrong(n.Line, "values of the kind %s are not known here", tag)
	}
	return nil
}

func writeString(out *bytes.Buffer, text string) {
	quoted, _ := json.Marshal(text) // a string always has a form
	out.Write(quoted)
}

// nodeOf returns a JSON value as YAML, with members in their order and without those that
// drop names.
func nodeOf(text json.RawMessage, drop func(path []string, name string) bool) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n, err := readNode(d, nil, drop)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more than one value")
	}
	return n, nil
}

func readNode(d *json.Decoder, path []string, drop func([]string, string) bool) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if len(path) > maxDepth {
		return nil, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			return readSequence(d, path, drop)
		}
		return readMapping(d, path, drop)
	case string:
		return textNode(v), nil
	case json.Number:
		return scalarNode("", v.String()), nil
	case bool:
		return scalarNode("!!bool", strconv.FormatBool(v)), nil
	}
	return scalarNode("!!null", "null"), nil
}

func readSequence(d *json.Decoder, path []string, drop func([]string, string) bool) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for d.More() {
		inner, err := readNode(d, append(path, "[]"), drop)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, inner)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	_, err := d.Token()
	return n, err
}

func readMapping(d *json.Decoder, path []string, drop func([]string, string) bool) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		inner, err := readNode(d, append(path, name), drop)
		if err != nil {
			return nil, err
		}
		nothing := name == "args" && inner.Kind == yaml.MappingNode && len(inner.Content) == 0
		if nothing || drop != nil && drop(path, name) {
			continue
		}
		n.Content = append(n.Content, textNode(name), inner)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	_, err := d.Token()
	return n, err
}

func scalarNode(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// elsewhere are plain words and numbers that readers of YAML 1.1 take for something else.
var elsewhere = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|~|<<|=|[-+.0-9][-+_.:0-9a-fxob]*)?$`)

// textNode is a text: in quotes where it could be taken for something else, and line by
// line where it has several and comes back the same.
func textNode(text string) *yaml.Node {
	n := scalarNode("!!str", text)
	switch {
	case strings.Contains(text, "\n") && blockable(text):
		n.Style = yaml.LiteralStyle
	case strings.Contains(text, "\n"), elsewhere.MatchString(text), strings.IndexFunc(text, odd) >= 0:
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func odd(r rune) bool { return !unicode.IsPrint(r) || r == '\uFEFF' }

// blockable reports whether a text of several lines keeps each of its characters as a
// block.
func blockable(text string) bool {
	if text[0] == ' ' || text[0] == '\n' || text[0] == '\t' || strings.HasSuffix(text, "\n\n") {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimRight(line, " \t") != line || strings.IndexFunc(line, odd) >= 0 {
			return false
		}
	}
	return true
}
