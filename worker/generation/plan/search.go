package plan

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// The bounds of a search: a page can be endless.
const (
	mostOpened   = 30
	mostScrolled = 60
	searchTime   = 45 * time.Second
)

// search is the search of a page for something that is not seen: what hides it is
// opened, as steps. In the end only those stay in the test that lead to what was found.
type search struct {
	p      *planner
	phrase *intent.Phrase
	w      want
	found  func(v *view) error

	mark int
	// since has by which step a ref came into sight: its index in the test; -1: before.
	since map[string]int
	// by is what each step of the search did.
	by    []opening
	tried map[string]bool
	end   time.Time
}

// opening is a step of a search.
type opening struct {
	ref   string // of the element that was used
	turns bool   // it turned a page or scrolled: those before it are needed as well
}

// seek calls found on what the page shows until it returns no error: at once, when
// the page has changed, and then in whatever can be opened. An error that says that
// several things are meant equally well ends it.
func seek(ctx context.Context, p *planner, phrase *intent.Phrase, w want, found func(v *view) error) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if err = found(v); !isMissing(err) {
		return err
	}
	if v.Dialog != nil {
		return err
	}
	if p.optional || phrase == nil || p.searching {
		return await(ctx, p, err, found)
	}
	p.searching = true
	defer func() { p.searching = false }()
	// A number in the phrase is counted down from page to page.
	number := phrase.Ordinal
	defer func() { phrase.Ordinal = number }()
	s := &search{p: p, phrase: phrase, w: w, found: found, mark: p.mark(), since: map[string]int{}, tried: map[string]bool{}}
	return s.run(ctx, err)
}

// run looks where the page itself says that the thing is, then waits for it, and then
// looks into everything that can be opened safely.
func (s *search) run(ctx context.Context, err error) error {
	s.end = time.Now().Add(searchTime)
	if err := s.remember(ctx); err != nil {
		return err
	}
	first := err
	for _, look := range []func(context.Context) error{s.openHidden, s.wait, s.openHidden, s.explore} {
		err = look(ctx)
		if !isMissing(err) {
			break
		}
	}
	if err != nil {
		s.p.drop(s.mark, nil)
		if isMissing(err) {
			return first
		}
		return err
	}
	return nil
}

// wait is await as a step of a search.
func (s *search) wait(ctx context.Context) error {
	v, err := s.p.look(ctx)
	if err != nil {
		return err
	}
	return await(ctx, s.p, s.found(v), s.found)
}

// openHidden opens what hides an element that the page has, and that is what is
// looked for.
func (s *search) openHidden(ctx context.Context) error {
	v, err := s.p.look(ctx)
	if err != nil {
		return err
	}
	r := s.p.rankingOf(v, s.w)
	r.hidden = true
	list := slices.DeleteFunc(r.rank(s.phrase), func(c scored) bool { return c.score < 0.6 || !v.Nodes[c.index].Hidden })
	if len(list) == 0 {
		return s.found(v)
	}
	if err := s.reveal(ctx, v.Nodes[list[0].index].Ref, 0); err != nil {
		return err
	}
	return s.check(ctx)
}

// reveal brings a hidden element into sight by its opener, which may be hidden itself.
// A menu that opens under the pointer is left so.
func (s *search) reveal(ctx context.Context, ref string, depth int) error {
	v, err := s.p.look(ctx)
	if err != nil {
		return err
	}
	n := v.node(ref)
	if n == nil || !n.Hidden || depth > maxDepth {
		return nil
	}
	opener := openerOf(v, v.find(ref))
	if opener == nil || s.tried["reveal "+opener.Ref] || unsafe(opener) {
		return nil
	}
	s.tried["reveal "+opener.Ref] = true
	on := opener.Ref
	if opener.Hidden {
		if err := s.reveal(ctx, on, depth+1); err != nil {
			return err
		}
	}
	tools := []string{step.Click}
	if leads(opener) {
		tools = []string{step.Hover}
	} else if hovers(opener) {
		tools = []string{step.Hover, step.Click}
	}
	for _, tool := range tools {
		if err := s.open(ctx, tool, on, false); err != nil {
			return err
		}
		v, err := s.p.look(ctx)
		if err != nil {
			return err
		}
		if n := v.node(ref); n == nil || !n.Hidden {
			return nil
		}
	}
	return nil
}

