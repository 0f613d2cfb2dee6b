package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// draft is a plan in the making.
type draft struct {
	inventory
	steps    []step.Step // with edits
	edited   []bool
	writes   []write
	inserts  map[int][]string // before the step of an index
	appended []string

	reasoning []authoring.Reason
}

// inventory is what is known of the test, and which of its steps are still in it.
type inventory struct {
	base     []step.Step
	profiles []profile
	intent   string
	lang     *lexicon.Lexicon // of the sentence
	read     reader
	readBase reader // of the base's intent
	compare  *word.Comparer
	removed  []bool
	replaced []int // index in draft.writes; -1
	aligned  bool
	from     []origin // see origins
}

// write is what stands in for steps of the base.
type write struct {
	text  intent.Text
	steps []int
}

func newDraft(r Request) *draft {
	n := len(r.Steps)
	lang, before := lexicon.Detect(r.Sentence), lexicon.Detect(r.Intent)
	d := &draft{
		inventory: inventory{base: r.Steps, intent: r.Intent, removed: make([]bool, n), replaced: make([]int, n),
			lang: lexicon.Language(lang), read: newReader(lang), readBase: newReader(before), compare: word.New(lang, before, "en")},
		steps: slices.Clone(r.Steps), edited: make([]bool, n), inserts: map[int][]string{},
	}
	for i := range r.Steps {
		d.replaced[i] = -1
		d.profiles = append(d.profiles, newProfile(r.Steps[i]))
	}
	return d
}

// gone reports whether a step is not in the test any more.
func (d *inventory) gone(i int) bool { return d.removed[i] || d.replaced[i] >= 0 }

// end returns where a test ends: before its finish, and before what was only suggested.
func (d *inventory) end() int {
	n := len(d.base)
	for n > 0 && (d.base[n-1].Tool.Type == step.Finish || Suggested(d.base[n-1])) {
		n--
	}
	return n
}

// suggested begins the reasoning of assertions that nobody asked for.
const suggested = "suggested"

// Suggested reports whether a step is an assertion that nobody asked for. Its reasoning
// says so.
func Suggested(s step.Step) bool {
	said := tool(s).Args.Reasoning
	if said == "" {
		said = s.Tool.Args.Reasoning
	}
	return tool(s).Type == step.Assert && strings.HasPrefix(strings.ToLower(strings.TrimSpace(said)), suggested)
}

func (d *draft) note(title, description string) {
	d.reasoning = append(d.reasoning, authoring.Reason{Title: cut(title, 200), Description: description})
}

// apply does one command.
func (d *draft) apply(c command) error {
	switch c.kind {
	case insert:
		return d.insert(c)
	case atStart:
		at := 0
		if len(d.base) > 0 && d.base[0].Tool.Type == step.GoToURL {
			at = 1
		}
		return d.writeAt(c, at, "at the start")
	case replace:
		return d.replace(c)
	case change:
		return d.change(c)
	case instead:
		return d.instead(c)
	case remove:
		return d.remove(c)
	default:
		return d.add(c)
	}
}

// add writes instructions at the end. Without a word such as "also", a value for a field
// that the test fills is another value for it.
func (d *draft) add(c command) error {
	text := c.now.String()
	if len(d.read.text(text).Readings) == 0 {
		return notUnderstood(c.text, "it asks for nothing that is known")
	}
	if !c.also && d.changeFields(text) {
		return nil
	}
	d.appended = append(d.appended, text)
	for i := d.end(); i < len(d.base); i++ {
		d.removed[i] = d.removed[i] || Suggested(d.base[i])
	}
	d.note(c.text, "written at the end")
	return nil
}

// insert writes instructions before or after a step.
func (d *draft) insert(c command) error {
	found, err := d.locate(c.what)
	if err != nil {
		return err
	}
	at, where := found[0], "before "
	if !c.before {
		at, where = found[len(found)-1]+1, "after "
	}
	return d.writeAt(c, min(at, d.end()), where+describeSteps(d.base, found))
}

func (d *draft) writeAt(c command, at int, where string) error {
	text := c.now.String()
	if len(d.read.text(text).Readings) == 0 {
		return notUnderstood(c.text, "it asks for nothing that is known")
	}
	d.inserts[at] = append(d.inserts[at], text)
	d.note(c.text, "written "+where)
	return nil
}

