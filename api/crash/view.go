package crash

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/crash/content"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
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
	ID          int64            `json:"id"`
	Project     projectView      `json:"project"`
	Fingerprint string           `json:"fingerprint"`
	Algorithm   int              `json:"algorithm"`
	Title       string           `json:"title"`
	Culprit     string           `json:"culprit"`
	Classifier  string           `json:"classifier"`
	Severity    crash.Severity   `json:"severity"` // of its worst report
	State       crash.GroupState `json:"state"`
	Count       int64            `json:"count"` // in the window of the request
	TotalCount  int64            `json:"total_count"`
	// Users are those of all time; UsersPartial says that they are counted since UsersSince only.
	Users        int64      `json:"users"`
	UsersPartial bool       `json:"users_partial"`
	UsersSince   *time.Time `json:"users_since"`
	FirstSeen    time.Time  `json:"first_seen"`
	LastSeen     time.Time  `json:"last_seen"`
	ResolvedAt   *time.Time `json:"resolved_at"`
	// ResolvedIn is a version: that of the resolve, or, with ResolvedInNext, the newest
	// before it.
	ResolvedIn       *string           `json:"resolved_in"`
	ResolvedInNext   bool              `json:"resolved_in_next_version"`
	ReopenedAt       *time.Time        `json:"reopened_at"`
	RegressedIn      *string           `json:"regressed_in"`
	Regressions      int               `json:"regressions"`
	Ignored          *ignoredView      `json:"ignored"`
	IgnoreEnded      *ignoreEndedView  `json:"ignore_ended"`
	Assignee         *personView       `json:"assignee"`
	IssueURL         *string           `json:"issue_url"`
	VersionsAffected int               `json:"versions_affected"`
	HostsAffected    int               `json:"hosts_affected"`
	Versions         []affectedVersion `json:"versions"`
	Hosts            []valueView       `json:"hosts"`
	// LatestCrash is the newest one that is kept, null when none is.
	LatestCrash *latestView `json:"latest_crash"`
}

// listedGroup is a group in the list. What stands here goes before the member of the same
// name of the view.
type listedGroup struct {
	groupView
	// Hosts and HostsAffected are left out where nobody asked for them.
	Hosts         *[]valueView `json:"hosts,omitempty"`
	HostsAffected *int         `json:"hosts_affected,omitempty"`
	// RecentDays counts each of the last 14 days (UTC), today last, whatever the window.
	RecentDays []int64 `json:"recent_days"`
}

// listedOf is a group in the list that a filter selects.
func listedOf(g *reading.Group, f *reading.GroupFilter) listedGroup {
	listed := listedGroup{groupView: viewOf(g, f.Window), RecentDays: g.Recent}
	if !f.Without.Hosts {
		listed.Hosts, listed.HostsAffected = &listed.groupView.Hosts, &listed.groupView.HostsAffected
	}
	return listed
}

// latestView is the newest crash of a group.
type latestView struct {
	ID      uuid.UUID         `json:"id"`
	Symbols crash.SymbolState `json:"symbolication_state"`
}

// ignoredView says what ends the ignoring of an ignored group; all null: nothing.
type ignoredView struct {
	Since        *time.Time `json:"since"`
	Until        *time.Time `json:"until"`
	UntilCount   *int64     `json:"until_count"` // occurrences that are left
	UntilUsers   *int64     `json:"until_users"` // users that are left
	UntilVersion *string    `json:"until_version"`
}

// ignoreEndedView says what ended it, of a group that is open since.
type ignoreEndedView struct {
	By crash.IgnoreEnd `json:"by"`
	At *time.Time      `json:"at"`
}

type personView struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// partView is a group that was merged into the one shown.
type partView struct {
	ID         int64  `json:"id"`
	MergedInto int64  `json:"merged_into"`
	Title      string `json:"title"`
	Culprit    string `json:"culprit"`
	Count      int64  `json:"count"`
}

// groupDetail is a single group. Truncated says that the bound of distinct values
// is reached: more may have been seen.
type groupDetail struct {
	groupView
	VersionsTruncated bool `json:"versions_truncated"`
	HostsTruncated    bool `json:"hosts_truncated"`
	// Messages are the most frequent ones, MessagesSeen how many distinct ones there are.
	Messages          []valueView `json:"messages"`
	MessagesSeen      int         `json:"messages_seen"`
	MessagesTruncated bool        `json:"messages_truncated"`
	Days              []dayView   `json:"days"`
	Parts             []partView  `json:"parts"` // the most frequent first, at most 100
	PartsTruncated    bool        `json:"parts_truncated"`
	Comments          int         `json:"comments"`
	// FirstBuild and LastBuild are those uploaded first and last of which there was a report.
	FirstBuild *affectedBuildView `json:"first_build"`
	LastBuild  *affectedBuildView `json:"last_build"`
	// SplitInto are the groups to which its crashes went when symbols arrived, SplitFrom
	// those from which it got some; at most 100 each.
	SplitInto []successorView `json:"split_into"`
	SplitFrom []successorView `json:"split_from"`
	// Grouping says why the reports are one; null when no report is kept.
	Grouping *groupingView `json:"grouping"`
}

