package upload

import (
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// uploadEvent are the own members of the event upload. Older receivers read iconUrl and
// communityUrl.
type uploadEvent struct {
	FileSize            int64  `json:"filesize"`
	BuildURL            string `json:"buildUrl"`
	LandingPageURL      string `json:"landingPageUrl"`
	LandingPageBuildURL string `json:"landingPageBuildUrl"`
	AppURL              string `json:"appUrl"`
	IconURL             string `json:"iconUrl"`
	CommunityURL        string `json:"communityUrl"`
	ChangeLog           string `json:"changeLog"`
}

// maxChangeLog bounds the notes in an event, in characters: receivers are chats and jobs.
const maxChangeLog = 10_000

// event is that of a build which was uploaded.
func (u *upload) event(made *distribution.Uploaded) webhook.Event {
	b, l := made.Build, u.cfg.Links
	page, project := l.Page(b.Token), l.Page(made.Project.PageName())
	return webhook.Event{OrganizationID: b.OrganizationID, Action: webhook.Upload, ProjectID: b.ProjectID, BuildID: b.ID,
		Data: uploadEvent{FileSize: b.File.Size, BuildURL: page, LandingPageURL: project, LandingPageBuildURL: page,
			AppURL: l.Download(b.Token), IconURL: l.Icon(b.Token), CommunityURL: project, ChangeLog: storage.Cut(b.ReleaseNotes, maxChangeLog)}}
}
