package step

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The tools of native apps, which a device does over Appium. With a selector a gesture is
// in the element, without one on the screen.
const (
	Tap            = "tap"              // selector, point, clickCount
	LongPress      = "long_press"       // selector, point, time
	Swipe          = "swipe"            // direction, or start and end; selector, time
	ScrollTo       = "scroll_to"        // selector; container, direction, max
	Pinch          = "pinch"            // selector: two fingers move together
	Zoom           = "zoom"             // selector: two fingers move apart
	HideKeyboard   = "hide_keyboard"    //
	Background     = "background"       // time: then the app comes back
	DeepLink       = "deep_link"        // url; appId
	SetPermissions = "set_permissions"  // grant, revoke; appId
	Rotate         = "rotate"           // orientation
	SwitchContext  = "switch_context"   // name: native, or a glob of a web view's
	PressDeviceKey = "press_device_key" // key
	LaunchApp      = "launch_app"       // appId
	TerminateApp   = "terminate_app"    // appId
	ResetApp       = "reset_app"        // appId: its data go, and it starts anew
)

// AppStateIs is the matcher of an assertion on an app: args.value is one of AppStates,
// args.name the app's id ("": the app under test).
const AppStateIs = "app_state"

// AppStates are the states of apps, by the numbers that Appium has for them.
var AppStates = []string{"not_installed", "not_running", "suspended", "background", "foreground"}

// NativeContext is the name of the context of the app itself, beside those of web views.
const NativeContext = "native"

// The orientations of a screen.
const (
	Portrait  = "portrait"
	Landscape = "landscape"
)

// DeviceKeys are the keys of a device that press_device_key presses.
var DeviceKeys = []string{"back", "home", "enter", "app_switch", "menu", "search", "volume_up", "volume_down", "power",
	"tab", "delete", "escape"}

// MaxSwipes is how often scroll_to swipes at most.
const MaxSwipes = 100

// MobileArgs are the arguments of the tools of this file.
type MobileArgs struct {
	// Point is where a finger goes; nil: the centre.
	Point *Point `json:"point,omitempty"`
	// Start and End are those of a swipe.
	Start *Point `json:"start,omitempty"`
	End   *Point `json:"end,omitempty"`
	// Container is what scroll_to swipes in; nil: the screen.
	Container   *Selector `json:"container,omitempty"`
	Orientation string    `json:"orientation,omitempty"` // portrait, landscape
	// AppID is the package of an Android app or the bundle id of one of iOS; "": of the app
	// under test.
	AppID string `json:"appId,omitempty"`
	// Grant and Revoke are permissions by their names: camera, or on Android also
	// android.permission.CAMERA.
	Grant  []string `json:"grant,omitempty"`
	Revoke []string `json:"revoke,omitempty"`
}

// Point is a place by its shares of the width and height of an element or of the screen,
// from 0 at the upper left corner to 1.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// mobileRules are the arguments of the tools of native apps.
var mobileRules = map[string]rule{
	Tap:            {takes: []string{"selector", "point", "clickCount"}},
	LongPress:      {takes: []string{"selector", "point", "time"}},
	Swipe:          {takes: []string{"selector", "direction", "start", "end", "time"}},
	ScrollTo:       {needs: []string{"selector"}, takes: []string{"container", "direction", "max"}},
	Pinch:          {takes: []string{"selector"}},
	Zoom:           {takes: []string{"selector"}},
	HideKeyboard:   {},
	Background:     {needs: []string{"time"}},
	DeepLink:       {needs: []string{"url"}, takes: []string{"appId"}},
	SetPermissions: {takes: []string{"grant", "revoke", "appId"}},
	Rotate:         {needs: []string{"orientation"}},
	SwitchContext:  {needs: []string{"name"}},
	PressDeviceKey: {needs: []string{"key"}},
	LaunchApp:      {takes: []string{"appId"}},
	TerminateApp:   {takes: []string{"appId"}},
	ResetApp:       {takes: []string{"appId"}},
}

// ruleOf returns the rule of a tool.
func ruleOf(tool string) (rule, bool) {
	r, ok := rules[tool]
	if !ok {
		r, ok = mobileRules[tool]
	}
	return r, ok
}

// IsMobile reports whether a tool is one of native apps alone, or an assertion on one.
func IsMobile(t *Tool) bool {
	_, ok := mobileRules[t.Type]
	return ok || t.Type == Assert && t.Args.Matcher != nil && t.Args.Matcher.Name == AppStateIs
}

// inApps are the tools of web pages that native apps have too.
var inApps = []string{Click, InputText, EnterKeySubmit, PressKey, Back, Pause, HandleDialog, Assert, Finish, RunGroup}

// IsWeb reports whether a tool is one of web pages alone: in an app it works in a web view.
func IsWeb(t *Tool) bool {
	return !IsMobile(t) && !slices.Contains(inApps, t.Type)
}

// mobileArguments returns which of the arguments are given, as givenArguments does.
func mobileArguments(a *MobileArgs) []member {
	return []member{
		{"point", a.Point != nil}, {"start", a.Start != nil}, {"end", a.End != nil}, {"container", a.Container != nil},
		{"orientation", a.Orientation != ""}, {"appId", a.AppID != ""}, {"grant", a.Grant != nil}, {"revoke", a.Revoke != nil},
	}
}

