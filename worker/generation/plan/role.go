package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// kin are the roles that people take for one another, with how well one is the
// other: asked for a button, a link of that name is most likely meant.
var kin = map[string]map[string]float64{
	"button": {"link": 0.85, "menuitem": 0.85, "tab": 0.8, "switch": 0.85, "option": 0.7, "checkbox": 0.65, "radio": 0.65,
		"img": 0.7, "combobox": 0.75, "menuitemcheckbox": 0.8, "menuitemradio": 0.8, "treeitem": 0.6, "gridcell": 0.6, "listitem": 0.6, "spinbutton": 0.5, "textbox": 0.45},
	"link": {"button": 0.85, "menuitem": 0.85, "tab": 0.85, "treeitem": 0.75, "option": 0.7, "listitem": 0.65, "img": 0.6},
	"tab":  {"link": 0.85, "button": 0.85, "menuitem": 0.75, "radio": 0.75, "listitem": 0.7, "option": 0.65, "heading": 0.55},
	"menuitem": {"link": 0.9, "button": 0.88, "menuitemcheckbox": 0.95, "menuitemradio": 0.95, "option": 0.85, "listitem": 0.85,
		"treeitem": 0.75, "tab": 0.75},
	"menu":         {"menuitem": 0.9, "button": 0.88, "link": 0.8, "combobox": 0.85, "listbox": 0.8, "menubar": 0.8, "list": 0.6, "navigation": 0.6},
	"checkbox":     {"switch": 0.95, "menuitemcheckbox": 0.92, "radio": 0.75, "option": 0.7, "button": 0.55, "treeitem": 0.6},
	"switch":       {"checkbox": 0.95, "button": 0.85, "radio": 0.6},
	"radio":        {"checkbox": 0.75, "menuitemradio": 0.92, "option": 0.8, "button": 0.65, "tab": 0.6},
	"textbox":      {"searchbox": 1, "combobox": 0.92, "spinbutton": 0.92, "slider": 0.5},
	"searchbox":    {"textbox": 0.95, "combobox": 0.92},
	"combobox":     {"listbox": 0.95, "textbox": 0.8, "button": 0.8, "searchbox": 0.8, "radiogroup": 0.75, "menu": 0.7, "spinbutton": 0.55},
	"listbox":      {"combobox": 0.95, "list": 0.85, "menu": 0.8, "radiogroup": 0.75, "textbox": 0.6, "button": 0.7, "grid": 0.6, "tree": 0.7, "group": 0.6},
	"spinbutton":   {"textbox": 0.9, "slider": 0.75, "combobox": 0.75},
	"slider":       {"spinbutton": 0.75, "progressbar": 0.4, "textbox": 0.5},
	"option":       {"listitem": 0.88, "menuitem": 0.9, "menuitemradio": 0.9, "menuitemcheckbox": 0.9, "radio": 0.88, "checkbox": 0.8, "treeitem": 0.8, "link": 0.75, "button": 0.75, "gridcell": 0.75, "row": 0.6},
	"treeitem":     {"listitem": 0.8, "link": 0.75, "button": 0.75, "group": 0.5},
	"listitem":     {"option": 0.95, "article": 0.9, "row": 0.85, "treeitem": 0.85, "link": 0.7, "menuitem": 0.8, "group": 0.6, "gridcell": 0.6},
	"row":          {"listitem": 0.9, "article": 0.8, "group": 0.6, "treeitem": 0.7, "option": 0.75},
	"cell":         {"gridcell": 1, "rowheader": 0.95, "columnheader": 0.9},
	"gridcell":     {"cell": 1, "rowheader": 0.95, "button": 0.7},
	"columnheader": {"rowheader": 0.7, "cell": 0.7, "button": 0.6},
	"article":      {"listitem": 0.92, "group": 0.8, "row": 0.85, "region": 0.8, "figure": 0.8, "option": 0.6},
	"img":          {"figure": 0.85, "button": 0.8, "link": 0.75, "graphics-symbol": 0.9, "graphics-document": 0.85},
	"heading":      {"text": 0.6, "button": 0.5, "tab": 0.5, "link": 0.5},
	"dialog":       {"alertdialog": 1, "region": 0.5, "group": 0.5},
	"table":        {"grid": 1, "treegrid": 0.95, "list": 0.6},
	"grid":         {"table": 1, "treegrid": 0.95},
	"list":         {"listbox": 0.9, "menu": 0.8, "tree": 0.75, "table": 0.7, "grid": 0.7, "group": 0.6, "feed": 0.9, "tablist": 0.6, "navigation": 0.7},
	"region":       {"group": 0.9, "form": 0.85, "article": 0.85, "tabpanel": 0.9, "dialog": 0.7, "list": 0.6, "navigation": 0.8, "main": 0.7, "complementary": 0.9, "banner": 0.8, "contentinfo": 0.8, "search": 0.8},
	"group":        {"region": 0.9, "radiogroup": 1, "form": 0.8, "article": 0.8, "list": 0.7, "toolbar": 0.8},
	"form":         {"search": 0.9, "group": 0.8, "region": 0.75, "dialog": 0.7, "article": 0.5},
	"navigation":   {"menubar": 0.9, "menu": 0.9, "tablist": 0.7, "list": 0.7, "toolbar": 0.7, "banner": 0.7},
	"iframe":       {"frame": 1},
	"progressbar":  {"meter": 0.9, "slider": 0.5},
	"alert":        {"status": 0.95, "dialog": 0.7, "alertdialog": 0.9, "text": 0.6, "region": 0.5, "log": 0.7},
	"status":       {"alert": 0.95, "text": 0.6, "region": 0.5, "log": 0.8},
	"paragraph":    {"text": 0.95, "blockquote": 0.8, "region": 0.5},
	"text":         {"paragraph": 0.95, "heading": 0.8, "status": 0.9, "alert": 0.9, "cell": 0.85, "listitem": 0.8, "strong": 0.9, "emphasis": 0.9, "definition": 0.9, "term": 0.9, "label": 0.95},
}

