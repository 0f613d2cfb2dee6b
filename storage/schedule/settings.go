package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
)

const (
	// maxRuns is far above what a schedule of every second starts in a lifetime of
	// the installation, and fits the column.
	maxRuns = 1_000_000_000
	// maxZone is above the longest name of a zone.
	maxZone = 64
	// Years that a timestamp of four digits can name.
	firstYear, lastYear = 1970, 9999
)

// merge returns the settings after a change; was may be nil.
func (c *SettingsChange) merge(was *Settings) (*Settings, error) {
	if c.Remove {
		return nil, nil
	}
	if was == nil && *c == (SettingsChange{}) {
		return nil, nil // {} is how a schedule without settings is read
	}
	s := Settings{}
	if was != nil {
		s = *was
	}
	for _, m := range []struct {
		field       string
		given, null bool
	}{
		{"settings.cron", c.Cron.Given, c.Cron.Value == nil},
		{"settings.timezone", c.Timezone.Given, c.Timezone.Value == nil},
		{"settings.runningUserId", c.RunningUser.Given, c.RunningUser.Value == nil},
	} {
		if m.given && m.null || !m.given && was == nil {
			return nil, storage.Invalid(m.field, "is required")
		}
	}
	s.Cron, s.RunningUser = orWas(c.Cron, s.Cron), orWas(c.RunningUser, s.RunningUser)
	var err error
	if s.Timezone, err = storage.Line("settings.timezone", orWas(c.Timezone, s.Timezone), maxZone); err != nil {
		return nil, err
	}
	if s.BuildName, err = storage.Line("settings.buildName", orWas(c.BuildName, s.BuildName), authoring.MaxBuildName); err != nil {
		return nil, err
	}
	if s.Tunnel = orWas(c.Tunnel, s.Tunnel); s.Tunnel != "" && authoring.CheckTunnelName(s.Tunnel) != nil {
		return nil, storage.Invalid("settings.scTunnelName", "is no name of a tunnel")
	}
	if s.Environment = orWas(c.Environment, s.Environment); s.Environment != "" && !environment.IsName(s.Environment) {
		return nil, storage.Invalid("settings.environment", "is no name of an environment")
	}
	if c.MaxRuns.Given {
		if s.MaxRuns = c.MaxRuns.Value; s.MaxRuns != nil && (*s.MaxRuns < 1 || *s.MaxRuns > maxRuns) {
			return nil, storage.Invalid("settings.maxRuns", "must be from 1 to %d", maxRuns)
		}
	}
	if err := c.mergeTimes(&s); err != nil {
		return nil, err
	}
	return &s, nil
}

// orWas is the value after a change of a member; null is the zero value.
func orWas[T any](m Member[T], was T) T {
	if !m.Given {
		return was
	}
	var value T
	if m.Value != nil {
		value = *m.Value
	}
	return value
}

func (c *SettingsChange) mergeTimes(s *Settings) error {
	for _, m := range []struct {
		field string
		given Member[time.Time]
		at    **time.Time
	}{{"settings.startDate", c.StartAt, &s.StartAt}, {"settings.endDate", c.EndAt, &s.EndAt}} {
		if !m.given.Given {
			continue
		}
		if *m.at = nil; m.given.Value == nil {
			continue
		}
		// The database keeps microseconds and would round up.
		at := m.given.Value.UTC().Truncate(time.Microsecond)
		if year := at.Year(); year < firstYear || year > lastYear {
			return storage.Invalid(m.field, "must be from the year %d to %d", firstYear, lastYear)
		}
		*m.at = &at
	}
	if s.StartAt == nil || s.EndAt == nil || s.EndAt.After(*s.StartAt) {
		return nil
	}
	if c.StartAt.Given && !c.EndAt.Given {
		return storage.Invalid("settings.startDate", "must be before endDate")
	}
	return storage.Invalid("settings.endDate", "must be after startDate")
}

// sameTimes reports whether settings fire at the same times.
func (s *Settings) sameTimes(as *Settings) bool {
	return s.Cron == as.Cron && s.Timezone == as.Timezone && sameTime(s.StartAt, as.StartAt) && sameTime(s.EndAt, as.EndAt)
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// differences names the members in which settings differ, as in a body.
func (s *Settings) differences(from *Settings) (names []string) {
	if s == nil || from == nil {
		if s != from {
			names = append(names, "settings")
		}
		return names
	}
	for _, m := range []struct {
		name string
		same bool
	}{
		{"settings.cron", s.Cron == from.Cron},
		{"settings.timezone", s.Timezone == from.Timezone},
		{"settings.runningUserId", s.RunningUser == from.RunningUser},
		{"settings.startDate", sameTime(s.StartAt, from.StartAt)},
		{"settings.endDate", sameTime(s.EndAt, from.EndAt)},
		{"settings.maxRuns", s.MaxRuns == from.MaxRuns || s.MaxRuns != nil && from.MaxRuns != nil && *s.MaxRuns == *from.MaxRuns},
		{"settings.scTunnelName", s.Tunnel == from.Tunnel},
		{"settings.buildName", s.BuildName == from.BuildName},
		{"settings.environment", s.Environment == from.Environment},
	} {
		if !m.same {
			names = append(names, m.name)
		}
	}
	return names
}

const userWhoMayRun = `
select u.kind from users u join memberships m on m.user_id = u.id
where u.uuid = $2 and m.organization_id = $1 and m.blocked_at is null and m.role <> 'tester'`

// runningUser returns the kind of a user who may run tests, else ErrRunningUser.
func runningUser(ctx context.Context, q storage.Querier, organizationID int64, user uuid.UUID) (kind account.UserKind, err error) {
	err = storage.Wrap(q.GetContext(ctx, &kind, userWhoMayRun, organizationID, user), "running user of a test schedule")
	if errors.Is(err, storage.ErrNotFound) {
		return "", ErrRunningUser
	}
	return kind, err
}

func checkEnvironment(ctx context.Context, q storage.Querier, organizationID int64, name string) error {
	_, err := environment.ByName(ctx, q, organizationID, name)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrNoEnvironment
	}
	return err
}

func checkTunnel(ctx context.Context, q storage.Querier, organizationID int64, name string) error {
	var exists bool
	err := q.GetContext(ctx, &exists, `select exists (select from tunnels where organization_id = $1 and name = $2)`, organizationID, name)
	if err != nil {
		return storage.Wrap(err, "tunnel of a test schedule")
	}
	if !exists {
		return ErrNoTunnel
	}
	return nil
}
