package group

import (
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// Codes of versions 1 and 2 that do not follow from the status.
const (
	codeInvalid  = 1
	codeNoAccess = 99
)

// problem gives the errors of the stores their status and their code, for all
// versions. A 409 becomes a 400 in versions 1 and 2.
func problem(err error) error {
	var known *respond.Problem
	var inUse *account.TeamInUseError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, testergroup.ErrNoAccess):
		return &respond.Problem{Status: http.StatusForbidden, Text: testergroup.ErrNoAccess.Error(), Err: err}
	case errors.Is(err, account.ErrTeamAccess):
		return &respond.Problem{Status: http.StatusForbidden, Text: account.ErrTeamAccess.Error(), Err: err}
	case errors.Is(err, distribution.ErrNoAccess):
		return &respond.Problem{Status: http.StatusForbidden, Legacy: codeNoAccess,
			Text: "no write access to the app: it belongs to a team of others", Err: err}
	case errors.Is(err, distribution.ErrNoTeam):
		return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeInvalid,
			Text: "team_id_required: there is not exactly one team to choose", Err: err}
	case errors.As(err, &inUse):
		return &respond.Problem{Status: http.StatusConflict, Text: inUse.Error(), Err: err}
	case errors.Is(err, account.ErrLastTeam):
		return &respond.Problem{Status: http.StatusConflict, Text: "this is the organization's only team", Err: err}
	case errors.Is(err, storage.ErrConflict):
		return &respond.Problem{Status: http.StatusConflict, Text: "name: is taken in the organization", Err: err}
	}
	return err
}
