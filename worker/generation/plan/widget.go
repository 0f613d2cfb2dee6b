package plan

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// widgetExecutorOf returns the executor of a kind that asks for more than a click or a
// text; nil without one.
func widgetExecutorOf(kind intent.Kind) executor {
	switch kind {
	case intent.Open, intent.Press, intent.Wait, intent.Back, intent.Forward, intent.Reload, intent.Resize, intent.Scroll, intent.Find:
		return travel
	case intent.Assert, intent.WaitFor:
		return check
	case intent.Choose:
		return choose
	case intent.Adjust:
		return adjust
	case intent.Check, intent.Uncheck:
		return toggle
	case intent.Drag:
		return drag
	case intent.Sort:
		return sortItems
	case intent.Copy:
		return copyText
	case intent.Activate:
		return activate
	case intent.Submit:
		return submit
	case intent.LogIn:
		return logIn
	case intent.Upload:
		return upload
	case intent.Expand, intent.Collapse:
		return expand
	case intent.Accept, intent.Dismiss:
		return respond
	case intent.Close:
		return closeOpen
	case intent.Window:
		return window
	default:
		return nil
	}
}

// foldText returns a text as texts are compared: in lower case, with single spaces.
func foldText(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// squeeze returns the letters and digits of a text in lower case, with single spaces
// for whatever stands between them.
func squeeze(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// holdsWords reports whether a text has the words of another one, which stand together.
func holdsWords(text, words string) bool {
	return words != "" && strings.Contains(" "+text+" ", " "+words+" ")
}

// likeness says how well a text of the page is the one that an intent names: 1 the same,
// 0.9 but for case, 0.8 but for punctuation, 0.6 when it begins with it, 0.5 when it has
// its words in it; 0 otherwise.
func likeness(text, wanted string) float64 {
	switch {
	case strings.TrimSpace(wanted) == "" || strings.TrimSpace(text) == "":
		return 0
	case strings.TrimSpace(text) == strings.TrimSpace(wanted):
		return 1
	case foldText(text) == foldText(wanted):
		return 0.9
	}
	text, wanted = squeeze(text), squeeze(wanted)
	switch {
	case wanted == "":
		return 0
	case text == wanted:
		return 0.8
	case strings.HasPrefix(text, wanted+" "):
		return 0.6
	case holdsWords(text, wanted):
		return 0.5
	}
	return 0
}

// namesOf returns the texts by which an element is called.
func namesOf(v *view, i int) []string {
	n := &v.Nodes[i]
	names := []string{n.Name, n.Label, n.Text, n.Title, n.Placeholder}
	if n.Role != "text" && v.last[i]-i <= 20 {
		names = append(names, v.shown(i))
	}
	if n.Type == "radio" || n.Type == "checkbox" || n.Type == "submit" || n.Type == "button" {
		names = append(names, n.Value)
	}
	return names
}

// likenessOf is the best likeness of the names of an element.
func (v *view) likenessOf(i int, wanted string) float64 {
	best := 0.0
	for _, name := range namesOf(v, i) {
		best = max(best, likeness(name, wanted))
	}
	return best
}

// differs reports whether two views show something else, but for the focus.
func differs(a, b *view) bool {
	if a == nil || b == nil || a.URL != b.URL || a.Title != b.Title || len(a.Nodes) != len(b.Nodes) ||
		a.Windows != b.Windows || (a.Dialog == nil) != (b.Dialog == nil) {
		return true
	}
	for i := range a.Nodes {
		if differ(&a.Nodes[i], &b.Nodes[i]) {
			return true
		}
	}
	return false
}

func differ(a, b *snapshot.Node) bool {
	return a.Ref != b.Ref || a.Name != b.Name || a.Text != b.Text || a.Value != b.Value || a.Checked != b.Checked ||
		a.Selected != b.Selected || a.Expanded != b.Expanded || a.Hidden != b.Hidden || a.Disabled != b.Disabled ||
		a.Box != b.Box || !slices.Equal(a.Options, b.Options)
}

// lookPause is how long a page may take between two looks at it.
const lookPause = 100 * time.Millisecond

// until looks at the page until something is found there or the time is over. The last
// view is returned in any case.
func (p *planner) until(ctx context.Context, most time.Duration, found func(v *view) bool) (*view, bool, error) {
	deadline := time.Now().Add(most)
	v, err := p.look(ctx)
	for {
		if err != nil {
			return nil, false, err
		}
		if found(v) {
			return v, true, nil
		}
		if time.Now().After(deadline) {
			return v, false, nil
		}
		timer := time.NewTimer(lookPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, false, ctx.Err()
		}
		v, err = lookAgain(ctx, p)
	}
}

// isTextField reports whether an element is a field that takes text now.
func isTextField(n *snapshot.Node) bool {
	return n.Editable && !n.Hidden && !n.Disabled && !n.ReadOnly
}
