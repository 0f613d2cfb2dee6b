package overview

import (
	"time"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// crashes are those of the last days.
type crashes struct {
	Total    int64     `json:"total"`
	Projects count     `json:"crash_projects"`
	Versions []version `json:"versions"`
	Days     []struct {
		Day      string  `json:"day"`
		Versions []int64 `json:"versions"`
		Others   int64   `json:"others"`
	} `json:"days"`
	Newest []version `json:"newest_versions"`
}

type project struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type version struct {
	Project      project  `json:"crash_project"`
	Version      string   `json:"version"`
	Crashes      int64    `json:"crashes"`
	Sessions     int64    `json:"sessions"`
	FreeSessions *float64 `json:"crash_free_sessions"`
	FreeUsers    *float64 `json:"crash_free_users"`
}

// From is the first day of the chart.
func (c *crashes) From() string {
	if len(c.Days) == 0 {
		return ""
	}
	return c.Days[0].Day
}

// bars are the days with the crashes of each version, the others on top. A bar leads to the
// crashes of its day.
func (c *crashes) bars(link func(day string) string) (list []frame.Bar) {
	for _, d := range c.Days {
		bar := frame.Bar{Label: d.Day, Link: link(d.Day)}
		if day, err := time.Parse(time.DateOnly, d.Day); err == nil {
			bar.Label = day.Format("01-02")
		}
		for i, n := range d.Versions {
			if n > 0 && i < len(c.Versions) {
				bar.Parts = append(bar.Parts, frame.Part{Series: i, Name: c.name(i), Value: n})
			}
		}
		if d.Others > 0 {
			bar.Parts = append(bar.Parts, frame.Part{Series: len(c.Versions), Name: "others", Value: d.Others})
		}
		list = append(list, bar)
	}
	return list
}

// name is what the legend calls a version: with its crash project, where there are several.
func (c *crashes) name(of int) string {
	v := c.Versions[of]
	if c.Projects.Total > 1 {
		return cut(v.Project.Name + " " + v.Version)
	}
	return cut(v.Version)
}

// cut shortens a name for the chart's legend.
func cut(name string) string {
	const most = 40
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}
