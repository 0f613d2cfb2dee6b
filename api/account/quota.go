package account

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/quota"
)

// quotaView is a quota with what is used of it.
type quotaView struct {
	Name string `json:"name"`
	// Used is null for crashes without a bound, which are not counted.
	Used  *int64 `json:"used"`
	Bound *int64 `json:"bound"` // null: none
	// Period is "day" (UTC) or "", for what is kept.
	Period string `json:"period"`
}

func viewQuota(u quota.Usage) quotaView {
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

// Quotas serves GET /api/v3/settings/quotas: what the organization uses, and its bounds,
// which the operator sets.
func (h *Handlers) Quotas(c *gin.Context) error {
	list, err := h.cfg.Quotas.Of(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID)
	if err != nil {
		return err
	}
	views := make([]quotaView, len(list))
	for i, u := range list {
		views[i] = viewQuota(u)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"quotas": views})
}
