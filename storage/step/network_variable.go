package step

import (
	"encoding/json"
	"strings"
)

// network returns copies of the arguments of a network step with their texts replaced.
func (m *textMapper) network(tool string, a *Args) {
	if tool == WaitForDownload {
		a.Name = m.text(a.Name)
	}
	if a.Answer != nil {
		n := *a.Answer
		n.Headers, n.Body, n.JSON = m.headers(n.Headers), m.pointer(n.Body), m.document(n.JSON)
		a.Answer = &n
	}
	if a.Change != nil {
		c := *a.Change
		c.URLTo, c.Headers, c.Body, c.JSON = m.text(c.URLTo), m.headers(c.Headers), m.pointer(c.Body), m.document(c.JSON)
		a.Change = &c
	}
}

// networkMatcher replaces the texts of a copied matcher that looks at what the browser did.
func (m *textMapper) networkMatcher(a *MatcherArgs) {
	a.URL = m.text(a.URL)
	if a.Body != nil {
		body := *a.Body
		body.Value = m.text(body.Value)
		a.Body = &body
	}
	if a.Header != nil {
		header := *a.Header
		header.Value = m.text(header.Value)
		a.Header = &header
	}
}

func (m *textMapper) pointer(text *string) *string {
	if text == nil {
		return nil
	}
	changed := m.text(*text)
	return &changed
}

func (m *textMapper) headers(of map[string]string) map[string]string {
	if of == nil {
		return nil
	}
	changed := make(map[string]string, len(of))
	for name, value := range of {
		changed[name] = m.text(value)
	}
	return changed
}

// document replaces the variables in the texts of a JSON value. Its other parts stay as
// they are written.
func (m *textMapper) document(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 || !strings.Contains(string(doc), "{{") {
		return doc
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(doc)))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return doc
	}
	changed, err := json.Marshal(m.within(value))
	if err != nil {
		return doc
	}
	return changed
}

func (m *textMapper) within(value any) any {
	switch v := value.(type) {
	case string:
		return m.text(v)
	case []any:
		for i := range v {
			v[i] = m.within(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = m.within(v[name])
		}
	}
	return value
}
