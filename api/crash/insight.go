package crash

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// affectedBuildView is the first or last build from which reports of a group came.
type affectedBuildView struct {
	ID          int64     `json:"id"`
	Version     string    `json:"version"`
	VersionCode string    `json:"version_code"`
	CreatedAt   time.Time `json:"created_at"`
}

func affectedBuildOf(b *reading.AffectedBuild) *affectedBuildView {
	if b == nil {
		return nil
	}
	return &affectedBuildView{b.ID, b.Version, b.VersionCode, b.CreatedAt.UTC()}
}

// trendView is how often a group occurred in a window.
type trendView struct {
	By     reading.TrendBy  `json:"by"`
	From   time.Time        `json:"from"`
	To     time.Time        `json:"to"`
	Count  int64            `json:"count"`
	Points []trendPointView `json:"points"`
	// Versions, Others, Sessions and SessionShare are of a trend by version.
	Versions     []trendVersionView `json:"versions"`
	Others       int64              `json:"others"`
	Sessions     int64              `json:"sessions"`
	SessionShare *float64           `json:"session_share"` // null: no session is known
}

type trendPointView struct {
	At    time.Time `json:"at"`
	Count int64     `json:"count"`
}

type trendVersionView struct {
	Version      string           `json:"version"`
	Count        int64            `json:"count"`
	Sessions     int64            `json:"sessions"`
	SessionShare *float64         `json:"session_share"`
	Points       []trendPointView `json:"points"`
}

func trendPointsOf(points []reading.TrendPoint) []trendPointView {
	views := make([]trendPointView, 0, len(points))
	for _, p := range points {
		views = append(views, trendPointView{p.At.UTC(), p.Count})
	}
	return views
}

// Trend serves GET /api/v3/crash-groups/{id}/trend. Parameters: by (hour, day, version), from
// and to.
func (h *Handlers) Trend(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	q := c.Request.URL.Query()
	w, err := window(q)
	if err != nil {
		return err
	}
	by := reading.TrendBy(q.Get("by"))
	if by == "" {
		by = reading.ByDay
	}
	ctx, organization, db := c.Request.Context(), auth.Organization(c), h.store.DB()
	root, err := crash.ResolveGroup(ctx, db, organization, id)
	if err != nil {
		return err
	}
	t, err := reading.TrendOf(ctx, db, organization, root, by, w, time.Now())
	if err != nil {
		return err
	}
	v := trendView{By: t.By, From: t.From.UTC(), To: t.To.UTC(), Count: t.Count, Points: trendPointsOf(t.Points),
		Versions: []trendVersionView{}, Others: t.Others, Sessions: t.Sessions, SessionShare: t.SessionShare()}
	for i := range t.Versions {
		one := &t.Versions[i]
		v.Versions = append(v.Versions, trendVersionView{one.Version, one.Count, one.Sessions, one.SessionShare(), trendPointsOf(one.Points)})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"trend": v})
}

// similarView is a group that is like another, and why.
type similarView struct {
	ID         int64               `json:"id"`
	Title      string              `json:"title"`
	Culprit    string              `json:"culprit"`
	Classifier string              `json:"classifier"`
	State      crash.GroupState    `json:"state"`
	Count      int64               `json:"count"`
	Users      int64               `json:"users"`
	LastSeen   time.Time           `json:"last_seen"`
	Score      float64             `json:"score"`
	Reasons    []similarReasonView `json:"reasons"`
}

type similarReasonView struct {
	What   string   `json:"what"`
	Shared []string `json:"shared"`
	Of     int      `json:"of"`
}

// Similar serves GET /api/v3/crash-groups/{id}/similar: the groups of the crash project that
// are most like it.
func (h *Handlers) Similar(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx, organization, db := c.Request.Context(), auth.Organization(c), h.store.DB()
	root, err := crash.ResolveGroup(ctx, db, organization, id)
	if err != nil {
		return err
	}
	list, err := reading.SimilarGroups(ctx, db, organization, root)
	if err != nil {
		return err
	}
	views := make([]similarView, 0, len(list))
	for i := range list {
		s := &list[i]
		v := similarView{ID: s.ID, Title: s.Title, Culprit: s.Culprit, Classifier: s.Classifier, State: s.State, Count: s.Count,
			Users: s.Users, LastSeen: s.LastSeen.UTC(), Score: s.Score, Reasons: []similarReasonView{}}
		for _, r := range s.Reasons {
			v.Reasons = append(v.Reasons, similarReasonView{r.What, r.Shared, r.Of})
		}
		views = append(views, v)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"similar": views})
}
