// Package setting has what an organization has set for itself: its switches, how long builds
// and runs are kept, and the connection to the vendor's app storage.
//
// Of returns the switches, and Update changes them, with an audit entry of the members that
// differ and a second one where security is concerned. What is nil or null there is as the
// installation says; an app may say otherwise of its builds (Retention), and a case or suite
// of its runs.
//
// A value that breaks a rule is a *storage.InvalidError that names the member; open pages
// while login is required are ErrLoginRequired.
package setting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// ErrLoginRequired means that open mode was requested and the organization requires login.
var ErrLoginRequired = errors.New("the organization requires login: landing_page_mode cannot be open")

// Settings are the switches of an organization.
type Settings struct {
	RequireLogin    bool   `db:"require_login" json:"require_login"`
	GenericFiles    bool   `db:"generic_files" json:"generic_files"`
	LandingPageMode string `db:"landing_page_mode" json:"landing_page_mode"` // of new apps
	// Healing is how runs heal the steps of tests, unless the case or its suite says so.
	Healing Healing `db:"healing" json:"healing"`
	// Drift is what follows where a step finds another element than the recorded one,
	// unless the case or its suite says so.
	Drift Healing `db:"drift" json:"drift"`
	// Trace is which traces of tests are kept, unless the run, the case or its suite says so.
	Trace Healing `db:"trace" json:"trace"`
	// Retries is how often a test that failed is played again, unless the case or its suite says
	// so: nil is never.
	Retries *int `db:"retries" json:"retries"`
	// Explore is whether generations of tests may try a second way, unless the request says so.
	Explore Healing `db:"generation_explore" json:"generation_explore"`
	// AuditDays is how long audit events are kept: nil as the installation says, 0 for ever.
	AuditDays *int `db:"audit_days" json:"audit_retention_days"`
	Retention      // of builds
	RunRetention
}

// Healing is a mode of package step, null in JSON when there is none.
type Healing string

// MarshalJSON writes a mode or null.
func (h Healing) MarshalJSON() ([]byte, error) {
	if h == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(h))
}

// HealingChange is a mode, or null for none; the zero value changes nothing. A form
// says null in this word.
type HealingChange string

const isNull = "null"

// UnmarshalJSON reads a text or null.
func (h *HealingChange) UnmarshalJSON(text []byte) error {
	if string(text) == isNull || string(text) == `""` {
		*h = isNull
		return nil
	}
	return json.Unmarshal(text, (*string)(h))
}

// over returns the mode after the change of a field.
func (h HealingChange) over(field string, modes []string, old Healing) (Healing, error) {
	switch {
	case h == "":
		return old, nil
	case h == isNull:
		return "", nil
	case slices.Contains(modes, string(h)):
		return Healing(h), nil
	}
	return "", storage.Invalid(field, "must be %s or null", strings.Join(modes, ", "))
}

// NewAppMode is the mode of an app whose maker names none.
func (s *Settings) NewAppMode() string {
	if s.RequireLogin {
		return landing.Closed
	}
	return s.LandingPageMode
}

// CheckMode takes a mode that was requested; "" requests none.
func (s *Settings) CheckMode(mode string) error {
	switch mode {
	case "", landing.Closed:
		return nil
	case landing.Open:
		if s.RequireLogin {
			return ErrLoginRequired
		}
		return nil
	}
	return storage.Invalid("landing_page_mode", "must be open or closed")
}

const settingsOf = `
select require_login, generic_files, landing_page_mode, healing, drift, trace, retries, generation_explore, audit_days,
	retention_builds, retention_days, run_retention_days, run_retention_runs from organizations where id = $1`

// Of reads an organization's switches.
func Of(ctx context.Context, q storage.Querier, organizationID int64) (*Settings, error) {
	var s Settings
	if err := q.GetContext(ctx, &s, settingsOf, organizationID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("settings of organization %d", organizationID))
	}
	return &s, nil
}

// Change changes the members that are not nil.
type Change struct {
	RequireLogin    *bool         `json:"require_login"`
	GenericFiles    *bool         `json:"generic_files"`
	LandingPageMode *string       `json:"landing_page_mode"`
	Healing         HealingChange `json:"healing"`
	Drift           HealingChange `json:"drift"`
	Trace           HealingChange `json:"trace"`
	Retries         NumberChange  `json:"retries"`
	Explore         HealingChange `json:"generation_explore"`
	AuditDays       NumberChange  `json:"audit_retention_days"`
	RetentionChange
	RunRetentionChange
}

