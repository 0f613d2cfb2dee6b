package testcase

import (
	"context"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// caseBody is what a request may change of a case. Members that are absent stay.
type caseBody struct {
	Name        *string          `json:"name"`
	Tags        request.Nullable `json:"tags"`
	RunSettings request.Nullable `json:"runSettings"`
	Steps       request.Nullable `json:"steps"`
	SetUp       request.Nullable `json:"setUp"`
	TearDown    request.Nullable `json:"tearDown"`
	Intent      *string          `json:"intent"`
	Description *string          `json:"description"`
	Data        request.Nullable `json:"data"`
	// BaseRevisionID and BaseUpdateDate are the latest revision and the lastUpdateDate that
	// the change was made from: 409 where the case has others.
	BaseRevisionID *string `json:"baseRevisionId"`
	BaseUpdateDate *string `json:"baseUpdateDate"`
	// Answers have these, and may be sent back; they are changed elsewhere.
	TeamID      *string `json:"teamId"`
	TestSuiteID *string `json:"testSuiteId"`
}

// stays refuses ids other than those of the case.
func (in *caseBody) stays(row *authoring.Case) error {
	if err := request.Unchanged("teamId", in.TeamID, &row.TeamUUID); err != nil {
		return err
	}
	return request.Unchanged("testSuiteId", in.TestSuiteID, row.SuiteID)
}

// bases reads what the change was made from.
func (in *caseBody) bases(change *authoring.CaseChange) error {
	if in.BaseRevisionID != nil {
		id, ok := request.ParseHex(*in.BaseRevisionID)
		if !ok {
			return problem.Member("baseRevisionId", "must be the id of a revision: 24 hexadecimal digits")
		}
		change.BaseRevision = id
	}
	if in.BaseUpdateDate != nil {
		at, err := time.Parse(time.RFC3339, *in.BaseUpdateDate)
		if err != nil {
			return problem.Member("baseUpdateDate", "must be a time as lastUpdateDate has it")
		}
		change.BaseUpdate = &at
	}
	return nil
}

// prose reads the texts of a revision.
func (in *caseBody) prose(change *authoring.CaseChange) error {
	for _, m := range []struct {
		name string
		text *string
	}{{"intent", in.Intent}, {"description", in.Description}} {
		if utf8.RuneCountInString(request.Or(m.text, "")) > maxIntent {
			return problem.Member(m.name, fmt.Sprintf("must have at most %d characters", maxIntent))
		}
	}
	change.Intent, change.Description = in.Intent, in.Description
	return nil
}

// clearedSettings are those of a case that was made without any.
var clearedSettings = request.DocumentOf([]byte(`{"testUrl":null,"scTunnelName":null,"target":null,"runTargets":[],` +
	`"strict":null,"healing":null,"drift":null,"trace":null,"retries":null}`))

// read reads the members into a change. The warnings are for its author. Null clears tags and settings; a case without
// steps is asked for by an empty array.
func (in *caseBody) read(check settings.Check) (change authoring.CaseChange, warnings []string, err error) {
	change.Name = in.Name
	if err := in.bases(&change); err != nil {
		return change, nil, err
	}
	if err := in.prose(&change); err != nil {
		return change, nil, err
	}
	if change.Tags, err = request.Value(in.Tags, "tags", []string{}); err != nil {
		return change, nil, err
	}
	sent := in.RunSettings.Document
	if in.RunSettings.IsNull() {
		sent = clearedSettings
	}
	if sent.Given() {
		if change.Settings, err = settings.ReadChange(sent, check); err != nil {
			return change, nil, err
		}
	}
	if in.Steps.IsNull() {
		return change, nil, problem.Member("steps", "must be an array")
	}
	if !in.Steps.Given() {
		return change, nil, nil
	}
	steps, warnings, err := handler.ReadGivenSteps("steps", in.Steps.Document)
	if err != nil {
		return change, nil, err
	}
	change.Steps = &steps
	return change, warnings, problem.Under("steps", step.Validate(steps))
}

// Update serves POST /testcases/{id}; only members that are sent are changed: name,
// steps, setUp, tearDown, data, intent, description, runSettings (of which again those that are sent), tags.
// Other steps, data and texts make a new revision. With baseRevisionId and baseUpdateDate, 409
// where the case is not in that state.
func (h Cases) Update(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	var in caseBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	change, warnings, err := in.read(h.CheckTarget)
	if err != nil {
		return err
	}
	if change.SetUp, err = h.ReadChangedSteps(c, step.SetUp, in.SetUp); err != nil {
		return err
	}
	if change.TearDown, err = h.ReadChangedSteps(c, step.TearDown, in.TearDown); err != nil {
		return err
	}
	if in.Data.Sent() {
		change.Data = &authoring.DataChange{}
		if change.Data.Rows, err = h.readData(in.Data.Document); err != nil {
			return err
		}
	}
	stored, err := h.checkChange(c.Request.Context(), auth.Organization(c), id, change)
	if err != nil {
		return err
	}
	for _, text := range warnings {
		answer.Warn(c, "%s", text)
	}
	settings.WarnOfBuildName(c, in.RunSettings.Document, stored.Settings.LastBuildName)
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		row, err := authoring.UpdateCase(ctx, tx, w, id, change)
		if err != nil {
			return nil, err
		}
		return row, in.stays(row)
	})
}