// successorView is a group to which, or from which, crashes went.
type successorView struct {
	ID      int64     `json:"id"`
	Title   string    `json:"title"`
	Crashes int64     `json:"crashes"`
	Since   time.Time `json:"since"`
}

func successorsOf(list []crash.Successor) []successorView {
	views := make([]successorView, 0, len(list))
	for _, s := range list {
		views = append(views, successorView{s.GroupID, s.Title, s.Crashes, s.Since.UTC()})
	}
	return views
}

// viewOf shows a group as it was read for a window.
func viewOf(g *reading.Group, w reading.Window) groupView {
	count := g.Count
	if !w.IsZero() {
		count = g.WindowCount
	}
	v := groupView{ID: g.ID, Project: projectView{g.ProjectID, g.ProjectName},
		Fingerprint: hex.EncodeToString(g.Fingerprint), Algorithm: g.Algorithm, Title: g.Title,
		Culprit: g.Culprit, Classifier: g.Classifier, Severity: g.Severity, State: g.State, Count: count, TotalCount: g.Count,
		Users: g.Users, UsersPartial: g.UsersPartial, UsersSince: utc(g.UsersSince),
		FirstSeen: g.FirstSeen.UTC(), LastSeen: g.LastSeen.UTC(), ResolvedAt: utc(g.ResolvedAt),
		ResolvedIn: present(g.ResolvedIn), ResolvedInNext: g.ResolvedNext,
		ReopenedAt: utc(g.ReopenedAt), RegressedIn: present(g.RegressedIn), Regressions: g.Regressions,
		IssueURL:         present(g.IssueURL),
		VersionsAffected: g.Versions.Total, HostsAffected: g.Hosts.Total,
		Versions: affectedVersions(g.Versions), Hosts: valuesOf(g.Hosts)}
	if g.Newest != nil {
		v.LatestCrash = &latestView{g.Newest.CrashID, g.Newest.State}
	}
	if g.State == crash.Ignored {
		v.Ignored = &ignoredView{utc(g.IgnoredAt), utc(g.IgnoredUntil), g.IgnoredCount, g.IgnoredUsers, present(g.IgnoredVersion)}
	}
	if g.IgnoreEnded != "" {
		v.IgnoreEnded = &ignoreEndedView{g.IgnoreEnded, utc(g.IgnoreEndedAt)}
	}
	if g.AssigneeID != nil {
		v.Assignee = &personView{ID: *g.AssigneeID}
		if g.AssigneeEmail != nil && g.AssigneeName != nil {
			v.Assignee.Email, v.Assignee.Name = *g.AssigneeEmail, *g.AssigneeName
		}
	}
	return v
}

// present is nil for no text.
func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func detailOf(g *reading.Group, w reading.Window) groupDetail {
	d := groupDetail{groupView: viewOf(g, w), Messages: valuesOf(g.Messages), MessagesSeen: g.Messages.Total,
		MessagesTruncated: g.Messages.Truncated, VersionsTruncated: g.Versions.Truncated,
		HostsTruncated: g.Hosts.Truncated, Days: make([]dayView, 0, len(g.Days))}
	for _, day := range g.Days {
		d.Days = append(d.Days, dayView{day.Day.Format(time.DateOnly), day.Count})
	}
	d.Parts, d.PartsTruncated, d.Comments = make([]partView, 0, len(g.Parts)), g.PartsTruncated, g.Comments
	d.FirstBuild, d.LastBuild = affectedBuildOf(g.FirstBuild), affectedBuildOf(g.LastBuild)
	d.SplitInto, d.SplitFrom = successorsOf(g.SplitInto), successorsOf(g.SplitFrom)
	for _, p := range g.Parts {
		d.Parts = append(d.Parts, partView(p))
	}
	return d
}

