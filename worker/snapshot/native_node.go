package snapshot

import "strings"

// appKind is what a class of elements is.
type appKind struct {
	role  string
	field bool // takes text
	// dropped is what is no part of the app: the keyboard, the status bar.
	dropped bool
}

// androidKinds are the roles of Android's classes by a part of their last name. The
// first that fits counts: an ImageButton is a button and no image.
var androidKinds = []struct {
	part string
	kind appKind
}{
	{"RadioButton", appKind{role: "radio"}}, {"RadioGroup", appKind{role: "radiogroup"}}, {"CheckBox", appKind{role: "checkbox"}},
	{"CheckedTextView", appKind{role: "checkbox"}}, {"Switch", appKind{role: "switch"}}, {"ToggleButton", appKind{role: "switch"}},
	{"Chip", appKind{role: "button"}}, {"Button", appKind{role: "button"}},
	{"EditText", appKind{role: "textbox", field: true}}, {"AutoCompleteTextView", appKind{role: "textbox", field: true}},
	{"SearchAutoComplete", appKind{role: "searchbox", field: true}}, {"Spinner", appKind{role: "combobox"}},
	{"SeekBar", appKind{role: "slider"}}, {"RatingBar", appKind{role: "slider"}}, {"ProgressBar", appKind{role: "progressbar"}},
	{"NumberPicker", appKind{role: "spinbutton"}}, {"RecyclerView", appKind{role: "list"}}, {"ListView", appKind{role: "list"}},
	{"GridView", appKind{role: "list"}}, {"TabWidget", appKind{role: "tablist"}}, {"TabLayout", appKind{role: "tablist"}},
	{"TabView", appKind{role: "tab"}},
	{"Toolbar", appKind{role: "toolbar"}}, {"ImageView", appKind{role: "img"}}, {"TextView", appKind{role: "text"}},
}

// iosKinds are those of XCUITest's types.
var iosKinds = map[string]appKind{
	"Button": {role: "button"}, "StaticText": {role: "text"}, "TextField": {role: "textbox", field: true},
	"SecureTextField": {role: "textbox", field: true}, "SearchField": {role: "searchbox", field: true},
	"TextView": {role: "textbox", field: true},
	"Switch":   {role: "switch"}, "Toggle": {role: "switch"}, "Slider": {role: "slider"}, "Image": {role: "img"}, "Icon": {role: "button"},
	"Link": {role: "link"}, "Cell": {role: "listitem"}, "Table": {role: "list"}, "CollectionView": {role: "list"}, "TabBar": {role: "tablist"},
	"Tab": {role: "tab"}, "SegmentedControl": {role: "radiogroup"}, "PickerWheel": {role: "spinbutton"}, "Stepper": {role: "spinbutton"},
	"NavigationBar": {role: "navigation"}, "Toolbar": {role: "toolbar"}, "Alert": {role: "alertdialog"}, "Sheet": {role: "dialog"},
	"CheckBox": {role: "checkbox"}, "RadioButton": {role: "radio"}, "ComboBox": {role: "combobox", field: true},
	"PopUpButton": {role: "combobox"},
	"MenuItem":    {role: "menuitem"}, "MenuBar": {role: "menubar"}, "Menu": {role: "menu"}, "ProgressIndicator": {role: "progressbar"},
	"Keyboard": {dropped: true}, "StatusBar": {dropped: true}, "Key": {dropped: true},
}

func kindOf(e *appElement) appKind {
	if e.ios {
		kind := iosKinds[strings.TrimPrefix(e.tag, "XCUIElementType")]
		if strings.Contains(e.attrs["traits"], "Header") && kind.role == "text" {
			kind.role = "heading"
		}
		return kind
	}
	if e.attrs["heading"] == "true" {
		return appKind{role: "heading"}
	}
	last := e.tag[strings.LastIndexAny(e.tag, ".$")+1:]
	if last == "Tab" {
		return appKind{role: "tab"}
	}
	for _, k := range androidKinds {
		if strings.Contains(last, k.part) {
			return k.kind
		}
	}
	return appKind{}
}

// reactingRoles are the roles of elements that do something when they are tapped.
var reactingRoles = map[string]bool{
	"button": true, "link": true, "checkbox": true, "radio": true, "switch": true, "textbox": true, "searchbox": true, "combobox": true,
	"slider": true, "spinbutton": true, "tab": true, "menuitem": true,
}

// node returns the node of an element.
func (a *App) node(i int) Node {
	e := &a.elements[i]
	n := Node{Ref: e.ref, Tag: e.tag, Role: e.kind.role, Box: e.box, Editable: e.kind.field}
	n.Disabled, n.Focused = e.attrs["enabled"] == "false", e.attrs["focused"] == "true"
	n.Interactive = reactingRoles[n.Role] || e.ios && n.Role == "listitem"
	if e.attrs["clickable"] == "true" || e.attrs["long-clickable"] == "true" {
		a.reacts(i, &n)
	}
	if e.ios {
		a.iosNode(i, &n)
	} else {
		a.androidNode(i, &n)
	}
	if n.Name == "" && n.Interactive && !n.Editable {
		n.Name = a.content(i)
	}
	if n.Modal = n.Role == "alertdialog" || n.Role == "dialog"; n.Modal && n.Name == "" {
		n.Name = a.content(i)
	}
	n.Text = n.Name
	if n.Editable {
		n.Text = ""
	}
	n.Hints = hintsOf(n.ID, n.TestID)
	if e.attrs["scrollable"] == "true" {
		n.Scrolls = "y"
	}
	return n
}

