package authoring

import (
	"context"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// caseBody is what a request may change of a case. Members that are absent stay.
type caseBody struct {
	Name        *string  `json:"name"`
	Tags        nullable `json:"tags"`
	RunSettings nullable `json:"runSettings"`
	Steps       nullable `json:"steps"`
	SetUp       nullable `json:"setUp"`
	TearDown    nullable `json:"tearDown"`
	Intent      *string  `json:"intent"`
	Description *string  `json:"description"`
	Data        nullable `json:"data"`
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
	if err := unchanged("teamId", in.TeamID, &row.TeamUUID); err != nil {
		return err
	}
	return unchanged("testSuiteId", in.TestSuiteID, row.SuiteID)
}

// unchanged refuses an id of the body that is another than it is.
func unchanged(path string, sent *string, is *uuid.UUID) error {
	id, err := optionalUUID(path, sent)
	if err != nil || id == nil {
		return err
	}
	if is == nil || *id != *is {
		return member(path, "cannot be changed by this request")
	}
	return nil
}

// bases reads what the change was made from.
func (in *caseBody) bases(change *authoring.CaseChange) error {
	if in.BaseRevisionID != nil {
		id, ok := parseHex(*in.BaseRevisionID)
		if !ok {
			return member("baseRevisionId", "must be the id of a revision: 24 hexadecimal digits")
		}
		change.BaseRevision = id
	}
	if in.BaseUpdateDate != nil {
		at, err := time.Parse(time.RFC3339, *in.BaseUpdateDate)
		if err != nil {
			return member("baseUpdateDate", "must be a time as lastUpdateDate has it")
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
		if utf8.RuneCountInString(or(m.text, "")) > maxIntent {
			return member(m.name, fmt.Sprintf("must have at most %d characters", maxIntent))
		}
	}
	change.Intent, change.Description = in.Intent, in.Description
	return nil
}

// clearedSettings are those of a case that was made without any.
var clearedSettings = document{[]byte(`{"testUrl":null,"scTunnelName":null,"target":null,"runTargets":[],"strict":null,"healing":null,"drift":null,"trace":null,"retries":null}`)}

// read reads the members into a change. The warnings are for its author. Null clears tags and settings; a case without
// steps is asked for by an empty array.
func (in *caseBody) read(check targetCheck) (change authoring.CaseChange, warnings []string, err error) {
	change.Name = in.Name
	if err := in.bases(&change); err != nil {
		return change, nil, err
	}
	if err := in.prose(&change); err != nil {
		return change, nil, err
	}
	if change.Tags, err = valueOf(in.Tags, "tags", []string{}); err != nil {
		return change, nil, err
	}
	settings := in.RunSettings.document
	if in.RunSettings.null {
		settings = clearedSettings
	}
	if settings.given() {
		if change.Settings, err = readSettingsChange(settings, check); err != nil {
			return change, nil, err
		}
	}
	if in.Steps.null {
		return change, nil, member("steps", "must be an array")
	}
	if !in.Steps.given() {
		return change, nil, nil
	}
	steps, warnings, err := readGivenSteps("steps", in.Steps.document)
	if err != nil {
		return change, nil, err
	}
	change.Steps = &steps
	return change, warnings, under("steps", step.Validate(steps))
}

// update serves POST /testcases/{id}; only members that are sent are changed: name,
// steps, setUp, tearDown, data, intent, description, runSettings (of which again those that are sent), tags.
// Other steps, data and texts make a new revision. With baseRevisionId and baseUpdateDate, 409
// where the case is not in that state.
func (h cases) update(c *gin.Context) error {
	id, err := caseID(c)
	if err != nil {
		return err
	}
	var in caseBody
	if err := read(c, &in); err != nil {
		return err
	}
	change, warnings, err := in.read(h.checkTarget)
	if err != nil {
		return err
	}
	if change.SetUp, err = h.changedList(c, step.SetUp, in.SetUp); err != nil {
		return err
	}
	if change.TearDown, err = h.changedList(c, step.TearDown, in.TearDown); err != nil {
		return err
	}
	if in.Data.sent() {
		change.Data = &authoring.DataChange{}
		if change.Data.Rows, err = h.readData(in.Data.document); err != nil {
			return err
		}
	}
	stored, err := h.checkChange(c.Request.Context(), auth.Organization(c), id, change)
	if err != nil {
		return err
	}
	for _, text := range warnings {
		warn(c, "%s", text)
	}
	warnOfBuildName(c, in.RunSettings.document, stored.Settings.LastBuildName)
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		row, err := authoring.UpdateCase(ctx, tx, w, id, change)
		if err != nil {
			return nil, err
		}
		return row, in.stays(row)
	})
}

// edit changes a case and writes it in full.
func (h cases) edit(c *gin.Context, status int, do func(context.Context, *storage.Tx, account.Writer) (*authoring.Case, error)) error {
	var row *authoring.Case
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = do(ctx, tx, w)
		return err
	})
	if err != nil {
		return err
	}
	return h.show(c, status, row)
}

// checkChange checks what the stored case, which it returns, will be as a whole: the bounds of its settings,
// tunnels, and the addresses that it opens. That may take seconds of DNS, so it is not
// done in the transaction; a run checks the addresses again.
func (h *room) checkChange(ctx context.Context, organization int64, id string, change authoring.CaseChange) (*authoring.Case, error) {
	row, err := authoring.CaseByID(ctx, h.cfg.DB, organization, id)
	if err != nil || change.Settings == nil && change.Steps == nil {
		return row, err
	}
	n := authoring.NewCase{Name: row.Name, Settings: row.Settings}
	if change.Settings != nil {
		n.Settings = change.Settings(row.Settings)
		if err := under(settingsPath, step.CheckSettings(&n.Settings)); err != nil {
			return nil, err
		}
		if err := h.checkSharedTunnel(&n); err != nil {
			return nil, err
		}
	}
	if err := under("steps", step.CheckPlatform(or(change.Steps, nil), n.Settings.Targets())); err != nil {
		return nil, err
	}
	return row, h.checkAddresses(ctx, settingsPath+".testUrl", n.Settings.TestURL, "steps", or(change.Steps, nil))
}

// restore serves POST /testcases/{id}/revisions/{revision}/restore: a new revision
// that is equal to an earlier one.
func (h cases) restore(c *gin.Context) error {
	id, err := caseID(c)
	if err != nil {
		return err
	}
	revisionID, err := hexParam(c, "revisionId")
	if err != nil {
		return err
	}
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		return authoring.RestoreRevision(ctx, tx, w, id, revisionID)
	})
}

// duplicate serves POST /testcases/{id}/duplicate: a new case with the settings, the
// tags and the latest revision of another one. Members: name, testSuiteId, teamId.
func (h cases) duplicate(c *gin.Context) error {
	row, err := h.caseOf(c)
	if err != nil {
		return err
	}
	var in struct {
		Name        *string `json:"name"`
		TestSuiteID *string `json:"testSuiteId"`
		TeamID      *string `json:"teamId"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	n := authoring.NewCase{Name: or(in.Name, copyName(row.Name))}
	if n.Team, err = optionalUUID("teamId", in.TeamID); err != nil {
		return err
	}
	if n.SuiteID, err = optionalUUID("testSuiteId", in.TestSuiteID); err != nil {
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
