// Package testfile reads and writes tests as files of a repository: a case as YAML, and
// sentences as headings of a Markdown file.
//
// A case file has the members of Case in one order, and its steps as the API has them, so
// that a change is a small diff. It has neither ids of steps nor what runs found out about
// elements: both belong to the server, and change without anybody changing the test. Nor
// has it values of variables.
//
// The member revision says what the file was made from: the server's revision of the
// steps, and a digest of everything in the file. So a reader knows whether the file, the
// server, or both have changed since (Case.Changed, Case.Base).
//
// What is read may come from anybody: a file is bounded in size and depth, has no anchors
// and aliases, and no member that is not known; each refusal is an *Error with its line.
package testfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// MaxSize bounds a file in bytes: the API takes no larger case.
	MaxSize = 4 << 20
	// maxDepth bounds how deep values are nested. Selectors of eight, each in the other,
	// within frames and shadow roots of eight, need some 40.
	maxDepth = 64
	// maxSteps, maxTags and maxTargets are those of the API.
	maxSteps   = 1000
	maxTags    = 20
	maxTargets = 20
	// digestLength is enough hexadecimal digits that no two states of a case are the same
	// by accident, and few enough to be read over.
	digestLength = 12
)

// Error is a file that is refused.
type Error struct {
	Line int // from 1
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

func wrong(line int, format string, args ...any) error {
	return &Error{Line: max(line, 1), Text: fmt.Sprintf(format, args...)}
}

// Case is a test case as a file has it.
type Case struct {
	ID       string // of the server; "": it is not there yet
	Revision string // what the file was made from, as Stamp returns it; "" without an id
	Name     string
	Suite    string // name or id; "": in none
	Tags     []string
	URL      string // where it begins
	Targets  []Target
	// Primary is the target that others are put over; nil: the first of Targets.
	Primary *Target
	Tunnel  string
	// FirstMatch lets a selector that finds several elements take the first (strict: false).
	FirstMatch     bool
	Healing, Drift string // "": as the suite
	Trace          string // likewise
	Retries        *int   // nil: as the suite
	// BasicAuth and ClientCertificate let the browser into the site of URL; nil: none.
	BasicAuth, ClientCertificate *Access
	Intent                       string
	Description                  string
	Data                         *Data  // nil: those that the server has stay
	SetUp                        []Step // before the steps
	Steps                        []Step
	TearDown                     []Step // after them, whatever came of them
}

// Target is where a case runs.
type Target struct {
	Capabilities json.RawMessage `json:"capabilities"` // an object
	IsRDC        bool            `json:"isRdc"`
}

// Step is a step as the API takes it.
type Step struct {
	ID   string          // "": the server's, or a new one
	Line int             // in the file, from 1; 0 without one
	Body json.RawMessage // an object without id, result, screenshotUrl and fingerprints
}

// Digest returns a digest of everything but id and revision.
func (c *Case) Digest() string {
	parts := []any{c.Name, c.Suite, orNone(c.Tags), c.URL, targetsOf(c.Targets), c.primary(), c.Tunnel, c.FirstMatch,
		c.Healing, c.Drift, c.Intent, c.Description, bodiesOf(c.Steps)}
	if len(c.SetUp)+len(c.TearDown) > 0 { // files without them have the digest that they always had
		parts = append(parts, bodiesOf(c.SetUp), bodiesOf(c.TearDown))
	}
	if c.Trace != "" { // likewise those that say nothing of traces
		parts = append(parts, "trace", c.Trace)
	}
	if c.Retries != nil { // without it the digest is what it was before there were retries
		parts = append(parts, *c.Retries)
	}
	if c.BasicAuth != nil || c.ClientCertificate != nil { // likewise
		parts = append(parts, "access", c.BasicAuth, c.ClientCertificate)
	}
	if c.Data != nil { // files of before data rows keep their digest
		parts = append(parts, c.Data.compared())
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // of nothing that was read: bodies are valid JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:digestLength]
}

func bodiesOf(steps []Step) []json.RawMessage {
	bodies := make([]json.RawMessage, len(steps))
	for i := range steps {
		bodies[i] = canonical(steps[i].Body)
	}
	return bodies
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// targetsOf returns targets in the form that is compared.
func targetsOf(list []Target) []Target {
	out := make([]Target, len(list))
	for i, t := range list {
		out[i] = Target{Capabilities: canonical(t.Capabilities), IsRDC: t.IsRDC}
	}
	return out
}

// primary is the primary target where it is another than the first.
func (c *Case) primary() *Target {
	if c.Primary == nil {
		return nil
	}
	p := targetsOf([]Target{*c.Primary})[0]
	if len(c.Targets) > 0 && sameTarget(c.Targets[0], *c.Primary) {
		return nil
	}
	return &p
}

func sameTarget(a, b Target) bool {
	return a.IsRDC == b.IsRDC && string(canonical(a.Capabilities)) == string(canonical(b.Capabilities))
}

// Same reports whether two cases are the same but for id and revision.
func (c *Case) Same(other *Case) bool { return c.Digest() == other.Digest() }

// Stamp returns the member revision of a case that the server has in this state, under
// this revision of its steps.
func (c *Case) Stamp(revisionID string) string { return revisionID + "-" + c.Digest() }

// Base returns the server's revision of the steps that the file was made from, "" without
// one.
func (c *Case) Base() string {
	id, _, _ := strings.Cut(c.Revision, "-")
	return id
}

// Changed reports whether the file has changed since it was written.
func (c *Case) Changed() bool {
	_, digest, _ := strings.Cut(c.Revision, "-")
	return digest != c.Digest()
}

// canonical returns JSON in the one form in which two equal values are equal bytes:
// members sorted, without those that say what their absence says.
func canonical(text json.RawMessage) json.RawMessage {
	value, err := decode(text)
	if err != nil {
		return text
	}
	out, err := json.Marshal(reduce("", value))
	if err != nil {
		return text
	}
	return out
}

// reduce leaves out members that change nothing.
func reduce(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if v[key] = reduce(key, inner); says(key, v[key]) {
				continue
			}
			delete(v, key)
		}
	case []any:
		for i := range v {
			v[i] = reduce(name, v[i])
		}
	}
	return value
}

// says reports whether a member is more than its absence.
func says(name string, value any) bool {
	if value == nil {
		return false
	}
	switch name {
	case "optional", "not", "exact":
		return value != false
	case "args":
		object, ok := value.(map[string]any)
		return !ok || len(object) > 0
	}
	return true
}

func decode(text json.RawMessage) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var value any
	return value, d.Decode(&value)
}
