package testfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Read reads a case file. Its errors are *Error.
func Read(text []byte) (*Case, error) {
	c, _, err := read(text)
	return c, err
}

// read returns the file's mapping too.
func read(text []byte) (*Case, *yaml.Node, error) {
	if len(text) > MaxSize {
		return nil, nil, wrong(1, "the file has more than %d MiB", MaxSize>>20)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil, wrong(1, "the file has no test")
	case err != nil:
		return nil, nil, misread(err)
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, nil, wrong(second.Content[0].Line, "one file holds one test: there is a second document")
	case !errors.Is(err, io.EOF):
		return nil, nil, misread(err)
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, nil, wrong(top.Line, "a test has members: name, url, steps")
	}
	c := &Case{}
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if err := plain(key, 0); err != nil {
			return nil, nil, err
		}
		if seen[key.Value] {
			return nil, nil, wrong(key.Line, "%s stands twice", key.Value)
		}
		seen[key.Value] = true
		if err := plain(value, 0); err != nil {
			return nil, nil, err
		}
		if err := c.member(key, value); err != nil {
			return nil, nil, err
		}
	}
	if strings.TrimSpace(c.Name) == "" {
		return nil, nil, wrong(top.Line, "name is required")
	}
	return c, top, nil
}

// yamlLine is how the reader of YAML names a line.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// misread is an error of YAML itself.
func misread(err error) error {
	line, text := 1, err.Error()
	if match := yamlLine.FindStringSubmatch(text); match != nil {
		line, _ = strconv.Atoi(match[1])
		text = text[len(match[0]):]
	}
	return wrong(line, "this is no YAML: %s", text)
}

// member reads a member of the file.
func (c *Case) member(key, value *yaml.Node) (err error) {
	switch key.Value {
	case "id":
		return c.readID(value)
	case "revision":
		return c.readRevision(value)
	case "name":
		c.Name, err = textOf(key, value)
	case "suite":
		c.Suite, err = textOf(key, value)
	case "url":
		c.URL, err = textOf(key, value)
	case "tunnel":
		c.Tunnel, err = textOf(key, value)
	case "healing":
		c.Healing, err = textOf(key, value)
	case "drift":
		c.Drift, err = textOf(key, value)
	case "trace":
		c.Trace, err = textOf(key, value)
	case "retries":
		var retries int
		if value.ShortTag() != "!!int" || value.Decode(&retries) != nil {
			return wrong(value.Line, "retries must be a whole number")
		}
		c.Retries = &retries
	case "basicAuth":
		c.BasicAuth, err = readAccess(key, value, basicAuth)
	case "clientCertificate":
		c.ClientCertificate, err = readAccess(key, value, clientCertificate)
	case "intent":
		c.Intent, err = textOf(key, value)
	case "description":
		c.Description, err = textOf(key, value)
	case "strict":
		var strict bool
		if value.ShortTag() != "!!bool" || value.Decode(&strict) != nil {
			return wrong(value.Line, "strict must be true or false")
		}
		c.FirstMatch = !strict
	case "tags":
		c.Tags, err = readTags(value)
	case "targets":
		c.Targets, err = readTargets(value)
	case "primary":
		var primary Target
		primary, err = readTarget(value)
		c.Primary = &primary
	case "setUp":
		c.SetUp, err = readSteps(value)
	case "data":
		c.Data, err = readData(value)
	case "steps":
		c.Steps, err = readSteps(value)
	case "tearDown":
		c.TearDown, err = readSteps(value)
	default:
		return wrong(key.Line, "%s is unknown here: there are %s", key.Value, strings.Join(members, ", "))
	}
	return err
}

// members are those of a file, in their order.
var members = []string{"id", "revision", "name", "suite", "tags", "url", "targets", "primary", "tunnel", "strict",
	"healing", "drift", "trace",
	"retries", "basicAuth", "clientCertificate", "intent", "description", "data", "setUp", "steps", "tearDown"}

var (
	caseID   = regexp.MustCompile(`^[0-9a-f]{24}$`)
	stamp    = regexp.MustCompile(`^([0-9a-f]{24})?-[0-9a-f]{12}$`)
	stepID   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	stepName = []string{"id", "tool", "optional", "when", "timeoutMs"}
)

