package device

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// Bound reports whether a provisioning profile names the devices that may install:
// those of development and ad-hoc builds do. A profile without a list of devices, such
// as an enterprise one, binds nobody.
func Bound(p *artifact.Provisioning) bool {
	return p != nil && (p.Type == "ad-hoc" || p.Type == "development") && len(p.Devices) > 0
}

// InProfile reports whether a profile lets a device install.
func InProfile(p *artifact.Provisioning, udid string) bool {
	return !Bound(p) || slices.ContainsFunc(p.Devices, func(listed string) bool { return strings.EqualFold(listed, udid) })
}
