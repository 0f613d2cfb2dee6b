package install

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/artifact"
	devices "github.com/slipway-qa/slipway/storage/device"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// actions is what a page lets a visitor do with a build.
type actions struct {
	// Problem says why an install cannot work; nil when it can.
	Problem *notice
	Button  *button
	Second  *button // less prominent, below
	// Register leads to the registration of this device; nil when that is no use.
	Register *button
	// Scan is the kind of device that the QR code is for, when the visitor had
	// better use one: "Android phone".
	Scan  string
	Hints []string
	Steps []string // how to install, on the device that the page is open on
}

type notice struct{ Title, Text string }

type button struct {
	Label string
	Link  template.URL
}

// asked is what the decision is made from.
type asked struct {
	build    *distribution.Build
	closed   string // why the build's own page is closed, "" while it is open
	device   device
	now      time.Time
	https    bool   // the public URL is https
	udid     string // of the visitor's device, "" when not known
	download template.URL
	manifest template.URL // itms-services link
	register template.URL // the registration of a device
	// registered are the visitor's devices; nil when nobody is signed in.
	registered []devices.Device
}

// actionsOf decides what the button does, or why there is none. Only an enabled
// build is given out at all; one whose install cannot work may still be kept as a
// file.
func actionsOf(a asked) actions {
	if problem := unavailable(a.build); problem != nil {
		return actions{Problem: problem}
	}
	if a.closed != "" {
		return actions{Problem: &notice{"This build is not available any more", sentence(a.closed)}}
	}
	switch {
	case a.build.Kind == artifact.APK:
		return actionsOfAPK(a)
	case a.build.Kind == artifact.IPA && a.build.Platform != artifact.TVOS:
		return actionsOfIPA(a)
	}
	return actionsOfFile(a)
}

// unavailable says why a build is not given out; nil when it is.
func unavailable(b *distribution.Build) *notice {
	reason := b.Distributable()
	if reason == "" {
		return nil
	}
	reason = sentence(reason)
	switch b.State {
	case distribution.Disabled:
		return &notice{"This build is not available", join("It was disabled by the people who distribute the app.", b.StateReason)}
	case distribution.CertificateExpired:
		if end := profileEnd(b); end != nil {
			return expired(*end)
		}
		return &notice{"The provisioning profile has expired",
			join("Devices refuse to install or open this build. Ask for a new one.", b.StateReason)}
	case distribution.Invalid:
		return &notice{"This build cannot be installed", reason}
	}
	return &notice{"This build is not available", reason}
}

func join(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + " " + sentence(reason)
}

// sentence makes a reason a sentence.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[n:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

func expired(end time.Time) *notice {
	return &notice{"The provisioning profile has expired",
		"It was valid until " + day(end) + ". Devices refuse to install or open this build. Ask for a new one."}
}

func profileEnd(b *distribution.Build) *time.Time {
	if b.ExpiresAt != nil {
		return b.ExpiresAt
	}
	if b.Provisioning != nil && !b.Provisioning.Expires.IsZero() {
		return &b.Provisioning.Expires
	}
	return nil
}

func (a asked) file(label string) *button { return &button{label, a.download} }

func actionsOfAPK(a asked) actions {
	var o actions
	o.Hints = a.hints()
	switch a.device {
	case android:
		o.Button = a.file("Install")
		o.Steps = []string{"Tap Install and wait until the download has ended.",
			"Open the downloaded file. If Android asks, allow your browser to install apps.",
			"Confirm with Install."}
	case apple:
		o.Problem = &notice{"This app is for Android", "Open this page on an Android phone or tablet to install it."}
	default:
		o.Scan = "Android phone or tablet"
		o.Button = a.file("Download APK")
	}
	return o
}

