package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// planner is one run of Run.
type planner struct {
	cfg  Config
	text *intent.Text

	// model is what the page shows; nil when something was done since.
	model *page.Model
	// last is the last model of the page itself, and not of a dialog of the browser.
	last *page.Model
	// before is what it showed before the last goal that did something, and first as it opened.
	before, first *page.Model
	// seen are the titles of what the page showed before any of the goals.
	seen map[string]bool

	steps     []step.Step
	why       []authoring.Reason // of steps, by index
	ids       int
	tries     int
	deadline  time.Time
	untold    bool // OnSteps was not told of the steps as they are
	asserted  bool
	trivial   []string
	reasoning []authoring.Reason
	// harmed are the ids of the steps of this reading that may have deleted, paid or sent, also of
	// those that were not kept: none is done a second time by a fresh start or another reading.
	harmed map[string]bool
	// touched: something was tried on the page in this reading, whether it was kept or not.
	touched bool

	// near is the ref of the field that was filled last.
	near string

	reading *intent.Reading
	goal    *intent.Goal
	next    []intent.Goal // those after it
	// used are the words that were executed or checked.
	used []find.Use
	// them are what the goals before were done to: it, them, her.
	them []thing
	// prompted is what a question of the browser is answered with, once it is.
	prompted *intent.Value
	// copied is what a goal took up, for the one that says where it goes; sources are the refs of what
	// values were read of: none of them goes into its own source.
	copied  *intent.Value
	sources []string
	// savedAs is the name under which a step has saved a text.
	savedAs map[string]string
	// place is what the last goal put them into.
	place []thing
	// sortedBy is the column by which the goal before has sorted all of a list, and not only what was seen
	// of it: its first page is seen. "" without one.
	sortedBy find.Sorted
	// scope is where the text said last, in this sentence, that something is done; it ends at
	// scopeEnd of the source.
	scope    *intent.Description
	scopeEnd int
	// pending is a goal whose effect comes with the answer to a question that is open.
	pending *attempt
	// kept are fields that must hold at the end what they held when the text spoke of them.
	kept []keptField
	// noted is what fields held, by their refs, when they were seen first and none beside them held a value of the text.
	noted map[string]string
	// filled are the refs of the fields that hold a value of the text.
	filled map[string]bool
	// confirmed: the last goal's question was answered on the way.
	confirmed bool
	// unsent: what the goal before filled in was not handed in yet.
	unsent bool
	// filledBefore: it was so when the present goal began, and what hands in hands that in.
	filledBefore bool
	// askedReadings: readings were asked for; askedThings is how often a thing was.
	askedReadings bool
	askedThings   int
	decided       []Decision
	// lists are the options of lists that were opened to read them for the present goal, by listName.
	lists map[string][]string
}

// thing is a thing of the page that lasts from one model to the next.
type thing struct {
	what       find.What
	ref, title string
	// made: it came by an addition of the text.
	made bool
}

func (p *planner) say(reason string, nearest ...Candidate) error {
	e := &NotUnderstoodError{Sentence: p.cfg.Intent, Reason: reason, Candidates: nearest}
	if p.goal != nil {
		e.Sentence = p.words(p.goal.Span)
		e.Understood = describe(p.goal)
	}
	return e
}

// words returns a part of the text.
func (p *planner) words(s intent.Span) string {
	if s.From < 0 || s.To > len(p.text.Source) || s.From >= s.To {
		return ""
	}
	return strings.TrimSpace(p.text.Source[s.From:s.To])
}

// describe says in words what a goal is.
func describe(g *intent.Goal) string {
	var b strings.Builder
	b.WriteString(string(g.Effect))
	for i := range g.Target {
		b.WriteString(" " + phrase(&g.Target[i]))
	}
	if g.To != nil {
		b.WriteString(" to " + phrase(g.To))
	}
	for _, f := range g.Fields {
		b.WriteString(", ")
		if f.Name != nil {
			b.WriteString(phrase(f.Name) + ": ")
		}
		b.WriteString(f.Value.Text)
	}
	return b.String()
}

// phrase is a description in words.
func phrase(d *intent.Description) string {
	var list []string
	if d.Noun != "" {
		list = append(list, d.Noun)
	}
	for _, w := range d.Words {
		list = append(list, w.Text)
	}
	if d.Pronoun && len(list) == 0 {
		return "it"
	}
	return strings.Join(list, " ")
}

func shorten(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// look returns what the page shows now.
func (p *planner) look(ctx context.Context) (*page.Model, error) {
	if p.model != nil {
		return p.model, nil
	}
	s, err := p.cfg.Page.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p.model = page.New(s, page.After(p.last))
	p.forgetDependent(p.last, p.model)
	p.recallLists(p.model)
	if s.Dialog == nil {
		p.last = p.model
	}
	if p.first == nil {
		p.first = p.model
	}
	p.noteFields(p.model)
	return p.model, nil
}

// lookAnew returns what the page shows now, whatever is known of it.
func (p *planner) lookAnew(ctx context.Context) (*page.Model, error) {
	p.model = nil
	return p.look(ctx)
}

// newID returns the id of the next step.
func (p *planner) newID() string {
	if p.cfg.NewID != nil {
		return p.cfg.NewID()
	}
	p.ids++
	return fmt.Sprintf("s%d", p.ids)
}

// keep adds a step that was executed to the test.
func (p *planner) keep(s step.Step, why string) {
	p.untold = true
	p.steps = append(p.steps, s)
	p.why = append(p.why, authoring.Reason{Title: titleOf(s.Tool), Description: why})
}

// mark returns where the test stands, for drop.
func (p *planner) mark() int { return len(p.steps) }

// drop takes the steps since a mark out of the test again.
func (p *planner) drop(mark int) {
	mark = min(mark, len(p.steps))
	p.untold = p.untold || mark < len(p.steps)
	p.steps, p.why = p.steps[:mark], p.why[:mark]
}

// cut takes the steps between two marks out of the test.
func (p *planner) cut(from, to int) {
	p.untold = p.untold || from < to
	p.steps, p.why = slices.Delete(p.steps, from, to), slices.Delete(p.why, from, to)
}

// report tells OnSteps what there is, where it is not what it was told last.
func (p *planner) report() {
	if p.cfg.OnSteps != nil && p.untold {
		p.cfg.OnSteps(slices.Clone(p.steps), slices.Clone(p.why))
	}
	p.untold = false
}

// note adds to the reasoning what was understood or decided.
func (p *planner) note(title, description string) {
	p.reasoning = append(p.reasoning, authoring.Reason{Title: title, Description: description})
}

func (p *planner) trace(format string, args ...any) {
	if p.cfg.Trace != nil {
		p.cfg.Trace(fmt.Sprintf(format, args...))
	}
}

// spent reports whether the budget of tries and time is used up.
func (p *planner) spent() bool {
	return p.tries >= p.cfg.MaxTries || time.Now().After(p.deadline)
}

// use marks words as executed or checked.
func (p *planner) use(uses ...find.Use) { p.used = append(p.used, uses...) }

// useSpan marks a part of the text as executed or checked.
func (p *planner) useSpan(s intent.Span, by string) {
	if s.To > s.From {
		p.used = append(p.used, find.Use{Span: s, By: by})
	}
}

// titleOf names a step for people.
func titleOf(t step.Tool) string {
	in := step.Inner(&t)
	return strings.ReplaceAll(in.Type, "_", " ")
}
