package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// paging turns "go to page 4" and "show 50 rows" into Page.
func (r *reader) paging(g *Goal) {
	if len(g.Target) != 1 && g.To == nil || g.Effect == Check {
		return
	}
	t := g.To
	if len(g.Target) > 0 {
		t = &g.Target[0]
	}
	numbered := len(t.Words) == 1 && numberOf(t.Words[0].Text) > 0
	if g.Effect == Page && (t.Ordinal != 0 || numbered) && g.Amount == nil && t.Kind == "" {
		t.Kind = PageKind
	}
	opens := g.Effect == Open || g.Effect == Page || g.Effect == Choose || g.Effect == Navigate || g.Effect == Set ||
		g.Effect == Filter || g.Effect == Submit || g.Effect == Move
	if !opens || t.Of != nil || t.Quoted {
		return
	}
	switch {
	case t.Kind == PageKind && isPageNoun(t) && (t.Next || t.Ordinal != 0 || numbered):
		g.Effect = Page
		n := float64(t.Ordinal)
		switch {
		case t.Next:
			g.Place = "next"
			return
		case t.Ordinal == -1:
			g.Place = "last"
			return
		case t.Ordinal == 0:
			n = numberOf(t.Words[0].Text)
		}
		g.Amount = &Value{Span: t.Span, Text: plainNumber(n), Number: &n}
		g.Target, g.To = nil, nil
	case t.Count > 1 && (len(t.Words) == 0 || r.pageWord(t)) && (t.Kind == Row || t.Kind == Item || perPage(t) ||
		r.pageWord(t) || g.Effect == Open && t.Noun != "" && len(t.State) == 0 && t.In != nil):
		g.Effect = Page
		n := float64(t.Count)
		g.Amount = &Value{Span: t.Span, Text: plainNumber(n), Number: &n, UnitClass: "count"}
	}
}

// pageWord reports whether a word of d names pages: "five rooms per page" as one phrase.
func (r *reader) pageWord(d *Description) bool {
	for _, w := range d.Words {
		if e := r.lex.Entry(w.Text, lexicon.Noun_); e != nil && e.Name == string(PageKind) && len(d.Words) > 1 {
			return true
		}
	}
	return false
}

// isPageNoun keeps steps and slides apart from pages.
func isPageNoun(d *Description) bool { return len(d.Having) == 0 }

func perPage(d *Description) bool {
	for i := range d.Having {
		if d.Having[i].Kind == PageKind {
			return true
		}
	}
	return d.In != nil && d.In.Kind == PageKind
}

func numberOf(s string) float64 {
	v, ok := amount(strings.TrimRight(s, "."))
	if !ok || s == "" {
		return 0
	}
	return v
}
