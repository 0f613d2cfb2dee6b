package step

import (
	"encoding/json"
	"fmt"
	"strings"
)

// stateArguments are those of the tools that set, save and repeat.
type stateArguments struct {
	Name        string          `json:"name"`
	Setting     *string         `json:"value"`
	Area        string          `json:"area"`
	Cookies     bool            `json:"cookies"`
	Local       bool            `json:"local"`
	Session     bool            `json:"session"`
	All         bool            `json:"all"`
	Fixed       string          `json:"fixed"`
	Advance     *int            `json:"advance"`
	Resume      bool            `json:"resume"`
	From        string          `json:"from"`
	Attribute   string          `json:"attribute"`
	Match       string          `json:"match"`
	Tools       []Tool          `json:"tools"`
	Device      string          `json:"device"`
	Viewport    json.RawMessage `json:"viewport"`
	Locale      string          `json:"locale"`
	TimeZone    string          `json:"timeZone"`
	Geolocation json.RawMessage `json:"geolocation"`
	ColorScheme string          `json:"colorScheme"`
	Offline     *bool           `json:"offline"`
	CPU         *float64        `json:"cpu"`
	Network     json.RawMessage `json:"network"`
	Permissions []string        `json:"permissions"`
	Files       []struct {
		Name string `json:"name"`
	} `json:"files"`
}

// relation is another element that one lies near or beside.
type relation struct {
	Selector *Selector `json:"selector"`
}

// words says what one of these tools does with what; "" for another tool.
func (a *stateArguments) words(tool, key string) string {
	switch tool {
	case "set_cookie":
		return strings.TrimSpace(a.Name + " " + textOf(a.Setting))
	case "set_storage":
		return strings.TrimSpace(fmt.Sprintf("%s of the %s storage: %s", key, a.Area, textOf(a.Setting)))
	case "clear_state":
		return a.cleared()
	case "emulate":
		return a.pretended()
	case "set_clock":
		switch {
		case a.Advance != nil:
			return fmt.Sprintf("on by %d ms", *a.Advance)
		case a.Resume:
			return "let it go on"
		}
		return a.Fixed
	case "save":
		text := a.From + " as " + a.Name
		if a.Attribute != "" {
			text = a.From + " " + a.Attribute + " as " + a.Name
		}
		if a.Match != "" {
			text += ", what matches " + a.Match
		}
		return text
	case "for_each":
		var list []string
		for i := range a.Tools {
			list = append(list, strings.TrimSpace(a.Tools[i].Action()+" "+a.Tools[i].Place()+" "+a.Tools[i].Value()))
		}
		return strings.Join(list, "; ")
	case "upload_file":
		var names []string
		for _, f := range a.Files {
			names = append(names, f.Name)
		}
		return strings.Join(names, ", ")
	}
	return ""
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (a *stateArguments) cleared() string {
	var list []string
	for _, part := range []struct {
		name  string
		given bool
	}{{"everything", a.All}, {"cookies", a.Cookies}, {"local storage", a.Local}, {"session storage", a.Session}} {
		if part.given {
			list = append(list, part.name)
		}
	}
	return strings.Join(list, ", ")
}

func (a *stateArguments) pretended() string {
	var list []string
	add := func(name, text string) {
		if text != "" {
			list = append(list, strings.TrimSpace(name+" "+text))
		}
	}
	add("", a.Device)
	add("viewport", string(a.Viewport))
	add("", a.Locale)
	add("", a.TimeZone)
	add("at", string(a.Geolocation))
	add("colors", a.ColorScheme)
	if a.Offline != nil {
		add("offline", fmt.Sprint(*a.Offline))
	}
	if a.CPU != nil {
		add("processor slower by", fmt.Sprint(*a.CPU))
	}
	add("network", string(a.Network))
	add("may use", strings.Join(a.Permissions, ", "))
	return strings.Join(list, ", ")
}

// kept is a comparison of a cookie or an item of a storage in words.
func (m *matcher) kept(not bool, mode, value string) string {
	what := "cookie " + m.Args.Name
	if m.Name == "storage" {
		what = "item " + m.Args.Key + " of the " + m.Args.Area + " storage"
	}
	switch {
	case m.Args.Value != "" || m.Args.Mode != "":
		return what + " " + mode + " " + value
	case not:
		return what + " is not there"
	}
	return what + " is there"
}
