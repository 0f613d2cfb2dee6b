package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// crashEvent are the own members of the event crash. Version and Build are the report's
// where no build was found.
type crashEvent struct {
	CrashID       uuid.UUID `json:"crashId"`
	GroupID       int64     `json:"groupId,omitempty"`
	CrashProject  string    `json:"crashProject"`
	CrashMessage  string    `json:"crashMessage"`
	DeviceName    string    `json:"deviceName"`
	RawDeviceName string    `json:"rawDeviceName"`
	Email         string    `json:"email"`
	IPAddress     string    `json:"ipAddress"`
	AppName       string    `json:"appName,omitempty"`
	Version       string    `json:"version,omitempty"`
	Build         string    `json:"build,omitempty"`
}

// groupEvent are the own members of the event crash-group.
type groupEvent struct {
	GroupID      int64     `json:"groupId"`
	CrashProject string    `json:"crashProject"`
	Change       string    `json:"change"` // new or regressed
	Title        string    `json:"title"`
	Culprit      string    `json:"culprit"`
	Classifier   string    `json:"classifier"`
	RegressedIn  string    `json:"regressedIn"`
	FirstSeen    time.Time `json:"firstSeen"`
	CrashID      uuid.UUID `json:"crashId"` // one of those that were seen
	AppName      string    `json:"appName,omitempty"`
	Version      string    `json:"version,omitempty"`
}

// emittedRow is a crash as it was recorded, with the group that is shown for it.
type emittedRow struct {
	ID          uuid.UUID `db:"id"`
	Project     string    `db:"project"`
	App         int64     `db:"app"`
	Build       int64     `db:"build"`
	Version     string    `db:"version"`
	Host        string    `db:"host"`
	Message     string    `db:"message"`
	Attributes  []byte    `db:"attributes"`
	OccurredAt  time.Time `db:"occurred_at"`
	Duplicates  int64     `db:"duplicates"`
	Group       int64     `db:"group_id"` // 0: not grouped
	Count       int64     `db:"count"`
	Regressed   bool      `db:"regressed"`
	Regressions int       `db:"regressions"`
	RegressedIn string    `db:"regressed_in"`
	Title       string    `db:"title"`
	Culprit     string    `db:"culprit"`
	Classifier  string    `db:"classifier"`
	FirstSeen   time.Time `db:"first_seen"`
}

// emittedRows reads what events say. A group that these crashes opened again has the time of
// this transaction.
const emittedRows = `
select c.id, cp.name as project, coalesce(cp.project_id, 0) as app, coalesce(c.build_id, 0) as build, c.version, c.host, c.message,
	c.attributes, c.occurred_at, c.duplicates, coalesce(g.id, 0) as group_id, coalesce(g.count, 0) as count,
	coalesce(g.reopened_at = now(), false) as regressed, coalesce(g.regressions, 0) as regressions,
	coalesce(g.regressed_in, '') as regressed_in, coalesce(g.title, '') as title, coalesce(g.culprit, '') as culprit,
	coalesce(g.classifier, '') as classifier, coalesce(g.first_seen, c.occurred_at) as first_seen
from crashes c
join crash_projects cp on cp.id = c.crash_project_id
left join crash_group_keys k on k.id = c.key_id
left join crash_groups own on own.id = k.group_id
left join crash_groups g on g.id = coalesce(own.root_id, own.id)
where c.id = any($1::uuid[]) and c.state <> 'failed'
order by c.id`

// Emit writes the events of crashes of one organization that have just been recorded: of
// each crash, and of each group that they are the first of or that they opened again. It
// comes last in the transaction, once and with all of the crashes.
func Emit(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) error {
	return emit(ctx, tx, organization, crashes, webhook.Crash, webhook.CrashGroup)
}

// EmitGroups is Emit for crashes that were there before and have got their groups now.
func EmitGroups(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) error {
	return emit(ctx, tx, organization, crashes, webhook.CrashGroup)
}

func emit(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash, actions ...webhook.Action) error {
	if len(crashes) == 0 {
		return nil
	}
	wanted, err := webhook.Wanted(ctx, tx, organization, actions...)
	if err != nil || !wanted {
		return err
	}
	var ids []uuid.UUID
	notices := map[uuid.UUID]bool{}
	for i := range crashes {
		ids = append(ids, crashes[i].ID)
		notices[crashes[i].ID] = crashes[i].Notice
	}
	var rows []emittedRow
	if err := tx.SelectContext(ctx, &rows, emittedRows, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "crashes of events")
	}
	var events []webhook.Event
	if actions[0] == webhook.Crash {
		for i := range rows {
			if !notices[rows[i].ID] {
				events = append(events, rows[i].crashEvent(organization))
			}
		}
	}
	return webhook.Emit(ctx, tx, append(events, groupEvents(organization, rows)...)...)
}

func (r *emittedRow) event(organization int64, action webhook.Action, key string, data any) webhook.Event {
	return webhook.Event{OrganizationID: organization, Action: action, ProjectID: r.App, BuildID: r.Build, Key: key,
		At: r.OccurredAt, Data: data}
}

func (r *emittedRow) crashEvent(organization int64) webhook.Event {
	attributes := map[string]any{}
	_ = json.Unmarshal(r.Attributes, &attributes) // jsonb is JSON
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := attributes[name].(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	e := crashEvent{CrashID: r.ID, GroupID: r.Group, CrashProject: r.Project, CrashMessage: cmp.Or(r.Message, r.Title),
		DeviceName: cmp.Or(text("device.name", "device.model"), r.Host), RawDeviceName: cmp.Or(text("device.model", "uname.machine"), r.Host),
		Email: text("email", "user.email"), IPAddress: text("ip_address", "user.ip")}
	if r.Build == 0 {
		e.Version, e.Build = r.Version, text("version_code", "versionCode", "application.build", "build_number", "CFBundleVersion")
	}
	if r.App == 0 {
		e.AppName = r.Project
	}
	return r.event(organization, webhook.Crash, "crash "+r.ID.String(), e)
}

// groupEvents are those of groups that are new, which have no other crashes than these,
// and of those that are open again.
func groupEvents(organization int64, rows []emittedRow) []webhook.Event {
	sums := map[int64]int64{}
	first := map[int64]*emittedRow{}
	var order []int64
	for i := range rows {
		r := &rows[i]
		if r.Group == 0 {
			continue
		}
		if first[r.Group] == nil {
			first[r.Group] = r
			order = append(order, r.Group)
		}
		sums[r.Group] += r.Duplicates
	}
	var events []webhook.Event
	for _, id := range order {
		r := first[id]
		change, key := "new", fmt.Sprintf("crash-group %d new", id)
		switch {
		case r.Regressed:
			change, key = "regressed", fmt.Sprintf("crash-group %d %d", id, r.Regressions)
		case r.Count != sums[id]:
			continue
		}
		e := groupEvent{GroupID: id, CrashProject: r.Project, Change: change, Title: r.Title, Culprit: r.Culprit, Classifier: r.Classifier,
			RegressedIn: r.RegressedIn, FirstSeen: r.FirstSeen, CrashID: r.ID}
		if r.Build == 0 {
			e.Version = r.Version
		}
		if r.App == 0 {
			e.AppName = r.Project
		}
		events = append(events, r.event(organization, webhook.CrashGroup, key, e))
	}
	return events
}
