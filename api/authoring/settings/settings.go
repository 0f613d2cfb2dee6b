// Package settings reads and shows how test cases run: addresses, targets, tunnels and modes.
//
// A body has run settings in the form of a generation, with one target, or in the form that
// answers have. A change is read as a function from the stored settings to the new ones: members
// that are absent stay, and null clears. Targets are checked one by one as they are read, with
// their paths, and the settings as a whole by package step when all are known.
package settings

import (
	"fmt"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Body are the run settings of a body: in the form of generate (target)
// or in the form that answers have (primaryTarget and runTargets).
type Body struct {
	TestURL       request.Nullable `json:"testUrl"`
	SCTunnelName  request.Nullable `json:"scTunnelName"`
	Target        request.Nullable `json:"target"`
	PrimaryTarget request.Nullable `json:"primaryTarget"`
	RunTargets    request.Nullable `json:"runTargets"`
	Strict        request.Nullable `json:"strict"`
	Healing       request.Nullable `json:"healing"`
	Drift         request.Nullable `json:"drift"`
	Trace         request.Nullable `json:"trace"`
	Retries       request.Nullable `json:"retries"`
	// BasicAuth and ClientCertificate are replaced whole; null: none.
	BasicAuth         request.Nullable `json:"basicAuth"`
	ClientCertificate request.Nullable `json:"clientCertificate"`
	// LastBuildName is in answers, which may be sent back; runs alone change it.
	LastBuildName request.Nullable `json:"lastBuildName"`
}

// targetBody is a target of a body.
type targetBody struct {
	Capabilities capability.Capabilities `json:"capabilities"`
	IsRDC        bool                    `json:"isRdc"`
}

// Check checks a target; its error has the path below the target.
type Check func(*capability.Target) error

const (
	// Path is the member that has run settings.
	Path = "runSettings"
	// TargetPath is the member of it that has the one target.
	TargetPath = Path + ".target"
)

// Read reads and checks the run settings of a new case. target.capabilities
// becomes both the primary target and the only one to run on; without any target the
// case can be run on targets that the run names.
func Read(d request.Document, check Check) (s capability.RunSettings, err error) {
	if !d.Given() {
		return s, nil
	}
	change, err := ReadChange(d, check)
	if err != nil {
		return s, err
	}
	s = change(s)
	return s, problem.Under(Path, capability.CheckSettings(&s))
}

// settingsChange is what a body says of run settings. A member that was sent as null
// clears what is stored, an absent one does not; values are nil when they are absent.
type settingsChange struct {
	body                                   Body
	testURL, tunnel, healing, drift, trace *string
	strict                                 *bool
	retries                                *int // AsWider: null
	primary                                *capability.Target
	targets                                []capability.Target
	access                                 capability.Access
}

// ReadChange reads run settings that are put over those of a case. The caller
// checks the result.
func ReadChange(d request.Document, check Check) (func(capability.RunSettings) capability.RunSettings, error) {
	var in settingsChange
	if err := d.Decode(Path, &in.body); err != nil {
		return nil, err
	}
	if err := in.readValues(); err != nil {
		return nil, err
	}
	return in.over, in.readTargets(check)
}

// readValues reads everything but the targets.
func (in *settingsChange) readValues() (err error) {
	if in.testURL, err = request.Value(in.body.TestURL, Path+".testUrl", ""); err != nil {
		return err
	}
	if in.tunnel, err = request.Value(in.body.SCTunnelName, Path+".scTunnelName", ""); err != nil {
		return err
	}
	if _, err = request.Value(in.body.LastBuildName, Path+".lastBuildName", ""); err != nil {
		return err
	}
	if in.strict, err = request.Value(in.body.Strict, Path+".strict", true); err != nil {
		return err
	}
	if in.healing, err = request.Value(in.body.Healing, Path+".healing", ""); err != nil {
		return err
	}
	if in.drift, err = request.Value(in.body.Drift, Path+".drift", ""); err != nil {
		return err
	}
	if in.trace, err = request.Value(in.body.Trace, Path+".trace", ""); err != nil {
		return err
	}
	if err := authoring.CheckTrace(Path+".trace", request.Or(in.trace, "")); err != nil {
		return err
	}
	if in.retries, err = request.Value(in.body.Retries, Path+".retries", AsWider); err != nil {
		return err
	}
	if err := in.readAccess(); err != nil {
		return err
	}
	if err := authoring.CheckDrift(Path+".drift", request.Or(in.drift, "")); err != nil {
		return err
	}
	return authoring.CheckHealing(Path+".healing", request.Or(in.healing, ""))
}

// AsWider is what null stands for where a number of retries is asked for: as the next wider, the
// suite or the organization, has it.
const AsWider = authoring.AsOrganization

// Retries returns a number of retries that was read, nil for null and where none was sent.
func Retries(n *int) *int {
	if n == nil || *n == AsWider {
		return nil
	}
	return n
}

// WarnOfBuildName says that a name of the last build, in settings that have been read,
// changes nothing, where it is another than the stored one.
func WarnOfBuildName(c *gin.Context, sent request.Document, stored string) {
	var in Body
	if !sent.Given() || sent.Decode(Path, &in) != nil {
		return
	}
	if name, err := request.Value(in.LastBuildName, Path, stored); err == nil && request.Or(name, stored) != stored {
		answer.Warn(c, "%s.lastBuildName is changed by runs alone and was ignored", Path)
	}
}

// readTargets reads the targets that are given.
func (in *settingsChange) readTargets(check Check) (err error) {
	if in.body.Target.Given() {
		if in.body.PrimaryTarget.Given() || in.body.RunTargets.Given() {
			return problem.Member(Path+".target", "does not go with primaryTarget and runTargets")
		}
		in.primary, err = ReadTarget(Path+".target", in.body.Target.Document, check)
		return err
	}
	if in.body.PrimaryTarget.Given() {
		if in.primary, err = ReadTarget(Path+".primaryTarget", in.body.PrimaryTarget.Document, check); err != nil {
			return err
		}
	}
	if in.body.RunTargets.Given() {
		in.targets, err = ReadTargets(Path+".runTargets", in.body.RunTargets.Document, check)
	}
	return err
}

// over returns stored settings with the members that were sent.
func (in *settingsChange) over(s capability.RunSettings) capability.RunSettings {
	s.TestURL = request.Or(in.testURL, s.TestURL)
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
	s.Healing, s.Drift, s.Trace = request.Or(in.healing, s.Healing), request.Or(in.drift, s.Drift), request.Or(in.trace, s.Trace)
	if in.retries != nil {
		s.Retries = Retries(in.retries)
	}
	if in.body.BasicAuth.Sent() {
		s.BasicAuth = in.access.BasicAuth
	}
	if in.body.ClientCertificate.Sent() {
		s.ClientCertificate = in.access.ClientCertificate
	}
	in.overTargets(&s)
	return s
}

// readAccess reads what the site of the test asks for.
func (in *settingsChange) readAccess() error {
	if in.body.BasicAuth.Given() {
		in.access.BasicAuth = &capability.BasicAuth{}
		if err := in.body.BasicAuth.Decode(Path+".basicAuth", in.access.BasicAuth); err != nil {
			return err
		}
	}
	if !in.body.ClientCertificate.Given() {
		return nil
	}
	in.access.ClientCertificate = &capability.ClientCertificate{}
	return in.body.ClientCertificate.Decode(Path+".clientCertificate", in.access.ClientCertificate)
}

// overTargets changes the targets. Those to run on follow the primary one for as long
// as they are nothing else.
func (in *settingsChange) overTargets(s *capability.RunSettings) {
	follow := len(s.RunTargets) == 0 || len(s.RunTargets) == 1 && reflect.DeepEqual(&s.RunTargets[0], s.PrimaryTarget)
	if in.body.PrimaryTarget.Sent() || in.body.Target.Sent() {
		s.PrimaryTarget = in.primary
		if follow || in.body.Target.Sent() {
			s.RunTargets = nil
		}
		if s.RunTargets == nil && in.primary != nil {
			s.RunTargets = []capability.Target{*in.primary}
		}
	}
	if !in.body.RunTargets.Sent() {
		return
	}
	if s.RunTargets = in.targets; !in.body.RunTargets.Given() && s.PrimaryTarget != nil {
		s.RunTargets = []capability.Target{*s.PrimaryTarget} // null is what an absent member is
	}
	if s.PrimaryTarget == nil && len(in.targets) > 0 {
		s.PrimaryTarget = &in.targets[0]
	}
}

// ReadTargets reads and checks an array of targets, of which it leaves out empty ones.
func ReadTargets(path string, d request.Document, check Check) ([]capability.Target, error) {
	all, err := d.Elements(path, authoring.MaxTargets)
	if err != nil {
		return nil, err
	}
	targets := make([]capability.Target, 0, len(all))
	for i, element := range all {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !element.Given() {
			return nil, problem.Member(at, "must be an object")
		}
		t, err := ReadTarget(at, element, check)
		if err != nil {
			return nil, err
		}
		if t != nil {
			targets = append(targets, *t)
		}
	}
	return targets, nil
}

// ReadTarget reads and checks a target; nil when it has no capabilities, which is how a
// case without a target is shown.
func ReadTarget(path string, d request.Document, check Check) (*capability.Target, error) {
	if !d.Given() {
		return nil, nil
	}
	var in targetBody
	if err := d.Decode(path, &in); err != nil || len(in.Capabilities) == 0 {
		return nil, err
	}
	t := &capability.Target{Capabilities: in.Capabilities, IsRDC: in.IsRDC}
	return t, problem.Under(path, check(t))
}

// ReadForGeneration reads run settings with one target.
func ReadForGeneration(d request.Document, check Check) (s capability.RunSettings, err error) {
	var in settingsChange
	if err := d.Decode(Path, &in.body); err != nil {
		return s, err
	}
	if in.body.PrimaryTarget.Sent() || in.body.RunTargets.Sent() {
		return s, problem.Member(Path, "names what a generation runs on by target, not by primaryTarget and runTargets")
	}
	if err := in.readValues(); err != nil {
		return s, err
	}
	if err := in.readTargets(check); err != nil {
		return s, err
	}
	s = in.over(s)
	switch {
	case s.PrimaryTarget == nil:
		return s, problem.Member(TargetPath+".capabilities", "is required, and must name what to run on, such as browserName")
	case s.TestURL == "" && !capability.AppTarget(s.PrimaryTarget.Capabilities):
		return s, problem.Member(Path+".testUrl", "is required for a test of a web site")
	}
	return s, problem.Under(Path, capability.CheckSettings(&s))
}
