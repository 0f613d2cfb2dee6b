package plan

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
)

// plain does a step that needs no element, as it is.
func (p *planner) plain(ctx context.Context, g *intent.Goal, t string, args step.Args) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	ok, err := p.do(ctx, m, method.Act{Tool: t, Node: -1, To: -1, Args: args}, p.words(g.Span))
	if err != nil {
		return err
	}
	if !ok {
		return &FailedError{Code: codeStepFailed, Detail: p.words(g.Span) + ": the step failed"}
	}
	p.useGoal(g, "done")
	return nil
}

// navigate goes back, forward, reloads, or to an address.
func (p *planner) navigate(ctx context.Context, g *intent.Goal) error {
	switch g.Place {
	case "back":
		return p.plain(ctx, g, step.Back, step.Args{})
	case "forward":
		return p.plain(ctx, g, step.Forward, step.Args{})
	case "reload":
		return p.plain(ctx, g, step.Reload, step.Args{})
	}
	if g.Text != nil && strings.ContainsAny(g.Text.Text, "/.") {
		return p.plain(ctx, g, step.GoToURL, step.Args{URL: g.Text.Text})
	}
	open := *g
	open.Effect = intent.Open
	return p.deed(ctx, &open)
}

// typeKeys presses a key or types a text where the focus is, or in a target.
func (p *planner) typeKeys(ctx context.Context, g *intent.Goal) error {
	node := -1
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if len(g.Target) > 0 {
		found, err := p.resolve(ctx, &g.Target[0], [][]find.What{{find.Field}, {find.Record, find.Control, find.Attribute}})
		if err != nil {
			return err
		}
		node = found[0].Node
		if m, err = p.look(ctx); err != nil {
			return err
		}
	}
	var acts []method.Act
	if g.Text != nil && find.Functional(g.Text, p.text.Lang) {
		return p.say("it does not say what to type")
	}
	if g.Text != nil {
		a := method.Act{Tool: step.TypeKeys, Node: node, To: -1}
		a.Args.Text = &g.Text.Text
		acts = append(acts, a)
	}
	if g.Keys != "" {
		for range max(g.Times, 1) {
			acts = append(acts, method.Key(node, g.Keys))
		}
	}
	if len(acts) == 0 {
		return p.say("it does not say what to type")
	}
	for _, a := range acts {
		ok, err := p.do(ctx, m, a, p.words(g.Span))
		if err != nil {
			return err
		}
		if !ok {
			return &FailedError{Code: codeStepFailed, Detail: p.words(g.Span) + ": the key could not be pressed"}
		}
	}
	p.useGoal(g, "typed")
	return nil
}

// wait waits for a time, or until a claim holds.
func (p *planner) wait(ctx context.Context, g *intent.Goal) error {
	if g.Claim != nil {
		return p.check(ctx, g)
	}
	ms := int(g.Within / time.Millisecond)
	if g.Amount != nil && g.Amount.Number != nil {
		ms = int(*g.Amount.Number * 1000)
	}
	if ms <= 0 || ms > step.MaxWaitMS {
		return p.say("it does not say how long to wait")
	}
	return p.plain(ctx, g, step.Pause, step.Args{Time: &ms})
}

// scroll scrolls the page, or to a target.
func (p *planner) scroll(ctx context.Context, g *intent.Goal) error {
	direction := map[string]string{"top": "top", "first": "top", "bottom": "bottom", "last": "bottom", "up": "up", "previous": "up"}[g.Place]
	if direction == "" {
		direction = "down"
	}
	if len(g.Target) == 0 {
		return p.plain(ctx, g, step.ScrollDocument, step.Args{Direction: direction})
	}
	if g.Place != "" {
		return p.scrollIn(ctx, g, direction)
	}
	point := *g
	point.Effect = intent.Point
	return p.deed(ctx, &point)
}

