package crashes

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
)

// groupDetail is a single group.
type groupDetail struct {
	group
	VersionsTruncated bool   `json:"versions_truncated"`
	HostsTruncated    bool   `json:"hosts_truncated"`
	Messages          []seen `json:"messages"`
	MessagesSeen      int    `json:"messages_seen"`
	Days              []struct {
		Day   string `json:"day"`
		Count int64  `json:"count"`
	} `json:"days"`
	Parts          []groupPart    `json:"parts"`
	PartsTruncated bool           `json:"parts_truncated"`
	Comments       int            `json:"comments"`
	FirstBuild     *affectedBuild `json:"first_build"`
	LastBuild      *affectedBuild `json:"last_build"`
	SplitInto      []successor    `json:"split_into"`
	SplitFrom      []successor    `json:"split_from"`
	Grouping       *struct {
		CrashID  string   `json:"crash_id"`
		Source   string   `json:"source"`
		Material []string `json:"material"`
		Frames   []struct {
			Function string `json:"function"`
			Text     string `json:"text"`
		} `json:"frames"`
	} `json:"grouping"`
}

// groupChange is an entry of the group's history.
type groupChange struct {
	State string `json:"state"`
	Actor *struct {
		Name string `json:"name"`
	} `json:"actor"`
	Detail map[string]any `json:"detail"`
	TaskID *string        `json:"task_id"`
	At     time.Time      `json:"at"`
}

// happenings are what an entry is called that has a member.
var happenings = []struct{ member, text string }{
	{"regressed_in", "came back"}, {"ignore_ended", "is no longer ignored"}, {"merged_into", "became a part of another group"},
	{"taken_from", "was taken out of another group"}, {"unmerged", "lost a part"},
}

// What says what happened.
func (h *groupChange) What() string {
	for _, one := range happenings {
		if _, there := h.Detail[one.member]; there {
			return one.text
		}
	}
	_, merged := h.Detail["merged"]
	asked, _ := h.Detail["state"].(string)
	switch {
	case merged && h.State != "":
		return "took another group in, and is " + h.State
	case merged:
		return "took another group in"
	case h.State == "open":
		return "reopened"
	case h.State != "":
		return h.State
	case asked != "":
		return "stays " + asked
	}
	return "changed"
}

// Details are the members of the entry as text, without what What says.
func (h *groupChange) Details() string {
	e := event{Data: map[string]any{}}
	for name, value := range h.Detail {
		if name != "state" && value != "" {
			e.Data[name] = value
		}
	}
	return e.Details()
}

// changeList is a page of the history, the newest first.
type changeList struct {
	Changes        []groupChange `json:"changes"`
	Pagination     envelope      `json:"pagination"`
	Earlier, Later string        `json:"-"`
}

// changes asks for the page of the history that the address names.
func (p *Pages) changes(c *gin.Context) (list changeList, err error) {
	at, err := strconv.Atoi(c.Query("changes"))
	if err != nil || at < 1 {
		at = 1
	}
	q := url.Values{"page": {strconv.Itoa(at)}, "per_page": {"10"}}
	if err := p.API.Get(c, "/api/v3/crash-groups/"+frame.Segment(c, "id")+"/history", q, &list); err != nil {
		return list, err
	}
	if at > 1 {
		list.Later = address(c, "changes", strconv.Itoa(at-1)) + "#changes"
	}
	if at*10 < list.Pagination.Total {
		list.Earlier = address(c, "changes", strconv.Itoa(at+1)) + "#changes"
	}
	return list, nil
}

// groupPart is a group that was merged into the one shown.
type groupPart struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	Count int64  `json:"count"`
}

// successor is a group to which, or from which, crashes went.
type successor struct {
	ID      int64     `json:"id"`
	Title   string    `json:"title"`
	Crashes int64     `json:"crashes"`
	Since   time.Time `json:"since"`
}

// maxHeading bounds a title in the heading of a window, in characters.
const maxHeading = 120

// ShortTitle is the title as the window has it.
func (g *group) ShortTitle() string { return storage.Cut(g.Title, maxHeading) }

// groupData is the page of a group.
type groupData struct {
	Group      *groupDetail
	Fault      string
	Trend      []frame.Bar
	Windows    []choice
	Reports    []report
	Pagination envelope
	Pager      *frame.Pager
	Conditions []condition
	Kept       []field
	Attributes facets
	Comments   commentList
	Feedback   *feedback
	Changes    changeList
	Missing    []need
	More       bool // files that it lacks
	Insight    insight
}

