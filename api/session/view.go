package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/session"
)

// decimal writes an id as a text; "" for 0, which is none.
func decimal(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// clock writes a length as MM:SS; the minutes go on beyond 59.
func clock(d time.Duration) string {
	seconds := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d", seconds/60, seconds%60)
}

func legacyTime(t time.Time) string { return t.UTC().Format(time.DateTime) }

// sessionItem1 is a session in a list of version 1. Countries are not known: Slipway
// sends nobody's address to a service that knows them.
type sessionItem1 struct {
	ID          int64  `json:"id"`
	Self        string `json:"self"`
	StartTime   string `json:"startTime"`
	Duration    string `json:"duration"`
	TesterEmail string `json:"testerEmail"`
	Device      string `json:"device"`
	IPAddress   string `json:"ipAddress"`
	Crashed     bool   `json:"crashed"`
	CountryName string `json:"countryName"`
	CountryCode string `json:"countryCode"`
}

func item1(s *session.Session) sessionItem1 {
	return sessionItem1{ID: s.ID, Self: fmt.Sprintf("/projects/%d/builds/%d/sessions/%d", s.ProjectID, s.BuildID, s.ID),
		StartTime: legacyTime(s.StartedAt), Duration: clock(s.Duration), TesterEmail: s.Identity.Email, Device: s.Device.Name(),
		IPAddress: s.IPAddress, Crashed: s.Crashed}
}

// The fields of a single session.
const (
	fieldMeta   = "meta"
	fieldLogs   = "logs"
	fieldEvents = "events"
)

// single1 is a session in version 1, with the fields that were asked for.
func single1(s *session.Session, events []session.Event, fields []string) gin.H {
	a := s.Identity.Attributes
	view := gin.H{"id": s.ID, "sessionStartTime": legacyTime(s.StartedAt), "duration": clock(s.Duration), "testerEmail": s.Identity.Email,
		"device": s.Device.Name(), "ipAddress": s.IPAddress, "crashed": s.Crashed,
		"identity": gin.H{"correlationId": s.Identity.CorrelationID, "attr1": a[0], "attr2": a[1], "attr3": a[2], "attr4": a[3], "attr5": a[4]}}
	if slices.Contains(fields, fieldMeta) {
		view["meta"] = gin.H{"appVersion": s.Version, "appVersionCode": s.VersionCode, "deviceModel": s.Device.Model, "os": s.Device.OS,
			"osVersion": s.Device.OSVersion, "locale": s.Device.Locale, "appState": s.AppState, "endedBy": s.EndedBy,
			"eventCount": s.Events, "eventsDropped": s.Dropped, "eventsRemoved": s.Trimmed}
	}
	if slices.Contains(fields, fieldLogs) {
		view["logs"] = logText(events)
	}
	if slices.Contains(fields, fieldEvents) {
		if events == nil {
			events = []session.Event{}
		}
		view["events"] = events
	}
	return view
}

// logText writes the lines of the log, one a line: time in UTC, and text.
func logText(events []session.Event) string {
	var b strings.Builder
	for i := range events {
		if events[i].Type == session.TypeLog {
			b.WriteString(events[i].Time.UTC().Format("2006-01-02 15:04:05.000 "))
			b.WriteString(events[i].Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// sessionView is a session in version 3.
type sessionView struct {
	ID              int64             `json:"id"`
	SessionID       string            `json:"session_id"` // chosen by the SDK
	ProjectID       int64             `json:"project_id"`
	BuildID         *int64            `json:"build_id"`
	UserID          *int64            `json:"user_id"`
	State           string            `json:"state"` // open, ended, abandoned
	TesterEmail     string            `json:"tester_email"`
	CorrelationID   string            `json:"correlation_id"`
	Attributes      map[string]string `json:"attributes"`
	Version         string            `json:"version"`
	VersionCode     string            `json:"version_code"`
	Device          session.Device    `json:"device"`
	AppState        string            `json:"app_state"`
	IPAddress       string            `json:"ip_address"`
	StartedAt       time.Time         `json:"started_at"`
	EndedAt         *time.Time        `json:"ended_at"`
	DurationSeconds float64           `json:"duration_seconds"`
	Crashed         bool              `json:"crashed"`
	Events          int64             `json:"events"`
	EventsDropped   int64             `json:"events_dropped"`
	EventsRemoved   bool              `json:"events_removed"`
	CreatedAt       time.Time         `json:"created_at"`
}

func optional(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

func viewSession(s *session.Session) sessionView {
	state := map[string]string{"": "open", "app": "ended", "silence": "abandoned"}[s.EndedBy]
	attributes := map[string]string{}
	for i, value := range s.Identity.Attributes {
		if value != "" {
			attributes[fmt.Sprintf("attr%d", i+1)] = value
		}
	}
	return sessionView{ID: s.ID, SessionID: s.ClientID.String(), ProjectID: s.ProjectID, BuildID: optional(s.BuildID),
		UserID: optional(s.UserID),
		State:  state, TesterEmail: s.Identity.Email, CorrelationID: s.Identity.CorrelationID, Attributes: attributes, Version: s.Version,
		VersionCode: s.VersionCode, Device: s.Device, AppState: s.AppState, IPAddress: s.IPAddress, StartedAt: s.StartedAt.UTC(),
		EndedAt: s.EndedAt, DurationSeconds: s.Duration.Seconds(), Crashed: s.Crashed, Events: s.Events, EventsDropped: s.Dropped,
		EventsRemoved: s.Trimmed, CreatedAt: s.ReceivedAt.UTC()}
}

// feedback1 is feedback in version 1: all texts.
type feedback1 struct {
	FeedbackID    string `json:"feedbackId"`
	Text          string `json:"text"`
	ScreenshotURL string `json:"screenshotUrl"`
	BuildID       string `json:"buildId"`
	ProjectID     string `json:"projectId"`
	RecordedAt1   string `json:"recorded_at"`
	RecordedAt    string `json:"recordedAt"`
	Source        string `json:"source"`
	ReportedBy    string `json:"reported_by"`
	SessionID     string `json:"session_id"`
}

func viewFeedback1(f *session.Feedback, screenshot string) feedback1 {
	at := legacyTime(f.RecordedAt)
	return feedback1{FeedbackID: decimal(f.ID), Text: f.Text, ScreenshotURL: screenshot, BuildID: decimal(f.BuildID),
		ProjectID: decimal(f.ProjectID), RecordedAt1: at, RecordedAt: at, Source: f.Source, ReportedBy: f.Email, SessionID: decimal(f.SessionID)}
}

// feedbackView is feedback in version 3.
type feedbackView struct {
	ID            int64          `json:"id"`
	ProjectID     int64          `json:"project_id"`
	BuildID       *int64         `json:"build_id"`
	SessionID     *int64         `json:"session_id"`
	UserID        *int64         `json:"user_id"`
	Text          string         `json:"text"`
	Source        string         `json:"source"`
	Email         string         `json:"email"`
	CorrelationID string         `json:"correlation_id"`
	Device        session.Device `json:"device"`
	IPAddress     string         `json:"ip_address"`
	ScreenshotURL string         `json:"screenshot_url"`
	Blocker       bool           `json:"blocker"`
	RecordedAt    time.Time      `json:"recorded_at"`
}

func (r *room) viewFeedback(c *gin.Context, f *session.Feedback) (feedbackView, error) {
	link, err := r.link(c.Request.Context(), f.ScreenshotKey, f.ScreenshotType, linkLife)
	return feedbackView{ID: f.ID, ProjectID: f.ProjectID, BuildID: optional(f.BuildID), SessionID: optional(f.SessionID),
		UserID: optional(f.UserID), Text: f.Text, Source: f.Source, Email: f.Email, CorrelationID: f.CorrelationID, Device: f.Device,
		IPAddress: f.IPAddress, ScreenshotURL: link, Blocker: f.Blocker, RecordedAt: f.RecordedAt.UTC()}, err
}
