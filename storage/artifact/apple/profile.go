package apple

import "github.com/slipway-qa/slipway/storage/artifact"

// MaxDevices bounds the devices kept of a profile: Apple registers 100 of a kind
// for a team, and thousands for enterprise teams.
const MaxDevices = 10_000

// Types of provisioning profiles.
const (
	Development = "development"
	AdHoc       = "ad-hoc"
	Enterprise  = "enterprise"
	AppStore    = "app-store"
)

// parseProfile reads a provisioning profile: a property list in a signed
// envelope. debug is set when a debugger may attach (get-task-allow).
func parseProfile(raw []byte) (p *artifact.Provisioning, debug bool, err error) {
	content, err := signedContent(raw)
	if err != nil {
		return nil, false, err
	}
	d, err := decodePlist(content)
	if err != nil {
		return nil, false, err
	}
	entitlements := d.dict("Entitlements")
	debug = entitlements.flag("get-task-allow") || entitlements.flag("com.apple.security.get-task-allow")
	p = &artifact.Provisioning{
		Name:     d.text("Name"),
		UUID:     d.text("UUID"),
		TeamName: d.text("TeamName"),
		Expires:  d.date("ExpirationDate"),
		Devices:  d.texts("ProvisionedDevices"),
	}
	for _, key := range []string{"TeamIdentifier", "ApplicationIdentifierPrefix"} {
		if list := d.texts(key); p.Team == "" && len(list) > 0 {
			p.Team = list[0]
		}
	}
	p.Devices = p.Devices[:min(len(p.Devices), MaxDevices)]
	p.Type = profileType(debug, d.flag("ProvisionsAllDevices"), len(p.Devices) > 0)
	return p, debug, nil
}

// profileType returns the purpose of a profile: one that allows a debugger to
// attach is for development, whatever devices it names; else the devices
// decide. A profile without any is for the store, which removes it.
func profileType(debug, all, some bool) string {
	switch {
	case debug:
		return Development
	case all:
		return Enterprise
	case some:
		return AdHoc
	}
	return AppStore
}