func (c *Case) readID(value *yaml.Node) error {
	if c.ID = value.Value; !caseID.MatchString(c.ID) {
		return wrong(value.Line, "id must be 24 hexadecimal digits, or absent for a test that is new")
	}
	return nil
}

func (c *Case) readRevision(value *yaml.Node) error {
	if c.Revision = value.Value; !stamp.MatchString(c.Revision) {
		return wrong(value.Line, "revision is written by pull and push, and is not what they write")
	}
	return nil
}

// textOf reads a text; a plain number is the text that stands there.
func textOf(key, value *yaml.Node) (string, error) {
	switch {
	case value.Kind != yaml.ScalarNode:
		return "", wrong(value.Line, "%s must be a text", key.Value)
	case value.ShortTag() == "!!null":
		return "", nil
	}
	return value.Value, nil
}

func readTags(value *yaml.Node) ([]string, error) {
	if value.Kind != yaml.SequenceNode || len(value.Content) > maxTags {
		return nil, wrong(value.Line, "tags must be a list of at most %d texts", maxTags)
	}
	tags := []string{}
	for _, inner := range value.Content {
		if err := plain(inner, 1); err != nil {
			return nil, err
		}
		if inner.Kind != yaml.ScalarNode {
			return nil, wrong(inner.Line, "a tag must be a text")
		}
		tags = append(tags, inner.Value)
	}
	return tags, nil
}

func readTargets(value *yaml.Node) ([]Target, error) {
	return readList(value, "targets", maxTargets, readTarget)
}

// readList reads a list of at most some elements, each by a function.
func readList[T any](value *yaml.Node, name string, most int, read func(*yaml.Node) (T, error)) ([]T, error) {
	if value.Kind != yaml.SequenceNode || len(value.Content) > most {
		return nil, wrong(value.Line, "%s must be a list of at most %d %s", name, most, name)
	}
	var list []T
	for _, inner := range value.Content {
		one, err := read(inner)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// readTarget reads a target: the name of a browser, or an object as the API has it.
func readTarget(value *yaml.Node) (t Target, err error) {
	if err := plain(value, 1); err != nil {
		return t, err
	}
	if value.Kind == yaml.ScalarNode && value.Value != "" {
		return Browser(value.Value), nil
	}
	if value.Kind != yaml.MappingNode {
		return t, wrong(value.Line, "a target is the name of a browser, or has capabilities")
	}
	text, err := jsonOf(value, asTyped)
	if err != nil {
		return t, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil || len(t.Capabilities) == 0 || t.Capabilities[0] != '{' {
		return t, wrong(value.Line, "a target has capabilities, an object, and isRdc, true or false, and nothing else")
	}
	return t, nil
}

// Browser is the target of a browser by its name.
func Browser(name string) Target {
	text, _ := json.Marshal(map[string]string{"browserName": name}) // texts always have a form
	return Target{Capabilities: text}
}

func readSteps(value *yaml.Node) ([]Step, error) {
	return readList(value, "steps", maxSteps, readStep)
}

func readStep(n *yaml.Node) (s Step, err error) {
	if err := plain(n, 1); err != nil {
		return s, err
	}
	if n.Kind != yaml.MappingNode {
		return s, wrong(n.Line, "a step has members: %s", strings.Join(stepName, ", "))
	}
	s.Line = n.Line
	body, tool := yaml.Node{Kind: yaml.MappingNode, Line: n.Line}, false
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		switch key.Value {
		case "id":
			if s.ID = inner.Value; !stepID.MatchString(s.ID) {
				return s, wrong(inner.Line, "the id of a step has at most 64 letters, digits, -, _ and .")
			}
			continue
		case "tool":
			tool = true
		case "optional", "when", "timeoutMs":
		default:
			return s, wrong(key.Line, "%s is unknown in a step: there are %s", key.Value, strings.Join(stepName, ", "))
		}
		body.Content = append(body.Content, key, inner)
	}
	if !tool {
		return s, wrong(n.Line, "a step must have a tool")
	}
	s.Body, err = jsonOf(&body, asText)
	return s, err
}
