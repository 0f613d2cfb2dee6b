package schedule

import (
	"errors"
	"path"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/cron"
)

// rule is when a schedule fires.
type rule struct {
	expression     *cron.Expression
	zone           *time.Location
	startAt, endAt *time.Time
}

// zones are the time zones that one caller has loaded: reading one takes a file.
type zones map[string]*time.Location

// load returns a zone by its IANA name. What else the zone files of a machine have, its
// own zone among it, may mean another time, or nothing, on another machine.
func (z zones) load(name string) (*time.Location, error) {
	if zone := z[name]; zone != nil {
		return zone, nil
	}
	switch first, _, _ := strings.Cut(strings.ToLower(name), "/"); first {
	case "", "local", "localtime", "posixrules", "factory", "posix", "right":
		return nil, errUnknownZone
	}
	if path.Clean(name) != name {
		return nil, errUnknownZone
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errUnknownZone
	}
	z[name] = zone
	return zone, nil
}

var errUnknownZone = errors.New("must be the name of a time zone, such as Europe/Berlin or UTC")

// ruleOf reads when settings fire. The error is an *InvalidError of the member.
func ruleOf(s *Settings, loaded zones) (*rule, error) {
	if len(s.Cron) > MaxCron {
		return nil, storage.Invalid("settings.cron", "must have at most %d characters", MaxCron)
	}
	expression, err := cron.Parse(s.Cron)
	if err != nil {
		return nil, storage.Invalid("settings.cron", "%s", err)
	}
	zone, err := loaded.load(s.Timezone)
	if err != nil {
		return nil, storage.Invalid("settings.timezone", "%s", err)
	}
	return &rule{expression: expression, zone: zone, startAt: s.StartAt, endAt: s.EndAt}, nil
}

// next is the first time after an instant, within startDate and endDate; both
// may fire themselves.
func (r *rule) next(after time.Time) (time.Time, bool) {
	if r.startAt != nil && after.Before(*r.startAt) {
		after = r.startAt.Add(-time.Nanosecond)
	}
	at, ok := r.expression.Next(after, r.zone)
	if !ok || r.endAt != nil && at.After(*r.endAt) {
		return time.Time{}, false
	}
	return at, true
}

// latest is the last time that is not after an instant, within startDate and
// endDate.
func (r *rule) latest(at time.Time) (time.Time, bool) {
	if r.endAt != nil && at.After(*r.endAt) {
		at = *r.endAt
	}
	last, ok := r.expression.Previous(at.Add(time.Nanosecond), r.zone)
	if !ok || r.startAt != nil && last.Before(*r.startAt) {
		return time.Time{}, false
	}
	return last, true
}

// interval is the time from one firing to the next one of the expression.
func (r *rule) interval(at time.Time) time.Duration {
	next, ok := r.expression.Next(at, r.zone)
	if !ok {
		return cron.Horizon
	}
	return next.Sub(at)
}
