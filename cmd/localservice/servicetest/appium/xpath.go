package appium

import (
	"fmt"
	"slices"
	"strings"
)

// evaluate finds elements by the part of XPath that locators of apps use: steps of
// "//class" or "//*" with predicates [@name="value"] and [.//class[@name="value"]];
// texts in either quotes, or concat of such. Anything else is an error.
func (a *App) evaluate(path string) ([]*Element, error) {
	r := &reader{path}
	var steps []pathStep
	for r.left != "" {
		if !r.take("//") {
			return nil, fmt.Errorf("expected // at %q", r.left)
		}
		s, err := r.step()
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("an empty path")
	}
	var found []*Element
	walk(a.Root, nil, func(e *Element, around []*Element) {
		if leads(steps, append(slices.Clone(around), e)) {
			found = append(found, e)
		}
	})
	return found, nil
}

// leads reports whether the last of a way of elements is what steps find.
func leads(steps []pathStep, way []*Element) bool {
	last := len(steps) - 1
	if len(way) == 0 || !steps[last].fits(way[len(way)-1]) {
		return false
	}
	if last == 0 {
		return true
	}
	for end := len(way) - 1; end > 0; end-- {
		if leads(steps[:last], way[:end]) {
			return true
		}
	}
	return false
}

// pathStep is an element with predicates.
type pathStep struct {
	class      string
	predicates []predicate
}

// predicate compares an attribute, or asks for an element inside.
type predicate struct {
	name, value string
	inner       *pathStep
}

func (s *pathStep) fits(e *Element) bool {
	if s.class != "*" && s.class != e.Class {
		return false
	}
	for _, p := range s.predicates {
		if p.inner == nil {
			if value := e.Attributes[p.name]; value != p.value && !((p.name == "class" || p.name == "type") && e.Class == p.value) {
				return false
			}
			continue
		}
		inside := false
		for _, child := range e.Children {
			walk(child, nil, func(found *Element, _ []*Element) { inside = inside || p.inner.fits(found) })
		}
		if !inside {
			return false
		}
	}
	return true
}

// reader reads a path.
type reader struct{ left string }

func (r *reader) take(text string) bool {
	left, ok := strings.CutPrefix(r.left, text)
	if ok {
		r.left = left
	}
	return ok
}

func (r *reader) step() (pathStep, error) {
	end := strings.IndexAny(r.left, "[/]")
	if end < 0 {
		end = len(r.left)
	}
	s := pathStep{class: r.left[:end]}
	if s.class == "" || strings.ContainsAny(s.class, "$@()\"' ") {
		return s, fmt.Errorf("no name of an element at %q", r.left)
	}
	r.left = r.left[end:]
	for r.take("[") {
		p, err := r.predicate()
		if err != nil {
			return s, err
		}
		s.predicates = append(s.predicates, p)
		if !r.take("]") {
			return s, fmt.Errorf("expected ] at %q", r.left)
		}
	}
	return s, nil
}

func (r *reader) predicate() (predicate, error) {
	if r.take(".//") {
		inner, err := r.step()
		return predicate{inner: &inner}, err
	}
	name, after, ok := strings.Cut(r.left, "=")
	if !ok || !strings.HasPrefix(name, "@") {
		return predicate{}, fmt.Errorf("expected an attribute at %q", r.left)
	}
	r.left = after
	value, err := r.literal()
	return predicate{name: name[1:], value: value}, err
}

func (r *reader) literal() (string, error) {
	if r.take("concat(") {
		var whole strings.Builder
		for {
			part, err := r.literal()
			if err != nil {
				return "", err
			}
			whole.WriteString(part)
			if r.take(")") {
				return whole.String(), nil
			}
			if !r.take(",") {
				return "", fmt.Errorf("expected , at %q", r.left)
			}
			r.left = strings.TrimLeft(r.left, " ")
		}
	}
	for _, quote := range []string{`"`, "'"} {
		if r.take(quote) {
			value, after, ok := strings.Cut(r.left, quote)
			if !ok {
				return "", fmt.Errorf("a text that does not end: %q", value)
			}
			r.left = after
			return value, nil
		}
	}
	return "", fmt.Errorf("expected a text at %q", r.left)
}
