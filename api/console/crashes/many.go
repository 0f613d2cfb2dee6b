package crashes

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/live"
)

// decisionFields are the parameters that say what is to be done with all groups of a list.
// None is a filter of it.
var decisionFields = []string{"do", "in_version", "in_next_version", "until", "until_count", "until_users", "until_version", "to_assignee"}

// selection are the filters of the list, without what orders or cuts it.
func selection(c *gin.Context) url.Values {
	return frame.Valued(c.Request.URL.Query(), append([]string{"page", "per_page", "sort", "order", "facet", "omit",
		"csrf", "made_until"}, decisionFields...)...)
}

// decision reads what is to be done: the body that the api takes, and the fields with which
// it is asked for again.
func decision(value func(name string) string) (change map[string]any, fields []field, err error) {
	text := func(name string) string { return strings.TrimSpace(value(name)) }
	change = map[string]any{}
	set := func(member, field string) {
		if v := text(field); v != "" {
			change[member] = v
		}
	}
	switch do := text("do"); do {
	case "assign":
		if text("to_assignee") == "" {
			return nil, nil, storage.Invalid("assign to", "must be a mail address, me or none")
		}
		set("assignee", "to_assignee")
	case "resolve":
		change["state"] = decisions[do].state
		set("in_version", "in_version")
		if text("in_next_version") != "" {
			change["in_next_version"] = true
		}
	case "ignore":
		change["state"] = decisions[do].state
		set("until", "until")
		set("until_version", "until_version")
		if n := text("until_count"); n != "" {
			count, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				return nil, nil, storage.Invalid("further crashes", "must be a number")
			}
			change["until_count"] = count
		}
		if n := text("until_users"); n != "" {
			count, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				return nil, nil, storage.Invalid("further users", "must be a number")
			}
			change["until_users"] = count
		}
	case "reopen":
		change["state"] = decisions[do].state
	default:
		return nil, nil, storage.Invalid("do", "must be resolve, reopen, ignore or assign")
	}
	for _, name := range decisionFields {
		if v := text(name); v != "" {
			fields = append(fields, field{name, v})
		}
	}
	return change, fields, nil
}

// told is a decision in words.
type told struct{ Do, Done string }

func tell(change map[string]any) told {
	if to, ok := change["assignee"]; ok {
		text, _ := to.(string)
		switch text {
		case "none":
			return told{"take the assignee from", "assigned to nobody"}
		case "me":
			text = "you"
		}
		return told{"assign to " + text, "assigned to " + text}
	}
	for name, d := range decisions {
		if d.state != change["state"] {
			continue
		}
		how := ""
		for _, condition := range []struct{ member, words string }{{"in_version", " in version %"}, {"in_next_version", " in the next version"},
			{"until", " until % (UTC)"}, {"until_count", " until % further crashes"}, {"until_users", " until % further users"},
			{"until_version", " until version %"}} {
			if v, ok := change[condition.member]; ok {
				text, _ := v.(string)
				if n, isNumber := v.(int64); isNumber {
					text = strconv.FormatInt(n, 10)
				}
				how += strings.Replace(condition.words, "%", storage.Cut(text, 60), 1)
			}
		}
		return told{name + how, d.done + how}
	}
	return told{}
}

// matching says how many groups a change is of.
type matching struct {
	Matching int  `json:"matching"`
	Exact    bool `json:"matching_is_exact"`
	// MadeUntil is when they were counted: no group that was made later is changed.
	MadeUntil string `json:"made_until"`
	TaskID    string `json:"task_id"`
}

// Count writes it: 3 groups, at least 10 000 groups.
func (m matching) Count() string {
	text := frame.Number(m.Matching) + " groups"
	if m.Matching == 1 {
		text = "1 group"
	}
	if !m.Exact {
		return "at least " + text
	}
	return text
}

// manyData is the page that asks whether all groups of a list are to be changed.
type manyData struct {
	Fault      string
	Told       told
	Found      matching
	Conditions []condition
	Fields     []field
	Query      string // the filters, as the address has them
}

// changePath is the route that changes the groups of filters.
func changePath(q url.Values, more ...string) string {
	q = frame.Valued(q)
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/api/v3/crash-groups/change?" + q.Encode()
}

