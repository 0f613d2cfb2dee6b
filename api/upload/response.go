package upload

import (
	"maps"
	"slices"
	"strconv"
)

// response is the success of the upload interface. Members that clients know are
// always there: unknown texts are "", lists [] and attachments null.
func (u *upload) response(o *outcome) map[string]any {
	b, l := o.build, u.cfg.Links
	page, projectPage := l.Page(b.Token), l.Page(o.project.PageName())
	symbols := ""
	if b.SymbolsKey != "" {
		symbols = l.Symbols(b.ID)
	}
	return map[string]any{
		"status":      "ok",
		"build_id":    itoa(b.ID),
		"project_id":  itoa(b.ProjectID),
		"app_name":    b.AppName,
		"app_version": b.Version,
		"file_size":   b.File.Size,

		"build_url":                       page,
		"download_page_url":               page,
		"app_url":                         l.Download(b.Token),
		"invite_testers_url":              page,
		"icon_url":                        l.Icon(b.Token),
		"symbols_download_url":            symbols,
		"landing_page_url":                projectPage,
		"build_specific_landing_page_url": page,

		"options":                      b.Options,
		"platform":                     b.Platform,
		"tags":                         list(b.Tags),
		"metadata":                     pairs(b.Metadata),
		"has_" + u.cfg.Vendor + "_sdk": b.HasSDK,
		"attachments":                  nil,
		"landing_page_mode":            o.project.LandingPageMode,
		"app_description":              o.project.Description,

		// Slipway adds these.
		"version_code":   b.VersionCode,
		"package_name":   b.PackageName,
		"sha256":         b.File.SHA256,
		"warnings":       list(slices.Concat(b.Warnings, o.warnings)),
		"invalid_groups": list(o.invalidGroups),
		"task_id":        o.taskID(),
		"task_ids":       list(o.tasks),
	}
}

// v3Response is the success of version 3.
type v3Response struct {
	Status        string   `json:"status"`
	Build         any      `json:"build"`
	InvalidGroups []string `json:"invalid_groups"`
	Warnings      []string `json:"warnings"`
	TaskID        string   `json:"task_id"` // "" when no task was requested
	TaskIDs       []string `json:"task_ids"`
}

func (u *upload) responseV3(o *outcome) v3Response {
	return v3Response{Status: "ok", Build: u.cfg.BuildView(o.build), InvalidGroups: list(o.invalidGroups),
		Warnings: list(slices.Concat(o.build.Warnings, o.warnings)), TaskID: o.taskID(), TaskIDs: list(o.tasks)}
}

// symbolsResponse names the builds that symbols were attached to.
type symbolsResponse struct {
	Status string  `json:"status"`
	Builds []int64 `json:"builds"`
}

func (o *outcome) taskID() string {
	if len(o.tasks) == 0 {
		return ""
	}
	return o.tasks[0]
}

// list is never null in JSON.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// pair is an item of metadata.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func pairs(metadata map[string]string) []pair {
	all := make([]pair, 0, len(metadata))
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		all = append(all, pair{key, metadata[key]})
	}
	return all
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