const updateSettings = `
update organizations set require_login = $2, generic_files = $3, landing_page_mode = $4, healing = $5, audit_days = $6,
	retention_builds = $7, retention_days = $8, drift = $9, trace = $10, retries = $11, run_retention_days = $12, run_retention_runs = $13,
	generation_explore = $14
where id = $1`

// Update changes the switches. To ask for open pages while login is or
// becomes required is ErrLoginRequired; a mode that is stored already stays, and
// new apps are closed for as long as login is required.
func Update(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, c Change) (*Settings, error) {
	var old Settings
	if err := tx.GetContext(ctx, &old, settingsOf+` for no key update`, organizationID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("settings of organization %d", organizationID))
	}
	s := old
	change.Set(&s.RequireLogin, c.RequireLogin)
	change.Set(&s.GenericFiles, c.GenericFiles)
	if c.LandingPageMode != nil {
		if *c.LandingPageMode == "" {
			return nil, storage.Invalid("landing_page_mode", "must be open or closed")
		}
		if err := s.CheckMode(*c.LandingPageMode); err != nil {
			return nil, err
		}
		s.LandingPageMode = *c.LandingPageMode
	}
	var err error
	if s.Healing, err = c.Healing.over("healing", capability.HealModes, old.Healing); err != nil {
		return nil, err
	}
	if s.Drift, err = c.Drift.over("drift", capability.DriftModes, old.Drift); err != nil {
		return nil, err
	}
	if s.Trace, err = c.Trace.over("trace", capability.TraceModes, old.Trace); err != nil {
		return nil, err
	}
	if s.Retries, err = c.Retries.over("retries", capability.MaxRetries, old.Retries); err != nil {
		return nil, err
	}
	if s.Explore, err = c.Explore.over("generation_explore", generation.ExploreModes, old.Explore); err != nil {
		return nil, err
	}
	if s.AuditDays, err = c.AuditDays.over("audit_retention_days", maxDays, old.AuditDays); err != nil {
		return nil, err
	}
	if s.Retention, err = c.RetentionChange.Over(old.Retention); err != nil {
		return nil, err
	}
	if s.RunRetention, err = c.RunRetentionChange.over(old.RunRetention); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(s, old) {
		return &s, nil
	}
	_, err = tx.ExecContext(ctx, updateSettings, organizationID, s.RequireLogin, s.GenericFiles, s.LandingPageMode, s.Healing, s.AuditDays,
		s.RetentionBuilds, s.RetentionDays, s.Drift, s.Trace, s.Retries, s.RunDays, s.Runs, s.Explore)
	if err != nil {
		return nil, storage.Wrap(err, "change settings")
	}
	var all, security change.Diff
	all.Note("require_login", old.RequireLogin, s.RequireLogin)
	all.Note("generic_files", old.GenericFiles, s.GenericFiles)
	all.Note("landing_page_mode", old.LandingPageMode, s.LandingPageMode)
	all.Note("healing", old.Healing, s.Healing)
	all.Note("drift", old.Drift, s.Drift)
	all.Note("trace", old.Trace, s.Trace)
	all.Note("retries", old.Retries, s.Retries)
	all.Note("generation_explore", old.Explore, s.Explore)
	all.Note("audit_retention_days", old.AuditDays, s.AuditDays)
	s.Retention.Note(&all, old.Retention)
	s.RunRetention.note(&all, old.RunRetention)
	security.Note("audit_retention_days", old.AuditDays, s.AuditDays)
	security.Note("require_login", old.RequireLogin, s.RequireLogin)
	event := account.Event{OrganizationID: organizationID, Type: account.SettingsChanged, Actor: actor,
		Subject: fmt.Sprintf("organization %d", organizationID), Detail: all}
	if err := account.Audit(ctx, tx, event); err != nil || !security.Any() {
		return &s, err
	}
	event.Type, event.Detail = account.SecurityChanged, security
	return &s, account.Audit(ctx, tx, event)
}