// confirmAll serves GET /console/crashes/all with the filters of the list and a decision: it
// says what would be done, and to how many groups.
func (p *Pages) confirmAll(c *gin.Context) error {
	filters := selection(c)
	data := manyData{Query: "?" + filters.Encode()}
	for name, values := range filters {
		data.Conditions = append(data.Conditions, condition{Name: strings.TrimPrefix(name, attributePrefix), Value: strings.Join(values, ", ")})
	}
	sortConditions(data.Conditions)
	var err error
	if data.Fault, err = refused(p.try(c, filters, &data)); err != nil {
		return err
	}
	return p.show(c, "all", data.Fault, frame.Page{Title: "Change all groups of a list", Data: data})
}

// try asks the api how many groups the decision of the address would change.
func (p *Pages) try(c *gin.Context, filters url.Values, data *manyData) error {
	change, fields, err := decision(c.Query)
	if err != nil {
		return err
	}
	data.Told = tell(change)
	if err := p.API.Send(c, http.MethodPost, changePath(filters, "dry_run", "1"), change, &data.Found); err != nil {
		return err
	}
	data.Fields = append(fields, field{"made_until", data.Found.MadeUntil})
	return nil
}

// changeAll serves POST /console/crashes/all, which changes the groups that confirmAll
// counted, and leads to the page of the task.
func (p *Pages) changeAll(c *gin.Context) error {
	filters := selection(c)
	back := area + "?" + filters.Encode()
	change, _, err := decision(c.PostForm)
	if err != nil {
		return p.Refused(c, back, err)
	}
	var found matching
	if err := p.API.Send(c, http.MethodPost, changePath(filters, "made_until", c.PostForm("made_until")), change, &found); err != nil {
		return p.Refused(c, back, err)
	}
	to := area + "/all/" + url.PathEscape(found.TaskID) + "?" + url.Values{"list": {filters.Encode()}}.Encode()
	return p.Done(c, to, "The change has begun.")
}

// changeTask is the task that changes all groups of a list.
type changeTask struct {
	ID         string     `json:"id"`
	Type       string     `json:"type"`
	State      string     `json:"state"`
	Error      *string    `json:"error"`
	FinishedAt *time.Time `json:"finished_at"`
	Result     *struct {
		Changed int  `json:"changed"`
		Total   int  `json:"total"`
		Exact   bool `json:"total_is_exact"`
	} `json:"result"`
}

// Ended reports whether nothing more happens.
func (t *changeTask) Ended() bool { return t.State != "queued" && t.State != "running" }

// Succeeded reports whether all groups were changed.
func (t *changeTask) Succeeded() bool { return t.State == "succeeded" }

// Changed is how many groups were changed.
func (t *changeTask) Changed() int {
	if t.Result == nil {
		return 0
	}
	return t.Result.Changed
}

// Total is how many there are to change; 0: the task has not begun.
func (t *changeTask) Total() int {
	if t.Result == nil {
		return 0
	}
	return max(t.Result.Total, t.Result.Changed)
}

// AtLeast reports whether there may be more.
func (t *changeTask) AtLeast() bool { return t.Result != nil && !t.Result.Exact && !t.Succeeded() }

// watchAll serves GET /console/crashes/all/{task}: how far the change of many groups is.
func (p *Pages) watchAll(c *gin.Context) error {
	var view struct {
		Task *changeTask `json:"task"`
	}
	if err := p.API.Get(c, "/api/v3/tasks/"+frame.Segment(c, "task"), nil, &view); err != nil {
		return err
	}
	if view.Task.Type != "crash:change" {
		return &respond.Problem{Status: http.StatusNotFound, Text: "there is no such change"}
	}
	page := frame.Page{Title: "Change of many groups", Data: map[string]any{"Task": view.Task, "List": listOf(c.Query("list"))}}
	if !view.Task.Ended() {
		page.Live = []live.Topic{live.Of(live.Task, view.Task.ID)}
	}
	return p.show(c, "allchange", "", page)
}

// listOf is the query of the list that a change was asked for from.
func listOf(text string) string {
	q, err := url.ParseQuery(text)
	if err != nil {
		return ""
	}
	return "?" + q.Encode()
}

// cancelAll serves POST /console/crashes/all/{task}/cancel.
func (p *Pages) cancelAll(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPost, "/api/v3/tasks/"+frame.Segment(c, "task")+"/cancel", nil, nil)
	return p.End(c, p.Back(c, area+"/all/"+frame.Segment(c, "task")), "The change is being cancelled. What was changed stays so.", err)
}
