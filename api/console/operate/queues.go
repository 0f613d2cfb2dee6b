package operate

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage/live"
)

// operatePath is the route of how the installation works.
const operatePath = "/api/v3/operate"

// operateAnswer is how the installation works.
type operateAnswer struct {
	Version  string     `json:"version"`
	Process  process    `json:"process"`
	Window   window     `json:"window"`
	Hours    []hour     `json:"hours"`
	Queues   []load     `json:"queues"`
	Types    []load     `json:"types"`
	Redis    inRedis    `json:"redis"`
	Workers  []worker   `json:"workers"`
	Periodic []periodic `json:"periodic"`
	Settings []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"settings"`
}

// process is how the process that answers stands, and what it depends on.
type process struct {
	Status       string `json:"status"`
	Capabilities map[string]struct {
		Status  string            `json:"status"`
		Failing map[string]string `json:"failing"`
	} `json:"capabilities"`
	Checks map[string]struct {
		Status   string `json:"status"`
		Critical bool   `json:"critical"`
		TookMS   int64  `json:"took_ms"`
		Error    string `json:"error"`
	} `json:"checks"`
}

type window struct {
	Name      string     `json:"name"`
	Seconds   int64      `json:"seconds"`
	Tasks     int64      `json:"tasks"`
	Since     *time.Time `json:"since"`
	Until     *time.Time `json:"until"`
	Estimated bool       `json:"estimated"`
}

// hour counts the tasks that ended in an hour.
type hour struct {
	At    time.Time `json:"at"`
	Ended int64     `json:"ended"`
	Died  int64     `json:"died"`
}

// inRedis is what stands in Redis.
type inRedis struct {
	Error  string     `json:"error"`
	Queues []standing `json:"queues"`
}

// standing counts the deliveries of a queue.
type standing struct {
	Queue          string  `json:"queue"`
	Size           int64   `json:"size"`
	Pending        int64   `json:"pending"`
	Active         int64   `json:"active"`
	Scheduled      int64   `json:"scheduled"`
	Retry          int64   `json:"retry"`
	Archived       int64   `json:"archived"`
	Paused         bool    `json:"paused"`
	LatencySeconds float64 `json:"latency_seconds"`
}

// Waits is how long the oldest pending delivery has waited, in milliseconds.
func (s standing) Waits() float64 { return s.LatencySeconds * 1000 }

// load is that of a queue or a type.
type load struct {
	Type                 string     `json:"type"`
	Queue                string     `json:"queue"`
	Waiting              int64      `json:"waiting"`
	Running              int64      `json:"running"`
	Dead                 int64      `json:"dead"`
	OldestWaitingSeconds float64    `json:"oldest_waiting_seconds"`
	Ended                int64      `json:"ended"`
	Died                 int64      `json:"died"`
	FailedAttempts       int64      `json:"failed_attempts"`
	WaitingSeconds       *quantiles `json:"waiting_seconds"`
	RunningSeconds       *quantiles `json:"running_seconds"`
}

// Oldest is the age of the oldest task that waits, in milliseconds; nil without one.
func (l load) Oldest() *float64 {
	if l.Waiting == 0 {
		return nil
	}
	ms := l.OldestWaitingSeconds * 1000
	return &ms
}

// Idle reports whether there is nothing to say of the load.
func (l load) Idle() bool { return l.Waiting+l.Running+l.Dead+l.Ended == 0 }

// quantiles are in seconds.
type quantiles struct{ P50, P95, P99 float64 }

// Milliseconds are the quantiles as they are shown.
func (q quantiles) Milliseconds() []float64 {
	return []float64{q.P50 * 1000, q.P95 * 1000, q.P99 * 1000}
}

// worker is a worker that runs something.
type worker struct {
	Worker      string    `json:"worker"`
	HeartbeatAt time.Time `json:"heartbeat_at"`
	Tasks       []struct {
		ID             string    `json:"id"`
		Type           string    `json:"type"`
		OrganizationID *int64    `json:"organization_id"`
		Attempt        int       `json:"attempt"`
		StartedAt      time.Time `json:"started_at"`
		Cancelling     bool      `json:"cancelling"`
	} `json:"tasks"`
}

// periodic is work that the clock asks for.
type periodic struct {
	Type         string     `json:"type"`
	EverySeconds int64      `json:"every_seconds"`
	SucceededAt  *time.Time `json:"succeeded_at"`
	TookSeconds  *float64   `json:"took_seconds"`
	DueAt        *time.Time `json:"due_at"`
	Late         bool       `json:"-"` // by more than its period
}

// Every is how often the clock asks for it, in milliseconds.
func (p periodic) Every() int64 { return p.EverySeconds * 1000 }

// Took is how long the newest success took, in milliseconds.
func (p periodic) Took() *float64 {
	if p.TookSeconds == nil {
		return nil
	}
	ms := *p.TookSeconds * 1000
	return &ms
}

// queuesData is the page of the queues.
type queuesData struct {
	operateAnswer
	Operator bool
	Fault    string // why the window was refused
	Windows  []stateTab
	All      load   // of all queues together
	PerMin   string // tasks that end in a minute
	Busy     []load // the types that have something
	Ended    []frame.Bar
	Checks   []string
	Failing  []string // capabilities that are not ok, with the reasons
}

// queues shows the queues, the workers and the process.
func (p *Pages) queues(c *gin.Context) error {
	data := queuesData{Operator: operator(c)}
	err := p.API.Get(c, operatePath, frame.Valued(c.Request.URL.Query()), &data.operateAnswer)
	if data.Fault, err = refused(err); err != nil {
		return err
	}
	if data.Fault != "" { // the page with the message, and the hour
		if err := p.API.Get(c, operatePath, nil, &data.operateAnswer); err != nil {
			return err
		}
	}
	for _, name := range []string{"hour", "day", "week"} {
		data.Windows = append(data.Windows, stateTab{Name: name, Address: "window=" + name, Current: name == data.Window.Name})
	}
	data.Ended = endedBars(data.Hours)
	for i := range data.Periodic {
		of := &data.Periodic[i]
		of.Late = of.DueAt != nil && p.Now().Sub(*of.DueAt) > time.Duration(of.EverySeconds)*time.Second
	}
	for _, q := range data.Queues {
		data.All.Waiting += q.Waiting
		data.All.Running += q.Running
		data.All.Dead += q.Dead
		data.All.Ended += q.Ended
		data.All.FailedAttempts += q.FailedAttempts
		data.All.OldestWaitingSeconds = max(data.All.OldestWaitingSeconds, q.OldestWaitingSeconds)
	}
	for _, t := range data.Types {
		if !t.Idle() {
			data.Busy = append(data.Busy, t)
		}
	}
	data.PerMin = perMinute(data.Window, p.Now())
	data.Checks = slices.Sorted(maps.Keys(data.Process.Checks))
	for _, name := range slices.Sorted(maps.Keys(data.Process.Capabilities)) {
		ability := data.Process.Capabilities[name]
		if ability.Status == "ok" {
			continue
		}
		reasons := make([]string, 0, len(ability.Failing))
		for _, of := range slices.Sorted(maps.Keys(ability.Failing)) {
			reasons = append(reasons, of+": "+ability.Failing[of])
		}
		data.Failing = append(data.Failing, strings.ReplaceAll(name, "_", " ")+" is "+ability.Status+" ("+strings.Join(reasons, ", ")+")")
	}
	return p.pages.Show(c, "queues", frame.Page{Title: "Queues and workers", Area: area,
		Live: []live.Topic{live.List(live.Tasks), live.List(live.Minute)}, Data: data})
}

// endedBars are the hours as a chart: what died stands on what ended well.
func endedBars(hours []hour) []frame.Bar {
	form := "15:04"
	if len(hours) > 48 {
		form = "01-02 15:04"
	}
	var bars []frame.Bar
	sum := int64(0)
	for _, h := range hours {
		sum += h.Ended
		bars = append(bars, frame.Bar{Label: h.At.UTC().Format(form), Parts: []frame.Part{
			{Series: 0, Name: "ended", Value: h.Ended - h.Died}, {Series: 1, Name: "died", Value: h.Died}}})
	}
	if sum == 0 {
		return nil
	}
	return bars
}

// perMinute is how many tasks end in a minute of the window.
func perMinute(w window, now time.Time) string {
	seconds := float64(w.Seconds)
	if w.Since != nil && w.Until == nil {
		seconds = max(1, now.Sub(*w.Since).Seconds())
	}
	if seconds == 0 || w.Tasks == 0 {
		return "0"
	}
	if rate := float64(w.Tasks) / seconds * 60; rate >= 1 {
		return frame.Number(int64(rate))
	}
	return "below 1"
}