// groupOf asks for the group of the path. done: the group was merged into another, and the
// page leads there.
func (p *Pages) groupOf(c *gin.Context, below string, q url.Values) (g *groupDetail, done bool, err error) {
	var view struct {
		Group *groupDetail `json:"crash_group"`
	}
	if err := p.API.Get(c, "/api/v3/crash-groups/"+frame.Segment(c, "id"), q, &view); err != nil {
		return nil, false, err
	}
	if id := strconv.FormatInt(view.Group.ID, 10); id != c.Param("id") {
		return nil, true, p.Lead(c, groupPath(view.Group.ID)+below)
	}
	return view.Group, false, nil
}

func groupPath(id int64) string { return area + "/groups/" + strconv.FormatInt(id, 10) }

// group serves GET /console/crashes/groups/{id}. version, attribute.KEY, from and to narrow
// its reports; from and to its counts as well.
func (p *Pages) group(c *gin.Context) error {
	window := frame.Query(c, "from", "to")
	g, done, err := p.groupOf(c, "", window)
	data := groupData{}
	if data.Fault, err = refused(err); err != nil || done {
		return err
	}
	if data.Fault != "" { // of the window: the group without it
		window = nil
		if g, done, err = p.groupOf(c, "", nil); err != nil || done {
			return err
		}
	}
	data.Group, data.Trend, data.Windows = g, p.trend(g, len(window) > 0), p.windows(c)
	data.Conditions, data.Kept = conditions(c, "version", "from", "to"), kept(c, "version", "from", "to")
	path := "/api/v3/crash-groups/" + frame.Segment(c, "id")
	if data.Fault == "" {
		var list reportList
		if data.Fault, err = refused(p.API.Get(c, path+"/crashes", frame.Valued(c.Request.URL.Query(), "comments", "changes"),
			&list)); err != nil {
			return err
		}
		data.Reports, data.Pagination, data.Pager = list.Crashes, list.Pagination, p.pager(c, list.Pagination)
	}
	if data.Attributes, err = p.facets(c, counting{path: path + "/attributes", q: window, keys: besideReports}, "", nil); err != nil {
		return err
	}
	if data.Comments, err = p.comments(c, g); err != nil {
		return err
	}
	if data.Feedback, err = p.feedback(c, path); err != nil {
		return err
	}
	if data.Changes, err = p.changes(c); err != nil {
		return err
	}
	if data.Insight, err = p.insight(c); err != nil {
		return err
	}
	var lacks needList
	of := url.Values{"crash_group_id": {c.Param("id")}, "per_page": {"10"}}
	if err := p.API.Get(c, "/api/v3/symbols/missing", of, &lacks); err != nil {
		return err
	}
	data.Missing, data.More = p.needs(lacks.Missing), len(lacks.Missing) < lacks.Pagination.Total
	return p.show(c, "group", data.Fault, frame.Page{Title: g.ShortTitle(), Data: data})
}

// maxTrend is how many days a trend shows, up to today or up to the last report.
const maxTrend = 90

// trend are the reports of each day, also of those without one.
func (p *Pages) trend(g *groupDetail, windowed bool) []frame.Bar {
	if len(g.Days) == 0 {
		return nil
	}
	counts := map[string]int64{}
	for _, d := range g.Days {
		counts[d.Day] = d.Count
	}
	first, err1 := time.Parse(time.DateOnly, g.Days[0].Day)
	last, err2 := time.Parse(time.DateOnly, g.Days[len(g.Days)-1].Day)
	if err1 != nil || err2 != nil {
		return nil
	}
	const day = 24 * time.Hour
	if today := p.Now().UTC().Truncate(day); !windowed && today.Sub(last) < maxTrend*day {
		last = today
	}
	if earliest := last.AddDate(0, 0, 1-maxTrend); first.Before(earliest) {
		first = earliest
	}
	var bars []frame.Bar
	for at := first; !at.After(last); at = at.AddDate(0, 0, 1) {
		text := at.Format(time.DateOnly)
		bar := frame.Bar{Label: text, Parts: []frame.Part{{Name: "reports", Value: counts[text]}}}
		if counts[text] > 0 {
			bar.Link = "?" + url.Values{"from": {text}, "to": {text}}.Encode() + "#reports"
		}
		bars = append(bars, bar)
	}
	return bars
}

