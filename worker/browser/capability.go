package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser/egress"
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
	// headers are sent to site; their values may be secrets. trusted is set once the browser
	// starts: the digest of the key by which its proxy is that site.
	headers []egress.Header
	site    string
	trusted string
	// certificate and certificateKey, in PEM, are presented to site; "" for none.
	certificate, certificateKey string
}

// key identifies the kind; it shows no secret.
func (k kind) key() string {
	doc, err := json.Marshal([]any{k.args, k.preferences, k.emulation, k.loadStrategy, k.insecure, k.strictFiles, k.tunnel, k.headers, k.site,
		k.certificate, k.certificateKey})
	if err != nil { // its parts came from JSON
		panic(err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

// plainKind is the kind of targets without options; its browsers are kept warm.
func plainKind() kind { return kind{loadStrategy: "eager"} }

// checkServedHere refuses targets that are not Chrome on this system.
func checkServedHere(t capability.Target) error {
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
	if len(r.Headers) > 0 || r.Certificate != "" {
		k.headers, k.site, k.certificate, k.certificateKey = r.Headers, r.Site, r.Certificate, r.Key
	}
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
		case chromeOptions:
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

// readOptions reads goog:chromeOptions.
func (k *kind) readOptions(value any) error {
	if err := capability.CheckChromiumOptions(chromeOptions, value); err != nil {
		return refuse("the browsers of this worker do not take %s", err)
	}
	options, _ := value.(map[string]any)
	args, _ := options["args"].([]any)
	for _, item := range args {
		name, value, common, err := capability.ChromiumArgument(chromeOptions, item)
		switch {
		case err != nil:
			return refuse("the browsers of this worker do not take %s", err)
		case name == "ignore-certificate-errors":
			k.insecure = true
		case common: // set anyway, without meaning here, or (incognito) less than a lease has
		case name == "window-size":
			k.args = append(k.args, "--"+name+"="+strings.Replace(value, "x", ",", 1))
		case value != "":
			k.args = append(k.args, "--"+name+"="+value)
		default:
			k.args = append(k.args, "--"+name)
		}
	}
	k.preferences, _ = options["prefs"].(map[string]any)
	k.emulation, _ = options["mobileEmulation"].(map[string]any)
	return nil
}

const chromeOptions = "goog:chromeOptions"
