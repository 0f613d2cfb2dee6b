package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// maxBanners bounds the banners that are closed before one step.
const maxBanners = 3

// uncover closes the banners that are in front of an element: those for consent,
// newsletters and surveys, that the page shows by itself. They are closed by optional
// steps, since they are there only sometimes.
func uncover(ctx context.Context, p *planner, ref string) error {
	for range maxBanners {
		v, err := p.look(ctx)
		if err != nil {
			return err
		}
		banner, control := inTheWay(p, v, ref)
		if control < 0 {
			return nil
		}
		n := &v.Nodes[control]
		record, err := p.try(ctx, action{tool: step.Click, on: n.Ref, optional: true, closes: true,
			why: "closes " + describeNode(&v.Nodes[banner]) + ", which is in the way"})
		if err != nil || !record.Result.Success {
			return err
		}
		p.note("close banner", "Clicked "+describeNode(n)+", because "+describeNode(&v.Nodes[banner])+" was in front.")
	}
	return nil
}

// inTheWay returns the banner in front of an element, and the control that closes it;
// -1 when nothing is, or nothing that can be closed by itself.
func inTheWay(p *planner, v *view, ref string) (banner, control int) {
	at := v.find(ref)
	if at < 0 || speaksOfBanners(p) {
		return -1, -1
	}
	banner = v.modal()
	if banner < 0 || v.inside(at, banner) {
		banner = -1
		cover := v.find(v.Nodes[at].Cover)
		switch {
		case !v.Nodes[at].Covered:
		case cover >= 0 && v.Nodes[at].Cover != "":
			banner = bannerAround(v, cover, at)
		default:
			banner = bannerBeside(v, at)
		}
	}
	if banner < 0 || p.opened[v.Nodes[banner].Ref] {
		return -1, -1
	}
	return banner, closing(v, banner)
}

// blocking returns the dialog behind which nothing can be used; -1 without one, or
// when it is a banner that will be closed.
func blocking(p *planner, v *view) int {
	modal := v.modal()
	if modal < 0 || speaksOfBanners(p) || p.opened[v.Nodes[modal].Ref] || closing(v, modal) < 0 {
		return modal
	}
	return -1
}

// bannerAround returns the largest element around what covers a target that does not
// hold the target.
func bannerAround(v *view, cover, target int) int {
	for {
		parent := v.Nodes[cover].Parent
		if parent < 0 || v.inside(target, parent) || v.Nodes[parent].Role == "main" || v.Nodes[parent].Role == "document" {
			return cover
		}
		cover = parent
	}
}

// bannerBeside returns the part of the page in front that can be closed, where what
// covers an element is none: the shade around it. -1 without one, or with several.
func bannerBeside(v *view, target int) int {
	found := -1
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if found >= 0 && i <= v.last[found] {
			continue
		}
		if n.Hidden || n.Covered || v.inside(target, i) || v.last[i] == i || anyCovered(v, i) || closing(v, i) < 0 {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// anyCovered reports whether something that is used in a part of the page is behind
// something else.
func anyCovered(v *view, part int) bool {
	for i := part + 1; i <= v.last[part]; i++ {
		if n := &v.Nodes[i]; n.Covered && n.Interactive {
			return true
		}
	}
	return false
}

// closing returns the control of a banner that closes it without doing anything else:
// consent, or no; -1 without one.
func closing(v *view, banner int) int {
	text := fold(v.shown(banner))
	consent := slices.ContainsFunc(bannerWords, func(w string) bool { return strings.Contains(text, w) })
	best, rank := -1, 0
	for _, i := range v.within(banner, func(n *snapshot.Node) bool { return n.Interactive && !n.Hidden && !n.Disabled && !n.Editable }) {
		n := &v.Nodes[i]
		r := 0
		for _, name := range append([]string{n.Name, n.Title, n.Text}, n.Hints...) {
			r = max(r, closingRank(name, consent))
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// closingRank returns how good a control is to close a banner, by its name; 0: not.
func closingRank(name string, consent bool) int {
	name = strings.TrimSpace(strings.Trim(fold(name), ".!✓✔ "))
	switch {
	case name == "":
		return 0
	case consent && slices.Contains(consentWords, name):
		return 4
	case slices.Contains(closeWords, name):
		return 3
	case consent && slices.ContainsFunc(consentWords, func(w string) bool { return len(w) > 5 && strings.HasPrefix(name, w) }):
		return 2
	default:
		return 0
	}
}

// speaksOfBanners reports whether the intent itself says what to do with banners and
// popups: then nothing is closed that it does not say.
func speaksOfBanners(p *planner) bool {
	if p.banners != nil {
		return *p.banners
	}
	speaks := false
	for _, c := range p.cfg.Clauses {
		for _, r := range c.Readings {
			for i := range r.Instructions {
				in := &r.Instructions[i]
				speaks = speaks || in.Kind == intent.Accept || in.Kind == intent.Dismiss
				text := fold(in.Text)
				speaks = speaks || slices.ContainsFunc(bannerNouns, func(w string) bool { return strings.Contains(text, w) })
			}
		}
	}
	p.banners = &speaks
	return speaks
}
