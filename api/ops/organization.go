package ops

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/quota"
)

// organizationView is what an organization takes of the installation.
type organizationView struct {
	ID        int64       `json:"id"`
	Slug      string      `json:"slug"`
	Name      string      `json:"name"`
	CreatedAt time.Time   `json:"created_at"`
	Members   int64       `json:"members"`
	OpenTasks int64       `json:"open_tasks"`
	DeadTasks int64       `json:"dead_tasks"`
	Quotas    []quotaView `json:"quotas"`
}

// quotaView is a quota with what is used of it.
type quotaView struct {
	Name   string `json:"name"`
	Used   *int64 `json:"used"`   // null: not counted, as crashes are not without a bound
	Bound  *int64 `json:"bound"`  // null: none
	Period string `json:"period"` // "day" (UTC), or "" of what is kept
}

func viewUsage(u quota.Usage) quotaView {
	view := quotaView{Name: string(u.Resource), Used: &u.Used}
	if u.Bound > 0 {
		view.Bound = &u.Bound
	}
	if u.Resource == quota.CrashesPerDay && u.Bound == 0 {
		view.Used = nil
	}
	if u.Resource.Daily() {
		view.Period = "day"
	}
	return view
}

type organizationsAnswer struct {
	Organizations []organizationView    `json:"organizations"`
	Pagination    pagination.Pagination `json:"pagination"`
}

// organizations serves GET /api/v3/operate/organizations: numbers alone, the oldest
// organization first.
func (h *Handlers) organizations(c *gin.Context) error {
	p, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	rows, total, err := account.OrganizationPage(ctx, h.DB, p.Rows())
	if err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	used, err := h.Quotas.OfAll(ctx, h.DB, ids)
	if err != nil {
		return err
	}
	owed, err := h.Ledger.OwedBy(ctx, ids)
	if err != nil {
		return err
	}
	views := make([]organizationView, len(rows))
	for i := range rows {
		views[i] = viewOrganization(&rows[i], used[rows[i].ID], owed[rows[i].ID])
	}
	return respond.JSON(c, http.StatusOK, organizationsAnswer{views, p.Envelope(total)})
}

func viewOrganization(o *account.OrganizationMembers, used []quota.Usage, owed ledger.Owed) organizationView {
	view := organizationView{ID: o.ID, Slug: o.Slug, Name: o.Name, CreatedAt: o.CreatedAt.UTC(), Members: o.Members,
		OpenTasks: owed.Open, DeadTasks: owed.Dead, Quotas: make([]quotaView, len(used))}
	for i, u := range used {
		view.Quotas[i] = viewUsage(u)
	}
	return view
}
