package operate

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// shownFirst is how many of the tasks the page of a change of many shows.
const shownFirst = "10"

// many is a change of all tasks that filters select.
type many struct {
	Name    string   // of the page, and of the route behind it
	Title   string   // of the page, and of the link to it
	Verb    string   // Retry
	Leaves  string   // which tasks that match it leaves as they are
	states  []string // without a filter of states
	done    string   // what the notice says that was done
	skipped string   // and why others were not
}

// changes are those of many tasks.
func changes() map[string]many {
	return map[string]many{
		"retry": {Name: "retry", Title: "Retry all that match", Verb: "Retry", states: []string{"dead"}, done: "retried",
			Leaves:  "Tasks of types that you may not retry, and those whose work another task does, are skipped.",
			skipped: "you may not retry them, or another task does their work"},
		"cancel": {Name: "cancel", Title: "Cancel all that match", Verb: "Cancel", states: []string{"queued", "running"},
			done:    "cancelled, or asked to stop",
			Leaves:  "Those that run stop in a moment. Tasks of types that you may not cancel are skipped.",
			skipped: "you may not cancel them"},
		"run": {Name: "run", Title: "Run all that match now", Verb: "Run", states: []string{"queued"}, done: "due now",
			Leaves:  "Those that may begin already stay as they are. Tasks of types that you may not start are skipped.",
			skipped: "you may not start them"},
	}
}

// manyData is the page that asks whether all that match are to be changed.
type manyData struct {
	tasksAnswer
	Change   many
	Operator bool
	Fault    string
	Filters  url.Values
	Sent     string // the filters as the form sends them
	Names    []string
}

// confirmMany says how many tasks a change would be about.
func (p *Pages) confirmMany(of many) func(c *gin.Context) error {
	return func(c *gin.Context) error {
		query := of.filters(c.Request.URL.Query())
		data := manyData{Change: of, Operator: operator(c), Filters: query, Sent: query.Encode()}
		for name := range query {
			data.Names = append(data.Names, name)
		}
		slices.Sort(data.Names)
		var err error
		data.tasksAnswer, err = p.first(c, query, shownFirst)
		if data.Fault, err = refused(err); err != nil {
			return err
		}
		return p.pages.Show(c, "many", frame.Page{Title: of.Title, Area: area, Data: data})
	}
}

// filters are those of a change: of the states that it is about unless they say otherwise.
func (of many) filters(given url.Values) url.Values {
	query := without(frame.Valued(given), "page", "per_page")
	if len(query["state"])+len(query["state[]"]) == 0 {
		query["state"] = of.states
	}
	return query
}

// changeMany serves the form: one request to the route.
func (p *Pages) changeMany(of many) func(c *gin.Context) error {
	return func(c *gin.Context) error {
		given, err := url.ParseQuery(c.PostForm("filters"))
		if err != nil {
			given = url.Values{"filters": {"unreadable"}} // which the route refuses
		}
		query := of.filters(given)
		var done struct {
			Retried   int   `json:"retried"`
			Cancelled int   `json:"cancelled"`
			Started   int   `json:"started"`
			Remaining int   `json:"remaining"`
			Exact     *bool `json:"remaining_is_exact"` // of a retry always
			Skipped   int   `json:"skipped"`
		}
		here := "/operate/" + of.Name + "?" + query.Encode()
		if err := p.API.Send(c, "POST", tasksPath+"/"+of.Name+"?"+query.Encode(), nil, &done); err != nil {
			return p.Refused(c, here, err)
		}
		notice := fmt.Sprintf("%s %s.", tasksWord(done.Retried+done.Cancelled+done.Started), of.done)
		if done.Skipped > 0 {
			notice += fmt.Sprintf(" %s skipped: %s.", tasksWord(done.Skipped), of.skipped)
		}
		if done.Remaining > 0 {
			more := ""
			if done.Exact != nil && !*done.Exact {
				more = "More than "
			}
			return p.Done(c, here, notice+fmt.Sprintf(" %s%s remain: %s again.", more, tasksWord(done.Remaining), of.Name))
		}
		return p.Done(c, "/operate?"+without(query, "state", "state[]").Encode(), notice)
	}
}

func tasksWord(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
