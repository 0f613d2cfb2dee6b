package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// description is what a sentence says of a step.
type description struct {
	text   string
	quoted []string   // names that must be there as they are
	words  *word.Text // that name it; nil: none
	kinds  *word.Text // words for its element, where nothing else names it; nil: none
	tools  []string   // what it does; none: anything
	roles  []string   // of its element
	step   bool       // it is said to be a step
	// position is which of those that fit, from 1; -1 is the last; 0: not said. number
	// is set where it counts all steps: "step 3".
	position int
	number   bool
}

// named reports whether it has any word for the step or its element.
func (d *description) named() bool { return d.words != nil || len(d.quoted) > 0 }

// describe reads how a sentence speaks of a step.
func (d *inventory) describe(s span) description {
	out := description{text: s.String()}
	if n := s.at(0, d.lang.Revision("subject")); n > 0 && n < len(s.list) && (n == 1 || d.does(s.list[n].text)) {
		s = s.cut(n, len(s.list))
	}
	var words, kinds []string
	for i := 0; i < len(s.list); i++ {
		t := &s.list[i]
		switch n := s.at(i, d.lang.Revision("step")); {
		case t.quoted:
			out.quoted = append(out.quoted, t.text)
		case n > 0 && !d.isVerb(s, i, n):
			out.step = true
			if s.at(i, d.lang.Revision("claim")) > 0 {
				out.tools = append(out.tools, step.Assert)
			}
			if next := i + n; next < len(s.list) && isNumber(s.list[next].low) {
				out.position, _ = strconv.Atoi(s.list[next].low)
				out.number = true
				i++
			}
			i += n - 1
		case d.ordinal(t.low) != 0:
			out.position = d.ordinal(t.low)
		case out.tools == nil && d.begins(s, i) && d.verbTools(s, i) != nil:
			out.tools = d.verbTools(s, i)
			s = d.withoutParticle(s, i)
		case s.at(i, d.lang.Revision("article")) == 1 || d.lang.Elision(t.low):
		case d.rolesOf(t.low) != nil:
			out.roles = append(out.roles, d.rolesOf(t.low)...)
			kinds = append(kinds, t.text)
		case !mark(*t):
			words = append(words, t.text)
		}
	}
	out.words = d.phrase(words)
	if out.words == nil {
		out.kinds = d.phrase(kinds)
	}
	return out
}

// does reports whether a word says what somebody does: "the user submits", but not "the user
// name".
func (d *inventory) does(w string) bool {
	return slices.ContainsFunc(d.lang.Verbs(w), func(v lexicon.VerbForm) bool { return v.Form == "third" || v.Form == "past" })
}

// phrase prepares words for comparing; nil where they name nothing.
func (d *inventory) phrase(words []string) *word.Text {
	if len(words) == 0 || !slices.ContainsFunc(words, func(w string) bool { return !d.plain(w) }) {
		return nil
	}
	return d.compare.Phrase(strings.Join(words, " "), false)
}

// plain reports whether a word is one of grammar and names nothing.
func (d *inventory) plain(w string) bool {
	p := d.compare.Phrase("x "+w, false) // beside a word that counts
	return len(p.Words) == 2 && p.Words[1].Weight() < 0.5
}

// isVerb reports whether a word for a step that begins a span is what is done instead: "check
// Express", but not "check 3".
func (d *inventory) isVerb(s span, i, n int) bool {
	numbered := i+n < len(s.list) && isNumber(s.list[i+n].low)
	return i == 0 && len(s.list) > n && !numbered && s.at(i, d.lang.Revision("claim")) > 0 && d.verbTools(s, 0) != nil
}

// withoutParticle returns a span without the particle of the verb at a place: "hagas clic".
func (d *inventory) withoutParticle(s span, i int) span {
	for _, v := range d.lang.Verbs(s.list[i].text) {
		particle := strings.Fields(strings.ToLower(v.Particle))
		if v.Joined || len(particle) == 0 {
			continue
		}
		if at, n := s.find(i+1, [][]string{particle}); at > 0 {
			return s.without(at, at+n)
		}
	}
	return s
}

