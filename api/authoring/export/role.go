package export

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// styled is a name with a CSS selector. WebDriver cannot look for a role, so the
// exports look for the elements that have it, and ask the browser for their names.
type styled struct{ Name, CSS string } // CSS is a literal

// roleCSS are the elements of HTML that have a role without saying so.
var roleCSS = map[string]string{
	"article":       "article",
	"banner":        "header:not(article *, aside *, main *, nav *, section *)",
	"blockquote":    "blockquote",
	"button":        "button, summary, input:is([type=button], [type=file], [type=image], [type=reset], [type=submit])",
	"caption":       "caption",
	"cell":          "td",
	"checkbox":      "input[type=checkbox]",
	"code":          "code",
	"columnheader":  "th:not([scope=row])",
	"combobox":      "select:not([multiple], [size]), select[size='1']:not([multiple]), input[list]:is(:not([type]), [type=email], [type=search], [type=tel], [type=text], [type=url])",
	"complementary": "aside",
	"contentinfo":   "footer:not(article *, aside *, main *, nav *, section *)",
	"definition":    "dd, dfn",
	"deletion":      "del",
	"dialog":        "dialog",
	"document":      "html",
	"emphasis":      "em",
	"figure":        "figure",
	"form":          "form",
	"group":         "details, fieldset, optgroup",
	"heading":       "h1, h2, h3, h4, h5, h6",
	"img":           "img:not([alt='']), svg",
	"insertion":     "ins",
	"link":          "a[href], area[href]",
	"list":          "menu, ol, ul",
	"listbox":       "datalist, select:is([multiple], [size]):not([size='1']:not([multiple]))",
	"listitem":      "li",
	"main":          "main",
	"math":          "math",
	"meter":         "meter",
	"navigation":    "nav",
	"option":        "option",
	"paragraph":     "p",
	"progressbar":   "progress",
	"radio":         "input[type=radio]",
	"region":        "section:is([aria-label], [aria-labelledby])",
	"row":           "tr",
	"rowgroup":      "tbody, tfoot, thead",
	"rowheader":     "th[scope=row]",
	"searchbox":     "input[type=search]:not([list])",
	"separator":     "hr",
	"slider":        "input[type=range]",
	"spinbutton":    "input[type=number]",
	"status":        "output",
	"strong":        "strong",
	"subscript":     "sub",
	"superscript":   "sup",
	"table":         "table",
	"term":          "dt",
	"textbox":       "textarea, input:not([list], [type]), input:not([list]):is([type=''], [type=email], [type=tel], [type=text], [type=url]), input[type=password]",
	"time":          "time",
}

// stateCSS are the elements in a state.
var stateCSS = map[string]string{
	"checked":  "input:checked:not(:indeterminate), [aria-checked=true]:not(input)",
	"disabled": ":disabled, [aria-disabled=true], [aria-disabled=true] *",
	"expanded": "[aria-expanded=true], details[open]",
	"pressed":  "[aria-pressed=true]",
	"selected": "option:checked, [aria-selected=true]",
}

// noteRole notes the role and the states of a place. A role in a variable may be
// any.
func (p *page) noteRole(at place) {
	role, fixed := at.value.fixed()
	for name := range roleCSS {
		if !fixed || strings.EqualFold(strings.TrimSpace(role), name) {
			p.call("role:" + name)
		}
	}
	for _, s := range at.state {
		p.call("state:" + s.name)
	}
}

func (p *page) styled(prefix string, all map[string]string, literal func(string) string) []styled {
	var list []styled
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if p.called[prefix+name] {
			list = append(list, styled{name, literal(all[name])})
		}
	}
	return list
}

// noteFind notes what a place, with those that it is made of, needs of the script that
// finds elements.
func (p *page) noteFind(at place) {
	switch at.kind {
	case step.Placeholder, step.AltText, step.Title:
		p.call("by:attribute")
	case step.TestID:
		p.call("by:css", "testId")
	case step.ByRole:
		p.call("by:role")
		p.noteRole(at)
		if len(at.name) > 0 {
			p.call("name")
		}
		if at.level > 0 {
			p.call("level")
		}
	default:
		p.call("by:" + at.kind)
	}
	p.call("locate:" + at.kind)
	if len(at.hasText) > 0 {
		p.call("hasText")
	}
	if at.has != nil {
		p.call("has")
		p.noteFind(*at.has)
	}
	if at.within != nil {
		p.call("scope")
		p.noteFind(*at.within)
	}
	if at.index != nil {
		p.call("nth")
	}
	if at.exact {
		p.call("exact")
	}
	if len(at.state) > 0 {
		p.call("state")
	}
}