// roleFit returns from 0 to 1 how well a node is one of the kinds asked for; the
// first of them is meant rather than the last. Without kinds everything fits.
func roleFit(n *snapshot.Node, roles []string) float64 {
	if len(roles) == 0 {
		return 1
	}
	best := 0.0
	for k, role := range roles {
		less := 1 - 0.01*float64(min(k, 8))
		if n.Role == role || n.Tag == role {
			best = max(best, less)
			continue
		}
		fit := kin[role][n.Role]
		if n.Reacts != "" && !nativeRole(n.Role) {
			fit = max(fit, reactingFit(role, n))
		}
		best = max(best, fit*less)
	}
	return best
}

// reactingFit returns how well an element without a role of its own, which reacts, is
// what a role means.
func reactingFit(role string, n *snapshot.Node) float64 {
	if n.Name == "" && n.Text == "" && slices.Contains([]string{"tab", "menuitem", "option", "listitem", "treeitem", "row", "article"}, role) {
		return 0.5 // these have something to read
	}
	switch role {
	case "button", "link", "tab", "menuitem", "option", "checkbox", "radio", "switch", "treeitem", "listitem", "menu":
		if slices.ContainsFunc(n.Hints, func(h string) bool { return strings.Contains(h, role) }) {
			return 0.92
		}
		return 0.85
	case "gridcell", "cell", "row", "img", "article", "combobox", "listbox", "heading":
		return 0.75
	case "textbox", "searchbox", "spinbutton":
		if n.Editable {
			return 0.95
		}
		return 0.3
	default:
		return 0
	}
}

// nativeRole reports whether a role says by itself what an element does.
func nativeRole(role string) bool {
	switch role {
	case "button", "link", "tab", "checkbox", "radio", "switch", "textbox", "searchbox", "combobox", "listbox", "option", "menuitem",
		"menuitemcheckbox", "menuitemradio", "slider", "spinbutton", "treeitem":
		return true
	default:
		return false
	}
}

