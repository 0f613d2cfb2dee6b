package crash

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// listQuery are the parameters of Crashes.
func listQuery() []string {
	return []string{"project[]", "state[]", "version[]", "severity[]", "uuid", attributePrefix, "from", "to", "page", "per_page"}
}

// Crashes serves GET /api/v3/crashes, newest first, with a group or without
// one. Parameters: the arrays project (number), state (processed, stored, failed),
// version and severity (crash, out_of_memory, hang, error); uuid (as submitted), attribute.KEY=VALUE, from and to (of the
// arrival), page, per_page.
// The list goes no further than crash.ListReach.
func (h *Handlers) Crashes(c *gin.Context) error {
	at, f, err := listFilter(c.Request.URL.Query())
	if err != nil {
		return err
	}
	f.OrganizationID = auth.Organization(c)
	rows, total, err := reading.List(c.Request.Context(), h.store.DB(), f)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crashes": rowViews(rows), "pagination": at.Of(total)})
}

func listFilter(q url.Values) (at pagination.Request, f reading.ListFilter, err error) {
	if at, err = pagination.Parse(q, pagination.Small()); err != nil {
		return at, f, err
	}
	f.Limit, f.Offset = at.Limit(), at.Offset()
	if f.States, err = texts[crash.State](q, "state"); err != nil {
		return at, f, err
	}
	if f.Severities, err = texts[crash.Severity](q, "severity"); err != nil {
		return at, f, err
	}
	if err = f.Validate(); err != nil {
		return at, f, err
	}
	if text := q.Get("uuid"); text != "" {
		// The nil UUID is one that a client may send, and the filter's zero value.
		if f.UUID, err = uuid.Parse(text); err != nil || f.UUID == uuid.Nil {
			return at, f, &storage.InvalidError{Field: "uuid", Msg: "must be a UUID other than zero"}
		}
	}
	if f.Projects, err = numbers(q, "project"); err != nil {
		return at, f, err
	}
	if f.Versions, err = texts[string](q, "version"); err != nil {
		return at, f, err
	}
	if f.Attributes, err = attributes(q); err != nil {
		return at, f, err
	}
	f.From, f.To, err = pagination.Range(q, "from", "to")
	return at, f, err
}