// inProse reports whether a node is a word in a text, which opens no part of a page.
func (v *view) inProse(i int) bool {
	n := &v.Nodes[i]
	if n.Parent < 0 || symbolic(n.Name) || n.Role == "button" || n.Role == "heading" || n.Role == "tab" || n.Expanded != "" || n.Popup != "" || n.Tag == "summary" {
		return false
	}
	for _, sibling := range v.children[n.Parent] {
		if o := &v.Nodes[sibling]; o.Role == "text" && !symbolic(o.Name) {
			return true
		}
	}
	return false
}

// openerOf returns what opens a hidden node, or one around it.
func openerOf(v *view, i int) *snapshot.Node {
	for ; i >= 0 && v.Nodes[i].Hidden; i = v.Nodes[i].Parent {
		if at := v.find(v.Nodes[i].Opener); at >= 0 && v.Nodes[i].Opener != "" && !v.inProse(at) {
			return &v.Nodes[at]
		}
	}
	if i >= 0 && v.Nodes[i].Expanded == "false" {
		return &v.Nodes[i]
	}
	return nil
}

// open does a step of the search and keeps which refs came with it. A step that fails
// opens nothing.
func (s *search) open(ctx context.Context, tool, ref string, turns bool) error {
	a := action{tool: tool, on: ref, why: "opened to find " + describePhrase(s.phrase)}
	if tool == step.ScrollDocument || tool == step.ScrollElement {
		a.args.Direction = "down"
	}
	record, err := s.p.try(ctx, a)
	if err != nil || !record.Result.Success {
		return err
	}
	s.by = append(s.by, opening{ref, turns})
	return s.remember(ctx)
}

// remember keeps by which step what is seen now came into sight.
func (s *search) remember(ctx context.Context) error {
	v, err := s.p.look(ctx)
	if err != nil {
		return err
	}
	at := s.p.mark() - 1
	if len(s.by) == 0 {
		at = -1
	}
	seen := make(map[string]int, len(v.Nodes))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden {
			continue
		}
		if since, known := s.since[n.Ref]; known {
			seen[n.Ref] = since
		} else {
			seen[n.Ref] = at
		}
	}
	s.since = seen
	return nil
}

// check looks whether what is looked for is there now, and leaves the steps in the
// test that lead to it.
func (s *search) check(ctx context.Context) error {
	v, err := s.p.look(ctx)
	if err != nil {
		return err
	}
	if err = s.found(v); err != nil {
		return err
	}
	list := meant(v, s.p.rankingOf(v, s.w).rank(s.phrase), s.phrase)
	needed := map[int]bool{}
	for _, c := range list {
		s.need(v.Nodes[c.index].Ref, needed)
	}
	if len(list) == 0 { // it was found by other means than its name
		return nil
	}
	s.p.drop(s.mark, func(i int) bool { return needed[i] })
	return nil
}

// need marks the steps by which an element came into sight.
func (s *search) need(ref string, needed map[int]bool) {
	at, known := s.since[ref]
	if !known || at < s.mark || needed[at] || at-s.mark >= len(s.by) {
		return
	}
	needed[at] = true
	step := s.by[at-s.mark]
	if step.ref != "" {
		s.need(step.ref, needed)
	}
	if step.turns {
		for i, other := range s.by[:at-s.mark] {
			if other.turns {
				needed[s.mark+i] = true
				s.need(other.ref, needed)
			}
		}
	}
}

// isMissing reports whether an error says that something is not there.
func isMissing(err error) bool {
	var m missingError
	return errors.As(err, &m)
}

// lookEvery is how often the page is looked at while something may come.
const lookEvery = 150 * time.Millisecond

// await looks again for as long as something may be late.
func await(ctx context.Context, p *planner, err error, found func(v *view) error) error {
	if p.waited {
		return err
	}
	for end := time.Now().Add(lateness(p)); isMissing(err) && time.Now().Before(end); {
		if waitErr := sleep(ctx, lookEvery); waitErr != nil {
			return waitErr
		}
		v, lookErr := lookAgain(ctx, p)
		if lookErr != nil {
			return lookErr
		}
		err = found(v)
	}
	p.waited = isMissing(err)
	return err
}

// lateness is how long something may still come. What need not be there at all is not
// waited for that long.
func lateness(p *planner) time.Duration {
	switch {
	case p.late > 0:
		return p.late
	case p.optional:
		return latest / 3
	default:
		return latest
	}
}

// sleep waits for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
