package operate

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage/live"
	"github.com/slipway-qa/slipway/tasks"
)

// tasksPath is the list's route.
const tasksPath = "/api/v3/tasks"

// tasksAnswer is what the list's route answers.
type tasksAnswer struct {
	Tasks      []task       `json:"tasks"`
	Pagination frame.Paging `json:"pagination"`
}

// stateTab leads to the tasks of a state, with the other filters as they are.
type stateTab struct {
	Name    string
	Address string // the parameters of the list
	Current bool
	Count   *frame.Paging // nil: not counted
}

// manyLink leads to the page that changes all that match.
type manyLink struct {
	Change  many
	Address string // the parameters of the page
}

// listData is the page of the list.
type listData struct {
	tasksAnswer
	Operator bool
	Fault    string // why the filters were refused
	Tabs     []stateTab
	Ages     []stateTab
	Filtered bool
	Types    []string
	Queues   []string
	Many     []manyLink
	Pager    *frame.Pager
}

// list shows the tasks that the filters of the address select.
func (p *Pages) list(c *gin.Context) error {
	query := frame.Valued(c.Request.URL.Query())
	data := listData{Operator: operator(c), Queues: tasks.Queues()}
	for name := range tasks.Kinds() {
		data.Types = append(data.Types, name)
	}
	slices.Sort(data.Types)
	err := p.API.Get(c, tasksPath, query, &data.tasksAnswer)
	if data.Fault, err = refused(err); err != nil {
		return err
	}
	if data.Fault == "" {
		if err := p.tabs(c, query, &data); err != nil {
			return err
		}
		data.Pager = p.PagesOf(c, data.Pagination)
	}
	data.Ages = p.ages(query)
	for name := range query {
		data.Filtered = data.Filtered || name != "page" && name != "per_page"
	}
	return p.pages.Show(c, "index", frame.Page{Title: "Tasks", Area: area, Live: data.live(), Data: data})
}

// live is what the list waits for: new tasks, the begin and end of any, and changes of those
// on the page that have not ended, or may be retried.
func (d *listData) live() []live.Topic {
	topics := []live.Topic{live.List(live.Tasks)}
	for _, t := range d.Tasks {
		if t.Open() || t.Retryable() {
			topics = append(topics, live.Of(live.Task, t.ID))
		}
	}
	return topics
}

// without returns parameters without those of the names.
func without(query url.Values, names ...string) url.Values {
	rest := url.Values{}
	for name, values := range query {
		if !slices.Contains(names, name) {
			rest[name] = values
		}
	}
	return rest
}

// tabs adds the states with the numbers of those that stay few by nature. Counting all that ever
// ended would make the page slow, and nobody asks for it at each look.
func (p *Pages) tabs(c *gin.Context, query url.Values, data *listData) (err error) {
	rest := without(query, "state", "state[]", "page", "per_page")
	chosen := slices.Concat(query["state"], query["state[]"])
	data.Tabs = []stateTab{{Name: "all", Address: rest.Encode(), Current: len(chosen) == 0}}
	for _, state := range []string{"queued", "running", "dead", "cancelled", "succeeded"} {
		of := without(rest)
		of.Set("state", state)
		tab := stateTab{Name: state, Address: of.Encode(), Current: slices.Contains(chosen, state)}
		if state == "queued" || state == "running" || state == "dead" {
			n := data.Pagination
			// The list of one state has counted it.
			if !tab.Current || len(chosen) > 1 || query.Has("page") {
				if n, err = p.count(c, of); err != nil {
					return err
				}
			}
			tab.Count = &n
		}
		data.Tabs = append(data.Tabs, tab)
	}
	data.Many = manyLinks(data, rest, chosen)
	return nil
}

// manyLinks lead to the changes of many for which tasks of the chosen states match.
func manyLinks(data *listData, rest url.Values, chosen []string) (list []manyLink) {
	matching := map[string]bool{"cancelled": len(chosen) == 1 && chosen[0] == "cancelled" && data.Pagination.Total > 0}
	for _, tab := range data.Tabs {
		if tab.Count != nil {
			matching[tab.Name] = tab.Count.Total > 0 && (len(chosen) == 0 || slices.Contains(chosen, tab.Name))
		}
	}
	for _, link := range []struct{ name, of string }{{"retry", "dead,cancelled"}, {"cancel", "queued,running"}, {"run", "queued"}} {
		query := without(rest)
		for state := range strings.SplitSeq(link.of, ",") {
			if matching[state] {
				query.Add("state", state)
			}
		}
		if query.Has("state") {
			list = append(list, manyLink{changes()[link.name], query.Encode()})
		}
	}
	return list
}

// count is the number of tasks that filters select.
func (p *Pages) count(c *gin.Context, query url.Values) (frame.Paging, error) {
	answer, err := p.first(c, query, "1")
	return answer.Pagination, err
}

// first is the first page of the tasks that filters select.
func (p *Pages) first(c *gin.Context, query url.Values, perPage string) (answer tasksAnswer, err error) {
	query = without(query, "page", "per_page")
	query.Set("per_page", perPage)
	err = p.API.Get(c, tasksPath, query, &answer)
	return answer, err
}

// ages lead to the tasks that were made lately.
func (p *Pages) ages(query url.Values) (list []stateTab) {
	for _, age := range []struct {
		name  string
		since time.Duration
	}{{"last hour", time.Hour}, {"last day", 24 * time.Hour}, {"last week", 7 * 24 * time.Hour}} {
		of := without(query, "from", "to", "page")
		of.Set("from", p.Now().Add(-age.since).UTC().Format("2006-01-02T15:04Z"))
		list = append(list, stateTab{Name: age.name, Address: of.Encode()})
	}
	return list
}