// edit changes a case and writes it in full.
func (h Cases) edit(c *gin.Context, status int, do func(context.Context, *storage.Tx, account.Writer) (*authoring.Case, error)) error {
	row, err := handler.Changed(h.Base, c, do)
	if err != nil {
		return err
	}
	return h.show(c, status, row)
}

// checkChange checks what the stored case, which it returns, will be as a whole: the bounds of its settings,
// tunnels, and the addresses that it opens. That may take seconds of DNS, so it is not
// done in the transaction; a run checks the addresses again.
func (h Cases) checkChange(ctx context.Context, organization int64, id string, change authoring.CaseChange) (*authoring.Case, error) {
	row, err := authoring.CaseByID(ctx, h.DB, organization, id)
	if err != nil || change.Settings == nil && change.Steps == nil {
		return row, err
	}
	n := authoring.NewCase{Name: row.Name, Settings: row.Settings}
	if change.Settings != nil {
		n.Settings = change.Settings(row.Settings)
		if err := problem.Under(settings.Path, capability.CheckSettings(&n.Settings)); err != nil {
			return nil, err
		}
		if err := h.checkSharedTunnel(&n); err != nil {
			return nil, err
		}
	}
	if err := problem.Under("steps", capability.CheckPlatform(request.Or(change.Steps, nil), n.Settings.Targets())); err != nil {
		return nil, err
	}
	return row, h.CheckAddresses(ctx, settings.Path+".testUrl", n.Settings.TestURL, "steps", request.Or(change.Steps, nil))
}

// Restore serves POST /testcases/{id}/revisions/{revision}/restore: a new revision
// that is equal to an earlier one.
func (h Cases) Restore(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	revisionID, err := request.HexParam(c, "revisionId")
	if err != nil {
		return err
	}
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		return authoring.RestoreRevision(ctx, tx, w, id, revisionID)
	})
}

// Duplicate serves POST /testcases/{id}/duplicate: a new case with the settings, the
// tags and the latest revision of another one. Members: name, testSuiteId, teamId.
func (h Cases) Duplicate(c *gin.Context) error {
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Name        *string `json:"name"`
		TestSuiteID *string `json:"testSuiteId"`
		TeamID      *string `json:"teamId"`
	}
	if err := h.Read(c, &in); err != nil {
		return err
	}
	n := authoring.NewCase{Name: request.Or(in.Name, copyName(row.Name))}
	if n.Team, err = request.OptionalUUID("teamId", in.TeamID); err != nil {
		return err
	}
	if n.SuiteID, err = request.OptionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return err
	}
	return h.edit(c, http.StatusCreated, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		return authoring.DuplicateCase(ctx, tx, w, row.ID, n)
	})
}

// copyName is the name of a copy that was given none.
func copyName(name string) string {
	const of = "Copy of %s"
	if most := authoring.MaxName - utf8.RuneCountInString(fmt.Sprintf(of, "")); utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most])
	}
	return fmt.Sprintf(of, name)
}
