package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// kind is the options of a local browser: two leases of one kind can have the same
// browser, one after the other.
type kind struct {
	args         []string // of the user
	preferences  map[string]any
	emulation    map[string]any
	loadStrategy string
	insecure     bool   // accepts any certificate
	strictFiles  bool   // file inputs must be visible
	tunnel       string // address of a proxy, a secret
}

// key identifies the kind; it shows no secret.
func (k kind) key() string {
	doc, err := json.Marshal([]any{k.args, k.preferences, k.emulation, k.loadStrategy, k.insecure, k.strictFiles, k.tunnel})
	if err != nil { // its parts came from JSON
		panic(err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

// plainKind is the kind of targets without options; its browsers are kept warm.
func plainKind() kind { return kind{loadStrategy: "eager"} }

// checkServedHere refuses targets that are not Chrome on this system.
func checkServedHere(t step.Target) error {
	browser, platform := lowerText(t.Capabilities, "browserName"), lowerText(t.Capabilities, "platformName")
	chrome := browser == "" || browser == "chrome" || browser == "chromium"
	here := platform == "" || platform == "any" || isPlatform(runtime.GOOS, platform)
	if chrome && here && !isMobile(t) {
		return nil
	}
	text := "no hub serves"
	for _, part := range []struct{ name, value string }{{"browserName", browser}, {"on platform", platform}} {
		if part.value != "" {
			text += " " + part.name + " " + part.value
		}
	}
	if isMobile(t) && platform == "" {
		text += " a mobile device"
	}
	return refuse("%s", text)
}

// isPlatform reports whether a platformName means a system, which is named as in Go.
func isPlatform(system, platform string) bool {
	switch system {
	case "darwin":
		return isMac(platform)
	case "windows":
		return platform == "windows" || strings.HasPrefix(platform, "windows ")
	}
	return platform == system
}

// versionFits reports whether a version is what browserVersion requires: anything, the
// newest by one of its names, or its first numbers.
func versionFits(wanted, version string) bool {
	switch wanted {
	case "", "latest", "stable", "any":
		return true
	}
	return version == wanted || strings.HasPrefix(version, wanted+".")
}

// readKind reads the options of a target for a local browser. Users are hostile here:
// Chromium's options start programs, read files and open debuggers, so that what is
// not known to be harmless is refused by name. Timeouts belong to a lease.
func readKind(r Request) (kind, webdriver.Timeouts, error) {
	k := plainKind()
	k.tunnel = r.Proxy
	var timeouts webdriver.Timeouts
	for name, value := range r.Target.Capabilities {
		fine := true
		switch name {
		case "browserName", "browserVersion", "platformName":
			_, fine = value.(string)
		case "acceptInsecureCerts":
			var insecure bool
			insecure, fine = value.(bool)
			k.insecure = k.insecure || insecure
		case "strictFileInteractability":
			k.strictFiles, fine = value.(bool)
		case "pageLoadStrategy":
			k.loadStrategy, fine = value.(string)
			fine = fine && slices.Contains([]string{"none", "eager", "normal"}, k.loadStrategy)
		case "timeouts":
			timeouts, fine = readTimeouts(value)
		case "goog:chromeOptions":
			if err := k.readOptions(value); err != nil {
				return kind{}, timeouts, err
			}
		case "unhandledPromptBehavior", "webSocketUrl", "setWindowRect", "goog:loggingPrefs":
			// The pool sets these.
		default:
			// Vendors' options (name and build of the run) and those of a grid
			// mean nothing to a browser.
			if !strings.HasSuffix(name, ":options") && !strings.HasPrefix(name, "se:") {
				return kind{}, timeouts, refuse("the browsers of this worker do not take the capability %.100s", name)
			}
		}
		if !fine {
			return kind{}, timeouts, refuse("the value of the capability %s is not one of WebDriver", name)
		}
	}
	slices.Sort(k.args)
	k.args = slices.Compact(k.args)
	return k, timeouts, nil
}

// readTimeouts reads script and pageLoad. implicit is left out: steps wait for
// their elements themselves.
func readTimeouts(value any) (webdriver.Timeouts, bool) {
	members, ok := value.(map[string]any)
	var t webdriver.Timeouts
	for name, value := range members {
		ms, number := value.(float64)
		if !number || ms < 0 || ms > 300_000 {
			return t, false
		}
		d := time.Duration(ms) * time.Millisecond
		switch name {
		case "script":
			t.Script = d
		case "pageLoad":
			t.PageLoad = d
		case "implicit":
		default:
			return t, false
		}
	}
	return t, ok
}

// arguments are those of Chromium that users may set, with the form of their
// values; nil for none.
func arguments() map[string]*regexp.Regexp {
	language := regexp.MustCompile(`^[A-Za-z0-9,;=._*-]{1,200}$`)
	return map[string]*regexp.Regexp{
		"window-size":                      regexp.MustCompile(`^[1-9][0-9]{1,3}[,x][1-9][0-9]{1,3}$`),
		"lang":                             language,
		"accept-lang":                      language,
		"user-agent":                       regexp.MustCompile(`^[\x20-\x7e]{1,500}$`),
		"force-device-scale-factor":        regexp.MustCompile(`^[0-9](\.[0-9]{1,4})?$`),
		"autoplay-policy":                  regexp.MustCompile(`^[a-z-]{1,50}$`),
		"force-dark-mode":                  nil,
		"hide-scrollbars":                  nil,
		"disable-notifications":            nil,
		"use-fake-ui-for-media-stream":     nil,
		"use-fake-device-for-media-stream": nil,
	}
}

// droppedArguments are common in recordings and change nothing that a test sees:
// they are set anyway, mean nothing without a screen, or (incognito) each lease
// has more than that.
func droppedArguments() []string {
	return []string{"headless", "no-sandbox", "disable-setuid-sandbox", "disable-gpu", "disable-dev-shm-usage",
		"disable-infobars", "disable-popup-blocking", "incognito", "start-maximized", "start-fullscreen",
		"no-first-run", "no-default-browser-check", "disable-extensions", "disable-sync", "disable-translate",
		"disable-background-networking", "disable-component-update", "disable-default-apps", "mute-audio",
		"ignore-certificate-errors", "enable-automation"}
}

const (
	maxArguments   = 64
	maxPreferences = 64
)

func (k *kind) readOptions(value any) error {
	options, ok := value.(map[string]any)
	if !ok {
		return refuse("the capability goog:chromeOptions is not an object")
	}
	for name, value := range options {
		switch name {
		case "args":
			list, ok := value.([]any)
			if !ok || len(list) > maxArguments {
				return refuse("args of goog:chromeOptions is not a list of at most %d texts", maxArguments)
			}
			for _, item := range list {
				if err := k.readArgument(item); err != nil {
					return err
				}
			}
		case "prefs":
			if err := k.readPreferences(value); err != nil {
				return err
			}
		case "mobileEmulation":
			emulation, ok := value.(map[string]any)
			if doc, err := json.Marshal(emulation); !ok || err != nil || len(doc) > 8<<10 {
				return refuse("mobileEmulation of goog:chromeOptions is not a small object")
			}
			for member := range emulation {
				if !slices.Contains([]string{"deviceName", "deviceMetrics", "userAgent", "clientHints"}, member) {
					return refuse("mobileEmulation of goog:chromeOptions has no member %.100s", member)
				}
			}
			k.emulation = emulation
		case "excludeSwitches", "useAutomationExtension", "w3c":
		default:
			return refuse("the browsers of this worker do not take %.100s of goog:chromeOptions", name)
		}
	}
	return nil
}

func (k *kind) readArgument(item any) error {
	text, ok := item.(string)
	if !ok {
		return refuse("args of goog:chromeOptions has something that is not a text")
	}
	name, value, valued := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if slices.Contains(droppedArguments(), name) {
		if name == "ignore-certificate-errors" {
			k.insecure = true
		}
		return nil
	}
	form, known := arguments()[name]
	if !known {
		return refuse("the browsers of this worker do not take the argument --%.100s", name)
	}
	if (form == nil) == valued || (form != nil && !form.MatchString(value)) {
		return refuse("the value of the argument --%s is not one that Chromium has", name)
	}
	if name == "window-size" {
		value = strings.Replace(value, "x", ",", 1)
	}
	text = "--" + name
	if valued {
		text += "=" + value
	}
	k.args = append(k.args, text)
	return nil
}

var contentSetting = regexp.MustCompile(`^profile\.default_content_setting_values\.[a-z_]{1,50}$`)

func (k *kind) readPreferences(value any) error {
	preferences, ok := value.(map[string]any)
	if !ok || len(preferences) > maxPreferences {
		return refuse("prefs of goog:chromeOptions is not an object of at most %d members", maxPreferences)
	}
	for name, value := range preferences {
		switch {
		case name == "intl.accept_languages":
			text, ok := value.(string)
			if !ok || !arguments()["lang"].MatchString(text) {
				return refuse("the value of the preference %s is not a list of languages", name)
			}
		case contentSetting.MatchString(name):
			if n, ok := value.(float64); !ok || n < 0 || n > 4 || n != float64(int(n)) {
				return refuse("the value of the preference %s is not a number from 0 to 4", name)
			}
		default:
			return refuse("the browsers of this worker do not take the preference %.100s", name)
		}
	}
	k.preferences = preferences
	return nil
}
