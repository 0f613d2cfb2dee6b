package authoring

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// runBody is what a request may say of a run.
type runBody struct {
	BuildName    *string  `json:"buildName"`
	Targets      document `json:"targets"`
	SCTunnelName nullable `json:"scTunnelName"`
}

// build is the name of the build, by default as much of the case's name as fits.
func (in *runBody) build(caseName string) (string, error) {
	given := strings.TrimSpace(or(in.BuildName, ""))
	if given == "" {
		if runes := []rune(caseName); len(runes) > authoring.MaxBuildName {
			return strings.TrimSpace(string(runes[:authoring.MaxBuildName])), nil
		}
		return caseName, nil
	}
	if utf8.RuneCountInString(given) > authoring.MaxBuildName {
		return "", member("buildName", fmt.Sprintf("must have at most %d characters", authoring.MaxBuildName))
	}
	return given, nil
}

// targets are those of the request; without any, as with empty ones alone, those of the
// case.
func (in *runBody) targets(s *step.RunSettings, check targetCheck) ([]step.Target, error) {
	if in.Targets.given() {
		targets, err := readTargets("targets", in.Targets, check)
		if err != nil || len(targets) > 0 {
			return targets, err
		}
	}
	if targets := s.Targets(); len(targets) > 0 {
		return targets, nil
	}
	return nil, refused(http.StatusBadRequest, codeNoTargets, "neither the request nor the test case names a target to run on")
}

// tunnel is the one of the request, else the case's; nil leaves it to the targets.
// null asks for none, whatever the case and the targets name.
func (in *runBody) tunnel(s *step.RunSettings) (*string, error) {
	asked, err := valueOf(in.SCTunnelName, "scTunnelName", "")
	if err != nil || asked != nil {
		return asked, err
	}
	if or(s.SCTunnelName, "") == "" {
		return nil, nil
	}
	return s.SCTunnelName, nil
}