// windows are the times that the page can be narrowed to.
func (p *Pages) windows(c *gin.Context) []choice {
	list := []choice{{Text: "All time", Link: address(c, "from", "", "to", ""), Chosen: c.Query("from") == "" && c.Query("to") == ""}}
	for _, days := range []int{1, 7, 30, 90} {
		from := p.Now().UTC().AddDate(0, 0, 1-days).Format(time.DateOnly)
		text := "Last " + strconv.Itoa(days) + " days"
		if days == 1 {
			text = "Today"
		}
		list = append(list, choice{Text: text, Link: address(c, "from", from, "to", ""), Chosen: c.Query("from") == from && c.Query("to") == ""})
	}
	return list
}

// patch asks the api to change the group of the path.
func (p *Pages) patch(c *gin.Context, body map[string]any) error {
	return p.API.Send(c, http.MethodPatch, "/api/v3/crash-groups/"+frame.Segment(c, "id"), body, nil)
}

// back is the page that a form of a group was on.
func (p *Pages) back(c *gin.Context) string { return p.Back(c, area+"/groups/"+frame.Segment(c, "id")) }

// changeState serves POST /console/crashes/groups/{id}/state.
func (p *Pages) changeState(c *gin.Context) error {
	decision, known := decisions[c.PostForm("do")]
	if !known {
		return p.Refused(c, p.back(c), storage.Invalid("do", "must be resolve, reopen or ignore"))
	}
	body, notice := map[string]any{"state": decision.state}, "The group is "+decision.state+"."
	set := func(member string) {
		if text := strings.TrimSpace(c.PostForm(member)); text != "" {
			body[member] = text
		}
	}
	switch decision.state {
	case "resolved":
		set("in_version")
		if c.PostForm("in_next_version") != "" {
			body["in_next_version"] = true
		}
	case "ignored":
		set("until")
		set("until_version")
		if text := strings.TrimSpace(c.PostForm("until_count")); text != "" {
			count, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return p.Refused(c, p.back(c), storage.Invalid("further crashes", "must be a number"))
			}
			body["until_count"] = count
		}
		if text := strings.TrimSpace(c.PostForm("until_users")); text != "" {
			count, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return p.Refused(c, p.back(c), storage.Invalid("further users", "must be a number"))
			}
			body["until_users"] = count
		}
	}
	return p.End(c, p.back(c), notice, p.patch(c, body))
}

// orNone is a text of the form, or null for none.
func orNone(c *gin.Context, name string) any {
	if text := strings.TrimSpace(c.PostForm(name)); text != "" {
		return text
	}
	return nil
}

// assign serves POST /console/crashes/groups/{id}/assignee.
func (p *Pages) assign(c *gin.Context) error {
	to, notice := orNone(c, "assignee"), "The group is assigned."
	if to == nil {
		notice = "The group is assigned to nobody."
	}
	return p.End(c, p.back(c), notice, p.patch(c, map[string]any{"assignee": to}))
}

// linkIssue serves POST /console/crashes/groups/{id}/issue.
func (p *Pages) linkIssue(c *gin.Context) error {
	to, notice := orNone(c, "issue_url"), "The issue is linked."
	if to == nil {
		notice = "The link to the issue was removed."
	}
	return p.End(c, p.back(c), notice, p.patch(c, map[string]any{"issue_url": to}))
}

// number reads the number of a group from a form.
func number(c *gin.Context, name string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(c.PostForm(name)), "#")), 10, 64)
	if err != nil || n < 1 {
		return 0, storage.Invalid("group", "must be the number of one")
	}
	return n, nil
}

// merge serves POST /console/crashes/groups/{id}/merge, and leads to the target.
func (p *Pages) merge(c *gin.Context) error {
	target, err := number(c, "merge_into")
	if err != nil {
		return p.Refused(c, p.back(c), err)
	}
	if err := p.patch(c, map[string]any{"merge_into": target}); err != nil {
		return p.Refused(c, p.back(c), err)
	}
	return p.Done(c, groupPath(target), "Merged: this group has the reports of both now.")
}

// unmerge serves POST /console/crashes/groups/{id}/unmerge, and leads to the part.
func (p *Pages) unmerge(c *gin.Context) error {
	taken, err := number(c, "part")
	if err != nil {
		return p.Refused(c, p.back(c), err)
	}
	if err := p.patch(c, map[string]any{"unmerge": taken}); err != nil {
		return p.Refused(c, p.back(c), err)
	}
	return p.Done(c, groupPath(taken), "Taken out: this is a group of its own again.")
}
