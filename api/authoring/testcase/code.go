package testcase

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/export"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

// targetItem is a language and framework that code can be exported for.
type targetItem struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Language    string `json:"language"`
	Framework   string `json:"framework"`
	ContentType string `json:"contentType"`
}

// codeView is a case as code.
type codeView struct {
	Target      string `json:"target"`
	FileName    string `json:"fileName"`
	ContentType string `json:"contentType"`
	Code        string `json:"code"`
}

// CodeTargets serves GET /testcases/{id}/code/targets.
func (h Cases) CodeTargets(c *gin.Context) error {
	if _, err := h.CaseOf(c); err != nil {
		return err
	}
	targets := export.Targets()
	return answer.Data(c, http.StatusOK, answer.ListOf(targets, len(targets), func(t *export.Target) targetItem {
		return targetItem{ID: t.ID, Name: t.Name, Language: t.Language, Framework: t.Framework, ContentType: t.ContentType}
	}))
}

// Code serves GET /testcases/{id}/code. Parameters: target, revisionId (default:
// the latest), download. With download, or to a client that prefers text/plain,
// the code itself is sent, as a file.
func (h Cases) Code(c *gin.Context) error {
	target, revisionID, download, err := exportQuery(c)
	if err != nil {
		return err
	}
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	view, err := h.export(c, row, target, revisionID)
	if err != nil {
		return err
	}
	if download || c.NegotiateFormat(gin.MIMEJSON, gin.MIMEPlain) == gin.MIMEPlain {
		header := c.Writer.Header()
		header.Set("Content-Disposition", respond.Attachment(view.FileName, "test.txt"))
		header.Set("X-Content-Type-Options", "nosniff")
		c.Data(http.StatusOK, "text/plain; charset=utf-8", []byte(view.Code))
		return nil
	}
	return answer.Data(c, http.StatusOK, view)
}

// exportQuery reads the parameters of an export.
func exportQuery(c *gin.Context) (target, revisionID string, download bool, err error) {
	if target = strings.TrimSpace(c.Query("target")); !targetForm(target) {
		return "", "", false, problem.Refused(http.StatusBadRequest, problem.CodeTargetInvalid,
			"target: must be the id of a target, such as "+export.JavaScriptPlaywright)
	}
	if text := strings.TrimSpace(c.Query("revisionId")); text != "" {
		var ok bool
		if revisionID, ok = request.ParseHex(text); !ok {
			return "", "", false, problem.InvalidQuery(&storage.InvalidError{Field: "revisionId", Msg: "must have 24 hexadecimal digits"})
		}
	}
	switch strings.ToLower(strings.TrimSpace(c.Query("download"))) {
	case "", "0", "false":
	case "1", "true":
		download = true
	default:
		return "", "", false, problem.InvalidQuery(&storage.InvalidError{Field: "download", Msg: "must be 1 or 0"})
	}
	return target, revisionID, download, nil
}

// targetForm reports whether a text can be the id of a target.
func targetForm(text string) bool {
	const longest = 64
	return text != "" && len(text) <= longest && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// export writes a revision of a case as code.
func (h Cases) export(c *gin.Context, row *authoring.Case, target, revisionID string) (codeView, error) {
	r, err := authoring.RevisionByID(c.Request.Context(), h.DB, row.ID, revisionID)
	if errors.Is(err, storage.ErrNotFound) {
		return codeView{}, problem.Coded(err, problem.Revision)
	}
	if err != nil {
		return codeView{}, err
	}
	if len(r.Steps) == 0 {
		return codeView{}, problem.Refused(http.StatusBadRequest, problem.CodeCaseEmpty, "the test case has no steps")
	}
	plan, err := h.planOf(c.Request.Context(), row, r)
	if err != nil {
		return codeView{}, err
	}
	of := script.Case{ID: row.ID, Name: row.Name, TestURL: row.Settings.TestURL, Steps: plan.Steps, Places: plan.Places,
		FirstMatch: !request.Or(row.Settings.Strict, true)}
	if !row.Settings.PrimaryTarget.Empty() {
		of.Capabilities = row.Settings.PrimaryTarget.Capabilities
	}
	ctx := c.Request.Context()
	data, warned, err := h.rowsOf(ctx, r)
	if err != nil {
		return codeView{}, err
	}
	of.Data = data
	if target == export.YAML {
		if of.File, err = h.fileOf(ctx, row, r, data); err != nil {
			return codeView{}, err
		}
	}
	switch {
	case warned != "" && target == export.YAML:
		answer.Warn(c, "the data rows are not in the file: %s", warned)
	case warned != "" || data != nil && !export.Repeats(target):
		answer.Warn(c, "the data rows are not exported%s: the code runs once, with {{row:user}} from the environment variable ROW_USER",
			because(warned))
	}
	if target != export.YAML && (row.Settings.BasicAuth != nil || row.Settings.ClientCertificate != nil) {
		answer.Warn(c, "runSettings.basicAuth and clientCertificate are not exported: the code gets into the site without them, or not at all")
	}
	f, ok, err := export.Export(target, of)
	var wrong *step.InvalidError
	if errors.As(err, &wrong) {
		return codeView{}, problem.Refused(http.StatusConflict, problem.CodeUnwritable, wrong.Error())
	}
	if err != nil {
		return codeView{}, fmt.Errorf("export test case %s for %s: %w", row.ID, target, err)
	}
	if !ok {
		return codeView{}, problem.Refused(http.StatusNotFound, problem.CodeTargetNotFound, "there is no target "+target)
	}
	return codeView{Target: target, FileName: f.Name, ContentType: f.ContentType, Code: f.Code}, nil
}

// because puts a reason behind what it is one of.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// planOf is a revision of a case with what stands around it and in its step groups, as these
// are now.
func (h Cases) planOf(ctx context.Context, row *authoring.Case, r *authoring.Revision) (*group.Plan, error) {
	groups, err := stepgroup.Latest(ctx, h.DB, row.OrganizationID, group.IDs(r.SetUp, r.Steps, r.TearDown))
	if err != nil {
		return nil, err
	}
	var plan group.Plan
	for _, part := range []group.Part{{Phase: step.SetUp, Steps: r.SetUp}, {Steps: r.Steps}, {Phase: step.TearDown, Steps: r.TearDown}} {
		var wrong *step.InvalidError
		var missing *group.MissingError
		switch err := plan.Add(part, groups); {
		case errors.As(err, &missing):
			return nil, problem.Refused(http.StatusNotFound, problem.CodeGroupNotFound,
				"the step group "+missing.ID+", which the test case runs, does not exist")
		case errors.As(err, &wrong):
			return nil, problem.Refused(http.StatusConflict, problem.CodeGroupInvalid, "the steps cannot be put together: "+wrong.Error())
		case err != nil:
			return nil, err
		}
	}
	return &plan, nil
}
