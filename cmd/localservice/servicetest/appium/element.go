package appium

import (
	"net/http"
	"strconv"
	"strings"
)

// onElement executes a command on an element.
func (a *App) onElement(method, id string, command []string, body map[string]any) (any, *protocolError) {
	var e *Element
	for known, itsID := range a.ids {
		if itsID == id {
			e = known
		}
	}
	if e == nil {
		return nil, fail(http.StatusNotFound, "no such element", "%s is no element of this session", id)
	}
	if !a.has(e) {
		return nil, fail(http.StatusNotFound, "stale element reference", "the element is not on the screen any more")
	}
	switch method + " " + command[0] {
	case "GET displayed":
		return a.displayed(e), nil
	case "GET enabled":
		return e.Attributes["enabled"] != "false", nil
	case "GET text":
		return a.text(e), nil
	case "GET name":
		return e.Class, nil
	case "GET rect":
		b := box(e)
		return map[string]int{"x": b[0], "y": b[1], "width": b[2], "height": b[3]}, nil
	case "GET attribute":
		return a.attribute(e, strings.Join(command[1:], "/"))
	case "POST click":
		return nil, a.tap(e)
	case "POST clear":
		return nil, a.enter(e, "", false)
	case "POST value":
		text, _ := body["text"].(string)
		return nil, a.enter(e, text, true)
	}
	return nil, fail(http.StatusNotFound, "unknown command", "%s is not there in apps", command[0])
}

func (a *App) displayed(e *Element) bool {
	shown := true
	walk(a.Root, nil, func(found *Element, around []*Element) {
		if found != e {
			return
		}
		for _, up := range append(around, found) {
			shown = shown && up.Attributes["displayed"] != "false" && up.Attributes["visible"] != "false"
		}
	})
	return shown
}

// text returns what the drivers return as the text of an element.
func (a *App) text(e *Element) string {
	if !a.ios() {
		if e.Attributes["text"] == "" {
			return e.Attributes["hint"]
		}
		return e.Attributes["text"]
	}
	for _, name := range []string{"value", "label", "name"} {
		if e.Attributes[name] != "" {
			return e.Attributes[name]
		}
	}
	return ""
}

func (a *App) attribute(e *Element, name string) (any, *protocolError) {
	switch {
	case name == "type" || name == "class" || name == "className":
		return e.Class, nil
	case name == "focused":
		return strconv.FormatBool(a.focused == e), nil
	case a.ios() && name == "value" && e.Attributes["value"] == "":
		if hint := e.Attributes["placeholderValue"]; hint != "" {
			return hint, nil
		}
		return nil, nil
	case a.ios() && (name == "checked" || name == "hint" || name == "text"),
		!a.ios() && (name == "value" || name == "label" || name == "placeholderValue"):
		return nil, fail(http.StatusNotFound, "unknown command", "the attribute %s is not there", name)
	}
	if value, ok := e.Attributes[name]; ok {
		return value, nil
	}
	return nil, nil
}

// tap taps an element, or the nearest around it that does something.
func (a *App) tap(e *Element) *protocolError {
	if !a.displayed(e) {
		return fail(http.StatusBadRequest, "element not interactable", "the element is not displayed")
	}
	if a.field(e) {
		a.focused, a.Keyboard = e, true
	}
	var way []*Element
	walk(a.Root, nil, func(found *Element, around []*Element) {
		if found == e {
			way = append(around, found)
		}
	})
	for i := len(way) - 1; i >= 0; i-- {
		if way[i].Tapped != nil {
			if way[i].Attributes["enabled"] != "false" {
				way[i].Tapped()
			}
			return nil
		}
	}
	return nil
}

// field reports whether an element takes text.
func (a *App) field(e *Element) bool {
	for _, part := range []string{"EditText", "AutoComplete", "TextField", "SearchField", "XCUIElementTypeTextView"} {
		if strings.Contains(e.Class, part) {
			return true
		}
	}
	return false
}

// enter types a text behind what a field holds, or empties it.
func (a *App) enter(e *Element, text string, behind bool) *protocolError {
	switch {
	case !a.field(e):
		return fail(http.StatusBadRequest, "invalid element state", "the element takes no text")
	case !a.displayed(e):
		return fail(http.StatusBadRequest, "element not interactable", "the element is not displayed")
	}
	a.focused = e
	name := "text"
	if a.ios() {
		name = "value"
	}
	typed, ends := strings.CutSuffix(text, "\n")
	if behind {
		typed = e.Attributes[name] + typed
	}
	e.Attributes[name] = typed
	if ends && e.Entered != nil {
		e.Entered()
	}
	return nil
}
