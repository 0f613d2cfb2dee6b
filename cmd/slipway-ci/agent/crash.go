package agent

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

func (s *server) addCrashes() {
	add(s, tool{name: "list_crash_groups", title: "List crash groups",
		description: "Crashes that are one bug are a group. Newest crash first, or by count. For what a version brought: version with " +
			"first_seen_from, or regressed_from for what came back."},
		s.listCrashGroups)
	add(s, tool{name: "get_crash_group", title: "Read a crash group",
		description: "Counts, versions, messages and comments of a crash group, and the id of its latest crash, which get_crash reads."},
		s.getCrashGroup)
	add(s, tool{name: "get_crash", title: "Read a crash",
		description: "One crash: message, attributes, breadcrumbs, and the stack of the thread that failed, with symbols where they are there. " +
			"Frames with own are those of the app; they have lines of the source where these are known."},
		s.getCrash)
	add(s, tool{name: "resolve_crash_group", title: "Resolve a crash group", write: Crashes, repeatable: true, overwrites: true,
		description: "Set the state of a crash group: resolved (opens again by itself when the crash comes back), ignored, or open."},
		s.resolveCrashGroup)
	add(s, tool{name: "comment_crash_group", title: "Comment on a crash group", write: Crashes, longest: map[string]int{"text": 10_000},
		description: "Write a comment on a crash group, which people read."},
		s.commentCrashGroup)
}

type groupsArguments struct {
	Project       int64    `json:"crash_project_id,omitempty" jsonschema:"only this crash project"`
	State         []string `json:"state,omitempty" jsonschema:"only these states: open, resolved, ignored"`
	Version       []string `json:"version,omitempty" jsonschema:"only groups that crashed in these versions of the app"`
	Search        string   `json:"search,omitempty" jsonschema:"part of title, culprit or message"`
	Since         string   `json:"from,omitempty" jsonschema:"only groups that crashed since this time (RFC 3339 or a date)"`
	FirstSeenFrom string   `json:"first_seen_from,omitempty" jsonschema:"only groups that are new since this time"`
	RegressedFrom string   `json:"regressed_from,omitempty" jsonschema:"only resolved groups that came back since this time"`
	Sort          string   `json:"sort,omitempty" jsonschema:"last_seen (default), first_seen or count"`
	paged
}

type value struct {
	Value line  `json:"value"`
	Count int64 `json:"count"`
}

type crashProject struct {
	ID   int64 `json:"id"`
	Name line  `json:"name"`
}

// groupHead is a group in a list.
type groupHead struct {
	ID          int64        `json:"id"`
	Project     crashProject `json:"project"`
	Title       line         `json:"title"`
	Culprit     line         `json:"culprit,omitempty"`
	Classifier  line         `json:"classifier,omitempty"`
	State       string       `json:"state"`
	Count       int64        `json:"count"`
	FirstSeen   string       `json:"first_seen"`
	LastSeen    string       `json:"last_seen"`
	Regressions int          `json:"regressions,omitempty"`
	ResolvedIn  *line        `json:"resolved_in,omitempty"`
	RegressedIn *line        `json:"regressed_in,omitempty"`
	Versions    []value      `json:"versions,omitempty"`
	Latest      *latest      `json:"latest_crash,omitempty"`
}

type latest struct {
	ID            string `json:"id"`
	Symbolication string `json:"symbolication_state"`
}

const fewVersions = 5

