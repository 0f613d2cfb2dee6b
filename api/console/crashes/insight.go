package crashes

import (
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// affectedBuild is the first or last build from which reports of a group came.
type affectedBuild struct {
	ID          int64  `json:"id"`
	Version     string `json:"version"`
	VersionCode string `json:"version_code"`
}

// trendPoint is the count of an hour or a day.
type trendPoint struct {
	At    time.Time `json:"at"`
	Count int64     `json:"count"`
}

// trendVersion is a version with its share of sessions.
type trendVersion struct {
	Version      string       `json:"version"`
	Count        int64        `json:"count"`
	Sessions     int64        `json:"sessions"`
	SessionShare *float64     `json:"session_share"`
	Points       []trendPoint `json:"points"`
	Days         []int64      `json:"-"` // of the window, oldest first
}

// groupTrend is the trend of a group by hour or version.
type groupTrend struct {
	From         time.Time      `json:"from"`
	To           time.Time      `json:"to"`
	Count        int64          `json:"count"`
	Points       []trendPoint   `json:"points"`
	Versions     []trendVersion `json:"versions"`
	Others       int64          `json:"others"`
	Sessions     int64          `json:"sessions"`
	SessionShare *float64       `json:"session_share"`
}

// similarGroup is a group that is like the one shown.
type similarGroup struct {
	ID      int64   `json:"id"`
	Title   string  `json:"title"`
	State   string  `json:"state"`
	Count   int64   `json:"count"`
	Score   float64 `json:"score"`
	Reasons []struct {
		What   string   `json:"what"`
		Shared []string `json:"shared"`
		Of     int      `json:"of"`
	} `json:"reasons"`
}

// insight is what the page of a group shows besides the group.
type insight struct {
	Hours    []frame.Bar
	Versions groupTrend
	Similar  []similarGroup
	Changes  suspectChanges
}

// insight asks for the trend of the last two days by hour, that of two weeks by version, for
// similar groups, and for the commits that may have caused it.
func (p *Pages) insight(c *gin.Context) (seen insight, err error) {
	path := "/api/v3/crash-groups/" + frame.Segment(c, "id")
	var hours, versions struct {
		Trend groupTrend `json:"trend"`
	}
	if err := p.API.Get(c, path+"/trend", url.Values{"by": {"hour"}}, &hours); err != nil {
		return seen, err
	}
	if err := p.API.Get(c, path+"/trend", url.Values{"by": {"version"}}, &versions); err != nil {
		return seen, err
	}
	var similar struct {
		Similar []similarGroup `json:"similar"`
	}
	if err := p.API.Get(c, path+"/similar", nil, &similar); err != nil {
		return seen, err
	}
	var changes struct {
		Changes suspectChanges `json:"suspect_changes"`
	}
	if err := p.API.Get(c, path+"/suspect-changes", nil, &changes); err != nil {
		return seen, err
	}
	seen.Hours, seen.Versions, seen.Similar, seen.Changes = hours.Trend.bars(), versions.Trend, similar.Similar, changes.Changes
	for i := range seen.Versions.Versions {
		v := &seen.Versions.Versions[i]
		v.Days = spread(v.Points, seen.Versions.From, seen.Versions.To, 24*time.Hour)
	}
	return seen, nil
}

// bars are the hours of a trend, also those without a report; none when all are.
func (t *groupTrend) bars() []frame.Bar {
	if t.Count == 0 {
		return nil
	}
	var bars []frame.Bar
	for i, n := range spread(t.Points, t.From, t.To, time.Hour) {
		at := t.From.Add(time.Duration(i) * time.Hour).UTC()
		bars = append(bars, frame.Bar{Label: at.Format("2006-01-02 15:04"), Parts: []frame.Part{{Name: "reports", Value: n}}})
	}
	return bars
}

// maxSpread bounds the units of a spread.
const maxSpread = 400

// spread are the counts of all units between two times.
func spread(points []trendPoint, from, to time.Time, unit time.Duration) []int64 {
	counts := make([]int64, min(max(int(to.Sub(from)/unit), 0), maxSpread))
	for _, p := range points {
		if at := int(p.At.Sub(from) / unit); at >= 0 && at < len(counts) {
			counts[at] += p.Count
		}
	}
	return counts
}

// Alike is the score in per cent.
func (s *similarGroup) Alike() string { return strconv.Itoa(int(s.Score*100+0.5)) + " %" }
