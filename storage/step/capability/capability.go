package capability

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// optionsSuffix ends the names of capabilities that hold a vendor's options.
const optionsSuffix = ":options"

// Merge returns base with the members of over, which take precedence. Objects of
// the same name (vendor options, browser options) are merged too; arrays are
// replaced, and so is proxy, whose members mean nothing without each other.
// Neither argument is changed, and the result shares nothing with them.
func Merge(base, over Capabilities) Capabilities {
	return merge(base, over)
}

func merge(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for name, value := range base {
		out[name] = clone(value)
	}
	for name, value := range over {
		old, isObject := object(base[name])
		members, bothObjects := object(value)
		if isObject && bothObjects && name != "proxy" {
			out[name] = merge(old, members)
		} else {
			out[name] = clone(value)
		}
	}
	return out
}

// object returns the members of an object of JSON, in either of its Go types.
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

// Effective returns the capabilities of a run on a target of a case: those of the
// target, merged into those of the primary target when the target names no browser,
// platform or app, with name, build and tunnelName added to the vendor's options
// unless they are there. Empty ones are not added.
func Effective(primary *Target, target Target, vendor, name, build, tunnel string) Capabilities {
	var base Capabilities
	if primary != nil && !namesEnvironment(target.Capabilities) {
		base = primary.Capabilities
	}
	out := Merge(base, target.Capabilities)
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

// TunnelPath returns where capabilities name a tunnel, as errors write paths.
func TunnelPath(vendor string) string {
	return capabilitiesPath + "." + vendor + optionsSuffix + "." + tunnelMember
}

// Tunnel returns the tunnel that the vendor's options name, "" for none.
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

// WithoutNames returns capabilities whose vendors' options name neither case nor build, as
// Effective puts them there. The argument is not changed.
func WithoutNames(c Capabilities) Capabilities {
	out := Merge(nil, c)
	for member, value := range out {
		if options, ok := object(value); ok && strings.HasSuffix(member, optionsSuffix) {
			delete(options, "name")
			delete(options, "build")
		}
	}
	return out
}

// SharedTunnel returns the one tunnel that the effective capabilities of
// targets name, "" for none; at is the index of the first target that names it.
// When another target names a different one, ok is false and at is the index of
// that.
func SharedTunnel(targets []Target, vendor string) (name string, at int, ok bool) {
	for i := range targets {
		switch tunnel := Tunnel(targets[i].Capabilities, vendor); {
		case tunnel == "" || tunnel == name:
		case name == "":
			name, at = tunnel, i
		default:
			return name, i, false
		}
	}
	return name, at, true
}

// namesEnvironment reports whether capabilities name what a test runs on.
func namesEnvironment(c Capabilities) bool {
	for _, name := range []string{"browserName", "platformName"} {
		if text, _ := c[name].(string); text != "" {
			return true
		}
	}
	return App(c) != ""
}

// App returns the value of appium:app (or of options.app), "" for none.
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

// AppTarget reports whether capabilities ask for a native app: those of Appium, or of a
// phone, and no browser.
func AppTarget(c Capabilities) bool {
	if browser, _ := c["browserName"].(string); browser != "" {
		return false
	}
	if platform, _ := c["platformName"].(string); platform != "" {
		switch strings.ToLower(platform) {
		case "android", "ios", "ipados", "tvos":
			return true
		}
	}
	for name := range c {
		if strings.HasPrefix(name, "appium:") {
			return true
		}
	}
	return false
}

// InstallBuild makes an uploaded build the app of those targets that ask for a native app
// of its platform and name none. platform "" is one that is not known.
func InstallBuild(targets []Target, platform string, id int64) {
	for i := range targets {
		c := targets[i].Capabilities
		of, _ := c["platformName"].(string)
		otherPlatform := of != "" && platform != "" && !strings.EqualFold(of, platform)
		if otherPlatform || App(c) != "" || !AppTarget(c) {
			continue
		}
		targets[i].Capabilities = Merge(c, Capabilities{"appium:app": buildScheme + strconv.FormatInt(id, 10)})
	}
}

// buildScheme begins the names of uploaded apps.
const buildScheme = "storage:"

// AppReference reads storage:ID and storage:filename=NAME. ok is false for
// anything else, such as a URL. Exactly one of id and fileName is set.
func AppReference(app string) (id int64, fileName string, ok bool) {
	rest, ok := strings.CutPrefix(app, buildScheme)
	if !ok {
		return 0, "", false
	}
	if fileName, ok = strings.CutPrefix(rest, "filename="); ok {
		if step.CheckName("", fileName, step.MaxName) != nil {
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

// Empty reports whether a target has no capabilities, so that it is no target: it says
// nothing of where to run.
func (t *Target) Empty() bool { return t == nil || len(t.Capabilities) == 0 }

// Targets returns what a case runs on where the run names no target: the targets to run
// on, else the primary one; none when they are all empty.
func (s *RunSettings) Targets() []Target {
	targets := make([]Target, 0, len(s.RunTargets))
	for _, t := range s.RunTargets {
		if !t.Empty() {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 && !s.PrimaryTarget.Empty() {
		targets = append(targets, *s.PrimaryTarget)
	}
	return targets
}

// SameBrowser reports whether two targets are of the same browser, version, platform and device,
// whatever else their capabilities say.
func SameBrowser(a, b Target) bool {
	if a.IsRDC != b.IsRDC {
		return false
	}
	for _, name := range []string{"browserName", "browserVersion", "platformName", "appium:deviceName", "appium:platformVersion"} {
		x, _ := a.Capabilities[name].(string)
		y, _ := b.Capabilities[name].(string)
		if !strings.EqualFold(x, y) {
			return false
		}
	}
	return true
}
