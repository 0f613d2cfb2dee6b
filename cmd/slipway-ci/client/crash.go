package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// CrashGroup is crashes that are one bug.
type CrashGroup struct {
	ID          int64           `json:"id"`
	Project     CrashProject    `json:"project"`
	Title       string          `json:"title"`
	Culprit     string          `json:"culprit"`
	Classifier  string          `json:"classifier"`
	State       string          `json:"state"` // open, resolved or ignored
	Count       int64           `json:"count"` // with Since: since then
	TotalCount  int64           `json:"total_count"`
	FirstSeen   time.Time       `json:"first_seen"`
	LastSeen    time.Time       `json:"last_seen"`
	ReopenedAt  *time.Time      `json:"reopened_at"`
	RegressedIn *string         `json:"regressed_in"`
	Versions    []SeenInVersion `json:"versions"` // the ten with most crashes
}

// CrashProject is where the crashes of an app arrive.
type CrashProject struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// SeenInVersion is a version that a group was seen in.
type SeenInVersion struct {
	Version   string    `json:"value"`
	Count     int64     `json:"count"`
	FirstSeen time.Time `json:"first_seen"`
}

// NewIn reports whether the first crash of a group was in a version.
func (g *CrashGroup) NewIn(version string) bool {
	for _, v := range g.Versions {
		if v.Version == version {
			return !v.FirstSeen.After(g.FirstSeen)
		}
	}
	return false
}

// RegressedTo reports whether a group came back in a version after it was resolved.
func (g *CrashGroup) RegressedTo(version string) bool {
	return g.RegressedIn != nil && *g.RegressedIn == version
}

// In returns the crashes of a group in a version.
func (g *CrashGroup) In(version string) int64 {
	for _, v := range g.Versions {
		if v.Version == version {
			return v.Count
		}
	}
	return 0
}

// CrashFilter selects crash groups.
type CrashFilter struct {
	Project int64     // 0: all
	Version string    // seen in it; "": any
	States  []string  // none: any
	Since   time.Time // seen since; zero: ever
}

// maxGroups bounds what CrashGroups reads: a version with more of them has another problem.
const maxGroups = 1000

// CrashGroups lists the groups of a filter, the newest first. more: there are others than
// those that were read.
func (c *Client) CrashGroups(ctx context.Context, f CrashFilter) (groups []CrashGroup, more bool, err error) {
	query := url.Values{"per_page": {pageSize}, "omit": {"hosts,latest_crash"}, "sort": {"first_seen"}}
	if f.Project != 0 {
		query.Set("project", strconv.FormatInt(f.Project, 10))
	}
	if f.Version != "" {
		query.Set("version", f.Version)
	}
	for _, state := range f.States {
		query.Add("state", state)
	}
	if !f.Since.IsZero() {
		query.Set("from", f.Since.UTC().Format(time.RFC3339))
	}
	for page := 1; ; page++ {
		query.Set("page", strconv.Itoa(page))
		var out struct {
			Groups     []CrashGroup `json:"crash_groups"`
			Pagination struct {
				TotalPages int `json:"total_pages"`
			} `json:"pagination"`
		}
		if err := c.Get(ctx, "/api/v3/crash-groups", query, &out); err != nil {
			return nil, false, err
		}
		groups = append(groups, out.Groups...)
		last := page >= out.Pagination.TotalPages || len(out.Groups) == 0
		if last || len(groups) >= maxGroups {
			return groups, !last, nil
		}
	}
}

// CrashProjectOf returns the crash project of an app; 0 when it has none. It takes the rights of
// an admin.
func (c *Client) CrashProjectOf(ctx context.Context, app int64) (int64, error) {
	for page := 1; ; page++ {
		var out struct {
			Projects []struct {
				ID        int64  `json:"id"`
				ProjectID *int64 `json:"project_id"`
			} `json:"crash_projects"`
			Pagination struct {
				TotalPages int `json:"total_pages"`
			} `json:"pagination"`
		}
		if err := c.Get(ctx, "/api/v3/crash-projects", url.Values{"per_page": {pageSize}, "page": {strconv.Itoa(page)}}, &out); err != nil {
			return 0, err
		}
		for _, p := range out.Projects {
			if p.ProjectID != nil && *p.ProjectID == app {
				return p.ID, nil
			}
		}
		if page >= out.Pagination.TotalPages {
			return 0, nil
		}
	}
}
