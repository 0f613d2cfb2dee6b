package tester

import (
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// codeInvalid is the code of versions 1 and 2 for a state that a request does not fit.
const codeInvalid = 1

// problem gives the errors of the stores their status and their code.
func problem(err error) error {
	var undeliverable *announcement.UndeliverableError
	switch {
	case errors.As(err, &undeliverable):
		return &respond.Problem{Status: http.StatusConflict, Text: undeliverable.Reason}
	case errors.Is(err, distribution.ErrNotTeamAdmin):
		return &respond.Problem{Status: http.StatusForbidden, Text: distribution.ErrNotTeamAdmin.Error(), Err: err}
	case errors.Is(err, testergroup.ErrNoAccess):
		return &respond.Problem{Status: http.StatusForbidden, Text: testergroup.ErrNoAccess.Error(), Err: err}
	}
	return err
}

// legacyProblem writes a build that cannot be distributed as an invalid request: code 2,
// which versions 1 and 2 have for conflicts, is that of duplicates.
func legacyProblem(err error) error {
	var p *respond.Problem
	if errors.As(err, &p) && p.Status == http.StatusConflict {
		return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeInvalid, Text: p.Text, Err: p.Err}
	}
	return err
}
