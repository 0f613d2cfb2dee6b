package crash

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/crash"
)

type projectView struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type valueView struct {
	Value     string    `json:"value"`
	Count     int64     `json:"count"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
}

type dayView struct {
	Day   string `json:"day"`
	Count int64  `json:"count"`
}

// groupView is a group in a list: at most ten versions and hosts.
type groupView struct {
	ID               int64            `json:"id"`
	Project          projectView      `json:"project"`
	Fingerprint      string           `json:"fingerprint"`
	Algorithm        int              `json:"algorithm"`
	Title            string           `json:"title"`
	Culprit          string           `json:"culprit"`
	Classifier       string           `json:"classifier"`
	State            crash.GroupState `json:"state"`
	Count            int64            `json:"count"`
	FirstSeen        time.Time        `json:"first_seen"`
	LastSeen         time.Time        `json:"last_seen"`
	ResolvedAt       *time.Time       `json:"resolved_at"`
	ReopenedAt       *time.Time       `json:"reopened_at"`
	Regressions      int              `json:"regressions"`
	VersionsAffected int              `json:"versions_affected"`
	HostsAffected    int              `json:"hosts_affected"`
	Versions         []valueView      `json:"versions"`
	Hosts            []valueView      `json:"hosts"`
}

// groupDetail is a single group. Truncated says that the bound of distinct values
// is reached: more may have been seen.
type groupDetail struct {
	groupView
	VersionsTruncated bool      `json:"versions_truncated"`
	HostsTruncated    bool      `json:"hosts_truncated"`
	Days              []dayView `json:"days"`
}

func viewOf(g *crash.Group) groupView {
	return groupView{ID: g.ID, Project: projectView{g.ProjectID, g.ProjectName},
		Fingerprint: hex.EncodeToString(g.Fingerprint), Algorithm: g.Algorithm, Title: g.Title,
		Culprit: g.Culprit, Classifier: g.Classifier, State: g.State, Count: g.Count,
		FirstSeen: g.FirstSeen.UTC(), LastSeen: g.LastSeen.UTC(), ResolvedAt: utc(g.ResolvedAt),
		ReopenedAt: utc(g.ReopenedAt), Regressions: g.Regressions,
		VersionsAffected: g.Versions.Total, HostsAffected: g.Hosts.Total,
		Versions: valuesOf(g.Versions), Hosts: valuesOf(g.Hosts)}
}

func detailOf(g *crash.Group) groupDetail {
	d := groupDetail{groupView: viewOf(g), VersionsTruncated: g.Versions.Truncated,
		HostsTruncated: g.Hosts.Truncated, Days: make([]dayView, 0, len(g.Days))}
	for _, day := range g.Days {
		d.Days = append(d.Days, dayView{day.Day.Format(time.DateOnly), day.Count})
	}
	return d
}

func valuesOf(a crash.Affected) []valueView {
	views := make([]valueView, 0, len(a.Values))
	for _, v := range a.Values {
		views = append(views, valueView{v.Value, v.Count, v.FirstSeen.UTC(), v.LastSeen.UTC()})
	}
	return views
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// crashView is a crash in a list.
type crashView struct {
	ID             uuid.UUID   `json:"id"`
	GroupID        *int64      `json:"group_id"`
	Project        projectView `json:"project"`
	UUID           uuid.UUID   `json:"uuid"`
	UUIDConflictOf *uuid.UUID  `json:"uuid_conflict_of"`
	State          crash.State `json:"state"`
	Format         string      `json:"format"`
	Error          *string     `json:"error"`
	OccurredAt     *time.Time  `json:"occurred_at"`
	ReceivedAt     time.Time   `json:"received_at"`
	ProcessedAt    *time.Time  `json:"processed_at"`
	Lang           string      `json:"lang"`
	Agent          string      `json:"agent"`
	Classifier     string      `json:"classifier"`
	Message        string      `json:"message"`
	Version        string      `json:"version"`
	Host           string      `json:"host"`
	Duplicates     int         `json:"duplicates"`
	BuildID        *int64      `json:"build_id"` // of the app; null when it is not known
}

// fingerprintView says which key a crash has and how it came about.
type fingerprintView struct {
	Key         string          `json:"key"`
	Algorithm   int             `json:"algorithm"` // 0: given by the client
	Explanation json.RawMessage `json:"explanation"`
}

type attachmentView struct {
	ID          uuid.UUID `json:"id"`
	Name        string    `json:"name"`
	ContentType string    `json:"content_type"`
	Size        int64     `json:"size"`
	CreatedAt   time.Time `json:"created_at"`
	URL         string    `json:"url"` // path of the download
}

// headView names the group of a single crash.
type headView struct {
	ID      int64            `json:"id"`
	Title   string           `json:"title"`
	State   crash.GroupState `json:"state"`
	Culprit string           `json:"culprit"`
}

// crashDetail is a single crash.
type crashDetail struct {
	crashView
	Group          *headView        `json:"group"` // null while there is none
	Attributes     json.RawMessage  `json:"attributes"`
	Threads        []threadView     `json:"threads"`
	ThreadsOmitted int              `json:"threads_omitted"`
	Fingerprint    *fingerprintView `json:"fingerprint"`
	Attachments    []attachmentView `json:"attachments"`
}

func rowView(r *crash.Row) crashView {
	return crashView{ID: r.ID, GroupID: r.GroupID, Project: projectView{r.ProjectID, r.ProjectName},
		UUID: r.UUID, UUIDConflictOf: r.ConflictOf, State: r.State, Format: r.Format, Error: r.Error,
		OccurredAt: utc(r.OccurredAt), ReceivedAt: r.ReceivedAt.UTC(), ProcessedAt: utc(r.ProcessedAt),
		Lang: r.Lang, Agent: r.Agent, Classifier: r.Classifier, Message: r.Message, Version: r.Version,
		Host: r.Host, Duplicates: r.Duplicates, BuildID: r.BuildID}
}

func rowViews(rows []crash.Row) []crashView {
	views := make([]crashView, 0, len(rows))
	for i := range rows {
		views = append(views, rowView(&rows[i]))
	}
	return views
}

// crashDetailOf shows a crash and its group, nil when it has none.
func crashDetailOf(d *crash.Detail, g *crash.GroupHead) crashDetail {
	v := crashDetail{crashView: rowView(&d.Row), Attributes: d.Attributes, Attachments: attachmentViews(d.Attachments)}
	v.GroupID = nil
	if g != nil {
		// A merge may have come between the two reads: both members say the same.
		v.GroupID, v.Group = &g.ID, &headView{ID: g.ID, Title: g.Title, State: g.State, Culprit: g.Culprit}
	}
	v.Threads, v.ThreadsOmitted = threadsOf(d.Document)
	if d.Key != nil && d.Algorithm != nil {
		v.Fingerprint = &fingerprintView{Key: hex.EncodeToString(d.Key), Algorithm: *d.Algorithm, Explanation: d.Explanation}
	}
	return v
}

func attachmentViews(list []crash.Attachment) []attachmentView {
	views := make([]attachmentView, 0, len(list))
	for i := range list {
		a := &list[i]
		views = append(views, attachmentView{ID: a.ID, Name: a.Name, ContentType: a.ContentType, Size: a.Size,
			CreatedAt: a.CreatedAt.UTC(), URL: "/api/v3/crashes/" + a.CrashID.String() + "/attachments/" + a.ID.String()})
	}
	return views
}
