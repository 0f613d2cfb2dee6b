package ops

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// OperatePath is where operators read how the installation works.
const OperatePath = "/api/v3/operate"

// Setting is a setting of the process that is in force; secrets are redacted.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// operateAnswer is how the installation works, and the process that answers.
type operateAnswer struct {
	Version  string         `json:"version"`
	Process  report         `json:"process"`
	Window   windowView     `json:"window"`
	Hours    []hourView     `json:"hours"`
	Queues   []loadView     `json:"queues"`
	Types    []loadView     `json:"types"`
	Redis    redisView      `json:"redis"`
	Workers  []workerView   `json:"workers"`
	Periodic []periodicView `json:"periodic"`
	Settings []Setting      `json:"settings"`
}

// windowView is what the numbers of ended tasks are counted from.
type windowView struct {
	Name    string     `json:"name"`
	Seconds int64      `json:"seconds"`
	Tasks   int64      `json:"tasks"`
	Since   *time.Time `json:"since"`
	Until   *time.Time `json:"until"`
	// Estimated: the seconds are, from sums by their length.
	Estimated bool `json:"estimated"`
}

// hourView counts the tasks that ended in an hour.
type hourView struct {
	At    time.Time `json:"at"`
	Ended int64     `json:"ended"`
	Died  int64     `json:"died"`
}

// loadView is the load of a queue, or of a type in its queue.
type loadView struct {
	Type                 string        `json:"type,omitempty"` // "" of a queue
	Queue                string        `json:"queue"`
	Waiting              int64         `json:"waiting"`
	Running              int64         `json:"running"`
	Dead                 int64         `json:"dead"`
	OldestWaitingSeconds float64       `json:"oldest_waiting_seconds"`
	Ended                int64         `json:"ended"`
	Died                 int64         `json:"died"`
	FailedAttempts       int64         `json:"failed_attempts"`
	WaitingSeconds       *quantileView `json:"waiting_seconds"`
	RunningSeconds       *quantileView `json:"running_seconds"`
}

type quantileView struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

// workerView is a worker that runs something: those that are idle are not in the ledger.
type workerView struct {
	Worker      string       `json:"worker"`
	HeartbeatAt time.Time    `json:"heartbeat_at"`
	Tasks       []workedView `json:"tasks"`
}

type workedView struct {
	ID             uuid.UUID `json:"id"`
	Type           string    `json:"type"`
	Queue          string    `json:"queue"`
	OrganizationID *int64    `json:"organization_id"`
	Attempt        int       `json:"attempt"`
	StartedAt      time.Time `json:"started_at"`
	Cancelling     bool      `json:"cancelling"`
}

// periodicView is work that the clock asks for.
type periodicView struct {
	Type         string     `json:"type"`
	EverySeconds int64      `json:"every_seconds"`
	SucceededAt  *time.Time `json:"succeeded_at"`
	TookSeconds  *float64   `json:"took_seconds"`
	// DueAt is when the clock asks for the next one, as the newest success says; where it
	// lies in the past, the work is late.
	DueAt *time.Time `json:"due_at"`
}

// The windows of ended tasks. The hour is read from the tasks themselves, the others from
// the sums of their hours.
const (
	windowHour = "hour"
	windowDay  = "day"
	windowWeek = "week"
)

// windowOf reads the parameter window and returns it, with how far back it reaches.
func windowOf(q url.Values) (name string, reach time.Duration, err error) {
	values, given := q["window"]
	if !given {
		return windowHour, ledger.RecentWindow, nil
	}
	if len(values) == 1 {
		switch values[0] {
		case windowHour:
			return windowHour, ledger.RecentWindow, nil
		case windowDay:
			return windowDay, 24 * time.Hour, nil
		case windowWeek:
			return windowWeek, 7 * 24 * time.Hour, nil
		}
	}
	return "", 0, storage.Invalid("window", "must be %s, %s or %s", windowHour, windowDay, windowWeek)
}

// operate serves GET /api/v3/operate. Parameter: window.
func (h *Handlers) operate(c *gin.Context) error {
	ctx := c.Request.Context()
	name, reach, err := windowOf(c.Request.URL.Query())
	if err != nil {
		return err
	}
	process, err := h.Ready.cache.get(ctx)
	if err != nil {
		return err
	}
	redis, err := h.Queues.cache.get(ctx)
	if err != nil {
		return err
	}
	open, err := h.Ledger.Open(ctx)
	if err != nil {
		return err
	}
	history, err := h.Ledger.History(ctx, max(reach, 24*time.Hour))
	if err != nil {
		return err
	}
	window, ended, err := h.ended(ctx, name, reach, history)
	if err != nil {
		return err
	}
	running, err := h.Ledger.RunningNow(ctx)
	if err != nil {
		return err
	}
	last, err := h.Ledger.LastSucceeded(ctx, periodic())
	if err != nil {
		return err
	}
	queues, types := loads(open, ended)
	return respond.JSON(c, http.StatusOK, operateAnswer{Version: h.Version, Process: process, Window: window, Hours: hours(history),
		Queues: queues, Types: types, Redis: redis, Workers: workers(running), Periodic: clockwork(last), Settings: h.Settings})
}

