package builds

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage/live"
)

// device is the kind of a device.
type device struct {
	Model     string `json:"model"`
	OS        string `json:"os"`
	OSVersion string `json:"os_version"`
	Locale    string `json:"locale"`
}

// Label is a kind of devices as people say it: Pixel 8, Android 15.
func (d device) Label() string {
	system := strings.TrimSpace(d.OS + " " + d.OSVersion)
	switch {
	case d.Model == "" && system == "":
		return "unknown"
	case d.Model == "" || system == "":
		return d.Model + system
	}
	return d.Model + ", " + system
}

// session is a use of an app.
type session struct {
	ID            int64             `json:"id"`
	SessionID     string            `json:"session_id"`
	ProjectID     int64             `json:"project_id"`
	BuildID       *int64            `json:"build_id"`
	State         string            `json:"state"`
	TesterEmail   string            `json:"tester_email"`
	CorrelationID string            `json:"correlation_id"`
	Attributes    map[string]string `json:"attributes"`
	Version       string            `json:"version"`
	VersionCode   string            `json:"version_code"`
	Device        device            `json:"device"`
	AppState      string            `json:"app_state"`
	IPAddress     string            `json:"ip_address"`
	StartedAt     time.Time         `json:"started_at"`
	EndedAt       *time.Time        `json:"ended_at"`
	Seconds       float64           `json:"duration_seconds"`
	Crashed       bool              `json:"crashed"`
	Events        int64             `json:"events"`
	Dropped       int64             `json:"events_dropped"`
	Removed       bool              `json:"events_removed"`
}

// Milliseconds is how long the session took.
func (s session) Milliseconds() float64 { return s.Seconds * 1000 }

// Running reports whether the session goes on.
func (s session) Running() bool { return s.State == "open" }

// used is how an app, or a build of it, was used.
type used struct {
	Sessions []session
	Devices  []devices
	Filtered bool
	Link     string // begins the addresses of its pages, behind the base
}

// devices counts the sessions on a kind of devices.
type devices struct {
	device
	Sessions int       `json:"sessions"`
	Crashed  int       `json:"crashed_sessions"`
	LastSeen time.Time `json:"last_seen"`
}

// CrashShare is the share of sessions that crashed.
func (d devices) CrashShare() float64 {
	if d.Sessions == 0 {
		return 0
	}
	return float64(d.Crashed) / float64(d.Sessions)
}

// sessionsOf reads the sessions of an app or a build.
func (p *Pages) sessionsOf(c *gin.Context, path string) (list []session, at frame.Paging, fault string, err error) {
	var answer struct {
		Sessions   []session    `json:"sessions"`
		Pagination frame.Paging `json:"pagination"`
	}
	fault, err = p.read(c, path+"/sessions", frame.Valued(c.Request.URL.Query()), &answer)
	return answer.Sessions, answer.Pagination, fault, err
}

// devicesOf reads the kinds of devices of an app or a build.
func (p *Pages) devicesOf(c *gin.Context, path string) (list []devices, at frame.Paging, fault string, err error) {
	var answer struct {
		Devices    []devices    `json:"devices"`
		Pagination frame.Paging `json:"pagination"`
	}
	fault, err = p.read(c, path+"/devices", frame.Valued(c.Request.URL.Query()), &answer)
	return answer.Devices, answer.Pagination, fault, err
}

// usedApp and usedBuild are the pages of how an app and a build were used.
type usedApp struct {
	appData
	used
}

type usedBuild struct {
	buildData
	used
}

func filteredSessions(c *gin.Context) bool {
	return c.Query("search") != "" || c.Query("crashed") != ""
}

func (p *Pages) appSessions(c *gin.Context) error {
	begun, err := p.beginApp(c, "sessions")
	if err != nil {
		return err
	}
	data := usedApp{begun, used{Filtered: filteredSessions(c), Link: fmt.Sprintf("/builds/apps/%d", begun.App.ID)}}
	var at frame.Paging
	if data.Sessions, at, data.Fault, err = p.sessionsOf(c, appPath(begun.App.ID)); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, at)
	return p.show(c, "app_sessions", data.Fault, frame.Page{Title: begun.App.Title(), Data: data})
}

func (p *Pages) appDevices(c *gin.Context) error {
	begun, err := p.beginApp(c, "devices")
	if err != nil {
		return err
	}
	data := usedApp{begun, used{Link: fmt.Sprintf("/builds/apps/%d", begun.App.ID)}}
	var at frame.Paging
	if data.Devices, at, data.Fault, err = p.devicesOf(c, appPath(begun.App.ID)); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, at)
	return p.show(c, "app_devices", data.Fault, frame.Page{Title: begun.App.Title(), Data: data})
}

func (p *Pages) buildSessions(c *gin.Context) error {
	begun, err := p.beginBuild(c, "sessions")
	if err != nil {
		return err
	}
	data := usedBuild{begun, used{Filtered: filteredSessions(c), Link: fmt.Sprintf("/builds/builds/%d", begun.Build.ID)}}
	var at frame.Paging
	if data.Sessions, at, data.Fault, err = p.sessionsOf(c, buildPath(begun.Build.ID)); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, at)
	return p.show(c, "build_sessions", data.Fault, frame.Page{Title: begun.Build.App() + " " + begun.Build.Title(), Data: data})
}

