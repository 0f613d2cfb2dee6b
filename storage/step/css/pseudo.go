package css

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step/grammar"
)

// arguments is what stands in the brackets of a pseudo-class.
type arguments int

const (
	nothing arguments = iota
	selectors
	relatives // selectors, which may begin with a combinator
	compounds // the conditions of one element
	optional  // compounds, or no brackets
	position  // 2n+1
	positions // 2n+1, of selectors
	word
	wordList
)

// pseudoClasses are those that Chromium knows, and those without brackets that
// Firefox or Safari know beside it.
var pseudoClasses = map[string]arguments{
	"is": selectors, "where": selectors, "not": selectors, "-webkit-any": selectors, "has": relatives,
	"host": optional, "host-context": compounds,
	"nth-child": positions, "nth-last-child": positions, "nth-of-type": position, "nth-last-of-type": position,
	"lang": word, "dir": word, "state": word, "active-view-transition-type": wordList,
}

func init() {
	for name := range strings.FieldsSeq(`active active-view-transition any-link autofill checked current default defined
		disabled empty enabled first-child first-of-type focus focus-visible focus-within fullscreen future hover in-range
		indeterminate interest-source interest-target invalid last-child last-of-type link modal only-child only-of-type
		open optional out-of-range past picture-in-picture placeholder-shown popover-open read-only read-write required
		root scope target target-after target-before target-current user-invalid user-valid valid visited xr-overlay
		corner-present decrement double-button end horizontal increment no-button single-button start vertical
		window-inactive -webkit-any-link -webkit-autofill -webkit-drag -webkit-full-page-media -webkit-full-screen
		-webkit-full-screen-ancestor -internal-autofill-selected
		buffering has-slotted muted paused playing seeking stalled volume-locked`) {
		pseudoClasses[name] = nothing
	}
}

// pseudo reads a pseudo-class or a pseudo-element. after is the pseudo-element
// before it, nil for none; it returns the one that is the last now.
func (p *parser) pseudo(where place, after *pseudoElement) (*pseudoElement, *Error) {
	start := p.At
	p.At++
	p.comments()
	isElement := p.Take(':')
	written, ok := p.name()
	if !ok {
		return nil, p.badName("a name", ":")
	}
	name := lower(written)
	if isElement || p.Next() != '(' && slices.Contains(oldElements, name) {
		return p.element(start, name, where, after)
	}
	takes, ok := pseudoClasses[name]
	switch {
	case !ok:
		return nil, p.Fail(start, "there is no pseudo-class :%s%s", grammar.Shorten(written), instead(name))
	case after != nil && !after.allows(name, takes):
		return nil, p.Fail(start, ":%s cannot follow that pseudo-element", name)
	case p.Next() != '(' && takes != nothing && takes != optional:
		return nil, p.Fail(start, ":%s needs something in brackets right behind it", name)
	case p.Next() != '(':
		return after, nil
	case takes == nothing:
		return nil, p.Fail(p.At, ":%s has no brackets", name)
	}
	return after, p.brackets(func() *Error { return p.arguments(start, takes) })
}

