package distribution

import (
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/setting"
)

// Codes of versions 1 and 2 that do not follow from the status.
const (
	codeInvalid      = 1
	codeTaken        = 2
	codeNoAccess     = 99
	codeMode         = 135
	codeSeveralTeams = 136
	codeLogin        = 156
)

// problem gives the errors of the store their status and their code, for all
// versions. A 409 becomes a 400 in versions 1 and 2.
func problem(err error) error {
	var known *respond.Problem
	var undeliverable *announcement.UndeliverableError
	var held *gate.HeldError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, distribution.ErrNoAccess):
		return &respond.Problem{Status: http.StatusForbidden, Legacy: codeNoAccess,
			Text: "no write access to the app: it belongs to a team of others", Err: err}
	case errors.Is(err, distribution.ErrNotTeamAdmin):
		return &respond.Problem{Status: http.StatusForbidden, Text: distribution.ErrNotTeamAdmin.Error()}
	case errors.As(err, &undeliverable):
		return conflict(undeliverable.Reason)
	case errors.As(err, &held):
		return conflict(held.Reason)
	case errors.Is(err, setting.ErrLoginRequired):
		return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeLogin,
			Text: setting.ErrLoginRequired.Error(), Err: err}
	case errors.Is(err, distribution.ErrSlugTaken):
		return &respond.Problem{Status: http.StatusConflict, Legacy: codeTaken,
			Text: distribution.ErrSlugTaken.Error(), Err: err}
	case errors.Is(err, distribution.ErrNoTeam):
		return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeInvalid,
			Text: "team_id_required: there is not exactly one team to choose", Err: err}
	case errors.Is(err, distribution.ErrSeveralTeams):
		return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeSeveralTeams,
			Text: "the package exists in several teams: pass team_id", Err: err}
	case errors.Is(err, storage.ErrConflict):
		return &respond.Problem{Status: http.StatusConflict, Legacy: codeTaken,
			Text: "the team has an app of this package and platform", Err: err}
	}
	return err
}

// conflict is a refusal for the state that a build is in.
func conflict(text string) error {
	return &respond.Problem{Status: http.StatusConflict, Text: text}
}
