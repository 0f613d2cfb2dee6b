package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/languagemodel"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// testPage is a list of tasks without a browser, with a button that deletes each, and further
// buttons and texts. Clicked are the names of what was clicked.
type testPage struct {
	tasks   []string
	buttons []string
	texts   []string
	secret  string // what a password field holds
	clicked []string
}

func (p *testPage) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://shop.test/", Title: "Tasks", Lang: "en", Quiet: true, Width: 1000, Height: 800, Windows: 1}
	y := 0
	add := func(parent int, n snapshot.Node) int {
		y += 20
		n.Parent, n.Box = parent, [4]int{10, y, 200, 18}
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	add(-1, snapshot.Node{Ref: "h", Tag: "h1", Role: "heading", Level: 1, Name: "Tasks", Text: "Tasks"})
	ul := add(-1, snapshot.Node{Ref: "ul", Tag: "ul", Role: "list"})
	for _, t := range p.tasks {
		li := add(ul, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"})
		add(li, snapshot.Node{Ref: "span " + t, Tag: "span", Role: "text", Name: t})
		add(li, snapshot.Node{Ref: "del " + t, Tag: "button", Role: "button", Name: "Delete", Text: "Delete", Interactive: true})
	}
	for i, b := range p.buttons {
		add(-1, snapshot.Node{Ref: fmt.Sprintf("b%d %s", i, b), Tag: "button", Role: "button", Name: b, Text: b, Interactive: true})
	}
	for i, text := range p.texts {
		add(-1, snapshot.Node{Ref: fmt.Sprint("p", i), Tag: "p", Role: "text", Name: text})
	}
	if p.secret != "" {
		add(-1, snapshot.Node{Ref: "pass", Tag: "input", Type: "password", Role: "textbox", Name: "Password", Password: true,
			HasValue: true, Value: p.secret,
			Editable: true, Interactive: true})
	}
	return s, nil
}

func (p *testPage) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (p *testPage) Do(_ context.Context, s step.Step) (playback.Record, error) {
	record := playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}
	if s.Tool.Type != step.Click {
		return record, nil
	}
	kind, name, _ := strings.Cut(s.Tool.Args.Selector.Value, " ")
	p.clicked = append(p.clicked, strings.TrimSpace(kind+" "+name))
	switch {
	case kind == "del":
		p.tasks = slices.DeleteFunc(slices.Clone(p.tasks), func(t string) bool { return t == name })
	case strings.HasPrefix(kind, "b"):
		p.texts = append(slices.Clone(p.texts), name+" was pressed")
	}
	return record, nil
}

// job is an agent with its page and its service.
type job struct {
	agent  *Agent
	page   *testPage
	server *languagemodel.Server
	text   string
	always bool
}

func newJob(t *testing.T, format, text string, page *testPage, script languagemodel.Script, change ...func(*AgentConfig)) *job {
	t.Helper()
	s := languagemodel.Start(t, format, script)
	cfg := AgentConfig{Client: newClient(t, format, s), Budget: NewTaskBudget(Amount{Calls: 100}, nil)}
	for _, f := range change {
		f(&cfg)
	}
	return &job{agent: NewAgent(cfg), page: page, server: s, text: text}
}

// run lets the planner write the text's steps, with the agent to ask.
func (j *job) run(t *testing.T) (*plan.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return plan.Run(ctx, plan.Config{Page: j.page, Intent: j.text, Ask: j.agent.Ask, AskAlways: j.always, NoSuggestion: true,
		MaxTime: time.Minute})
}

// reads is an answer with goals.
func reads(goals ...map[string]any) languagemodel.Answer {
	return languagemodel.Use(toolRead, map[string]any{"readings": []any{map[string]any{"goals": goals}}, "reason": "it says so"})
}

func goalOf(text, effect, verb string, target ...string) map[string]any {
	g := map[string]any{"text": text, "effect": effect, "verb": verb}
	var things []any
	for _, words := range target {
		things = append(things, map[string]any{"words": words})
	}
	if things != nil {
		g["target"] = things
	}
	return g
}

func picks(index int) languagemodel.Answer {
	return languagemodel.Use(toolPick, map[string]any{"index": index, "reason": "it is named so"})
}

func noAnswer() languagemodel.Answer {
	return languagemodel.Use(toolNoAnswer, map[string]any{"reason": "it is not clear"})
}