func actionsOfIPA(a asked) actions {
	o := actions{Problem: refusedByDevice(a)}
	o.Hints = append(profileHints(a.build), a.hints(distribution.CautionStoreProfile, distribution.CautionHTTPOnly,
		distribution.CautionExpires)...)
	switch {
	case a.device == android:
		o.Problem = &notice{"This app is for iPhone and iPad", "Open this page on an iPhone or iPad to install it."}
		o.Hints = nil
	case o.Problem != nil:
		if a.device != apple {
			o.Second = a.file("Download IPA")
		}
	case a.device == apple:
		o.Button = &button{"Install", a.manifest}
		o.Steps = []string{"Tap Install, then confirm in the dialog. If no dialog appears, open this page in Safari.",
			"Go to the home screen and wait until the icon is complete.",
			"The first time, iOS may ask you to trust the developer: Settings, General, VPN & Device Management."}
	default:
		o.Scan = "iPhone or iPad"
		o.Button = a.file("Download IPA")
		if a.device == mac {
			o.Second = &button{"This is an iPad: install here", a.manifest}
		}
	}
	return withDevices(o, a)
}

// refusedByDevice finds the reasons for which iOS would fail without a word.
func refusedByDevice(a asked) *notice {
	if end := profileEnd(a.build); end != nil && !a.now.Before(*end) {
		return expired(*end)
	}
	p := a.build.Provisioning
	switch {
	case a.has(distribution.CautionStoreProfile):
		return &notice{"This build is made for the App Store",
			"Its provisioning profile lets only Apple hand it out. Ask for an ad-hoc, development or enterprise build."}
	case a.udid != "" && !devices.InProfile(p, a.udid):
		return &notice{"This device is not in the provisioning profile",
			"The build was signed for other devices. Ask for one that includes the UDID " + a.udid + "."}
	case a.has(distribution.CautionHTTPOnly):
		return &notice{"Installing on iPhone and iPad needs https",
			"This server is reached by http, and iOS installs from https only. Ask its operator to set up a certificate."}
	}
	return nil
}

func profileHints(b *distribution.Build) []string {
	p := b.Provisioning
	switch {
	case devices.Bound(p) && len(p.Devices) == 1:
		return []string{"Only the one device in its provisioning profile can install this build."}
	case devices.Bound(p):
		return []string{fmt.Sprintf("Only the %d devices in its provisioning profile can install this build.", len(p.Devices))}
	}
	return nil
}

// hints are what devices will refuse, by the rules that the answer to an upload has
// too, but for the codes that the page shows elsewhere.
func (a asked) hints(except ...distribution.Code) []string {
	var list []string
	if a.build.Verification == artifact.Pending {
		list = append(list, "The signature of this build is being checked.")
	}
	for _, c := range a.build.Cautions(a.now, a.https) {
		if !slices.Contains(except, c.Code) {
			list = append(list, c.Text)
		}
	}
	return list
}

func (a asked) has(code distribution.Code) bool {
	return slices.ContainsFunc(a.build.Cautions(a.now, a.https), func(c distribution.Caution) bool { return c.Code == code })
}

// actionsOfFile is for what no phone installs from a page.
func actionsOfFile(a asked) actions {
	o := actions{Button: a.file("Download")}
	switch {
	case a.build.Kind == artifact.AAB:
		o.Hints = []string{"This is an Android App Bundle: Google Play makes packages out of it. It cannot be installed on a device."}
	case a.build.Kind == artifact.APKS:
		o.Hints = []string{"This file holds a set of packages. Install it from a computer, for example with bundletool."}
	case a.build.Kind == artifact.Mac:
		if a.device == android || a.device == apple {
			o.Problem, o.Button = &notice{"This app is for Mac", "Open this page on a Mac to install it."}, nil
			break
		}
		o.Button = a.file("Download for Mac")
		o.Hints = []string{"Unpack the archive and move the app to Applications."}
	case a.build.Simulator:
		if a.device == android || a.device == apple {
			o.Problem, o.Button = &notice{"This app is for the simulator",
				"No device installs it. Open this page on a Mac, or ask for a build for devices."}, nil
			break
		}
		o.Hints = append(a.hints(), "Unpack the archive and install the app with: xcrun simctl install booted NAME.app")
	case a.build.Platform == artifact.TVOS:
		o.Hints = []string{"This app is for Apple TV. Install it from a Mac with Xcode or Apple Configurator."}
	default:
		o.Hints = []string{"This file cannot be installed from a page. Download it and use it where it belongs."}
	}
	return o
}
