package crash

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// figuresView are the sessions and users of a version; the fractions are null when
// nothing is known.
type figuresView struct {
	Sessions          int64    `json:"sessions"`
	Users             int64    `json:"users"`
	CrashedSessions   int64    `json:"crashed_sessions"`
	CrashedUsers      int64    `json:"crashed_users"`
	CrashFreeSessions *float64 `json:"crash_free_sessions"`
	CrashFreeUsers    *float64 `json:"crash_free_users"`
}

func figuresOf(f reading.Figures) figuresView {
	return figuresView{Sessions: f.Sessions, Users: f.Users, CrashedSessions: f.CrashedSessions, CrashedUsers: f.CrashedUsers,
		CrashFreeSessions: f.CrashFreeSessions(), CrashFreeUsers: f.CrashFreeUsers()}
}

// versionView is a version of a crash project.
type versionView struct {
	Version   string    `json:"version"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Crashes   int64     `json:"crashes"`
	figuresView
	Days *[]versionDayView `json:"days,omitempty"` // of a window only
}

type versionDayView struct {
	Day     string `json:"day"`
	Crashes int64  `json:"crashes"`
	figuresView
}

// affectedVersion is a version of a group, with the sessions and users that it has
// in the project.
type affectedVersion struct {
	valueView
	CrashFreeSessions *float64 `json:"crash_free_sessions"`
	CrashFreeUsers    *float64 `json:"crash_free_users"`
}

func affectedVersions(a reading.Affected) []affectedVersion {
	views := make([]affectedVersion, 0, len(a.Values))
	for i, view := range valuesOf(a) {
		f := a.Values[i].Figures
		views = append(views, affectedVersion{view, f.CrashFreeSessions(), f.CrashFreeUsers()})
	}
	return views
}

// Versions serves GET /api/v3/crash-projects/{id}/versions, newest first. Parameters:
// days (today and those before it), or from and to; page, per_page.
func (h *Handlers) Versions(c *gin.Context) error {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		return err
	}
	f := reading.VersionFilter{Limit: at.Limit(), Offset: at.Offset()}
	if f.From, f.To, err = versionDays(q, time.Now()); err != nil {
		return err
	}
	p, err := h.project(c, auth.Organization(c))
	if err != nil {
		return err
	}
	f.ProjectID = p.ID
	rows, total, err := reading.Versions(c.Request.Context(), h.store.DB(), f)
	if err != nil {
		return err
	}
	views := make([]versionView, 0, len(rows))
	for i := range rows {
		views = append(views, versionOf(&rows[i], !f.From.IsZero()))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"versions": views, "pagination": at.Envelope(total)})
}

func versionOf(r *reading.VersionRow, withDays bool) versionView {
	v := versionView{Version: r.Version, FirstSeen: r.FirstSeen.UTC(), LastSeen: r.LastSeen.UTC(), Crashes: r.Crashes,
		figuresView: figuresOf(r.Figures)}
	if !withDays {
		return v
	}
	days := make([]versionDayView, 0, len(r.Days))
	for _, d := range r.Days {
		days = append(days, versionDayView{Day: d.Day.Format(time.DateOnly), Crashes: d.Crashes, figuresView: figuresOf(d.Figures)})
	}
	v.Days = &days
	return v
}

// maxVersionDays bounds the days of an answer; a longer window begins later.
const maxVersionDays = 366

// versionDays reads the window as whole days in UTC, its end exclusive. Zero times
// mean all days together.
func versionDays(q url.Values, now time.Time) (from, to time.Time, err error) {
	const day = 24 * time.Hour
	if from, to, err = pagination.Range(q, "from", "to"); err != nil {
		return from, to, err
	}
	text := q.Get("days")
	windowed := !from.IsZero() || !to.IsZero()
	tomorrow := now.UTC().Truncate(day).Add(day)
	switch {
	case text == "" && !windowed:
		return time.Time{}, time.Time{}, nil
	case text != "" && windowed:
		return from, to, &storage.InvalidError{Field: "days", Msg: "cannot be combined with from and to"}
	case text != "":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxVersionDays {
			return from, to, &storage.InvalidError{Field: "days", Msg: "must be a number from 1 to 366"}
		}
		return tomorrow.AddDate(0, 0, -n), tomorrow, nil
	}
	if to.IsZero() || to.After(tomorrow) {
		to = tomorrow
	}
	if end := to.Truncate(day); end.Before(to) {
		to = end.Add(day)
	}
	from = from.Truncate(day)
	if earliest := to.AddDate(0, 0, -maxVersionDays); from.Before(earliest) {
		from = earliest
	}
	return from, to, nil
}
