package generation

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/run/environment"
)

// redacted returns a result as it is stored: nothing in it contains a secret. The
// argument is not changed.
func (p *execution) redacted(r Result) store.Result {
	clean := p.env.Redactor
	out := store.Result{Code: r.Code, Detail: clean.Text(r.Detail), DiscoveredIntent: clean.Text(r.DiscoveredIntent),
		Description: clean.Text(r.Description), Steps: redactedSteps(p.env, r.Steps), Reasoning: make([]authoring.Reason, 0, len(r.Reasoning))}
	for _, reason := range r.Reasoning {
		out.Reasoning = append(out.Reasoning, authoring.Reason{Title: clean.Text(reason.Title), Description: clean.Text(reason.Description)})
	}
	out.Findings = r.Findings.Each(clean.Text)
	if r.Changes != nil {
		out.Changes = r.Changes
	}
	if r.Model != nil {
		usage := *r.Model
		usage.Calls = slices.Clone(usage.Calls)
		for i := range usage.Calls {
			call := &usage.Calls[i]
			call.Request, call.Response = clean.Text(call.Request), clean.Text(call.Response)
		}
		out.Model = usage
	}
	return out
}

// redactedSteps returns steps in which the values of secret variables that a page shows
// are what they are in other steps: references. So an element is found again whose name
// has the value in it. In fingerprints, which have no references, and where a secret is
// written otherwise, it is masked.
func redactedSteps(env *environment.Environment, steps []step.Step) []step.Step {
	out := make([]step.Step, 0, len(steps))
	m := newMasker(env)
	for _, s := range steps {
		if env.Redactor != nil {
			s = m.step(s)
		}
		out = append(out, s)
	}
	return out
}

// masker takes secrets out of steps.
type masker struct {
	clean      *redaction.Redactor
	references *strings.Replacer
}

func newMasker(env *environment.Environment) masker {
	type pair struct{ value, reference string }
	var pairs []pair
	for r, value := range env.Secrets {
		if len(value) >= redaction.MinSecret {
			pairs = append(pairs, pair{value, r.String()})
		}
	}
	// The longest first: one secret may begin with another.
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(len(b.value), len(a.value)), strings.Compare(a.value, b.value), strings.Compare(a.reference, b.reference))
	})
	var list []string
	for _, p := range pairs {
		list = append(list, p.value, p.reference)
	}
	return masker{clean: env.Redactor, references: strings.NewReplacer(list...)}
}

func (m masker) step(s step.Step) step.Step {
	s.Tool = masked(m, s.Tool)
	if s.When != nil {
		when := masked(m, *s.When)
		s.When = &when
	}
	if s.Result != nil {
		s.Result = &step.Outcome{Success: s.Result.Success, Message: m.clean.Text(s.Result.Message)}
	}
	return s
}

// masked returns a document of a step without secrets.
func masked[T any](m masker, document T) T {
	text, err := json.Marshal(document)
	if err != nil {
		return *new(T)
	}
	var tree any
	if json.Unmarshal(text, &tree) != nil {
		return *new(T)
	}
	text, err = json.Marshal(m.tree(tree, false))
	if err != nil {
		return *new(T)
	}
	var out T
	if json.Unmarshal(text, &out) != nil {
		return *new(T)
	}
	return out
}

// words are the members whose texts are words of the format, and content, which is
// Base64 and not of the page.
var words = []string{"type", "mode", "direction", "action", "content"}

func (m masker) tree(value any, fingerprint bool) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if !slices.Contains(words, name) || fingerprint {
				v[name] = m.tree(member, fingerprint || name == "fingerprint")
			}
		}
	case []any:
		for i := range v {
			v[i] = m.tree(v[i], fingerprint)
		}
	case string:
		if !fingerprint {
			v = m.references.Replace(v)
		}
		return m.clean.Text(v)
	}
	return value
}