func (p *Pages) buildDevices(c *gin.Context) error {
	begun, err := p.beginBuild(c, "devices")
	if err != nil {
		return err
	}
	data := usedBuild{begun, used{Link: fmt.Sprintf("/builds/builds/%d", begun.Build.ID)}}
	var at frame.Paging
	if data.Devices, at, data.Fault, err = p.devicesOf(c, buildPath(begun.Build.ID)); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, at)
	return p.show(c, "build_devices", data.Fault, frame.Page{Title: begun.Build.App() + " " + begun.Build.Title(), Data: data})
}

// event is what an app said in a session.
type event struct {
	Type string          `json:"type"`
	Time time.Time       `json:"time"`
	Text string          `json:"text"`
	Data json.RawMessage `json:"data"`
}

// Further is what the app sent beside the text, as JSON; "" when there is none.
func (e event) Further() string {
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return ""
	}
	return string(e.Data)
}

// session is the page of a session with its events.
func (p *Pages) session(c *gin.Context) error {
	var answer struct {
		Session session `json:"session"`
	}
	path := "/api/v3/sessions/" + frame.Segment(c, "id")
	if err := p.API.Get(c, path, nil, &answer); err != nil {
		return err
	}
	a, err := p.appOf(c, answer.Session.ProjectID)
	if err != nil {
		return err
	}
	data := struct {
		App     *app
		Session session
		Events  []event
		Fault   string
		Pager   *frame.Pager
	}{App: a, Session: answer.Session}
	var events struct {
		Events     []event      `json:"events"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Valued(c.Request.URL.Query())
	if q.Get("per_page") == "" {
		q.Set("per_page", most) // some screens of them
	}
	if data.Fault, err = p.read(c, path+"/events", q, &events); err != nil {
		return err
	}
	data.Events, data.Pager = events.Events, p.PagesOf(c, events.Pagination)
	page := frame.Page{Title: "Session of " + a.Title(), Data: data}
	if data.Session.Running() {
		page.Live = []live.Topic{live.Of(live.AppSession, data.Session.ID)}
	}
	return p.show(c, "session", data.Fault, page)
}

// feedback is what a tester wrote.
type feedback struct {
	ID            int64     `json:"id"`
	ProjectID     int64     `json:"project_id"`
	BuildID       *int64    `json:"build_id"`
	SessionID     *int64    `json:"session_id"`
	Text          string    `json:"text"`
	Source        string    `json:"source"`
	Email         string    `json:"email"`
	CorrelationID string    `json:"correlation_id"`
	Device        device    `json:"device"`
	IPAddress     string    `json:"ip_address"`
	ScreenshotURL string    `json:"screenshot_url"`
	RecordedAt    time.Time `json:"recorded_at"`
}

// feedbacks is the page of all feedback, or that of an app or a build.
func (p *Pages) feedbacks(c *gin.Context) (err error) {
	var answer struct {
		Feedbacks  []feedback   `json:"feedbacks"`
		Pagination frame.Paging `json:"pagination"`
	}
	data := struct {
		Apps      []named
		Feedbacks []feedback
		Filtered  bool
		Fault     string
		Pager     *frame.Pager
	}{Filtered: len(frame.Valued(c.Request.URL.Query())) > 0}
	if data.Fault, err = p.read(c, "/api/v3/feedbacks", frame.Valued(c.Request.URL.Query()), &answer); err != nil {
		return err
	}
	data.Feedbacks, data.Pager = answer.Feedbacks, p.PagesOf(c, answer.Pagination)
	if data.Apps, err = p.choices(c); err != nil {
		return err
	}
	return p.show(c, "feedbacks", data.Fault, frame.Page{Title: "Feedback", Data: data})
}

// choices are the newest apps, for a choice.
func (p *Pages) choices(c *gin.Context) ([]named, error) {
	var answer struct {
		Projects []named `json:"projects"`
	}
	err := p.API.Get(c, "/api/v3/projects", url.Values{"per_page": {most}}, &answer)
	return answer.Projects, err
}

// feedback is the page of one feedback.
func (p *Pages) feedback(c *gin.Context) error {
	var answer struct {
		Feedback feedback `json:"feedback"`
	}
	if err := p.API.Get(c, "/api/v3/feedbacks/"+frame.Segment(c, "id"), nil, &answer); err != nil {
		return err
	}
	a, err := p.appOf(c, answer.Feedback.ProjectID)
	if err != nil {
		return err
	}
	link := p.local(answer.Feedback.ScreenshotURL)
	data := struct {
		App      *app
		Feedback feedback
		Link     string // of the screenshot
		Shown    bool   // the policy lets pages show pictures of this installation alone
		Rights   rights
	}{a, answer.Feedback, link, strings.HasPrefix(link, "/"), rightsOf(c)}
	return p.show(c, "feedback", "", frame.Page{Title: "Feedback on " + a.Title(), Data: data})
}

func (p *Pages) deleteFeedback(c *gin.Context) error {
	id := frame.Segment(c, "id")
	err := p.API.Send(c, http.MethodDelete, "/api/v3/feedbacks/"+id, nil, nil)
	if err != nil {
		return p.Refused(c, "/builds/feedback/"+id, err)
	}
	return p.Done(c, "/builds/feedback", "The feedback was deleted.")
}
