package upload

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/artifact"
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
		"verification":   b.Verification,
		"simulator":      b.Simulator,
		"sha256":         b.File.SHA256,
		"warnings":       b.Notes(time.Now(), l.Secure(), o.warnings...),
		"invalid_groups": list(o.invalidGroups),
		"task_id":        o.taskID(),
		"task_ids":       list(o.tasks),
		"notification":   o.notification(),
	}
}

// notification is what becomes of the mail to testers: queued, held until the gate of the build
// is pass, or none.
func (o *outcome) notification() string {
	switch {
	case o.held:
		return "held"
	case o.notified:
		return "queued"
	}
	return "none"
}

// v3Response is the success of version 3.
type v3Response struct {
	Status        string   `json:"status"`
	Build         any      `json:"build"`
	InvalidGroups []string `json:"invalid_groups"`
	Warnings      []string `json:"warnings"`
	TaskID        string   `json:"task_id"` // "" when no task was requested
	TaskIDs       []string `json:"task_ids"`
	Notification  string   `json:"notification"` // queued, held or none
}

func (u *upload) responseV3(o *outcome) v3Response {
	return v3Response{Status: "ok", Build: u.cfg.BuildView(o.build), InvalidGroups: list(o.invalidGroups),
		Warnings: o.build.Notes(time.Now(), u.cfg.Links.Secure(), o.warnings...), TaskID: o.taskID(), TaskIDs: list(o.tasks),
		Notification: o.notification()}
}

// symbolsResponse names the builds that symbols were attached to.
type symbolsResponse struct {
	Status string  `json:"status"`
	Builds []int64 `json:"builds"`
	// Waiting: a build with these images has yet to come.
	Waiting bool `json:"waiting"`
	Symbol  any  `json:"symbol"`
}

// symbolFilesResponse is the success of POST /api/v3/symbols.
type symbolFilesResponse struct {
	Symbol  any   `json:"symbol"` // the first one
	Symbols []any `json:"symbols"`
}

// v3NativeResponse is the success of version 3 for a zip of native libraries.
type v3NativeResponse struct {
	Status   string   `json:"status"`
	Build    any      `json:"build"` // null
	Symbol   any      `json:"symbol"`
	Warnings []string `json:"warnings"`
}

// nativeResponse is the success of the upload interface for a zip of native libraries:
// what a build would have is empty.
func (u *upload) nativeResponse(o *outcome) map[string]any {
	s := o.symbols
	return map[string]any{
		"status": "ok", "build_id": "", "project_id": "", "app_name": "", "app_version": "", "file_size": s.Size,
		"build_url": "", "download_page_url": "", "app_url": "", "invite_testers_url": "", "icon_url": "",
		"symbols_download_url": u.cfg.Links.Path("/api/v3/symbols/" + itoa(s.ID) + "/download"),
		"landing_page_url":     "", "build_specific_landing_page_url": "",
		"options": "", "platform": artifact.Android, "tags": []string{}, "metadata": []pair{},
		"has_" + u.cfg.Vendor + "_sdk": false, "attachments": nil, "landing_page_mode": "", "app_description": "",

		"version_code": "", "package_name": "", "verification": artifact.Unchecked, "simulator": false, "sha256": s.SHA256,
		"warnings": list(o.warnings), "invalid_groups": []string{},
		"task_id": taskText(s.TaskID), "task_ids": taskTexts(s.TaskID), "notification": o.notification(), "symbol": u.cfg.SymbolView(s),
	}
}

func taskText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func taskTexts(id *uuid.UUID) []string {
	if id == nil {
		return []string{}
	}
	return []string{id.String()}
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
