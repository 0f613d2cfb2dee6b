package step

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// optionsSuffix ends the names of capabilities that hold a vendor's options.
const optionsSuffix = ":options"

// Merge lays capabilities over others: members of over win; objects of the same
// name (vendor options, browser options) are laid over each other, and arrays
// are replaced. So is proxy, whose members mean nothing without each other.
// Neither argument is changed, and the answer shares nothing with them.
func Merge(under, over Capabilities) Capabilities {
	return merge(under, over)
}

func merge(under, over map[string]any) map[string]any {
	out := make(map[string]any, len(under)+len(over))
	for name, value := range under {
		out[name] = clone(value)
	}
	for name, value := range over {
		lower, ok := object(under[name])
		upper, both := object(value)
		if ok && both && name != "proxy" {
			out[name] = merge(lower, upper)
		} else {
			out[name] = clone(value)
		}
	}
	return out
}

// object reads an object of JSON, in either of its Go types.
func object(value any) (map[string]any, bool) {
	switch v := value.(type) {
	case map[string]any:
		return v, v != nil
	case Capabilities:
		return v, v != nil
	}
	return nil, false
}

func clone(value any) any {
	if members, ok := object(value); ok {
		return merge(members, nil)
	}
	if elements, ok := value.([]any); ok {
		out := make([]any, len(elements))
		for i := range elements {
			out[i] = clone(elements[i])
		}
		return out
	}
	return value
}

// Effective are the capabilities of a run on a target of a case: those of the
// target, over those of the primary target when the target names no browser,
// platform or app of its own, with name, build and tunnelName put into the
// vendor's options unless given. Empty ones are not put there.
func Effective(primary *Target, target Target, vendor, name, build, tunnel string) Capabilities {
	var under Capabilities
	if primary != nil && !namesEnvironment(target.Capabilities) {
		under = primary.Capabilities
	}
	out := Merge(under, target.Capabilities)
	if vendor == "" {
		return out
	}
	defaults := map[string]any{}
	for member, value := range map[string]string{"name": name, "build": build, tunnelMember: tunnel} {
		if value != "" {
			defaults[member] = value
		}
	}
	if len(defaults) == 0 {
		return out
	}
	return Merge(Capabilities{vendor + optionsSuffix: defaults}, out)
}

// tunnelMember is the member of a vendor's options that names a tunnel.
const tunnelMember = "tunnelName"

// TunnelPath is where capabilities name a tunnel, as the errors of bodies write it.
func TunnelPath(vendor string) string {
	return capabilitiesPath + "." + vendor + optionsSuffix + "." + tunnelMember
}

// Tunnel is the tunnel that the vendor's options name, "" when they name none.
func Tunnel(c Capabilities, vendor string) string {
	options, _ := object(c[vendor+optionsSuffix])
	name, _ := options[tunnelMember].(string)
	return name
}

// WithoutTunnel returns capabilities whose vendor options name no tunnel. The
// argument is not changed.
func WithoutTunnel(c Capabilities, vendor string) Capabilities {
	out := Merge(nil, c)
	if options, ok := object(out[vendor+optionsSuffix]); ok {
		delete(options, tunnelMember)
	}
	return out
}

// SharedTunnel is the one tunnel that the effective capabilities of targets name,
// "" when they name none; at is the place of the first target that names it. When
// another target names a different one, ok is false and at is the place of that.
func SharedTunnel(targets []Target, vendor string) (name string, at int, ok bool) {
	for i := range targets {
		switch of := Tunnel(targets[i].Capabilities, vendor); {
		case of == "" || of == name:
		case name == "":
			name, at = of, i
		default:
			return name, i, false
		}
	}
	return name, at, true
}

// namesEnvironment reports whether capabilities say what a test runs on.
func namesEnvironment(c Capabilities) bool {
	for _, name := range []string{"browserName", "platformName"} {
		if text, _ := c[name].(string); text != "" {
			return true
		}
	}
	return App(c) != ""
}

// App is the value of appium:app (or of options.app), "" when there is none.
func App(c Capabilities) string {
	if app, _ := c["appium:app"].(string); app != "" {
		return app
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !strings.HasSuffix(name, optionsSuffix) {
			continue
		}
		options, _ := object(c[name])
		for _, member := range []string{"app", "appium:app"} {
			if app, _ := options[member].(string); app != "" {
				return app
			}
		}
	}
	return ""
}

// AppReference reads storage:ID and storage:filename=NAME. ok is false for
// anything else, such as a URL. Exactly one of id and fileName is set.
func AppReference(app string) (id int64, fileName string, ok bool) {
	rest, ok := strings.CutPrefix(app, "storage:")
	if !ok {
		return 0, "", false
	}
	if fileName, ok = strings.CutPrefix(rest, "filename="); ok {
		if checkName("", fileName, maxName) != nil {
			return 0, "", false
		}
		return 0, fileName, true
	}
	id, err := strconv.ParseInt(rest, 10, 64)
	if err != nil || id <= 0 || rest[0] == '+' {
		return 0, "", false
	}
	return id, "", true
}

// Empty reports whether a target asks for nothing, so that it is no target.
func (t *Target) Empty() bool { return t == nil || t.Capabilities == nil }
