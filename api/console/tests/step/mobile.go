package step

import (
	"cmp"
	"fmt"
	"strings"
)

// mobileArguments are those of the tools of native apps.
type mobileArguments struct {
	Point       *point    `json:"point"`
	Start       *point    `json:"start"`
	End         *point    `json:"end"`
	Container   *Selector `json:"container"`
	Orientation string    `json:"orientation"`
	AppID       string    `json:"appId"`
	Grant       []string  `json:"grant"`
	Revoke      []string  `json:"revoke"`
	ClickCount  *int      `json:"clickCount"`
	Max         *int      `json:"max"`
}

// point is a place by its shares of a width and a height.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

func (p *point) String() string { return fmt.Sprintf("%g %%, %g %%", 100*p.X, 100*p.Y) }

// words says what one of these tools does with what; "" for another tool.
func (m *mobileArguments) words(tool string, a *arguments) string {
	var parts []string
	add := func(format string, of any, given bool) {
		if given {
			parts = append(parts, fmt.Sprintf(format, of))
		}
	}
	switch tool {
	case "tap", "long_press", "swipe":
		add("at %s", m.Point, m.Point != nil)
		add("%s", a.Direction, a.Direction != "")
		add("from %s", m.Start, m.Start != nil)
		add("to %s", m.End, m.End != nil)
		if m.ClickCount != nil {
			add("%d times", *m.ClickCount, true)
		}
		if a.Time != nil {
			add("for %d ms", *a.Time, true)
		}
	case "scroll_to":
		add("%s", a.Direction, a.Direction != "")
		if m.Max != nil {
			add("in at most %d swipes", *m.Max, true)
		}
	case "deep_link":
		add("%s", a.URL, true)
		add("in %s", m.AppID, m.AppID != "")
	case "set_permissions":
		add("of %s:", m.AppID, m.AppID != "")
		add("grant %s", strings.Join(m.Grant, ", "), len(m.Grant) > 0)
		add("revoke %s", strings.Join(m.Revoke, ", "), len(m.Revoke) > 0)
	case "rotate", "launch_app", "terminate_app", "reset_app":
		return cmp.Or(m.Orientation, m.AppID)
	}
	return strings.Join(parts, " ")
}
