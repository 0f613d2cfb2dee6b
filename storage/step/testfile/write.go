package testfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write returns the file of a case: always the same bytes for the same case.
func (c *Case) Write() ([]byte, error) {
	top, err := c.node()
	if err != nil {
		return nil, fmt.Errorf("write test %q: %w", c.Name, err)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		return nil, fmt.Errorf("write test %q: %w", c.Name, err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write test %q: %w", c.Name, err)
	}
	return out.Bytes(), nil
}

func (c *Case) node() (*yaml.Node, error) {
	top := &yaml.Node{Kind: yaml.MappingNode}
	put := func(name string, value *yaml.Node) {
		top.Content = append(top.Content, scalarNode("!!str", name), value)
	}
	text := func(name, value string) {
		if value != "" {
			put(name, textNode(value))
		}
	}
	if c.ID != "" {
		put("id", idNode(c.ID))
	}
	if c.Revision != "" {
		put("revision", idNode(c.Revision))
	}
	put("name", textNode(c.Name))
	text("suite", c.Suite)
	if len(c.Tags) > 0 {
		tags := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, t := range c.Tags {
			tags.Content = append(tags.Content, textNode(t))
		}
		put("tags", tags)
	}
	text("url", c.URL)
	if err := c.putTargets(put); err != nil {
		return nil, err
	}
	text("tunnel", c.Tunnel)
	if c.FirstMatch {
		put("strict", scalarNode("!!bool", "false"))
	}
	text("healing", c.Healing)
	text("drift", c.Drift)
	text("trace", c.Trace)
	if c.Retries != nil {
		put("retries", scalarNode("!!int", strconv.Itoa(*c.Retries)))
	}
	if c.BasicAuth != nil {
		put("basicAuth", c.BasicAuth.node(basicAuth))
	}
	if c.ClientCertificate != nil {
		put("clientCertificate", c.ClientCertificate.node(clientCertificate))
	}
	text("intent", c.Intent)
	text("description", c.Description)
	if c.Data != nil {
		put("data", c.Data.node())
	}
	for _, list := range []struct {
		name  string
		steps []Step
	}{{"setUp", c.SetUp}, {"steps", c.Steps}, {"tearDown", c.TearDown}} {
		steps := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range list.steps {
			n, err := stepNode(&list.steps[i])
			if err != nil {
				return nil, err
			}
			steps.Content = append(steps.Content, n)
		}
		if len(steps.Content) > 0 {
			put(list.name, steps)
		}
	}
	return top, nil
}

// idNode is an id, in quotes only where it would be a number without.
func idNode(id string) *yaml.Node { return scalarNode("!!str", id) }

func (c *Case) putTargets(put func(string, *yaml.Node)) error {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range c.Targets {
		n, err := targetNode(&c.Targets[i])
		if err != nil {
			return err
		}
		list.Content = append(list.Content, n)
	}
	if len(list.Content) > 0 {
		put("targets", list)
	}
	if p := c.primary(); p != nil {
		n, err := targetNode(c.Primary)
		if err != nil {
			return err
		}
		put("primary", n)
	}
	return nil
}

func targetNode(t *Target) (*yaml.Node, error) {
	var members map[string]any
	if err := json.Unmarshal(t.Capabilities, &members); err != nil {
		return nil, err
	}
	if name, ok := members["browserName"].(string); ok && len(members) == 1 && !t.IsRDC && name != "" {
		return textNode(name), nil
	}
	capabilities, err := nodeOf(t.Capabilities, nil)
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode("!!str", "capabilities"), capabilities}}
	if t.IsRDC {
		n.Content = append(n.Content, scalarNode("!!str", "isRdc"), scalarNode("!!bool", strconv.FormatBool(true)))
	}
	return n, nil
}

func stepNode(s *Step) (*yaml.Node, error) {
	n, err := nodeOf(s.Body, nil)
	if err != nil {
		return nil, err
	}
	if s.ID != "" {
		n.Content = slices.Insert(n.Content, 0, scalarNode("!!str", "id"), textNode(s.ID))
	}
	return n, nil
}

// recorded are members of steps that say what a run found out.
var recorded = map[string]bool{"id": true, "result": true, "screenshotUrl": true, "screenshotId": true}

// StepOf returns a step of an answer of the API: without what runs found out, and its id
// apart.
func StepOf(text json.RawMessage) (s Step, err error) {
	var known struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return s, err
	}
	n, err := nodeOf(text, func(path []string, name string) bool {
		return len(path) == 0 && recorded[name] || len(path) > 0 && name == "fingerprint"
	})
	if err != nil {
		return s, fmt.Errorf("read a step: %w", err)
	}
	s.ID = known.ID
	s.Body, err = jsonOf(n, asTyped)
	return s, err
}

// Restamp returns the text of a case file with another id and revision, and every other
// byte as it is.
func Restamp(text []byte, id, revision string) ([]byte, error) {
	_, top, err := read(text)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	for _, m := range []struct{ name, value string }{{"revision", revision}, {"id", id}} {
		line, found := top.Line, false
		for i := 0; i+1 < len(top.Content); i += 2 {
			key, value := top.Content[i], top.Content[i+1]
			if key.Value == m.name && key.Line == value.Line && plainLine.MatchString(lines[key.Line-1]) {
				line, found = key.Line, true
			}
		}
		entry := m.name + ": " + quoteID(m.value) + "\n"
		switch {
		case found && m.value == "":
			lines[line-1] = ""
		case found:
			lines[line-1] = entry
		case m.value != "":
			lines[line-1] = entry + lines[line-1]
		}
	}
	out := []byte(strings.Join(lines, ""))
	c, err := Read(out)
	if err != nil || c.ID != id || c.Revision != revision {
		// Written in a way that lines do not show, such as in braces.
		if c, _, err = read(text); err != nil {
			return nil, err
		}
		c.ID, c.Revision = id, revision
		return c.Write()
	}
	return out, nil
}

// plainLine is a member that has a line to itself.
var plainLine = regexp.MustCompile(`^(id|revision): *['"]?[0-9a-f-]+['"]? *\r?\n?$`)

// quoteID writes an id as Write does.
func quoteID(id string) string {
	text, err := yaml.Marshal(idNode(id))
	if err != nil {
		return id
	}
	return strings.TrimSuffix(string(text), "\n")
}
