package crashes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// event is an entry of the audit log about a group.
type event struct {
	User struct {
		Email string `json:"email"`
	} `json:"user"`
	Action    string         `json:"action"`
	Label     string         `json:"label"`
	Subject   string         `json:"subject"`
	Data      map[string]any `json:"data"`
	CreatedAt time.Time      `json:"created_at"`
}

// Details are the members of the entry's data as text.
func (e *event) Details() string {
	var list []string
	for name, value := range e.Data {
		text := fmt.Sprint(value)
		if n, ok := value.(float64); ok {
			text = strconv.FormatFloat(n, 'f', -1, 64)
		}
		list = append(list, strings.ReplaceAll(name, "_", " ")+": "+text)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// history serves GET /console/crashes/groups/{id}/history: what the audit log has of the
// group. It finds a number in others too, so those are left out.
func (p *Pages) history(c *gin.Context) error {
	g, done, err := p.groupOf(c, "/history", nil)
	if err != nil || done {
		return err
	}
	var view struct {
		Audits     []event  `json:"audits"`
		Pagination envelope `json:"pagination"`
	}
	subject := "crash group " + strconv.FormatInt(g.ID, 10)
	q := frame.Valued(c.Request.URL.Query())
	for name, value := range map[string]string{"search": subject, "per_page": wholePage} {
		q.Set(name, value)
	}
	q["action"] = []string{"crash_group.updated", "crash_group.merged", "crash_group.unmerged", "crash_group.split", "crash_group.commented",
		"crash_group.symbolicated"}
	fault, err := refused(p.API.Get(c, "/api/v3/audits", q, &view))
	if err != nil {
		return err
	}
	events := slices.DeleteFunc(view.Audits, func(e event) bool { return e.Subject != subject })
	return p.show(c, "history", fault, frame.Page{Title: "History of " + g.ShortTitle(),
		Data: map[string]any{"Group": g, "Fault": fault, "Events": events, "Pager": p.pager(c, view.Pagination)}})
}