// isContainer reports whether a node holds others as a part of the page.
func isContainer(n *snapshot.Node) bool {
	switch n.Role {
	case "dialog", "alertdialog", "form", "search", "region", "group", "radiogroup", "table", "grid", "treegrid", "row", "rowgroup", "list", "listitem",
		"listbox", "menu", "menubar", "tree", "treeitem", "tablist", "tabpanel", "navigation", "main", "complementary", "banner", "contentinfo",
		"article", "toolbar", "figure", "feed", "iframe", "frame", "cell", "gridcell", "alert", "status", "paragraph", "blockquote", "option", "log", "document", "application":
		return true
	default:
		return n.Tag == "iframe" || n.Tag == "fieldset" || n.Tag == "details" || n.Tag == "section" || n.Tag == "form" || n.Role == "" && n.Tag != ""
	}
}

// fits returns from 0 to 1 whether a node can be used for what it is wanted for.
func fits(n *snapshot.Node, w want) float64 {
	switch w {
	case toFill:
		return fitsFill(n)
	case toCheck:
		return fitsCheck(n)
	case toChoose:
		return fitsChoose(n)
	case toAdjust:
		switch {
		case n.Role == "slider" || n.Role == "spinbutton" || n.Type == "range" || n.Type == "number":
			return 1
		case n.Editable:
			return 0.8
		case n.Interactive:
			return 0.6
		default:
			return 0.3
		}
	case toUpload:
		if n.Type == "file" {
			return 1
		}
		return either(n.Interactive, 0.6, 0)
	case toExpand:
		switch {
		case n.Expanded != "":
			return 1
		case n.Tag == "summary", n.Role == "treeitem", n.Popup != "":
			return 0.95
		case n.Interactive:
			return 0.8
		default:
			return either(n.Role == "heading" || n.Role == "text", 0.5, 0.4)
		}
	case toDrag:
		switch {
		case strings.Contains(n.Reacts, "draggable"):
			return 1
		case n.Role == "text":
			return 0.8
		default:
			return 0.9
		}
	case toRead:
		switch {
		case n.Role == "text" || n.Editable || n.HasValue:
			return 1
		case isContainer(n):
			return 0.85
		default:
			return 0.97
		}
	case toHold:
		return either(isContainer(n), 1, 0.3)
	case toFind:
		return either(n.Interactive, 1, 0.95)
	default:
		return fitsUse(n)
	}
}

func fitsUse(n *snapshot.Node) float64 {
	switch {
	case n.Interactive && nativeRole(n.Role):
		return 1
	case n.Interactive:
		return 0.95
	case n.Tag == "label":
		return 0.8
	case n.Role == "text" || n.Role == "heading" || n.Role == "img" || n.Role == "cell" || n.Role == "gridcell" || n.Role == "listitem":
		return 0.66
	case isContainer(n):
		return 0.6
	default:
		return 0.64
	}
}

func fitsFill(n *snapshot.Node) float64 {
	switch {
	case n.Disabled:
		return 0
	case n.ReadOnly:
		return either(n.Editable || n.Role == "textbox" || n.Role == "combobox", 0.7, 0)
	case n.Editable:
		return 1
	case n.Role == "textbox" || n.Role == "searchbox" || n.Role == "spinbutton":
		return 0.95
	case n.Role == "combobox" || n.Tag == "select":
		return 0.85
	case n.Role == "slider":
		return 0.6
	default:
		return 0
	}
}

func fitsCheck(n *snapshot.Node) float64 {
	switch n.Role {
	case "checkbox", "switch", "menuitemcheckbox":
		return 1
	case "radio", "menuitemradio":
		return 0.92
	}
	switch {
	case n.Checked != "":
		return 0.9
	case n.Role == "option" || n.Role == "treeitem" || n.Selected != "":
		return 0.75
	case n.Interactive:
		return 0.6
	default:
		return 0
	}
}

func fitsChoose(n *snapshot.Node) float64 {
	switch n.Role {
	case "combobox", "listbox", "radiogroup":
		return 1
	case "menu", "tree", "grid":
		return 0.85
	}
	switch {
	case n.Tag == "select":
		return 1
	case n.Popup != "" || n.Expanded != "":
		return 0.92
	case n.Editable:
		return 0.85
	case n.Role == "group" || n.Role == "list" || n.Tag == "fieldset":
		return 0.85
	case n.Interactive:
		return 0.75
	case isContainer(n):
		return 0.6
	default:
		return 0.3
	}
}

func either[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}
