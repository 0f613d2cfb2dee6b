package step

import "strings"

// Device is what a page sees of a device.
type Device struct {
	Name      string
	Viewport  Viewport
	Scale     float64 // device pixels per CSS pixel
	UserAgent string
	// Mobile devices heed the page's own viewport, and Touch ones have a finger.
	Mobile, Touch bool
}

// The parts that several user agents have. Their versions are those of the table; sites
// look at the names, few at the numbers.
const (
	android     = "Mozilla/5.0 (Linux; Android "
	blink       = ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/159.0.8154.6 Safari/537.36"
	blinkMobile = ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/159.0.8154.6 Mobile Safari/537.36"
	webkit      = " AppleWebKit/605.1.15 (KHTML, like Gecko) Version/27.2 Mobile/15E148 Safari/604.1"
)

// Devices are common devices, as Playwright's table of devices (deviceDescriptorsSource.json
// of playwright-core, Apache License 2.0) describes them.
func Devices() []Device {
	return []Device{
		{"iPhone SE", Viewport{320, 568}, 2,
			"Mozilla/5.0 (iPhone; CPU iPhone OS 10_3_1 like Mac OS X) AppleWebKit/603.1.30 (KHTML, like Gecko) Version/27.2 Mobile/14E304 " +
				"Safari/602.1", true, true},
		{"iPhone 13", Viewport{390, 664}, 3, "Mozilla/5.0 (iPhone; CPU iPhone OS 15_0 like Mac OS X)" + webkit, true, true},
		{"iPhone 14 Pro Max", Viewport{430, 740}, 3, "Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X)" + webkit, true, true},
		{"iPhone 15", Viewport{393, 659}, 3, "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)" + webkit, true, true},
		{"iPad Mini", Viewport{768, 1024}, 2, "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X)" + webkit, true, true},
		{"iPad Pro 11", Viewport{834, 1194}, 2, "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X)" + webkit, true, true},
		{"Pixel 5", Viewport{393, 727}, 2.75, android + "11; Pixel 5" + blinkMobile, true, true},
		{"Pixel 7", Viewport{412, 839}, 2.625, android + "14; Pixel 7" + blinkMobile, true, true},
		{"Galaxy S9+", Viewport{320, 658}, 4.5, android + "8.0.0; SM-G965U Build/R16NW" + blinkMobile, true, true},
		{"Galaxy S24", Viewport{360, 780}, 3, android + "14; SM-S921U" + blinkMobile, true, true},
		{"Galaxy Tab S4", Viewport{712, 1138}, 2.25, android + "8.1.0; SM-T837A" + blink, true, true},
		{"Desktop Chrome", Viewport{1280, 720}, 1, "Mozilla/5.0 (Windows NT 10.0; Win64; x64" + blink, false, false},
		{"Desktop Chrome HiDPI", Viewport{1280, 720}, 2, "Mozilla/5.0 (Windows NT 10.0; Win64; x64" + blink, false, false},
		{"Desktop Safari", Viewport{1280, 720}, 2,
			"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/27.2 Safari/605.1.15", false, false},
		{"Desktop Firefox", Viewport{1280, 720}, 1,
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:159.0) Gecko/20100101 Firefox/159.0", false, false},
		{"Desktop Edge", Viewport{1280, 720}, 1, "Mozilla/5.0 (Windows NT 10.0; Win64; x64" + blink + " Edg/159.0.8154.6", false, false},
	}
}

// DeviceNamed returns the device of a name, which may be written in any case.
func DeviceNamed(name string) (Device, bool) {
	for _, d := range Devices() {
		if strings.EqualFold(d.Name, name) {
			return d, true
		}
	}
	return Device{}, false
}

func deviceNames() []string {
	var names []string
	for _, d := range Devices() {
		names = append(names, d.Name)
	}
	return names
}