var (
	swipeDirections = []string{"up", "down", "left", "right"}
	orientations    = []string{Portrait, Landscape}

	// appIDForm is that of Android's packages and of bundle ids. They become words of a
	// command on a device.
	appIDForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$`)
	// permissionName is the form of Android's names, and of the short ones of both.
	permissionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,99}$`)
)

// checkMobile checks the arguments of the tools of native apps; path is the one of the
// arguments.
func checkMobile(path string, t *Tool) error {
	if _, ok := mobileRules[t.Type]; !ok {
		return nil
	}
	a := &t.Args
	for _, p := range []struct {
		name string
		at   *Point
	}{{"point", a.Point}, {"start", a.Start}, {"end", a.End}} {
		if p.at != nil && !(0 <= p.at.X && p.at.X <= 1 && 0 <= p.at.Y && p.at.Y <= 1) {
			return Invalid(path+"."+p.name, "must have an x and a y from 0 to 1: shares of the width and the height")
		}
	}
	if err := checkAppID(path+".appId", a.AppID); err != nil {
		return err
	}
	switch t.Type {
	case Swipe:
		return checkSwipe(path, a)
	case ScrollTo:
		switch {
		case a.Direction != "" && !slices.Contains(swipeDirections, a.Direction):
			return Invalid(path+".direction", "must be one of %s", strings.Join(swipeDirections, ", "))
		case a.Max != nil && (*a.Max < 1 || *a.Max > MaxSwipes):
			return Invalid(path+".max", "must be 1 to %d", MaxSwipes)
		}
	case SetPermissions:
		return checkGranted(path, a)
	case Rotate:
		if !slices.Contains(orientations, a.Orientation) {
			return Invalid(path+".orientation", "must be one of %s", strings.Join(orientations, ", "))
		}
	case SwitchContext:
		return checkGlobName(path+".name", a.Name)
	case PressDeviceKey:
		if !slices.Contains(DeviceKeys, a.Key) {
			return Invalid(path+".key", "must be one of %s", strings.Join(DeviceKeys, ", "))
		}
	}
	return nil
}

func checkSwipe(path string, a *Args) error {
	switch {
	case (a.Start == nil) != (a.End == nil):
		return Invalid(path+".start", "and end must be given together")
	case (a.Direction == "") == (a.Start == nil):
		return Invalid(path+".direction", "or start and end must be given, and not both")
	case a.Direction != "" && !slices.Contains(swipeDirections, a.Direction):
		return Invalid(path+".direction", "must be one of %s", strings.Join(swipeDirections, ", "))
	case a.Start != nil && *a.Start == *a.End:
		return Invalid(path+".end", "must be another point than start")
	}
	return nil
}

func checkGranted(path string, a *Args) error {
	if len(a.Grant) == 0 && len(a.Revoke) == 0 {
		return Invalid(path, "must have one of grant and revoke")
	}
	for _, list := range []struct {
		name  string
		names []string
	}{{"grant", a.Grant}, {"revoke", a.Revoke}} {
		if len(list.names) > maxPermissions {
			return Invalid(path+"."+list.name, "has at most %d elements", maxPermissions)
		}
		for i, name := range list.names {
			if !permissionName.MatchString(name) {
				return Invalid(fmt.Sprintf("%s.%s[%d]", path, list.name, i), "must be the name of a permission such as camera")
			}
		}
	}
	for i, name := range a.Revoke {
		if slices.Contains(a.Grant, name) {
			return Invalid(fmt.Sprintf("%s.revoke[%d]", path, i), "is granted too")
		}
	}
	return nil
}

// checkAppID accepts no id, one that has variables, and what can name an app.
func checkAppID(path, id string) error {
	if id == "" || len(findReferences(id)) > 0 {
		return CheckText(path, id, MaxName)
	}
	return CheckAppID(path, id)
}

// CheckAppID refuses what cannot name an app; with its variables replaced it is checked
// once more.
func CheckAppID(path, id string) error {
	if len(id) > MaxName || !appIDForm.MatchString(id) {
		return Invalid(path, "must be a package or a bundle id such as com.example.shop")
	}
	return nil
}

// checkAppState checks the matcher app_state.
func checkAppState(path string, m *Matcher) error {
	if !slices.Contains(AppStates, m.Args.Value) {
		return Invalid(path+".value", "must be one of %s", strings.Join(AppStates, ", "))
	}
	if m.Args.Mode != "" {
		return Invalid(path+".mode", "is no argument of the matcher %s", m.Name)
	}
	return checkAppID(path+".name", m.Args.Name)
}

// mobile maps the texts of the tools of native apps.
func (m *textMapper) mobile(tool string, a *Args) {
	a.Container = m.selector(a.Container)
	a.AppID = m.text(a.AppID)
	if tool == Assert && a.Matcher != nil && a.Matcher.Name == AppStateIs {
		a.Matcher.Args.Name = m.text(a.Matcher.Args.Name)
	}
	if tool == SwitchContext {
		a.Name = m.text(a.Name)
	}
}
