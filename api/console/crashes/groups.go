package crashes

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
)

// named is a thing with a number and a name.
type named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type person struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// seen is a value that reports have, with how often and when.
type seen struct {
	Value     string    `json:"value"`
	Count     int64     `json:"count"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	CrashFree *float64  `json:"crash_free_sessions"` // of a version
}

// group is a crash group as the list and its page show it.
type group struct {
	ID               int64      `json:"id"`
	Project          named      `json:"project"`
	Fingerprint      string     `json:"fingerprint"`
	Title            string     `json:"title"`
	Culprit          string     `json:"culprit"`
	Classifier       string     `json:"classifier"`
	Severity         string     `json:"severity"`
	State            string     `json:"state"`
	Count            int64      `json:"count"`
	TotalCount       int64      `json:"total_count"`
	Users            int64      `json:"users"`
	UsersPartial     bool       `json:"users_partial"`
	UsersSince       *time.Time `json:"users_since"`
	FirstSeen        time.Time  `json:"first_seen"`
	LastSeen         time.Time  `json:"last_seen"`
	ResolvedAt       *time.Time `json:"resolved_at"`
	ResolvedIn       string     `json:"resolved_in"`
	ResolvedInNext   bool       `json:"resolved_in_next_version"`
	ReopenedAt       *time.Time `json:"reopened_at"`
	RegressedIn      string     `json:"regressed_in"`
	Regressions      int        `json:"regressions"`
	Assignee         *person    `json:"assignee"`
	IssueURL         string     `json:"issue_url"`
	VersionsAffected int        `json:"versions_affected"`
	HostsAffected    int        `json:"hosts_affected"`
	Versions         []seen     `json:"versions"`
	Hosts            []seen     `json:"hosts"`
	RecentDays       []int64    `json:"recent_days"` // of the list
	Ignored          *struct {
		Since        *time.Time `json:"since"`
		Until        *time.Time `json:"until"`
		UntilCount   *int64     `json:"until_count"`
		UntilUsers   *int64     `json:"until_users"`
		UntilVersion string     `json:"until_version"`
	} `json:"ignored"`
	IgnoreEnded *struct {
		By string     `json:"by"`
		At *time.Time `json:"at"`
	} `json:"ignore_ended"`
}

// groupsData is the page with the list of groups.
type groupsData struct {
	Fault      string // why the filters were refused
	Groups     []group
	Pagination envelope
	Pager      *frame.Pager
	States     []choice
	Severities []choice
	Projects   []choice
	Orders     map[string]order
	Kept       []field
	Selection  []field // the filters, for a change of all that match
	Conditions []condition
	Attributes facets
	Facets     groupFacets
	Saved      savedList
}

// groups serves GET /console/crashes.
func (p *Pages) groups(c *gin.Context) error {
	var view struct {
		Groups     []group  `json:"crash_groups"`
		Pagination envelope `json:"pagination"`
		facetsView
	}
	asked := frame.Valued(c.Request.URL.Query(), "facet")
	asked["omit"] = []string{"hosts", "latest_crash"} // the list does not show them
	asked.Set("facets", "true")
	fault, err := refused(p.API.Get(c, "/api/v3/crash-groups", asked, &view))
	if err != nil {
		return err
	}
	data := groupsData{Fault: fault, Groups: view.Groups, Pagination: view.Pagination,
		States: choices(c, "state", "open", "resolved", "ignored"), Severities: severities(c),
		Orders: orders(c, "last_seen", "first_seen", "count", "users"),
		Kept: kept(c, "search", "state", "project", "version", "classifier", "severity", "assignee",
			"from", "to", "first_seen_from", "regressed_from"),
		// What orders or cuts the list does not select.
		Selection: kept(c, "sort", "order", "per_page", "facet"),
		// The filters with a field of their own can be emptied there.
		Conditions: conditions(c)}
	data.Pager = p.pager(c, view.Pagination)
	if data.Projects, err = p.projectChoices(c, view.Groups); err != nil {
		return err
	}
	q := frame.Query(c, "project", "project[]", "from", "to")
	attribute := func(key, value string) string { return address(c, attributePrefix+key, value) }
	of := counting{path: "/api/v3/crash-attributes", q: q, keys: besideReports, values: valuedReports}
	if data.Attributes, err = p.facets(c, of, c.Query("facet"), attribute); err != nil {
		return err
	}
	if fault == "" && len(view.Groups) > 0 {
		data.Facets = groupFacetsOf(c, &view.facetsView)
	}
	if data.Saved, err = p.savedSearches(c); err != nil {
		return err
	}
	return p.show(c, "index", fault, frame.Page{Title: "Crashes", Data: data})
}

// severities are what reports can be of, the worst first.
func severities(c *gin.Context) []choice {
	return choices(c, "severity", "crash", "out_of_memory", "hang", "error")
}

// projectChoices are the crash projects to filter by: all of them for who may list them,
// else those of the groups that are shown.
func (p *Pages) projectChoices(c *gin.Context, groups []group) ([]choice, error) {
	list, err := p.allProjects(c)
	if err != nil {
		return nil, err
	}
	if list == nil {
		for i := range groups {
			if !slices.Contains(list, groups[i].Project) {
				list = append(list, groups[i].Project)
			}
		}
	}
	ids := make([]string, 0, len(list))
	for _, project := range list {
		ids = append(ids, strconv.FormatInt(project.ID, 10))
	}
	options := choices(c, "project", ids...)
	for i := range options {
		options[i].Text = list[i].Name
	}
	// A project that is not among them stays chosen.
	if id := c.Query("project"); id != "" && !slices.Contains(ids, id) {
		options = append(options, choice{Value: id, Text: "Crash project " + id, Chosen: true})
	}
	return options, nil
}

// allProjects are the first crash projects; nil for who may not list them.
func (p *Pages) allProjects(c *gin.Context) ([]named, error) {
	var view struct {
		Projects []named `json:"crash_projects"`
	}
	err := p.API.Get(c, "/api/v3/crash-projects", url.Values{"per_page": {wholePage}}, &view)
	return view.Projects, forbidden(err)
}

// decisions are what can be done to many groups: the state that each makes, and its word.
var decisions = map[string]struct{ state, done string }{
	"resolve": {"resolved", "resolved"}, "reopen": {"open", "reopened"}, "ignore": {"ignored", "ignored"},
}

// maxChanged is the most groups that are changed by one form: a page of the list.
const maxChanged = 100

// changeGroups serves POST /console/crashes/change: one request of the api for each group.
func (p *Pages) changeGroups(c *gin.Context) error {
	back := p.Back(c, area)
	decision, known := decisions[c.PostForm("do")]
	ids := c.PostFormArray("group")
	switch {
	case !known:
		return p.Refused(c, back, storage.Invalid("do", "must be resolve, reopen or ignore"))
	case len(ids) == 0:
		return p.Refused(c, back, &respond.Problem{Status: http.StatusBadRequest, Text: "select the groups first"})
	case len(ids) > maxChanged:
		return p.Refused(c, back, storage.Invalid("group", "at most %d groups are changed together", maxChanged))
	}
	changed, refusals := 0, 0
	var reason *respond.Problem
	for _, id := range ids {
		err := p.API.Send(c, http.MethodPatch, "/api/v3/crash-groups/"+url.PathEscape(id), map[string]any{"state": decision.state}, nil)
		if err == nil {
			changed++
			continue
		}
		problem := respond.Explain(err)
		if problem.Status >= http.StatusInternalServerError {
			return err
		}
		refusals++
		reason = problem
	}
	text := fmt.Sprintf("%d of %d groups %s.", changed, len(ids), decision.done)
	if refusals == 0 {
		return p.Done(c, back, text)
	}
	return p.Refused(c, back, &respond.Problem{Status: http.StatusConflict,
		Text: fmt.Sprintf("%s %d refused, the last one because: %s", text, refusals, reason.Text)})
}
