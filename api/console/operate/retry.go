package operate

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// shownFirst is how many of the tasks the page of a retry shows.
const shownFirst = "10"

// retryData is the page that asks whether all that match are to be retried.
type retryData struct {
	tasksAnswer
	Operator bool
	Fault    string
	Filters  url.Values
	Sent     string // the filters as the form sends them
	Names    []string
}

// confirmRetry says how many tasks a retry would be about.
func (p *Pages) confirmRetry(c *gin.Context) error {
	query := retried(c.Request.URL.Query())
	data := retryData{Operator: operator(c), Filters: query, Sent: query.Encode()}
	for name := range query {
		data.Names = append(data.Names, name)
	}
	slices.Sort(data.Names)
	var err error
	data.tasksAnswer, err = p.first(c, query, shownFirst)
	if data.Fault, err = refused(err); err != nil {
		return err
	}
	return p.pages.Show(c, "retry", frame.Page{Title: "Retry all that match", Area: area, Data: data})
}

// retried are the filters of a retry: of dead tasks unless they say otherwise.
func retried(given url.Values) url.Values {
	query := without(frame.Valued(given), "page", "per_page")
	if len(query["state"])+len(query["state[]"]) == 0 {
		query.Set("state", "dead")
	}
	return query
}

// retryAll serves the form: one request to the route.
func (p *Pages) retryAll(c *gin.Context) error {
	given, err := url.ParseQuery(c.PostForm("filters"))
	if err != nil {
		given = url.Values{"filters": {"unreadable"}} // which the route refuses
	}
	query := retried(given)
	var done struct {
		Retried   int `json:"retried"`
		Remaining int `json:"remaining"`
		Skipped   int `json:"skipped"`
	}
	here := "/operate/retry?" + query.Encode()
	if err := p.API.Send(c, "POST", tasksPath+"/retry?"+query.Encode(), nil, &done); err != nil {
		return p.Refused(c, here, err)
	}
	notice := fmt.Sprintf("%s retried.", tasksWord(done.Retried))
	if done.Skipped > 0 {
		notice += fmt.Sprintf(" %s skipped: you may not retry them, or another task does their work.", tasksWord(done.Skipped))
	}
	if done.Remaining > 0 {
		return p.Done(c, here, notice+fmt.Sprintf(" %s remain: retry again.", tasksWord(done.Remaining)))
	}
	return p.Done(c, "/operate?"+without(query, "state", "state[]").Encode(), notice)
}

func tasksWord(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
