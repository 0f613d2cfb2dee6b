package appium

import (
	"net/http"
	"slices"
	"strings"
)

// The states of apps, as mobile: queryAppState has them.
const (
	NotInstalled = 0
	NotRunning   = 1
	Foreground   = 4
)

func invalidArgument(format string, args ...any) *protocolError {
	return fail(http.StatusBadRequest, "invalid argument", format, args...)
}

// exact refuses bodies that lack a member or have one that the command does not know.
func exact(body map[string]any, needs, takes []string) *protocolError {
	for _, name := range needs {
		if body[name] == nil {
			return invalidArgument("%s is missing", name)
		}
	}
	for name := range body {
		if !slices.Contains(needs, name) && !slices.Contains(takes, name) {
			return invalidArgument("%s is unknown", name)
		}
	}
	return nil
}

// method is a method of a driver: what it needs and takes, and what it does.
type method struct {
	needs, takes []string
	do           func(a *App, args map[string]any) (any, *protocolError)
}

// common are the methods that both drivers have, with the name by which each calls the id of
// an app.
func common(id string) map[string]method {
	return map[string]method{
		"activateApp": {needs: []string{id}, do: func(a *App, args map[string]any) (any, *protocolError) {
			return nil, a.start(text(args[id]))
		}},
		"terminateApp": {needs: []string{id}, takes: []string{"timeout"}, do: func(a *App, args map[string]any) (any, *protocolError) {
			ran := a.States[text(args[id])] > NotRunning
			if ran {
				a.States[text(args[id])] = NotRunning
			}
			return ran, nil
		}},
		"clearApp": {needs: []string{id}, do: func(a *App, args map[string]any) (any, *protocolError) {
			if a.States[text(args[id])] > NotRunning {
				return nil, fail(http.StatusInternalServerError, "unknown error", "the app runs")
			}
			a.Cleared++
			return nil, nil
		}},
		"queryAppState": {needs: []string{id}, do: func(a *App, args map[string]any) (any, *protocolError) {
			return a.States[text(args[id])], nil
		}},
		"backgroundApp": {takes: []string{"seconds"}, do: func(a *App, args map[string]any) (any, *protocolError) {
			seconds, ok := args["seconds"].(float64)
			if !ok || seconds < 0 {
				return nil, invalidArgument("seconds must be a number")
			}
			a.Backgrounds = append(a.Backgrounds, seconds)
			return nil, nil
		}},
		"isKeyboardShown": {do: func(a *App, _ map[string]any) (any, *protocolError) { return a.Keyboard, nil }},
		"hideKeyboard": {takes: []string{"keys"}, do: func(a *App, _ map[string]any) (any, *protocolError) {
			a.Keyboard = a.Keyboard && a.StuckKeyboard
			return true, nil
		}},
	}
}

// methods returns those of UiAutomator2 or XCUITest that steps use; their arguments are as
// the documentation of the drivers has them.
func (a *App) methods() map[string]method {
	if a.ios() {
		all := common("bundleId")
		all["deepLink"] = method{needs: []string{"url"}, takes: []string{"bundleId"}, do: link}
		all["pressButton"] = method{needs: []string{"name"}, takes: []string{"durationSeconds"},
			do: func(a *App, args map[string]any) (any, *protocolError) {
				if !slices.Contains([]string{"home", "volumeup", "volumedown"}, strings.ToLower(text(args["name"]))) {
					return nil, invalidArgument("there is no button %v", args["name"])
				}
				a.Keys = append(a.Keys, args["name"])
				return nil, nil
			}}
		all["setPermission"] = method{needs: []string{"bundleId", "access"}, do: func(a *App, args map[string]any) (any, *protocolError) {
			access, ok := args["access"].(map[string]any)
			for name, state := range access {
				if !slices.Contains([]any{"yes", "no", "unset", "limited"}, state) {
					return nil, invalidArgument("%v is no state of %s", state, name)
				}
				a.Granted[name] = state == "yes"
			}
			if !ok {
				return nil, invalidArgument("access must be a map")
			}
			return nil, nil
		}}
		return all
	}
	all := common("appId")
	all["deepLink"] = method{needs: []string{"url"}, takes: []string{"package", "waitForLaunch"}, do: link}
	all["pressKey"] = method{needs: []string{"keycode"}, takes: []string{"metastate", "flags", "isLongPress"},
		do: func(a *App, args map[string]any) (any, *protocolError) {
			if _, ok := args["keycode"].(float64); !ok {
				return nil, invalidArgument("keycode must be a number")
			}
			a.Keys = append(a.Keys, args["keycode"])
			return nil, nil
		}}
	all["changePermissions"] = method{needs: []string{"permissions"}, takes: []string{"appPackage", "action", "target"}, do: change}
	all["getPermissions"] = method{takes: []string{"type", "appPackage"}, do: func(a *App, _ map[string]any) (any, *protocolError) {
		list := []string{}
		for name, on := range a.Granted {
			if on {
				list = append(list, name)
			}
		}
		return list, nil
	}}
	return all
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

func link(a *App, args map[string]any) (any, *protocolError) {
	a.Links = append(a.Links, args["url"])
	return nil, nil
}

func change(a *App, args map[string]any) (any, *protocolError) {
	names, ok := args["permissions"].([]any)
	if !ok || !slices.Contains([]any{"grant", "revoke"}, args["action"]) {
		return nil, invalidArgument("permissions must be a list, and the action grant or revoke")
	}
	for _, name := range names {
		if !strings.HasPrefix(text(name), "android.permission.") {
			return nil, fail(http.StatusInternalServerError, "unknown error", "java.lang.IllegalArgumentException: Unknown permission: %v", name)
		}
		a.Granted[text(name)] = args["action"] == "grant"
	}
	return nil, nil
}

func (a *App) start(id string) *protocolError {
	if a.States[id] == NotInstalled {
		return fail(http.StatusInternalServerError, "unknown error", "the app %s is not installed", id)
	}
	a.States[id] = Foreground
	return nil
}

// execute runs a method of the driver: what is no method of it is refused, as Appium does.
func (a *App) execute(body map[string]any) (any, *protocolError) {
	if failed := exact(body, []string{"script", "args"}, nil); failed != nil {
		return nil, failed
	}
	script, args := text(body["script"]), map[string]any{}
	list, ok := body["args"].([]any)
	if ok && len(list) == 1 {
		args, ok = list[0].(map[string]any)
	}
	name, mobile := strings.CutPrefix(script, "mobile: ")
	m, known := a.methods()[name]
	switch {
	case !ok || len(list) > 1:
		return nil, invalidArgument("args must be a list of one object")
	case !mobile || !known || slices.Contains(a.Unknown, script):
		return nil, fail(http.StatusNotFound, "unknown method", "Unknown mobile command %q", script)
	}
	if failed := exact(args, m.needs, m.takes); failed != nil {
		return nil, failed
	}
	a.Methods = append(a.Methods, name)
	return m.do(a, args)
}

// turn executes a command of the orientation.
func (a *App) turn(body map[string]any) *protocolError {
	if failed := exact(body, []string{"orientation"}, nil); failed != nil {
		return failed
	}
	switch body["orientation"] {
	case "LANDSCAPE":
		a.Landscape = !a.Fixed
	case "PORTRAIT":
		a.Landscape = false
	default:
		return invalidArgument("orientation must be LANDSCAPE or PORTRAIT")
	}
	return nil
}

func (a *App) orientation() string {
	if a.Landscape {
		return "LANDSCAPE"
	}
	return "PORTRAIT"
}
