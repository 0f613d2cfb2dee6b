package capability

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// maxCapabilities is bytes of a target's capabilities as JSON. Profiles and
	// extensions of browsers, which are larger, belong to the hub.
	maxCapabilities    = 64 << 10
	maxCapabilityDepth = 10
	maxCapabilityName  = 128 // bytes
	maxTargets         = 20
	maxTunnelName      = 100 // characters
	capabilitiesPath   = "capabilities"
)

// standardCapabilities are the capabilities of W3C WebDriver and BiDi, with the
// check of their values and its message. null stands for an absent capability.
var standardCapabilities = map[string]struct {
	is   func(any) bool
	must string
}{
	"browserName":               {isString, "must be a string"},
	"browserVersion":            {isString, "must be a string"},
	"platformName":              {isString, "must be a string"},
	"acceptInsecureCerts":       {isBool, "must be true or false"},
	"pageLoadStrategy":          {isLoadStrategy, "must be one of none, eager, normal"},
	"proxy":                     {isObject, "must be an object"},
	"setWindowRect":             {isBool, "must be true or false"},
	"timeouts":                  {isTimeouts, "must be an object of numbers"},
	"strictFileInteractability": {isBool, "must be true or false"},
	"unhandledPromptBehavior":   {func(v any) bool { return isString(v) || isObject(v) }, "must be a string or an object"},
	"webSocketUrl":              {isBool, "must be true or false"},
}

func isString(v any) bool { _, ok := v.(string); return ok }
func isBool(v any) bool   { _, ok := v.(bool); return ok }
func isObject(v any) bool { _, ok := object(v); return ok }

func isLoadStrategy(v any) bool { return v == "none" || v == "eager" || v == "normal" }

func isNumber(v any) bool {
	switch v.(type) {
	case float64, json.Number, int, int64:
		return true
	}
	return false
}

// isTimeouts allows script to be null, which is W3C's value for no limit.
func isTimeouts(v any) bool {
	members, ok := object(v)
	for _, value := range members {
		ok = ok && (value == nil || isNumber(value))
	}
	return ok
}

// CheckTarget checks a target's capabilities: names, types, depth and size. The
// error is a *step.InvalidError with a path such as capabilities.browserName.
func CheckTarget(t *Target) error {
	if t.Empty() {
		return nil
	}
	const path = capabilitiesPath
	if err := checkTree(path, map[string]any(t.Capabilities), 1); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.Capabilities)) {
		k, ok := standardCapabilities[name]
		switch value := t.Capabilities[name]; {
		case !ok && !strings.Contains(name, ":"):
			return step.Invalid(path+"."+name,
				"is no capability of W3C WebDriver; those of vendors have a colon in their name, as appium:app")
		case ok && value != nil && !k.is(value):
			return step.Invalid(path+"."+name, "%s", k.must)
		}
	}
	text, err := json.Marshal(t.Capabilities)
	if err != nil {
		return step.Invalid(path, "must be an object of JSON")
	}
	if len(text) > maxCapabilities {
		return step.Invalid(path, "has at most %d bytes as JSON", maxCapabilities)
	}
	return nil
}

// checkTree checks names, texts and depth of a value of JSON.
func checkTree(path string, value any, deep int) error {
	members, isMap := object(value)
	if _, isList := value.([]any); (isMap || isList) && deep > maxCapabilityDepth {
		return step.Invalid(capabilitiesPath, "is nested more than %d deep", maxCapabilityDepth)
	}
	if isMap {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if name == "" || len(name) > maxCapabilityName {
				return step.Invalid(path, "has a member whose name is not 1 to %d bytes long", maxCapabilityName)
			}
			if err := step.CheckText(path, name, maxCapabilityName); err != nil {
				return err
			}
			if err := checkTree(path+"."+name, members[name], deep+1); err != nil {
				return err
			}
		}
		return nil
	}
	switch v := value.(type) {
	case nil, bool:
	case string:
		return step.CheckText(path, v, maxCapabilities)
	case []any:
		for i := range v {
			if err := checkTree(fmt.Sprintf("%s[%d]", path, i), v[i], deep+1); err != nil {
				return err
			}
		}
	default:
		if !isNumber(v) {
			return step.Invalid(path, "must be a value of JSON")
		}
	}
	return nil
}

// CheckSettings checks run settings as they are stored. The error is an
// *step.InvalidError with a path such as runTargets[1].capabilities.browserName.
func CheckSettings(s *RunSettings) error {
	if s.TestURL != "" {
		if err := step.CheckTestURL("testUrl", s.TestURL); err != nil {
			return err
		}
	}
	if s.SCTunnelName != nil {
		if err := step.CheckName("scTunnelName", *s.SCTunnelName, maxTunnelName); err != nil {
			return err
		}
	}
	if s.LastBuildName != "" {
		if err := step.CheckText("lastBuildName", s.LastBuildName, 4*step.MaxName); err != nil {
			return err
		}
		if utf8.RuneCountInString(s.LastBuildName) > step.MaxName {
			return step.Invalid("lastBuildName", "has at most %d characters", step.MaxName)
		}
	}
	if s.Healing != "" && !slices.Contains(HealModes, s.Healing) {
		return step.Invalid("healing", "must be one of %s", strings.Join(HealModes, ", "))
	}
	if s.Drift != "" && !slices.Contains(DriftModes, s.Drift) {
		return step.Invalid("drift", "must be one of %s", strings.Join(DriftModes, ", "))
	}
	if s.Trace != "" && !slices.Contains(TraceModes, s.Trace) {
		return step.Invalid("trace", "must be one of %s", strings.Join(TraceModes, ", "))
	}
	if err := CheckRetries("retries", s.Retries); err != nil {
		return err
	}
	if err := s.Access.check(); err != nil {
		return err
	}
	if err := prefixPath("primaryTarget", CheckTarget(s.PrimaryTarget)); err != nil {
		return err
	}
	if len(s.RunTargets) > maxTargets {
		return step.Invalid("runTargets", "has at most %d elements", maxTargets)
	}
	for i := range s.RunTargets {
		if err := prefixPath(fmt.Sprintf("runTargets[%d]", i), CheckTarget(&s.RunTargets[i])); err != nil {
			return err
		}
	}
	return nil
}

// prefixPath adds a path to the front of that of an error.
func prefixPath(path string, err error) error {
	var wrong *step.InvalidError
	if errors.As(err, &wrong) {
		return &step.InvalidError{Path: path + "." + wrong.Path, Msg: wrong.Msg}
	}
	return err
}