// remove takes steps out of the test.
func (d *draft) remove(c command) error {
	found, err := d.locate(c.what)
	if err != nil {
		found, err = d.locateEach(c.what, err)
	}
	if err != nil {
		return err
	}
	for _, i := range found {
		d.removed[i] = true
	}
	d.note(c.text, "removed "+describeSteps(d.base, found))
	return nil
}

// locateEach locates the parts of "A and B".
func (d *draft) locateEach(what span, whole error) ([]int, error) {
	p := &parser{lang: d.lang}
	var found []int
	first := 0
	for i := 1; i <= len(what.list); i++ {
		n := 0
		if i < len(what.list) {
			if n = p.joint(what, i); n == 0 {
				continue
			}
		} else if first == 0 {
			return nil, whole
		}
		some, err := d.locate(what.cut(first, i).trim(nil))
		if err != nil {
			return nil, whole
		}
		found = append(found, some...)
		first = i + max(n, 1)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// write puts a text in place of steps.
func (d *draft) write(steps []int, text intent.Text) {
	var left []int
	for _, i := range steps {
		if !d.gone(i) {
			left = append(left, i)
			d.replaced[i] = len(d.writes)
		}
	}
	if len(left) > 0 {
		d.writes = append(d.writes, write{text, left})
	}
}

// plan returns what the commands came to.
func (d *draft) plan() *Plan {
	p := &Plan{Steps: d.steps, Suggested: -1, Reasoning: d.reasoning}
	var keep []int
	flush := func() {
		if len(keep) > 0 {
			p.Segments = append(p.Segments, Segment{Keep: keep})
			keep = nil
		}
	}
	put := func(texts []string) {
		if len(texts) > 0 {
			flush()
			text := d.read.text(strings.Join(texts, "\n"))
			p.Segments = append(p.Segments, Segment{Write: &text})
		}
	}
	for i := 0; i <= len(d.base); i++ {
		put(d.inserts[i])
		if i == d.end() {
			put(d.appended)
		}
		switch {
		case i == len(d.base):
		case d.removed[i]:
			p.Removed = append(p.Removed, i)
		case d.replaced[i] >= 0:
			if w := &d.writes[d.replaced[i]]; w.steps[0] == i {
				flush()
				p.Segments = append(p.Segments, Segment{Write: &w.text, Replaces: w.steps})
			}
		default:
			keep = append(keep, i)
			d.kept(p, i)
		}
	}
	flush()
	return p
}

// kept notes in a plan that a step stays.
func (d *draft) kept(p *Plan, i int) {
	if d.edited[i] {
		p.Edited = append(p.Edited, i)
	}
	if Suggested(d.base[i]) {
		p.Suggested = i
	} else if tool(d.base[i]).Type == step.Assert {
		p.Asserted = true
	}
}

// notUnderstood returns the error for a part of the sentence.
func notUnderstood(sentence, reason string, nearest ...plan.Candidate) error {
	return &plan.NotUnderstoodError{Sentence: sentence, Reason: reason, Candidates: nearest}
}

// notFound returns the error for words that no step fits, or several.
func (d *inventory) notFound(what span, reason string, found ...int) error {
	var nearest []plan.Candidate
	for _, i := range found[:min(len(found), 5)] {
		nearest = append(nearest, plan.Candidate{What: describeSteps(d.base, []int{i}), Score: 1, Why: "it fits the words"})
	}
	return notUnderstood(what.String(), reason, nearest...)
}

// describeSteps returns steps in words: `step 3 (click "Save")`.
func describeSteps(steps []step.Step, which []int) string {
	var list []string
	for _, i := range which[:min(len(which), 6)] {
		t := tool(steps[i])
		words := strings.ReplaceAll(t.Type, "_", " ")
		if p := newProfile(steps[i]); len(p.names) > 0 {
			words += " " + strconv.Quote(cut(p.names[0], 60))
		}
		list = append(list, "step "+strconv.Itoa(i+1)+" ("+words+")")
	}
	if len(which) > 6 {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}