func (p *parser) arguments(start int, takes arguments) *Error {
	switch takes {
	case selectors:
		return p.list(inside)
	case relatives:
		if p.inHas {
			return p.Fail(start, ":has() cannot stand in another one")
		}
		p.inHas = true
		defer func() { p.inHas = false }()
		return p.list(relative)
	case compounds, optional:
		_, err := p.compound(inside)
		return err
	case position, positions:
		return p.nth(takes == positions)
	}
	if err := p.word(); err != nil || takes == word {
		return err
	}
	for p.space(); p.Take(','); p.space() {
		p.space()
		if err := p.word(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) word() *Error {
	if _, ok := p.name(); !ok {
		return p.badName("a name", "(")
	}
	return nil
}

// step is An+B.
var step = regexp.MustCompile(`^(?i:even|odd|[+-]?[0-9]*n(?:[ \t\r\n\f]*[+-][ \t\r\n\f]*[0-9]+)?|[+-]?[0-9]+)`)

// nth reads which of the children are meant, and of which selectors they are.
func (p *parser) nth(of bool) *Error {
	found := step.FindString(p.Text[p.At:])
	p.At += len(found)
	if c := p.Next(); found == "" || isName(c) || c == '\\' {
		return p.Fail(p.At, "must be a number, odd, even or as 2n+1")
	}
	p.space()
	start := p.At
	name, ok := p.name()
	if !ok {
		return nil
	}
	if !of || name != "of" {
		return p.Fail(start, "must be a number, odd, even or as 2n+1")
	}
	return p.list(inside)
}

// pseudoElement is what may follow one.
type pseudoElement struct {
	// states are the pseudo-classes: none, those of what people do, or all that do
	// not look at the place in the tree.
	none, ofPeople bool
	elements       []string // those that may follow it; nil: most
}

var (
	oldElements = []string{"before", "after", "first-line", "first-letter"} // of CSS 2, with one colon
	ofPeople    = []string{"active", "focus", "focus-visible", "focus-within", "hover"}
	// structural are pseudo-classes of the place in the tree.
	structural = []string{"empty", "first-child", "first-of-type", "has", "host", "host-context", "last-child", "last-of-type",
		"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "only-child", "only-of-type", "root", "scope"}
	sides = []string{"*", "left", "right", "up", "down", "block-start", "block-end", "inline-start", "inline-end", "prev", "next"}

	partLike  = &pseudoElement{}
	buttons   = &pseudoElement{ofPeople: true, elements: []string{}}
	slots     = &pseudoElement{none: true, elements: oldElements}
	generated = &pseudoElement{none: true, elements: []string{"marker"}}
	others    = &pseudoElement{none: true, elements: []string{}}

	pseudoElements = map[string]*pseudoElement{
		"before": generated, "after": generated, "details-content": partLike, "file-selector-button": buttons,
		"part": partLike, "slotted": slots,
	}
)

func init() {
	for name := range strings.FieldsSeq(`first-line first-letter backdrop marker placeholder selection cue spelling-error
		grammar-error target-text view-transition scroll-marker scroll-marker-group checkmark picker-icon column search-text
		permission-icon highlight picker scroll-button view-transition-group view-transition-group-children
		view-transition-image-pair view-transition-old view-transition-new`) {
		pseudoElements[name] = others
	}
}

// allows reports whether a pseudo-class may follow.
func (e *pseudoElement) allows(name string, takes arguments) bool {
	switch {
	case e.none:
		return false
	case e.ofPeople:
		return takes == selectors || slices.Contains(ofPeople, name)
	}
	return !slices.Contains(structural, name)
}

// element reads a pseudo-element behind its colons.
func (p *parser) element(start int, name string, where place, after *pseudoElement) (*pseudoElement, *Error) {
	found := pseudoElements[name]
	if strings.HasPrefix(name, "-webkit-") {
		found = buttons
	}
	switch {
	case found == nil:
		return nil, p.Fail(start, "there is no pseudo-element ::%s", grammar.Shorten(name))
	case where != whole:
		return nil, p.Fail(start, "a pseudo-element cannot stand in brackets")
	case after != nil && (name == "part" || name == "slotted" || after.elements != nil && !slices.Contains(after.elements, name)):
		return nil, p.Fail(start, "::%s cannot follow another pseudo-element", name)
	}
	read := p.elementArguments(name)
	switch open := p.Next() == '('; {
	case open && read == nil:
		return nil, p.Fail(p.At, "::%s has no brackets", name)
	case open:
		return found, p.brackets(read)
	case read != nil && name != "cue":
		return nil, p.Fail(start, "::%s needs something in brackets right behind it", name)
	}
	return found, nil
}

// elementArguments returns what reads the brackets of a pseudo-element; nil when it
// has none.
func (p *parser) elementArguments(name string) func() *Error {
	switch name {
	case "slotted", "cue":
		return func() *Error {
			_, err := p.compound(inside)
			return err
		}
	case "part":
		return func() *Error {
			for {
				if err := p.word(); err != nil {
					return err
				}
				if p.space(); p.Next() == ')' || p.At == len(p.Text) {
					return nil
				}
			}
		}
	case "highlight":
		return p.word
	case "picker":
		return func() *Error { return p.oneOf([]string{"select"}) }
	case "scroll-button":
		return func() *Error { return p.oneOf(sides) }
	}
	if strings.HasPrefix(name, "view-transition-") {
		return p.transition
	}
	return nil
}

func (p *parser) oneOf(allowed []string) *Error {
	start := p.At
	text, ok := p.name()
	if !ok && p.Take('*') {
		text = "*"
	}
	if !slices.Contains(allowed, lower(text)) {
		return p.Fail(start, "must be one of %s", strings.Join(allowed, ", "))
	}
	return nil
}

// transition reads a name or * with classes.
func (p *parser) transition() *Error {
	if _, ok := p.name(); !ok && !p.Take('*') && p.Next() != '.' {
		return p.unexpected()
	}
	for p.Take('.') {
		if err := p.word(); err != nil {
			return err
		}
	}
	return nil
}
