package schedule

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/schedule"
)

// scheduleBody is what a request may say of a schedule. Of settings and
// testSuiteIds, null is not the same as absent.
type scheduleBody struct {
	Name         *string         `json:"name"`
	TeamID       *string         `json:"teamId"`
	StateName    *string         `json:"stateName"`
	Settings     json.RawMessage `json:"settings"`
	TestSuiteIDs json.RawMessage `json:"testSuiteIds"`
}

// create is the schedule that the body asks for.
func (in *scheduleBody) create() (n schedule.NewSchedule, err error) {
	if in.Name != nil && strings.TrimSpace(*in.Name) == "" {
		// Without a name the store gives one; an empty one is a mistake.
		return n, problem.Member("name", fmt.Sprintf("must have 1 to %d characters", authoring.MaxName))
	}
	n.Name = request.Or(in.Name, "")
	if n.Team, err = request.OptionalUUID("teamId", in.TeamID); err != nil {
		return n, err
	}
	change, err := in.change()
	if err != nil {
		return n, err
	}
	n.Suites, n.State = request.Or(change.Suites, []uuid.UUID{}), request.Or(change.State, "")
	if n.Settings = change.Settings; n.Settings != nil && n.Settings.Remove {
		n.Settings = nil
	}
	return n, nil
}

// change is what the body changes.
func (in *scheduleBody) change() (c schedule.Change, err error) {
	c.Name = in.Name
	if c.State, err = in.state(); err != nil {
		return c, err
	}
	if c.Settings, err = readScheduleSettings(in.Settings); err != nil {
		return c, err
	}
	c.Suites, err = readSuiteIDs(in.TestSuiteIDs)
	return c, err
}

// state is the one that a caller may ask for; nil when it asks for none.
func (in *scheduleBody) state() (*schedule.State, error) {
	if in.StateName == nil {
		return nil, nil
	}
	state := schedule.State(*in.StateName)
	if state != schedule.Enabled && state != schedule.Disabled {
		return nil, problem.Member("stateName", fmt.Sprintf("must be %s or %s", schedule.Enabled, schedule.Disabled))
	}
	return &state, nil
}

const suiteIDsPath = "testSuiteIds"

// readSuiteIDs reads the suites of a body, each once; nil when the member is
// absent, and none for null. What is wrong with them is INVALID_TEST_SUITES.
func readSuiteIDs(text json.RawMessage) (*[]uuid.UUID, error) {
	if text == nil {
		return nil, nil
	}
	var texts []string
	if err := request.DocumentOf(text).Decode(suiteIDsPath, &texts); err != nil {
		return nil, err
	}
	ids, seen := []uuid.UUID{}, map[uuid.UUID]bool{}
	for i, text := range texts {
		id, err := request.ParseUUID(fmt.Sprintf("%s[%d]", suiteIDsPath, i), text)
		if err != nil {
			return nil, invalidSuites(err.Error())
		}
		if seen[id] {
			continue
		}
		if len(ids) == schedule.MaxSuites {
			return nil, invalidSuites(fmt.Sprintf("%s: must have at most %d elements", suiteIDsPath, schedule.MaxSuites))
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return &ids, nil
}

func invalidSuites(text string) error {
	return problem.Refused(http.StatusBadRequest, problem.CodeInvalidSuites, text)
}

// scheduleSettingsBody are the settings of a schedule. Each member is absent, null
// or has a value, and is read after the body so that it is named by its path.
type scheduleSettingsBody struct {
	Cron          json.RawMessage `json:"cron"`
	Timezone      json.RawMessage `json:"timezone"`
	RunningUserID json.RawMessage `json:"runningUserId"`
	StartDate     json.RawMessage `json:"startDate"`
	EndDate       json.RawMessage `json:"endDate"`
	MaxRuns       json.RawMessage `json:"maxRuns"`
	SCTunnelName  json.RawMessage `json:"scTunnelName"`
	BuildName     json.RawMessage `json:"buildName"`
	Environment   json.RawMessage `json:"environment"`
}

const scheduleSettingsPath = "settings"

// readScheduleSettings reads what the member settings changes: nil when it is
// absent, the removal of all settings when it is null. What the values mean is for
// the store to check.
func readScheduleSettings(text json.RawMessage) (*schedule.SettingsChange, error) {
	switch {
	case text == nil:
		return nil, nil
	case string(text) == "null":
		return &schedule.SettingsChange{Remove: true}, nil
	}
	var in scheduleSettingsBody
	if err := request.DocumentOf(text).Decode(scheduleSettingsPath, &in); err != nil {
		return nil, err
	}
	var change schedule.SettingsChange
	for _, read := range []func() error{
		func() error { return readMember("cron", in.Cron, &change.Cron, asText) },
		func() error { return readMember("timezone", in.Timezone, &change.Timezone, asText) },
		func() error {
			return readMember("runningUserId", in.RunningUserID, &change.RunningUser, request.ParseUUID)
		},
		func() error { return readMember("startDate", in.StartDate, &change.StartAt, asStart) },
		func() error { return readMember("endDate", in.EndDate, &change.EndAt, asEnd) },
		func() error { return readMember("maxRuns", in.MaxRuns, &change.MaxRuns, asNumber) },
		func() error { return readMember("scTunnelName", in.SCTunnelName, &change.Tunnel, asText) },
		func() error { return readMember("buildName", in.BuildName, &change.BuildName, asText) },
		func() error { return readMember("environment", in.Environment, &change.Environment, asText) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return &change, nil
}

// readMember reads a member of the settings, whose JSON is of type J, into what it
// means.
func readMember[J, T any](name string, text json.RawMessage, into *schedule.Member[T], as func(path string, value J) (T, error)) error {
	if text == nil {
		return nil
	}
	path := scheduleSettingsPath + "." + name
	var value *J
	if err := request.DocumentOf(text).Decode(path, &value); err != nil {
		return err
	}
	into.Given = true
	if value == nil {
		return nil
	}
	meant, err := as(path, *value)
	into.Value = &meant
	return err
}

func asText(_, text string) (string, error) { return text, nil }

func asNumber(_ string, n int) (int, error) { return n, nil }

func asStart(path, text string) (time.Time, error) {
	at, _, err := pagination.Instant(path, text)
	return at, err
}

// asEnd is the last instant: a date alone covers that whole day.
func asEnd(path, text string) (time.Time, error) {
	at, bare, err := pagination.Instant(path, text)
	if bare {
		at = at.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return at, err
}
