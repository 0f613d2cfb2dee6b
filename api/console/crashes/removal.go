package crashes

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/live"
)

// removalTask is the task that removes reports.
type removalTask struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Error  string `json:"error"`
	Result *struct {
		Deleted int64 `json:"deleted"`
	} `json:"result"`
}

// Ended reports whether nothing more happens.
func (t *removalTask) Ended() bool { return t.State != "queued" && t.State != "running" }

// removalData is the page for the removal of a person's reports.
type removalData struct {
	Fault    string
	Projects []choice
	Found    *reportList // that carry the attribute; nil before they were looked for
	List     string      // the query of the list of them
	Task     *removalTask
}

// removal serves GET /console/crashes/removal: the first step looks for the reports with
// the attribute key=value, the second removes them; task is the removal to watch.
func (p *Pages) removal(c *gin.Context) error {
	data, page := removalData{}, frame.Page{Title: "Remove a person's reports"}
	var err error
	if data.Projects, err = p.projectChoices(c, nil); err != nil {
		return err
	}
	if key, value := strings.TrimSpace(c.Query("key")), c.Query("value"); key != "" && value != "" {
		q := url.Values{attributePrefix + key: {value}, "per_page": {"1"}}
		if project := c.Query("project"); project != "" {
			q.Set("project", project)
		}
		data.Found = &reportList{}
		if data.Fault, err = refused(p.API.Get(c, "/api/v3/crashes", q, data.Found)); err != nil {
			return err
		}
		q.Del("per_page")
		data.List = "?" + q.Encode()
	}
	if id := c.Query("task"); id != "" {
		var view struct {
			Task *removalTask `json:"task"`
		}
		err := p.API.Get(c, "/api/v3/tasks/"+url.PathEscape(id), nil, &view)
		if err != nil && respond.Explain(err).Status != http.StatusNotFound {
			return err
		}
		if data.Task = view.Task; data.Task != nil && !data.Task.Ended() {
			page.Live = []live.Topic{live.Of(live.Task, data.Task.ID)}
		}
	}
	page.Data = data
	return p.show(c, "removal", data.Fault, page)
}

// remove serves POST /console/crashes/removal/begin, and leads to the page that watches the task.
func (p *Pages) remove(c *gin.Context) error {
	key, value := strings.TrimSpace(c.PostForm("key")), c.PostForm("value")
	if key == "" || value == "" {
		return p.Refused(c, area+"/removal", storage.Invalid("attribute", "must have a name and a value"))
	}
	q := url.Values{attributePrefix + key: {value}}
	if project := c.PostForm("project"); project != "" {
		q.Set("project", project)
	}
	var view struct {
		TaskID string `json:"task_id"`
	}
	if err := p.API.Send(c, http.MethodDelete, "/api/v3/crashes?"+q.Encode(), nil, &view); err != nil {
		return p.Refused(c, p.Back(c, area+"/removal"), err)
	}
	return p.Done(c, area+"/removal?"+url.Values{"task": {view.TaskID}}.Encode(), "The removal has begun.")
}