// ended is how the tasks of a window went.
func (h *Handlers) ended(ctx context.Context, name string, reach time.Duration, history *ledger.History) (windowView,
	[]ledger.Ended, error) {
	if name == windowHour {
		lately, err := h.Ledger.Recent(ctx)
		if err != nil {
			return windowView{}, nil, err
		}
		return windowView{Name: name, Seconds: int64(reach.Seconds()), Tasks: lately.Tasks, Since: utc(lately.Since)}, lately.Rows, nil
	}
	rows, err := h.Ledger.Past(ctx, reach)
	if err != nil {
		return windowView{}, nil, err
	}
	view := windowView{Name: name, Since: &history.Since, Until: &history.Until, Estimated: true,
		Seconds: max(0, int64(history.Until.Sub(history.Since).Seconds()))}
	for _, r := range rows {
		if r.Kind == "" {
			view.Tasks += r.Count
		}
	}
	return view, rows, nil
}

func hours(h *ledger.History) []hourView {
	list := make([]hourView, len(h.Hours))
	for i, hour := range h.Hours {
		list[i] = hourView(hour)
	}
	return list
}

// loads are the loads of all queues and types, those without a task among them.
func loads(open []ledger.Stat, ended []ledger.Ended) (queues, types []loadView) {
	byQueue, byType := map[string]*loadView{}, map[[2]string]*loadView{}
	queue := func(name string) *loadView {
		if byQueue[name] == nil {
			byQueue[name] = &loadView{Queue: name}
		}
		return byQueue[name]
	}
	kind := func(name, queue string) *loadView {
		key := [2]string{name, queue}
		if byType[key] == nil {
			byType[key] = &loadView{Type: name, Queue: queue}
		}
		return byType[key]
	}
	for _, name := range tasks.Queues() {
		queue(name)
	}
	for _, k := range tasks.Kinds() {
		kind(k.Name, k.Queue)
	}
	for _, s := range open {
		queue(s.Queue).add(s)
		kind(s.Kind, s.Queue).add(s)
	}
	for _, e := range ended {
		if e.Kind == "" {
			queue(e.Queue).ended(e)
		} else {
			kind(e.Kind, e.Queue).ended(e)
		}
	}
	order := func(a, b loadView) int { return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Type, b.Type)) }
	for _, l := range byQueue {
		queues = append(queues, *l)
	}
	for _, l := range byType {
		types = append(types, *l)
	}
	slices.SortFunc(queues, order)
	slices.SortFunc(types, order)
	return queues, types
}

// add adds the open and dead tasks of one kind and state.
func (l *loadView) add(s ledger.Stat) {
	switch s.State {
	case ledger.Queued:
		l.Waiting += s.Count
		l.OldestWaitingSeconds = max(l.OldestWaitingSeconds, s.OldestSeconds)
	case ledger.Running:
		l.Running += s.Count
	case ledger.Dead:
		l.Dead += s.Count
	}
}

// ended sets how those went that ended.
func (l *loadView) ended(e ledger.Ended) {
	l.Ended, l.Died, l.FailedAttempts = e.Count, e.Died, e.Failed
	if e.Measured > 0 {
		waited, ran := quantileView(e.Waited), quantileView(e.Ran)
		l.WaitingSeconds, l.RunningSeconds = &waited, &ran
	}
}

// workers puts what runs together by its worker.
func workers(running []ledger.Claimed) []workerView {
	by := map[string]*workerView{}
	for _, t := range running {
		w := by[t.Worker]
		if w == nil {
			w = &workerView{Worker: t.Worker}
			by[t.Worker] = w
		}
		if t.HeartbeatAt.After(w.HeartbeatAt) {
			w.HeartbeatAt = t.HeartbeatAt.UTC()
		}
		w.Tasks = append(w.Tasks, workedView{ID: t.ID, Type: t.Kind, Queue: t.Queue, OrganizationID: t.OrganizationID, Attempt: t.Attempt,
			StartedAt: t.StartedAt.UTC(), Cancelling: t.CancelRequested})
	}
	list := make([]workerView, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, *by[name])
	}
	return list
}

// clockwork is the periodic work with its newest successes.
func clockwork(last []ledger.Success) []periodicView {
	list := []periodicView{}
	for _, k := range tasks.Kinds() {
		if k.Every == 0 {
			continue
		}
		v := periodicView{Type: k.Name, EverySeconds: int64(k.Every.Seconds())}
		for _, s := range last {
			if s.Kind == k.Name {
				at := s.FinishedAt.UTC()
				due := s.CreatedAt.UTC().Add(k.Every)
				v.SucceededAt, v.TookSeconds, v.DueAt = &at, &s.Seconds, &due
			}
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b periodicView) int { return cmp.Compare(a.Type, b.Type) })
	return list
}
