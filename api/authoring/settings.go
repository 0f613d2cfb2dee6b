package authoring

import (
	"fmt"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// settingsBody are the run settings of a body: in the form of generate (target)
// or in the form that answers have (primaryTarget and runTargets).
type settingsBody struct {
	TestURL       nullable `json:"testUrl"`
	SCTunnelName  nullable `json:"scTunnelName"`
	Target        nullable `json:"target"`
	PrimaryTarget nullable `json:"primaryTarget"`
	RunTargets    nullable `json:"runTargets"`
	Strict        nullable `json:"strict"`
	Healing       nullable `json:"healing"`
	Drift         nullable `json:"drift"`
	Trace         nullable `json:"trace"`
	Retries       nullable `json:"retries"`
	// BasicAuth and ClientCertificate are replaced whole; null: none.
	BasicAuth         nullable `json:"basicAuth"`
	ClientCertificate nullable `json:"clientCertificate"`
	// LastBuildName is in answers, which may be sent back; runs alone change it.
	LastBuildName nullable `json:"lastBuildName"`
}

// targetBody is a target of a body.
type targetBody struct {
	Capabilities step.Capabilities `json:"capabilities"`
	IsRDC        bool              `json:"isRdc"`
}

// targetCheck checks a target; its error has the path below the target.
type targetCheck func(*step.Target) error

const settingsPath = "runSettings"

// readSettings reads and checks the run settings of a new case. target.capabilities
// becomes both the primary target and the only one to run on; without any target the
// case can be run on targets that the run names.
func readSettings(d document, check targetCheck) (s step.RunSettings, err error) {
	if !d.given() {
		return s, nil
	}
	change, err := readSettingsChange(d, check)
	if err != nil {
		return s, err
	}
	s = change(s)
	return s, under(settingsPath, step.CheckSettings(&s))
}

// settingsChange is what a body says of run settings. A member that was sent as null
// clears what is stored, an absent one does not; values are nil when they are absent.
type settingsChange struct {
	body                                   settingsBody
	testURL, tunnel, healing, drift, trace *string
	strict                                 *bool
	retries                                *int // asWider: null
	primary                                *step.Target
	targets                                []step.Target
	access                                 step.Access
}

// readSettingsChange reads run settings that are put over those of a case. The caller
// checks the result.
func readSettingsChange(d document, check targetCheck) (func(step.RunSettings) step.RunSettings, error) {
	var in settingsChange
	if err := d.decode(settingsPath, &in.body); err != nil {
		return nil, err
	}
	if err := in.readValues(); err != nil {
		return nil, err
	}
	return in.over, in.readTargets(check)
}

// readValues reads everything but the targets.
func (in *settingsChange) readValues() (err error) {
	if in.testURL, err = valueOf(in.body.TestURL, settingsPath+".testUrl", ""); err != nil {
		return err
	}
	if in.tunnel, err = valueOf(in.body.SCTunnelName, settingsPath+".scTunnelName", ""); err != nil {
		return err
	}
	if _, err = valueOf(in.body.LastBuildName, settingsPath+".lastBuildName", ""); err != nil {
		return err
	}
	if in.strict, err = valueOf(in.body.Strict, settingsPath+".strict", true); err != nil {
		return err
	}
	if in.healing, err = valueOf(in.body.Healing, settingsPath+".healing", ""); err != nil {
		return err
	}
	if in.drift, err = valueOf(in.body.Drift, settingsPath+".drift", ""); err != nil {
		return err
	}
	if in.trace, err = valueOf(in.body.Trace, settingsPath+".trace", ""); err != nil {
		return err
	}
	if err := authoring.CheckTrace(settingsPath+".trace", or(in.trace, "")); err != nil {
		return err
	}
	if in.retries, err = valueOf(in.body.Retries, settingsPath+".retries", asWider); err != nil {
		return err
	}
	if err := in.readAccess(); err != nil {
		return err
	}
	if err := authoring.CheckDrift(settingsPath+".drift", or(in.drift, "")); err != nil {
		return err
	}
	return authoring.CheckHealing(settingsPath+".healing", or(in.healing, ""))
}

// asWider is what null stands for where a number of retries is asked for: as the next wider, the
// suite or the organization, has it.
const asWider = authoring.AsOrganization

// retriesOf returns a number of retries that was read, nil for null and where none was sent.
func retriesOf(n *int) *int {
	if n == nil || *n == asWider {
		return nil
	}
	return n
}

// warnOfBuildName says that a name of the last build, in settings that have been read,
// changes nothing, where it is another than the stored one.
func warnOfBuildName(c *gin.Context, settings document, stored string) {
	var in settingsBody
	if !settings.given() || settings.decode(settingsPath, &in) != nil {
		return
	}
	if name, err := valueOf(in.LastBuildName, settingsPath, stored); err == nil && or(name, stored) != stored {
		warn(c, "%s.lastBuildName is changed by runs alone and was ignored", settingsPath)
	}
}

// readTargets reads the targets that are given.
func (in *settingsChange) readTargets(check targetCheck) (err error) {
	if in.body.Target.given() {
		if in.body.PrimaryTarget.given() || in.body.RunTargets.given() {
			return member(settingsPath+".target", "does not go with primaryTarget and runTargets")
		}
		in.primary, err = readTarget(settingsPath+".target", in.body.Target.document, check)
		return err
	}
	if in.body.PrimaryTarget.given() {
		if in.primary, err = readTarget(settingsPath+".primaryTarget", in.body.PrimaryTarget.document, check); err != nil {
			return err
		}
	}
	if in.body.RunTargets.given() {
		in.targets, err = readTargets(settingsPath+".runTargets", in.body.RunTargets.document, check)
	}
	return err
}

// over returns stored settings with the members that were sent.
func (in *settingsChange) over(s step.RunSettings) step.RunSettings {
	s.TestURL = or(in.testURL, s.TestURL)
	if in.tunnel != nil {
		if s.SCTunnelName = in.tunnel; *in.tunnel == "" {
			s.SCTunnelName = nil
		}
	}
	if in.strict != nil {
		if s.Strict = in.strict; *in.strict {
			s.Strict = nil
		}
	}
	s.Healing, s.Drift, s.Trace = or(in.healing, s.Healing), or(in.drift, s.Drift), or(in.trace, s.Trace)
	if in.retries != nil {
		s.Retries = retriesOf(in.retries)
	}
	if in.body.BasicAuth.sent() {
		s.BasicAuth = in.access.BasicAuth
	}
	if in.body.ClientCertificate.sent() {
		s.ClientCertificate = in.access.ClientCertificate
	}
	in.overTargets(&s)
	return s
}

// readAccess reads what the site of the test asks for.
func (in *settingsChange) readAccess() error {
	if in.body.BasicAuth.given() {
		in.access.BasicAuth = &step.BasicAuth{}
		if err := in.body.BasicAuth.decode(settingsPath+".basicAuth", in.access.BasicAuth); err != nil {
			return err
		}
	}
	if !in.body.ClientCertificate.given() {
		return nil
	}
	in.access.ClientCertificate = &step.ClientCertificate{}
	return in.body.ClientCertificate.decode(settingsPath+".clientCertificate", in.access.ClientCertificate)
}

// overTargets changes the targets. Those to run on follow the primary one for as long
// as they are nothing else.
func (in *settingsChange) overTargets(s *step.RunSettings) {
	follow := len(s.RunTargets) == 0 || len(s.RunTargets) == 1 && reflect.DeepEqual(&s.RunTargets[0], s.PrimaryTarget)
	if in.body.PrimaryTarget.sent() || in.body.Target.sent() {
		s.PrimaryTarget = in.primary
		if follow || in.body.Target.sent() {
			s.RunTargets = nil
		}
		if s.RunTargets == nil && in.primary != nil {
			s.RunTargets = []step.Target{*in.primary}
		}
	}
	if !in.body.RunTargets.sent() {
		return
	}
	if s.RunTargets = in.targets; !in.body.RunTargets.given() && s.PrimaryTarget != nil {
		s.RunTargets = []step.Target{*s.PrimaryTarget} // null is what an absent member is
	}
	if s.PrimaryTarget == nil && len(in.targets) > 0 {
		s.PrimaryTarget = &in.targets[0]
	}
}

// readTargets reads and checks an array of targets, of which it leaves out empty ones.
func readTargets(path string, d document, check targetCheck) ([]step.Target, error) {
	all, err := d.elements(path, authoring.MaxTargets)
	if err != nil {
		return nil, err
	}
	targets := make([]step.Target, 0, len(all))
	for i, element := range all {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !element.given() {
			return nil, member(at, "must be an object")
		}
		t, err := readTarget(at, element, check)
		if err != nil {
			return nil, err
		}
		if t != nil {
			targets = append(targets, *t)
		}
	}
	return targets, nil
}

// readTarget reads and checks a target; nil when it has no capabilities, which is how a
// case without a target is shown.
func readTarget(path string, d document, check targetCheck) (*step.Target, error) {
	if !d.given() {
		return nil, nil
	}
	var in targetBody
	if err := d.decode(path, &in); err != nil || len(in.Capabilities) == 0 {
		return nil, err
	}
	t := &step.Target{Capabilities: in.Capabilities, IsRDC: in.IsRDC}
	return t, under(path, check(t))
}
