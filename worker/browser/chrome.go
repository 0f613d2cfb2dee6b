package browser

import (
	"fmt"
	"slices"
	"strings"
)

// fastScreenshots lets the debugger capture the frame that the page next shows; without
// it a screenshot takes a frame more.
const fastScreenshots = "--enable-features=CDPScreenshotNewSurface"

// windowSize is that of windows unless a target asks for another; pages are made
// for screens of at least this size.
const windowSize = "--window-size=1280,900"

// needlessFeatures cost half of a lease's processor time and are of no use to a test:
// each user context has a window of its own, for which Chromium loads the lists below
// the address line as pages, in a process that nobody sees; and after a navigation it
// starts a process for another site, which most tests do not visit. Names that a
// version does not know change nothing.
const needlessFeatures = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess"

// capabilities returns what is requested of chromedriver. proxy is host:port.
func (k kind) capabilities(cfg Config, proxy string) map[string]any {
	args := slices.Clone(cfg.Arguments)
	args = append(args, "--headless=new",
		// A pipe in place of a port: no page and no other user can take over
		// the debugger, and the browser ends with its chromedriver.
		"--remote-debugging-pipe",
		// Nothing that connects to its vendor.
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
		"--disable-breakpad", "--mute-audio", needlessFeatures, fastScreenshots,
		// Nothing that goes around the proxy.
		"--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp")
	if proxy != "" {
		args = append(args, "--proxy-server=http://"+proxy, "--proxy-bypass-list=<-loopback>")
	}
	if k.trusted != "" {
		args = append(args, "--ignore-certificate-errors-spki-list="+k.trusted)
	}
	if !slices.ContainsFunc(k.args, func(a string) bool { return strings.HasPrefix(a, "--window-size=") }) {
		args = append(args, windowSize)
	}
	options := map[string]any{"args": append(args, k.args...),
		// chromedriver's own switch for a log file in the profile, which would hold
		// what pages write to their console.
		"excludeSwitches": []string{"enable-logging"}}
	if cfg.Binary != "" {
		options["binary"] = cfg.Binary
	}
	if k.preferences != nil {
		options["prefs"] = k.preferences
	}
	if k.emulation != nil {
		options["mobileEmulation"] = k.emulation
	}
	return map[string]any{
		"browserName": "chrome", "webSocketUrl": true,
		// The steps handle dialogs; the one of a page that is being left as well, which a
		// single word would have the driver accept.
		"unhandledPromptBehavior": map[string]any{"default": "ignore", "beforeUnload": "ignore"},
		"pageLoadStrategy":        k.loadStrategy, "acceptInsecureCerts": k.insecure,
		"strictFileInteractability": k.strictFiles,
		// It would keep each line of a page until it is read; lines come as events.
		"goog:loggingPrefs":  map[string]any{"browser": "OFF"},
		"goog:chromeOptions": options,
	}
}

// size returns the size of windows of the kind, in CSS pixels.
func (k kind) size() (width, height int) {
	text := windowSize
	for _, arg := range k.args {
		if strings.HasPrefix(arg, "--window-size=") {
			text = arg
		}
	}
	_, _ = fmt.Sscanf(text, "--window-size=%d,%d", &width, &height)
	return width, height
}