func (s *server) listCrashGroups(ctx context.Context, in groupsArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{"omit": {"hosts"}}
	set(q, "project", number(in.Project))
	set(q, "state", in.State...)
	set(q, "version", in.Version...)
	set(q, "search", in.Search)
	set(q, "from", in.Since)
	set(q, "first_seen_from", in.FirstSeenFrom)
	set(q, "regressed_from", in.RegressedFrom)
	set(q, "sort", in.Sort)
	at.byPage(q, "per_page")
	var found struct {
		Groups     []groupHead `json:"crash_groups"`
		Pagination pagination  `json:"pagination"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "crash-groups"), q, &found); err != nil {
		return nil, err
	}
	for i := range found.Groups {
		g := &found.Groups[i]
		g.Versions = g.Versions[:min(len(g.Versions), fewVersions)]
	}
	return list[groupHead]{Items: found.Groups, Next: at.next(found.Pagination.more())}, nil
}

type groupArguments struct {
	ID int64 `json:"id" jsonschema:"id of the crash group"`
}

// group is a group as a whole.
type group struct {
	groupHead
	TotalCount int64     `json:"total_count"`
	Messages   []value   `json:"messages,omitempty"`
	IssueURL   *line     `json:"issue_url,omitempty"`
	Comments   []comment `json:"comments,omitempty"`
	URL        string    `json:"url"` // the page for people
}

type comment struct {
	ID     int64 `json:"id"`
	Author struct {
		Name line `json:"name"`
	} `json:"author"`
	Text      text   `json:"text"`
	CreatedAt string `json:"created_at"`
}

const fewMessages = 10

func (s *server) getCrashGroup(ctx context.Context, in groupArguments) (any, error) {
	var found struct {
		Group struct {
			groupHead
			TotalCount int64   `json:"total_count"`
			Messages   []value `json:"messages"`
			IssueURL   *line   `json:"issue_url"`
			Comments   int     `json:"comments"`
		} `json:"crash_group"`
	}
	if err := s.cfg.Client.Get(ctx, groupPath(in.ID), nil, &found); err != nil {
		return nil, err
	}
	answer := group{groupHead: found.Group.groupHead, TotalCount: found.Group.TotalCount, IssueURL: found.Group.IssueURL,
		Messages: found.Group.Messages[:min(len(found.Group.Messages), fewMessages)], URL: s.console("crashes", "groups", number(in.ID))}
	answer.Versions = answer.Versions[:min(len(answer.Versions), defaultItems)]
	if found.Group.Comments > 0 {
		var comments struct {
			Comments []comment `json:"comments"`
		}
		if err := s.cfg.Client.Get(ctx, groupPath(in.ID)+"/comments", url.Values{"per_page": {"20"}}, &comments); err != nil {
			return nil, err
		}
		answer.Comments = comments.Comments
	}
	return answer, nil
}

func groupPath(id int64) string { return client.Path("api", "v3", "crash-groups", number(id)) }

type crashArguments struct {
	ID         string `json:"id" jsonschema:"id of the crash (UUID): latest_crash.id of a group, or of a search"`
	AllThreads bool   `json:"all_threads,omitempty" jsonschema:"the other threads, too; their first frames only"`
}

// crash is one report.
type crash struct {
	ID            string        `json:"id"`
	GroupID       *int64        `json:"group_id"`
	Project       crashProject  `json:"project"`
	State         string        `json:"state"`
	OccurredAt    *string       `json:"occurred_at"`
	Version       line          `json:"version,omitempty"`
	BuildID       *int64        `json:"build_id,omitempty"`
	Host          line          `json:"host,omitempty"`
	Classifier    line          `json:"classifier,omitempty"`
	Message       text          `json:"message,omitempty"`
	Attributes    document      `json:"attributes"`
	Symbolication symbolication `json:"symbolication"`
	Threads       []thread      `json:"threads"`
	ThreadsOut    int           `json:"threads_left_out,omitempty"`
	Breadcrumbs   []breadcrumb  `json:"breadcrumbs,omitempty"`
	Previous      *string       `json:"previous_id,omitempty"`
	Next          *string       `json:"next_id,omitempty"`
	URL           string        `json:"url"`
}

type symbolication struct {
	State   string    `json:"state"`
	Missing []missing `json:"missing,omitempty"`
}

type missing struct {
	Kind   string `json:"kind"`
	Name   line   `json:"name"`
	Reason line   `json:"reason,omitempty"`
	Frames int    `json:"frames"`
}

type thread struct {
	Name    line    `json:"name,omitempty"`
	Fault   bool    `json:"fault,omitempty"`
	Main    bool    `json:"main,omitempty"`
	Frames  []frame `json:"frames"`
	Omitted int     `json:"frames_omitted,omitempty"`
}

type frame struct {
	Function line   `json:"function,omitempty"`
	File     line   `json:"file,omitempty"`
	Line     *int64 `json:"line,omitempty"`
	Library  line   `json:"library,omitempty"`
	Own      bool   `json:"own,omitempty"`
	Faulted  bool   `json:"faulted,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
	Source   *struct {
		StartLine int64  `json:"start_line"`
		Lines     []line `json:"lines"`
	} `json:"source,omitempty"`
}

type breadcrumb struct {
	At      *string `json:"at,omitempty"`
	Type    line    `json:"type,omitempty"`
	Level   line    `json:"level,omitempty"`
	Message line    `json:"message,omitempty"`
}

const (
	manyFrames      = 60 // of the thread that failed
	fewFrames       = 8  // of the others
	manyThreads     = 12
	fewMissing      = 10
	lastBreadcrumbs = 20
	// maxAttributes bounds the attributes of a report, in bytes.
	maxAttributes = 4000
)

func (s *server) getCrash(ctx context.Context, in crashArguments) (any, error) {
	var found struct {
		Crash crash `json:"crash"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "crashes", in.ID), nil, &found); err != nil {
		return nil, err
	}
	c := &found.Crash
	c.URL, c.Attributes.most = s.console("crashes", "reports", c.ID), maxAttributes
	c.Symbolication.Missing = c.Symbolication.Missing[:min(len(c.Symbolication.Missing), fewMissing)]
	c.Breadcrumbs = c.Breadcrumbs[max(0, len(c.Breadcrumbs)-lastBreadcrumbs):]
	c.chooseThreads(in.AllThreads)
	return c, nil
}

// chooseThreads keeps the thread that failed, and of the others at most a few frames.
func (c *crash) chooseThreads(all bool) {
	fault := 0
	for i := range c.Threads {
		if c.Threads[i].Fault {
			fault = i
			break
		}
	}
	var kept []thread
	for i, t := range c.Threads {
		most := fewFrames
		switch {
		case i == fault:
			most = manyFrames
		case !all || len(kept) >= manyThreads:
			c.ThreadsOut++
			continue
		}
		if left := len(t.Frames) - most; left > 0 {
			t.Frames, t.Omitted = t.Frames[:most], t.Omitted+left
		}
		for j := range t.Frames {
			if !t.Frames[j].Own {
				t.Frames[j].Source = nil // the code of others: their lines say little
			}
		}
		kept = append(kept, t)
	}
	c.Threads = kept
}

type resolveArguments struct {
	ID        int64  `json:"id" jsonschema:"id of the crash group"`
	State     string `json:"state" jsonschema:"resolved, ignored or open"`
	InVersion string `json:"in_version,omitempty" jsonschema:"the version that has the fix: only crashes of it and later ones open the group again"`
}

// changed is a group after a change.
type changed struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

func (s *server) resolveCrashGroup(ctx context.Context, in resolveArguments) (any, error) {
	body := map[string]any{"state": in.State}
	if in.InVersion != "" {
		body["in_version"] = in.InVersion
	}
	var found struct {
		Group changed `json:"crash_group"`
	}
	err := s.cfg.Client.JSON(ctx, client.Request{Method: http.MethodPatch, Path: groupPath(in.ID), Repeatable: true}, body, &found)
	return found.Group, err
}

type commentArguments struct {
	ID   int64  `json:"id" jsonschema:"id of the crash group"`
	Text string `json:"text" jsonschema:"the comment"`
}

func (s *server) commentCrashGroup(ctx context.Context, in commentArguments) (any, error) {
	var made struct {
		Comment struct {
			ID      int64 `json:"id"`
			GroupID int64 `json:"group_id"`
		} `json:"comment"`
	}
	err := s.cfg.Client.JSON(ctx, client.Request{Method: http.MethodPost, Path: groupPath(in.ID) + "/comments"},
		map[string]string{"text": in.Text}, &made)
	return made.Comment, err
}

// console is the address of a page of the console, for people.
func (s *server) console(segments ...string) string {
	return s.cfg.Client.URL(client.Path(append([]string{"console"}, segments...)...))
}
