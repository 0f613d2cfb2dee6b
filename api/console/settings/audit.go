package settings

import (
	"encoding/json"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// entry is an event of the audit log.
type entry struct {
	ID   int64 `json:"id"`
	User struct {
		ID    *int64 `json:"id"`
		Email string `json:"email"`
	} `json:"user"`
	IPAddress string          `json:"ip_address"`
	Action    string          `json:"action"`
	Label     string          `json:"label"`
	Subject   string          `json:"subject"`
	Detail    json.RawMessage `json:"data"`
	RequestID string          `json:"request_id"`
	CreatedAt time.Time       `json:"created_at"`
}

// HasDetail reports whether there is more to show.
func (e *entry) HasDetail() bool { return len(e.Detail) > len("{}") && string(e.Detail) != "null" }

// auditAction is an action that the log has.
type auditAction struct {
	Action string `json:"action"`
	Label  string `json:"label"`
}

// auditData is the audit log.
type auditData struct {
	Rights   rights
	Entries  []entry
	Actions  []auditAction
	Export   string // path of the file with the same filters, behind /console
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) audit(c *gin.Context) (err error) {
	var answer struct {
		Audits     []entry      `json:"audits"`
		Pagination frame.Paging `json:"pagination"`
	}
	var actions struct {
		Types []auditAction `json:"types"`
	}
	q := frame.Filters(c)
	q.Del("format") // that is of the file
	data := auditData{Rights: rightsOf(c), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, "/api/v3/audits", q, &answer); err != nil {
		return err
	}
	if err := p.API.Get(c, "/api/v3/audits/actions", nil, &actions); err != nil {
		return err
	}
	q.Del("page")
	q.Del("per_page")
	data.Export = "/settings/audit/export"
	if len(q) > 0 {
		data.Export += "?" + q.Encode()
	}
	data.Entries, data.Actions, data.Pager = answer.Audits, actions.Types, p.PagesOf(c, answer.Pagination)
	return p.show(c, "audit", data.Fault, frame.Page{Title: "Audit log", Data: data})
}

func (p *Pages) exportAudit(c *gin.Context) error {
	return p.API.Pass(c, "/api/v3/audits.csv", frame.Filters(c))
}
