package testcase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// fileOf is a revision of a case as slipway-ci pull writes it into a new file.
func (h Cases) fileOf(ctx context.Context, row *authoring.Case, r *authoring.Revision, d *testfile.Data) (f *testfile.Case, err error) {
	s := &row.Settings
	f = &testfile.Case{ID: row.ID, Name: row.Name, Tags: row.Tags, URL: s.TestURL, Tunnel: request.Or(s.SCTunnelName, ""),
		FirstMatch: !request.Or(s.Strict, true), Healing: s.Healing, Drift: s.Drift, Trace: s.Trace, Retries: s.Retries,
		Intent: r.Intent, Description: r.Description, Data: d}
	if f.Suite, err = h.suiteLabel(ctx, row); err != nil {
		return nil, err
	}
	view := settings.ViewOf(s)
	if b := s.BasicAuth; b != nil {
		f.BasicAuth = &testfile.Access{b.User, b.Password}
	}
	if b := s.ClientCertificate; b != nil {
		f.ClientCertificate = &testfile.Access{b.Certificate, b.Key}
	}
	for i := range view.RunTargets {
		t, err := fileTarget(&view.RunTargets[i])
		if err != nil {
			return nil, err
		}
		f.Targets = append(f.Targets, t)
	}
	if len(view.PrimaryTarget.Capabilities) > 0 {
		t, err := fileTarget(&view.PrimaryTarget)
		if err != nil {
			return nil, err
		}
		f.Primary = &t
	}
	for _, list := range []struct {
		into *[]testfile.Step
		of   []step.Step
	}{{&f.SetUp, r.SetUp}, {&f.Steps, r.Steps}, {&f.TearDown, r.TearDown}} {
		if *list.into, err = h.fileSteps(list.of); err != nil {
			return nil, err
		}
	}
	f.Revision = f.Stamp(r.ID)
	return f, nil
}

func fileTarget(t *settings.TargetView) (testfile.Target, error) {
	capabilities, err := json.Marshal(t.Capabilities)
	return testfile.Target{Capabilities: capabilities, IsRDC: t.IsRDC}, err
}

func (h Cases) fileSteps(list []step.Step) ([]testfile.Step, error) {
	var steps []testfile.Step
	for i := range list {
		text, err := json.Marshal(h.ViewStep(&list[i]))
		if err != nil {
			return nil, fmt.Errorf("write a step: %w", err)
		}
		s, err := testfile.StepOf(text)
		if err != nil {
			return nil, err
		}
		s.ID = ""
		steps = append(steps, s)
	}
	return steps, nil
}

// rowsOf returns the data rows of a revision where an export may have them; nil where it may
// not or there are none. warned says why not.
func (h Cases) rowsOf(ctx context.Context, r *authoring.Revision) (d *testfile.Data, warned string, err error) {
	if r.DataID == nil {
		return nil, "", nil
	}
	header, err := rows.HeaderOf(ctx, h.DB, *r.DataID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, "the data of the revision are gone", nil
	case err != nil:
		return nil, "", err
	case len(header.Secret) > 0:
		return nil, "they have secret columns, which stay here", nil
	case header.Count > testfile.MostInline:
		return nil, fmt.Sprintf("an export has at most %d of them", testfile.MostInline), nil
	}
	d = &testfile.Data{Columns: header.Columns, RowName: header.RowName}
	if d.Rows, err = rows.List(ctx, h.DB, *r.DataID, 0, testfile.MostInline); err != nil {
		return nil, "", err
	}
	if d.RowName == d.Columns[0] {
		d.RowName = ""
	}
	return d, "", nil
}

// suiteLabel is how a file names the suite of a case: by its name, or by its id where several
// have the name; "" for a case of none.
func (h Cases) suiteLabel(ctx context.Context, row *authoring.Case) (string, error) {
	if row.SuiteID == nil {
		return "", nil
	}
	id := row.SuiteID.String()
	s, err := authoring.SuiteByID(ctx, h.DB, row.OrganizationID, *row.SuiteID)
	if err != nil {
		return "", err
	}
	list, total, err := authoring.Suites(ctx, h.DB, authoring.SuiteFilter{OrganizationID: row.OrganizationID, Search: s.Name,
		Page: storage.FirstPage()})
	if err != nil || total > len(list) {
		return id, err
	}
	same := 0
	for i := range list {
		if list[i].Name == s.Name {
			same++
		}
	}
	if same > 1 {
		return id, nil
	}
	return s.Name, nil
}