func valuesOf(a reading.Affected) []valueView {
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
	ID             uuid.UUID      `json:"id"`
	GroupID        *int64         `json:"group_id"`
	Project        projectView    `json:"project"`
	UUID           uuid.UUID      `json:"uuid"`
	UUIDConflictOf *uuid.UUID     `json:"uuid_conflict_of"`
	State          crash.State    `json:"state"`
	Format         string         `json:"format"`
	Error          *string        `json:"error"`
	OccurredAt     *time.Time     `json:"occurred_at"`
	ReceivedAt     time.Time      `json:"received_at"`
	ProcessedAt    *time.Time     `json:"processed_at"`
	Lang           string         `json:"lang"`
	Agent          string         `json:"agent"`
	Classifier     string         `json:"classifier"`
	Severity       crash.Severity `json:"severity"`
	Message        string         `json:"message"`
	Version        string         `json:"version"`
	Host           string         `json:"host"`
	Duplicates     int            `json:"duplicates"`
	BuildID        *int64         `json:"build_id"` // of the app; null when it is not known
	// Symbols is how much of it reads as the developer wrote the code.
	Symbols crash.SymbolState `json:"symbolication_state"`
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
	Group          *headView             `json:"group"` // null while there is none
	Attributes     json.RawMessage       `json:"attributes"`
	Symbolication  content.Symbolication `json:"symbolication"`
	Threads        []content.Thread      `json:"threads"`
	ThreadsOmitted int                   `json:"threads_omitted"`
	Modules        []content.Module      `json:"modules"` // in the order of the report, at most 1,000
	ModulesOmitted int                   `json:"modules_omitted"`
	Fingerprint    *fingerprintView      `json:"fingerprint"`
	Attachments    []attachmentView      `json:"attachments"`
	// PreviousID and NextID are the older and the newer crash of the group; null: none.
	PreviousID *uuid.UUID `json:"previous_id"`
	NextID     *uuid.UUID `json:"next_id"`
	content.Beside
	// ClockDrift is by how many seconds the times of the client were corrected; 0: not.
	ClockDrift int64 `json:"clock_drift_seconds"`
}

func rowView(r *reading.Row) crashView {
	return crashView{ID: r.ID, GroupID: r.GroupID, Project: projectView{r.ProjectID, r.ProjectName},
		UUID: r.UUID, UUIDConflictOf: r.ConflictOf, State: r.State, Format: r.Format, Error: r.Error,
		OccurredAt: utc(r.OccurredAt), ReceivedAt: r.ReceivedAt.UTC(), ProcessedAt: utc(r.ProcessedAt),
		Lang: r.Lang, Agent: r.Agent, Classifier: r.Classifier, Severity: r.Severity, Message: r.Message, Version: r.Version,
		Host: r.Host, Duplicates: r.Duplicates, BuildID: r.BuildID, Symbols: symbolState(r.Symbols)}
}

func symbolState(s *crash.SymbolState) crash.SymbolState {
	if s == nil {
		return crash.SymbolsNone
	}
	return *s
}

func rowViews(rows []reading.Row) []crashView {
	views := make([]crashView, 0, len(rows))
	for i := range rows {
		views = append(views, rowView(&rows[i]))
	}
	return views
}

// crashDetailOf shows a crash, its group, nil when it has none, and the steps of its files.
func crashDetailOf(d *reading.Detail, g *reading.GroupHead, steps []json.RawMessage) crashDetail {
	v := crashDetail{crashView: rowView(&d.Row), Attributes: d.Attributes, Attachments: attachmentViews(d.Attachments)}
	v.GroupID = nil
	if g != nil {
		// A merge may have come between the two reads: both members say the same.
		v.GroupID, v.Group = &g.ID, &headView{ID: g.ID, Title: g.Title, State: g.State, Culprit: g.Culprit}
	}
	view, symbols := content.SymbolicationOf(d.Symbols)
	document := d.Document
	if d.Symbols != nil && d.Symbols.Report != nil {
		document = d.Symbols.Report // that of the dump
	}
	v.Symbolication = view
	v.Threads, v.Modules = []content.Thread{}, []content.Module{}
	if r := content.Report(document); r != nil {
		v.Threads, v.ThreadsOmitted = content.Threads(r, document, symbols)
		v.Modules, v.ModulesOmitted = content.Modules(r, symbols)
	}
	markOwn(v.Threads, d.Explanation)
	v.Beside = content.BesideOf(d.Document, v.OccurredAt, steps)
	v.ClockDrift = int64(crash.ClockDrift(d.Sent, d.ReceivedAt) / time.Second)
	if d.Key != nil && d.Algorithm != nil {
		v.Fingerprint = &fingerprintView{Key: hex.EncodeToString(d.Key), Algorithm: *d.Algorithm, Explanation: d.Explanation}
	}
	return v
}

func attachmentViews(list []received.Attachment) []attachmentView {
	views := make([]attachmentView, 0, len(list))
	for i := range list {
		a := &list[i]
		views = append(views, attachmentView{ID: a.ID, Name: a.Name, ContentType: a.ContentType, Size: a.Size,
			CreatedAt: a.CreatedAt.UTC(), URL: "/api/v3/crashes/" + a.CrashID.String() + "/attachments/" + a.ID.String()})
	}
	return views
}