// begins reports whether a word is the first, or the first behind an article.
func (d *inventory) begins(s span, i int) bool {
	return i == 0 || i == s.at(0, d.lang.Revision("article"))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// ordinal returns which one a word means: 2 for second and 2nd, -1 for last, 0 for others.
func (d *inventory) ordinal(w string) int {
	if e := d.lang.Entry(w, lexicon.Ordinal); e != nil {
		return int(e.Value)
	}
	return 0
}

// toolsOf are the tools that effects are done with, where their verbs say nothing else. Verbs of
// other effects (submit, log in, add) are names of what is pressed.
var toolsOf = map[intent.Effect][]string{
	intent.Press:    {step.Click, step.DoubleClick, step.RightClick, step.PressKey, step.EnterKeySubmit},
	intent.Choose:   {step.Select, step.Click},
	intent.Complete: {step.Click},
	intent.Toggle:   {step.Click},
	intent.Type:     {step.InputText, step.TypeKeys, step.PressKey},
	intent.Set:      {step.InputText, step.TypeKeys, step.Select},
	intent.Append:   {step.InputText, step.TypeKeys},
	intent.Point:    {step.Hover},
	intent.Upload:   {step.UploadFile},
	intent.Scroll:   {step.ScrollDocument, step.ScrollElement},
	intent.Wait:     {step.Pause, step.Assert},
	intent.Check:    {step.Assert},
	intent.Navigate: {step.GoToURL, step.Click, step.Reload, step.Back, step.Forward},
	intent.Open:     {step.Click, step.GoToURL, step.SwitchWindow},
}

// verbTools returns the tools of the verb at a place; nil where it is none, or one that names
// what is pressed. A verb whose particle stands in the span is taken as that: "hagas clic".
func (d *inventory) verbTools(s span, i int) []string {
	if s.list[i].quoted {
		return nil
	}
	var plain, parted []lexicon.VerbForm
	for _, v := range d.lang.Verbs(s.list[i].text) {
		particle := strings.Fields(strings.ToLower(v.Particle))
		switch {
		case v.Joined || len(particle) == 0:
			plain = append(plain, v)
		default:
			if at, _ := s.find(i+1, [][]string{particle}); at > 0 {
				parted = append(parted, v)
			}
		}
	}
	if parted != nil {
		plain = parted
	}
	var tools []string
	for _, v := range plain {
		list := toolsOf[intent.Effect(v.Effect)]
		if v.State != "" && v.State != "checked" || v.Risk != "" {
			list = nil // "pay", "archive"
		}
		if list == nil && tools == nil {
			return nil
		}
		for _, t := range list {
			if !slices.Contains(tools, t) {
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// roles are those of elements by the kind that a noun says.
var roles = map[intent.Kind][]string{
	intent.Button: {"button"}, intent.Link: {"link"}, intent.Tab: {"tab"}, intent.Row: {"row"}, intent.Slider: {"slider"},
	intent.FieldKind: {"textbox", "searchbox", "combobox", "spinbutton", "checkbox"},
	intent.CheckBox:  {"checkbox", "switch", "menuitemcheckbox"}, intent.Switch: {"switch", "checkbox"},
	intent.Radio: {"radio", "menuitemradio"}, intent.Option: {"radio", "option", "menuitemradio"},
	intent.Menu: {"menuitem", "menuitemcheckbox", "menuitemradio", "menu"}, intent.List: {"combobox", "listbox"},
	intent.Dialog: {"dialog", "alertdialog"}, intent.Heading: {"heading"},
}

func (d *inventory) rolesOf(w string) []string {
	if e := d.lang.Entry(w, lexicon.Noun_); e != nil {
		return roles[intent.Kind(e.Name)]
	}
	return nil
}

// The weights of where a word of a description was found.
const (
	inName    = 1.0
	inValue   = 0.9
	inSaid    = 0.6
	toolFits  = 0.3
	roleFits  = 0.1
	specific  = 0.25 // of the words of the name that the description has
	closeness = 0.12 // scores nearer than this are no clear winner
)

// score returns how well a step is what a description says; 0 where it is not.
func (d *inventory) score(desc *description, p *profile, t *step.Tool) float64 {
	fits, role := slices.Contains(desc.tools, t.Type), slices.Contains(desc.roles, p.role)
	if !desc.named() {
		return d.scoreKind(desc, p, fits, role)
	}
	total, n := 0.0, 0.0
	for _, q := range desc.quoted {
		if !p.isValue(q) {
			return 0
		}
		total, n = total+inName, n+1
	}
	cover := 0.0
	if desc.words != nil {
		found, name := d.weigh(desc.words, p)
		for i := range desc.words.Words {
			if desc.words.Words[i].Weight() < 0.5 {
				continue
			}
			if found[i] == 0 {
				return 0
			}
			total, n = total+found[i], n+1
		}
		cover = name
	}
	if n == 0 {
		return 0
	}
	result := total/n + specific*cover
	switch {
	case len(desc.tools) > 0 && fits:
		result += toolFits
	case len(desc.tools) > 0:
		result -= 2 * toolFits
	}
	if role {
		result += roleFits
	}
	return max(result, 0)
}

// scoreKind is the score where only what a step does or the kind of its element is said.
func (d *inventory) scoreKind(desc *description, p *profile, fits, role bool) float64 {
	if len(desc.tools) > 0 && !fits {
		return 0
	}
	if len(desc.roles) == 0 {
		if fits {
			return 1
		}
		return 0
	}
	if desc.kinds != nil {
		// "the title" is the field of that name rather than a heading.
		if found, _ := d.weigh(desc.kinds, p); !slices.Contains(found, 0) {
			return 1 + toolFits
		}
	}
	if role {
		return 1
	}
	return 0
}

// weigh returns for each word how much it says that a step has it, 0 if it has not, and how much
// of a name of the step all of them are.
func (d *inventory) weigh(words *word.Text, p *profile) (found []float64, name float64) {
	found = make([]float64, len(words.Words))
	look := func(text string, weight float64) float64 {
		s := word.Match(words, d.compare.Text(text))
		for _, pair := range s.Pairs {
			if pair.Kind <= word.Part {
				continue
			}
			for i := pair.Phrase; i < pair.Phrase+max(pair.Phrases, 1); i++ {
				found[i] = max(found[i], weight*pair.Kind.Quality())
			}
		}
		return s.Text
	}
	for _, n := range p.names {
		name = max(name, look(n, inName))
	}
	for _, v := range p.values {
		look(v, inValue)
	}
	if p.submits {
		look("submit", inValue)
	}
	if p.said != "" {
		look(p.said, inSaid)
	}
	return found, name
}

// best returns the indices with the highest score, and those near to it.
func best(scores []float64) []int {
	top := slices.Max(append([]float64{0}, scores...))
	var list []int
	for i, s := range scores {
		if s > 0 && s > top-closeness {
			list = append(list, i)
		}
	}
	return list
}

// locate returns the steps that a description means, in order: one, or those that a
// part of the base's intent became.
func (d *inventory) locate(what span) ([]int, error) {
	desc := d.describe(what)
	bare := !desc.named() && len(desc.roles)+len(desc.tools) == 0
	if desc.number || desc.step && bare && desc.position != 0 {
		return d.numbered(desc)
	}
	scores := make([]float64, len(d.base))
	for i := range d.base {
		if !d.gone(i) {
			scores[i] = d.score(&desc, &d.profiles[i], tool(d.base[i]))
		}
	}
	found := best(scores)
	if desc.position != 0 && len(found) > 1 {
		if i, ok := nth(found, desc.position); ok {
			return []int{i}, nil
		}
	}
	if len(found) == 1 && (len(desc.tools) > 0 || len(desc.quoted) > 0) {
		return found, nil
	}
	groups := d.meant(&desc)
	switch {
	case len(groups) == 1 && (len(found) == 0 || slices.ContainsFunc(found, func(i int) bool { return slices.Contains(groups[0], i) })):
		return groups[0], nil
	case len(found) == 1:
		return found, nil
	case len(found) == 0:
		return nil, d.notFound(what, "no step of the test does that")
	}
	return nil, d.notFound(what, "several steps of the test may be meant", found...)
}

// numbered returns the step of a number.
func (d *inventory) numbered(desc description) ([]int, error) {
	list := make([]int, len(d.base))
	for i := range list {
		list[i] = i
	}
	if n := d.end(); desc.position < 0 {
		list = list[:n]
	}
	i, ok := nth(list, desc.position)
	if !ok || d.gone(i) {
		return nil, notUnderstood(desc.text, "the test has "+strconv.Itoa(len(d.base))+" steps")
	}
	return []int{i}, nil
}

func nth(list []int, position int) (int, bool) {
	if position < 0 {
		position += len(list) + 1
	}
	if position < 1 || position > len(list) {
		return 0, false
	}
	return list[position-1], true
}

// located reports whether words are those of a step.
func (d *inventory) located(what span) bool {
	if len(what.list) == 0 {
		return false
	}
	_, err := d.locate(what)
	return err == nil
}