// reacts sets the role of an element that is tapped and has none by its class: an entry
// of a list, else a button.
func (a *App) reacts(i int, n *Node) {
	n.Interactive, n.Reacts = true, "listener"
	switch {
	case reactingRoles[n.Role] || n.Role == "list":
		n.Reacts = ""
		n.Interactive = n.Role != "list"
	case a.inList(i):
		n.Role = "listitem"
	case n.Role == "" || n.Role == "text" || n.Role == "img":
		n.Role = "button"
	}
}

// inList reports whether an element is right in a list, as its entries are.
func (a *App) inList(i int) bool {
	up := a.elements[i].parent
	return up >= 0 && a.elements[up].kind.role == "list"
}

func (a *App) androidNode(i int, n *Node) {
	e := &a.elements[i]
	text := clip(e.attrs["text"], maxAppText)
	_, id, _ := strings.Cut(e.attrs["resource-id"], "/")
	if id == "" {
		id = e.attrs["resource-id"]
	}
	n.ID = id
	n.Title = clip(e.attrs["tooltip-text"], maxAppText)
	n.Name = clip(e.attrs["content-desc"], maxAppText)
	if n.Name == "" && n.Role != "" && e.attrs["pane-title"] != "" {
		n.Name = clip(e.attrs["pane-title"], maxAppText)
	}
	if e.kind.field {
		n.NameAttr = id
		n.Placeholder = clip(e.attrs["hint"], maxAppText)
		if n.Name == "" {
			n.Name = n.Placeholder
		}
		n.HasValue, n.Password = true, e.attrs["password"] == "true"
		if !n.Password && e.attrs["showing-hint"] != "true" && (text != n.Placeholder || n.Placeholder == "") {
			n.Value = text
		}
	} else if n.Name == "" {
		n.Name = text
	}
	if n.Role == "combobox" {
		n.HasValue, n.Value = true, a.content(i)
	}
	if e.attrs["checkable"] == "true" || n.Role == "checkbox" || n.Role == "radio" || n.Role == "switch" {
		n.Checked = boolean(e.attrs["checked"] == "true")
	}
	if e.attrs["selected"] == "true" || n.Role == "tab" || n.Role == "listitem" {
		n.Selected = boolean(e.attrs["selected"] == "true")
	}
}

func (a *App) iosNode(i int, n *Node) {
	e := &a.elements[i]
	label, name, value := clip(e.attrs["label"], maxAppText), clip(e.attrs["name"], maxAppText), clip(e.attrs["value"], maxAppText)
	n.Name = label
	if name != label {
		n.TestID, n.ID = name, name
		if label == "" && strings.Contains(name, " ") {
			n.Name = name // a text, and no identifier
		}
	}
	if n.Name == "" && (n.Role == "text" || n.Role == "heading") {
		n.Name = value
	}
	up := e.parent
	switch {
	case up < 0:
	case n.Role == "button" && a.elements[up].kind.role == "tablist":
		n.Role, n.Selected = "tab", boolean(e.attrs["value"] == "1" || e.attrs["selected"] == "true")
	case n.Role == "button" && a.elements[up].kind.role == "radiogroup":
		n.Role, n.Checked = "radio", boolean(value == "1")
	}
	switch {
	case n.Editable:
		n.Placeholder = clip(e.attrs["placeholderValue"], maxAppText)
		n.HasValue, n.Password = true, strings.HasSuffix(e.tag, "SecureTextField")
		if !n.Password && value != n.Placeholder {
			n.Value = value
		}
		if n.Name == "" {
			n.Name = n.Placeholder
		}
	case n.Role == "switch" || n.Role == "checkbox":
		n.Checked = boolean(value == "1")
	case n.Role == "slider" || n.Role == "spinbutton":
		n.HasValue, n.Value = true, value
	}
}

// boolean returns a state as nodes have it.
func boolean(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// maxContent bounds the elements that are looked at for the name of what they are in.
const maxContent = 60

// content returns the texts in an element, as its name: an entry of a list is called as
// what it shows.
func (a *App) content(i int) string {
	var texts []string
	length := 0
	for j := i + 1; j < min(a.elements[i].end, i+maxContent); j++ {
		e := &a.elements[j]
		if e.hidden || e.kind.field {
			continue
		}
		text := ""
		for _, name := range []string{"content-desc", "text", "label"} {
			if text == "" {
				text = clip(e.attrs[name], maxAppText)
			}
		}
		if text != "" && (len(texts) == 0 || texts[len(texts)-1] != text) && length < maxAppText {
			texts = append(texts, text)
			length += len(text)
		}
	}
	return clip(strings.Join(texts, " "), maxAppText)
}

// hintsOf returns the words of identifiers, from which icons are known.
func hintsOf(ids ...string) []string {
	var list []string
	for _, id := range ids {
		for _, w := range strings.FieldsFunc(strings.ToLower(id), func(r rune) bool {
			return r == '_' || r == '-' ||
				r == '.' || r == '/' || r == ':' || r == ' '
		}) {
			if len(list) < 20 {
				list = append(list, w)
			}
		}
	}
	return list
}
