package find

import (
	"slices"
	"sort"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Assignment says which field each value goes into.
type Assignment struct {
	Slots []Slot
	// Missing are values that no field takes, and words for fields that are not there.
	Missing []intent.Span
	// Ambiguous are values that two fields take equally well.
	Ambiguous []intent.Span
	// Open are indices of fields that are required, empty, and get nothing.
	Open []int
}

// Slot is one value and where it goes.
type Slot struct {
	Value int       // index in the fields of the goal
	To    Candidate // Field, or Option where it is one of a field's
	// Label is the option's, "" where the value is typed.
	Label string
	// Text is what to type: the value without the label of the field, where it began with it:
	// "phone 390".
	Text  string
	Score float64
	// Missing are words for the field that this one does not have: an option of it is the value.
	Missing []intent.Span
}

// place is where one value can go: a field, or one box of a group of boxes.
type place struct{ field, option int }

// leastFit is the score below which a value is rather left over.
const leastFit = 0.33

// Assign puts each value into at most one field, each field taking one value, so that all
// together fit best: by what the text calls the field, by options, types, units and order.
// w.Within is the node of the form, -1 for the page.
func Assign(m *page.Model, fields []intent.Field, w Want) Assignment {
	a := &assigner{ix: indexOf(m), m: m, w: w, fields: fields}
	a.places = a.listPlaces()
	fits := make([][]fit, len(fields))
	for i := range fields {
		fits[i] = a.row(i)
	}
	a.order(fits)
	chosen := assignment(fits)
	return a.result(fits, chosen)
}

type assigner struct {
	ix     *index
	m      *page.Model
	w      Want
	fields []intent.Field
	places []place
	// first and last are the fields of the parts of a name, once they were looked for.
	first, last *page.Field
	namesRead   bool
}

// listPlaces returns where values can go, in the order of the document.
func (a *assigner) listPlaces() []place {
	var out []place
	for i := range a.m.Fields {
		f := &a.m.Fields[i]
		if f.Hidden && !a.w.Hidden {
			continue
		}
		if a.w.Within >= 0 && !a.ix.holds(a.w.Within, f.Node) || f.Disabled || f.ReadOnly && f.Kind == "text" &&
			digits(f.Value) == 0 && !a.dated() {
			continue
		}
		several := f.Kind == "choices" && len(f.Options) > 0
		if a.behind(f.Node) || tiny(a.m, f.Node) && !a.drawnOver(i) || !several && !f.Multiple &&
			a.w.Taken[a.m.Nodes[f.Node].Ref] || slices.Contains(a.w.But, f.Node) {
			continue
		}
		if several {
			for j := range f.Options {
				out = append(out, place{i, j})
			}
			if !f.Entries {
				continue
			}
		}
		out = append(out, place{i, -1})
	}
	return out
}

// dated reports whether some value is a date: a field that cannot be typed into may open a calendar.
func (a *assigner) dated() bool {
	return slices.ContainsFunc(a.fields, func(f intent.Field) bool { return f.Value.Date != nil })
}

// drawnOver reports whether a field is a list of the browser that something is drawn over which is no
// field itself: it still holds the value, and takes keys.
func (a *assigner) drawnOver(i int) bool {
	f := &a.m.Fields[i]
	return f.Label != "" && len(a.m.Nodes[f.Node].Options) > 0 && !slices.ContainsFunc(a.m.Fields, func(o page.Field) bool {
		return o.Node != f.Node && o.Label == f.Label && !o.Hidden
	})
}

// tiny reports whether a node is too small to be used by anybody: what catches the clipboard.
func tiny(m *page.Model, node int) bool {
	b := m.Nodes[node].Box
	return !m.Nodes[node].Hidden && (b[2] <= 2 || b[3] <= 2 || b[0]+b[2] <= 0)
}

// behind reports whether a node cannot be used because a modal dialog is in front.
func (a *assigner) behind(node int) bool {
	front := a.m.Front
	return front >= 0 && front < len(a.m.Containers) && a.m.Containers[front].Modal && !a.ix.below(node, a.m.Containers[front].Node)
}

// row returns how well one value fits into each place.
func (a *assigner) row(i int) []fit {
	f := &a.fields[i]
	named := a.named(f)
	out := make([]fit, len(a.places))
	for j, p := range a.places {
		out[j] = a.fit(f, p, named)
	}
	return out
}

// result turns the chosen places into slots, and says what is left over.
func (a *assigner) result(fits [][]fit, chosen []int) Assignment {
	var out Assignment
	taken := map[int]bool{}
	for i, j := range chosen {
		f := &a.fields[i]
		if j < 0 {
			out.Missing = append(out.Missing, spanOf(f))
			continue
		}
		best := fits[i][j]
		taken[a.places[j].field] = true
		if best.cannot {
			out.Missing = append(out.Missing, f.Value.Span)
		}
		var missing []intent.Span
		if f.Name != nil && !best.named {
			missing = a.unnamed(f, &best)
			out.Missing = append(out.Missing, missing...)
		}
		if a.equal(fits[i], chosen, j) {
			out.Ambiguous = append(out.Ambiguous, spanOf(f))
		}
		text := f.Value.Text
		if best.text != "" {
			text = best.text
		}
		out.Slots = append(out.Slots, Slot{Value: i, To: best.to, Label: best.label, Text: text, Score: best.score, Missing: missing})
	}
	a.labels(chosen, &out)
	for i := range a.m.Fields {
		f := &a.m.Fields[i]
		in := a.w.Within < 0 || a.ix.below(f.Node, a.w.Within)
		if in && f.Required && f.Value == "" && !taken[i] {
			out.Open = append(out.Open, i)
		}
	}
	return out
}

func spanOf(f *intent.Field) intent.Span {
	if f.Span != (intent.Span{}) {
		return f.Span
	}
	return f.Value.Span
}

// equal reports whether another place that is free would take the value as well.
func (a *assigner) equal(row []fit, chosen []int, j int) bool {
	for k := range row {
		if k == j || row[k].score < row[j].score-0.02 || row[k].to.Node == row[j].to.Node {
			continue
		}
		free := true
		for _, c := range chosen {
			free = free && c != k
		}
		if free {
			return true
		}
	}
	return false
}

// order prefers, among values that nothing else decides, the order of the fields: the first
// text goes into the first text field.
func (a *assigner) order(fits [][]fit) {
	n := 0
	rows := make([]int, len(fits))
	for i := range rows {
		rows[i] = i
	}
	sort.SliceStable(rows, func(i, j int) bool { return a.fields[rows[i]].Value.Span.From < a.fields[rows[j]].Value.Span.From })
	for _, i := range rows {
		if a.fields[i].Name != nil || a.fields[i].Off {
			continue
		}
		if !slices.ContainsFunc(fits[i], func(f fit) bool { return f.score > 0 }) {
			continue // it goes nowhere
		}
		rank := 0
		for j := range fits[i] {
			if fits[i][j].score <= 0 || fits[i][j].named {
				continue
			}
			d := rank - n
			if d < 0 {
				d = -d
			}
			fits[i][j].score -= 0.021 * float64(min(d, 6))
			rank++
		}
		n++
	}
}