// scrollIn scrolls what a target is: the innermost element around it that scrolls.
func (p *planner) scrollIn(ctx context.Context, g *intent.Goal, direction string) error {
	found, err := p.resolve(ctx, &g.Target[0], [][]find.What{{find.Container, find.Line, find.Field, find.Record,
		find.Control, find.Attribute}})
	if err != nil {
		return err
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	for node := found[0].Node; node >= 0; node = m.Nodes[node].Parent {
		if !strings.Contains(m.Nodes[node].Scrolls, "y") {
			continue
		}
		a := method.Act{Tool: step.ScrollElement, Node: node, To: -1, Args: step.Args{Direction: direction}}
		ok, err := p.do(ctx, m, a, p.words(g.Span))
		if err != nil || !ok {
			return err
		}
		p.useGoal(g, "scrolled")
		return nil
	}
	return p.say("it cannot be scrolled")
}

// resize sets the size of the window: two numbers.
func (p *planner) resize(ctx context.Context, g *intent.Goal) error {
	var sizes []int
	for _, f := range g.Fields {
		if f.Value.Number != nil {
			sizes = append(sizes, int(*f.Value.Number))
		}
	}
	if len(sizes) != 2 {
		return p.say("it does not say width and height")
	}
	return p.plain(ctx, g, step.SetViewport, step.Args{Width: &sizes[0], Height: &sizes[1]})
}

// window goes to another window.
func (p *planner) window(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	for end := time.Now().Add(claimTime); err == nil && m.Windows < 2 && time.Now().Before(end); m, err = p.lookAnew(ctx) {
		time.Sleep(claimPause)
	}
	if err != nil {
		return err
	}
	if m.Windows < 2 {
		return p.say("no other window is open")
	}
	matcher := &step.Matcher{Name: step.WindowIndex, Args: step.MatcherArgs{Value: strconv.Itoa(m.Windows - 1)}}
	switch {
	case g.Place == "first" || g.Place == "previous" || g.Place == "back":
		matcher = &step.Matcher{Name: step.WindowIndex, Args: step.MatcherArgs{Value: "0"}}
	case g.Text != nil:
		matcher = &step.Matcher{Name: step.WindowTitle, Args: step.MatcherArgs{Value: g.Text.Text}}
	}
	return p.plain(ctx, g, step.SwitchWindow, step.Args{Matcher: matcher})
}

// upload uploads a small file of a name into the field for files.
func (p *planner) upload(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if done, err := p.tickSaid(ctx, g); err != nil || done {
		return err
	}
	name, err := p.fileName(g)
	if err != nil {
		return err
	}
	for i := range m.Fields {
		if m.Fields[i].Kind != "file" {
			continue
		}
		a := method.Act{Tool: step.UploadFile, Node: m.Fields[i].Node, To: -1}
		a.Args.File = &step.File{Name: name, Content: []byte("content of " + name + "\n")}
		ok, err := p.do(ctx, m, a, p.words(g.Span))
		if err != nil {
			return err
		}
		if ok {
			p.useGoal(g, "uploaded")
			return nil
		}
	}
	return p.say("the page has no field for files")
}

// fileName is the name of the file that a goal uploads: in quotes, or with its ending. What is only
// spoken of ("the statutes") is no file that could be made up.
func (p *planner) fileName(g *intent.Goal) (string, error) {
	if len(g.Target) > 1 {
		return "", p.say("one file at a time can be uploaded")
	}
	name, quoted := "", false
	switch {
	case g.Text != nil:
		name, quoted = g.Text.Text, g.Text.Quoted
	case len(g.Target) == 1:
		name, quoted = g.Target[0].Phrase(), g.Target[0].Quoted
	}
	if name = strings.TrimSpace(name); name == "" || !quoted && !fileEnding.MatchString(name) {
		return "", p.say("it does not say which file: a name in quotes, or one with its ending, as letter.txt")
	}
	return name, nil
}

// fileEnding is what a name of a file ends with.
var fileEnding = regexp.MustCompile(`[^\s.]\.[A-Za-z][A-Za-z0-9]{0,7}$`)
