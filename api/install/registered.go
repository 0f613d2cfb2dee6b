package install

import devices "github.com/slipway-qa/slipway/storage/device"

// withDevices adds what the visitor's registered devices say about a build that was
// signed for certain devices. Which of them the page is open on nobody knows: a
// browser does not say. So where none of them can install, the button steps back and
// stays within reach.
func withDevices(o actions, a asked) actions {
	if !devices.Bound(a.build.Provisioning) || a.device == android {
		return o
	}
	register := &button{"Register this device", a.register}
	var in, out []devices.Device
	for _, d := range a.registered {
		if devices.InProfile(a.build.Provisioning, d.UDID) {
			in = append(in, d)
			continue
		}
		out = append(out, d)
	}
	switch {
	case len(in) > 0:
		o.Hints = append([]string{"Your registered " + deviceName(&in[0]) + " is in the provisioning profile of this build."}, o.Hints...)
	case len(out) > 0:
		if o.Problem == nil && a.device == apple {
			o.Second = &button{"Install anyway", a.manifest}
			o.Button, o.Steps = nil, nil
		}
		if o.Problem == nil {
			o.Problem = &notice{"Your registered " + deviceName(&out[0]) + " is not in the provisioning profile",
				"This build was signed for other devices. The people who distribute the app see your device in their list and can sign the next " +
					"one for it."}
		}
		o.Register = register
	default:
		o.Register = register
	}
	if a.device == desktop {
		o.Register = nil // a computer without a UDID; the code leads the phone here
	}
	return o
}
