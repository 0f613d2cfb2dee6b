package crash

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// attributeKeyView is an attribute in a list.
type attributeKeyView struct {
	Key     string `json:"key"`
	Values  int    `json:"values"`  // distinct
	Reports int    `json:"reports"` // that have it
}

// attributeValueView is a value of an attribute.
type attributeValueView struct {
	Value     string    `json:"value"`
	Count     int64     `json:"count"`
	Share     float64   `json:"share"` // of all occurrences that were counted, 0 to 1
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
}

// attributeView is a single attribute.
type attributeView struct {
	Key      string               `json:"key"`
	Distinct int                  `json:"distinct"`
	Values   []attributeValueView `json:"values"`
}

// countedView says what was counted: the newest reports, or all.
type countedView struct {
	Reports     int   `json:"reports"`
	Occurrences int64 `json:"occurrences"`
	Complete    bool  `json:"complete"`
}

// GroupAttributes serves GET /api/v3/crash-groups/{id}/attributes. Parameters: key (the
// values of that attribute in place of all attributes), reports (how many are counted, the
// newest), from and to (of the occurrence).
func (h *Handlers) GroupAttributes(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	f := reading.AttributesFilter{OrganizationID: auth.Organization(c)}
	if f.Window, err = window(c.Request.URL.Query()); err != nil {
		return err
	}
	if f.GroupID, err = crash.ResolveGroup(c.Request.Context(), h.store.DB(), f.OrganizationID, id); err != nil {
		return err
	}
	return h.showAttributes(c, f)
}

// CrashAttributes serves GET /api/v3/crash-attributes, over all crashes of the
// organization. Parameters: key, reports, project (an array), from and to (of the arrival).
func (h *Handlers) CrashAttributes(c *gin.Context) error {
	q := c.Request.URL.Query()
	f := reading.AttributesFilter{OrganizationID: auth.Organization(c)}
	var err error
	if f.Window, err = window(q); err != nil {
		return err
	}
	if f.Projects, err = numbers(q, "project"); err != nil {
		return err
	}
	return h.showAttributes(c, f)
}

// attributeKey reads the parameter key; "" where it is absent.
func attributeKey(q url.Values) (string, error) {
	if !q.Has("key") {
		return "", nil
	}
	key := q.Get("key")
	if key == "" || len(key) > condition.MaxAttributeKey || !condition.PlainText(key) {
		return "", &storage.InvalidError{Field: "key", Msg: "must be the name of an attribute, UTF-8 text of at most 255 bytes"}
	}
	return key, nil
}

// countedReports reads the parameter reports; 0 where it is absent.
func countedReports(q url.Values) (int, error) {
	if !q.Has("reports") {
		return 0, nil
	}
	n, err := strconv.Atoi(q.Get("reports"))
	if err != nil || n < 1 || n > reading.MaxCounted {
		return 0, storage.Invalid("reports", "must be a number from 1 to %d", reading.MaxCounted)
	}
	return n, nil
}

func (h *Handlers) showAttributes(c *gin.Context, f reading.AttributesFilter) error {
	key, err := attributeKey(c.Request.URL.Query())
	if err != nil {
		return err
	}
	if f.Most, err = countedReports(c.Request.URL.Query()); err != nil {
		return err
	}
	ctx, db := c.Request.Context(), h.store.DB()
	if key == "" {
		keys, counted, err := reading.AttributeKeys(ctx, db, f)
		if err != nil {
			return err
		}
		views := make([]attributeKeyView, 0, len(keys))
		for _, k := range keys {
			views = append(views, attributeKeyView(k))
		}
		return respond.JSON(c, http.StatusOK, gin.H{"attributes": views, "counted": countedOf(counted)})
	}
	values, counted, err := reading.AttributeValues(ctx, db, f, key)
	if err != nil {
		return err
	}
	view := attributeView{Key: key, Distinct: counted.Distinct, Values: make([]attributeValueView, 0, len(values))}
	for _, v := range values {
		share := math.Round(float64(v.Count)/float64(max(counted.Occurrences, 1))*10_000) / 10_000
		view.Values = append(view.Values, attributeValueView{v.Value, v.Count, share, v.FirstSeen.UTC(), v.LastSeen.UTC()})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"attribute": view, "counted": countedOf(counted)})
}

func countedOf(c reading.Counted) countedView {
	return countedView{Reports: c.Reports, Occurrences: c.Occurrences, Complete: c.Complete}
}
