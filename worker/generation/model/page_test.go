package model

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/languagemodel"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// testPage is a page without a browser: steps pass, and may change it.
type testPage struct {
	s     snapshot.Snapshot
	steps []step.Step
	// on is called with each step before it passes; an error fails it.
	on func(p *testPage, s step.Step) error
}

func newPage(nodes ...snapshot.Node) *testPage {
	p := &testPage{s: snapshot.Snapshot{URL: "http://shop.test/", Title: "Shop", Quiet: true, Windows: 1}}
	p.show(nodes...)
	return p
}

// show sets the nodes; those without a ref get one, and those without a parent are at the top.
func (p *testPage) show(nodes ...snapshot.Node) {
	p.s.Nodes = slices.Clone(nodes)
	for i := range p.s.Nodes {
		n := &p.s.Nodes[i]
		if n.Ref == "" {
			n.Ref = "e" + strconv.Itoa(i+1)
		}
		n.Parent = -1
		n.Interactive = slices.Contains([]string{"button", "link", "textbox", "checkbox", "combobox"}, n.Role)
		n.Editable = n.Role == "textbox"
	}
}

func (p *testPage) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := p.s
	s.Nodes = slices.Clone(p.s.Nodes)
	return &s, nil
}

func (p *testPage) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	list := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		if at := find(&p.s, ref); at >= 0 {
			n := &p.s.Nodes[at]
			list[i].Selector = step.Selector{Type: step.ByRole, Value: n.Role, Name: n.Name, Exact: true,
				Fingerprint: &step.Fingerprint{Role: n.Role, Name: n.Name}}
			for _, frame := range n.Frame {
				list[i].Frames = append(list[i].Frames, step.Selector{Type: step.CSS, Value: frame})
			}
		}
	}
	return list, nil
}

func (p *testPage) Do(_ context.Context, s step.Step) (step.Record, error) {
	record := step.Record{Tool: s.Tool, Status: step.Passed, Result: step.Outcome{Success: true}}
	if p.on != nil {
		if err := p.on(p, s); err != nil {
			record.Status, record.Result = step.Failed, step.Outcome{Message: err.Error()}
			return record, nil
		}
	}
	p.steps = append(p.steps, s)
	return record, nil
}

// lines are the steps that the page executed, in words.
func lines(steps []step.Step) []string {
	var list []string
	for i := range steps {
		list = append(list, stepText(&steps[i], nil))
	}
	return list
}

// job is an agent with its page and its service.
type job struct {
	agent  *Agent
	page   *testPage
	server *languagemodel.Server
}

func newJob(t *testing.T, format, text string, page *testPage, script languagemodel.Script, change ...func(*AgentConfig)) *job {
	t.Helper()
	s := languagemodel.Start(t, format, script)
	cfg := AgentConfig{Client: newClient(t, format, s), Page: page, Intent: text, TestURL: "http://shop.test/",
		Budget: NewTaskBudget(Amount{Calls: 100}, nil)}
	for _, f := range change {
		f(&cfg)
	}
	return &job{NewAgent(cfg), page, s}
}

func (j *job) run(t *testing.T) (Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return j.agent.Run(ctx, Task{Clause: intent.Clause{Text: j.agent.cfg.Intent}, MaxSteps: 20})
}

// use is a script of calls, one a message.
func use(calls ...languagemodel.Answer) languagemodel.Script { return languagemodel.Say(calls...) }

func click(ref string) languagemodel.Answer {
	return languagemodel.Use("click", map[string]any{"ref": ref, "reason": "it is named so"})
}

func fill(ref, text string) languagemodel.Answer {
	return languagemodel.Use("fill", map[string]any{"ref": ref, "text": text})
}

func done() languagemodel.Answer {
	return languagemodel.Use("done", map[string]any{"summary": "all of it"})
}

func lastResult(t *testing.T, s *languagemodel.Server) languagemodel.Result {
	t.Helper()
	requests := s.Requests()
	results := requests[len(requests)-1].Last().Results
	require.NotEmpty(t, results)
	return results[len(results)-1]
}
