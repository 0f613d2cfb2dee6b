package distribution

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// project2 is an app in a list of version 2.
type project2 struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	PackageName string            `json:"packageName"`
	Platform    artifact.Platform `json:"platform"`
	Icon        string            `json:"icon"`
}

// project2Single is a single app of version 2.
type project2Single struct {
	project2
	FolderName      string `json:"folderName"`
	LandingPageMode string `json:"landingPageMode"`
}

// build2 is a build in a list of version 2.
type build2 struct {
	ID             int64  `json:"id"`
	AppName        string `json:"appName"`
	AppVersion     string `json:"appVersion"`
	AppVersionCode string `json:"appVersionCode"`
	IconURL        string `json:"iconUrl"`
	UploadDate     string `json:"uploadDate"`
}

// project1 is an app in version 1. Self is relative to the root of that version
// (/api/1).
type project1 struct {
	ID              string            `json:"id"`
	Self            string            `json:"self"`
	Name            string            `json:"name"`
	PackageName     string            `json:"packageName"`
	Platform        artifact.Platform `json:"platform"`
	Icon            string            `json:"icon"`
	LandingPageMode string            `json:"landingPageMode"`
}

// okAnswer is a success of versions 1 and 2.
func okAnswer(member string, value any) gin.H { return gin.H{"status": "ok", member: value} }

func okPage(member string, value any, p pagination.Pagination) gin.H {
	return gin.H{"status": "ok", member: value, "pagination": p}
}

// legacyTime is a time as versions 1 and 2 write it, in UTC.
func legacyTime(t time.Time) string { return t.UTC().Format(time.DateTime) }

func (v Views) project2(p *distribution.Project) project2 {
	return project2{ID: p.ID, Name: p.Name, PackageName: p.PackageName, Platform: p.Platform,
		Icon: v.icon(p.IconKey, p.PageName())}
}

func (v Views) build2(b *distribution.Build) build2 {
	return build2{ID: b.ID, AppName: b.AppName, AppVersion: b.Version, AppVersionCode: b.VersionCode,
		IconURL: v.icon(b.IconKey, b.Token), UploadDate: legacyTime(b.CreatedAt)}
}

func (v Views) project1(p *distribution.Project) project1 {
	return project1{ID: decimal(p.ID), Self: selfPath(p.ID, p.Name), Name: p.Name, PackageName: p.PackageName,
		Platform: p.Platform, Icon: v.icon(p.IconKey, p.PageName()), LandingPageMode: p.LandingPageMode}
}

// build1 is a build of version 1. It is a map for the one member whose name
// depends on the vendor.
func (v Views) build1(b *distribution.Build, testers int) gin.H {
	return gin.H{
		"id":              decimal(b.ID),
		"self":            selfPath(b.ProjectID, b.AppName) + "/builds/" + decimal(b.ID),
		"projectId":       decimal(b.ProjectID),
		"appName":         b.AppName,
		"appVersion":      b.Version,
		"appVersionCode":  b.VersionCode,
		"appDisplayName":  displayName(b),
		"iconUrl":         v.icon(b.IconKey, b.Token),
		"appUrl":          v.links.Download(b.Token),
		"landingPageMode": b.LandingPageMode,
		"sessions":        b.Sessions,
		"crashes":         b.Crashes,
		"testers":         testers,
		"feedbacks":       b.Feedbacks,
		"downloads":       b.Downloads,
		"uploadedAt":      legacyTime(b.CreatedAt),
		"uploadedVia":     b.UploadedVia,
		v.sdk:             b.HasSDK,
		"insightsEnabled": hasOption(b, "insights"),
		"videoEnabled":    hasOption(b, "video"),
	}
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

// displayName is "Name - version (code)", without the parts that are not known.
func displayName(b *distribution.Build) string {
	name := b.AppName
	if b.Version != "" {
		name += " - " + b.Version
	}
	if b.VersionCode != "" {
		name += " (" + b.VersionCode + ")"
	}
	return name
}

// hasOption looks for a capture option, such as video or video:wifi, in the
// comma list that came with the upload.
func hasOption(b *distribution.Build, name string) bool {
	return slices.ContainsFunc(strings.Split(b.Options, ","), func(option string) bool {
		option, _, _ = strings.Cut(strings.TrimSpace(option), ":")
		return strings.EqualFold(option, name)
	})
}

// maxSlug bounds the readable end of a path.
const maxSlug = 40

// selfPath is /projects/19-groupshot: the id and, for people, the name.
func selfPath(id int64, name string) string {
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		if slug.Len() == maxSlug {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			slug.WriteRune(r)
		} else if text := slug.String(); text != "" && !strings.HasSuffix(text, "-") && r < 0x80 {
			slug.WriteByte('-')
		}
	}
	path := "/projects/" + decimal(id)
	if text := strings.Trim(slug.String(), "-"); text != "" {
		path += "-" + text
	}
	return path
}
