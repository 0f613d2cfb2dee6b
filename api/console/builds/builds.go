// Package builds has the console's pages of apps and their builds: what there is, its
// settings, who may install it, how it is used, and the upload.
//
// A build's page has its gate with the conditions, and an app's a form for the policy. The form
// is one page without script: a button adds a condition, takes one away or moves it, and what
// comes back is the form with that change; only "Save" stores it.
//
// An app and a build have a page each, with tabs that are pages of their own. A list takes
// the parameters of the route behind it, from the page's address; those that the route
// refuses are said on the page. What only some may do is shown to them: by the table that
// the routes have their rights from.
package builds

import (
	"embed"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/route"
)

//go:embed page
var files embed.FS

// Pages serves the pages of the area.
type Pages struct {
	*frame.Frame
	pages *frame.Templates
}

// New returns the pages of the area.
func New(f *frame.Frame) (*Pages, error) {
	templates, err := f.Templates(files)
	if err != nil {
		return nil, err
	}
	return &Pages{Frame: f, pages: templates}, nil
}

// Routes are the pages and forms.
func (p *Pages) Routes() []route.Route {
	const app, build, feedback = "/builds/apps/:id", "/builds/builds/:id", "/builds/feedback"
	upload := p.Form("/builds/upload", auth.UploadBuilds, p.upload)
	upload.Body, upload.Deadline = route.OwnBound, route.UploadDeadline
	return []route.Route{
		p.Open("/builds", auth.ReadProjects, p.apps),
		p.Form("/builds/create", auth.ChangeProjects, p.createApp),
		p.Open("/builds/upload", auth.UploadBuilds, p.uploadPage),
		upload,

		p.Open(app, auth.ReadBuilds, p.app),
		p.Open(app+"/settings", auth.ChangeProjects, p.appSettings),
		p.Form(app+"/change", auth.ChangeProjects, p.changeApp),
		p.Form(app+"/page", auth.ChangeProjects, p.changeAppPage),
		p.Form(app+"/everyone", auth.ChangeProjects, p.openApp),
		p.Form(app+"/groups/add", auth.ChangeProjects, p.giveApp),
		p.Form(app+"/groups/:group/remove", auth.ChangeProjects, p.takeApp),
		p.Form(app+"/copy", auth.ChangeProjects, p.copyApp),
		p.Form(app+"/delete", auth.DeleteProjects, p.deleteApp),
		p.Open(app+"/retention", auth.ReadBuilds, p.retention),
		p.Form(app+"/retention/change", auth.DeleteProjects, p.changeRetention),
		p.Open(app+"/testers", auth.ReadTesters, p.testers),
		p.Form(app+"/testers/add", auth.InviteTesters, p.addTesters),
		p.Form(app+"/testers/:user/remove", auth.InviteTesters, p.removeTester),
		p.Open(app+"/gate", auth.ReadProjects, p.gatePolicy),
		p.Form(app+"/gate", auth.ManageGates, p.savePolicy),
		p.Form(app+"/gate/delete", auth.ManageGates, p.deletePolicy),
		p.Open(app+"/commit-status", auth.ManageCommitStatus, p.commitStatus),
		p.Form(app+"/commit-status", auth.ManageCommitStatus, p.saveCommitStatus),
		p.Form(app+"/commit-status/test", auth.ManageCommitStatus, p.testCommitStatus),
		p.Form(app+"/commit-status/delete", auth.ManageCommitStatus, p.deleteCommitStatus),
		p.Open(app+"/tokens", auth.ManageSDKTokens, p.tokens),
		p.Form(app+"/tokens/create", auth.ManageSDKTokens, p.createToken),
		p.Form(app+"/tokens/:token/revoke", auth.ManageSDKTokens, p.revokeToken),
		p.Open(app+"/sessions", auth.ReadSessions, p.appSessions),
		p.Open(app+"/devices", auth.ReadSessions, p.appDevices),

		p.Open(build, auth.ReadBuilds, p.build),
		p.Form(build+"/notes", auth.ChangeBuilds, p.changeNotes),
		p.Form(build+"/change", auth.ChangeBuilds, p.changeBuild),
		p.Form(build+"/metadata", auth.ChangeBuilds, p.changeMetadata),
		p.Form(build+"/page", auth.ChangeBuilds, p.changeBuildPage),
		p.Form(build+"/everyone", auth.ChangeBuilds, p.openBuild),
		p.Form(build+"/groups/add", auth.ChangeBuilds, p.giveBuild),
		p.Form(build+"/groups/:group/remove", auth.ChangeBuilds, p.takeBuild),
		p.Form(build+"/copy", auth.ChangeBuilds, p.copyBuild),
		p.Form(build+"/delete", auth.DeleteBuilds, p.deleteBuild),
		p.Open(build+"/notify", auth.NotifyTesters, p.announcement),
		p.Form(build+"/notify", auth.NotifyTesters, p.notifyTesters),
		p.Open(build+"/gate", auth.ReadBuilds, p.gateHistory),
		p.Form(build+"/gate/override", auth.OverrideGate, p.overrideGate),
		p.Form(build+"/gate/override/remove", auth.OverrideGate, p.removeOverride),
		p.Open(build+"/download", auth.ReadBuilds, p.download),
		p.Open(build+"/symbols", auth.ReadBuilds, p.downloadSymbols),
		p.Open(build+"/invites", auth.ReadTesters, p.invites),
		p.Form(build+"/invites/add", auth.InviteTesters, p.invite),
		p.Form(build+"/invites/:user/revoke", auth.InviteTesters, p.revokeInvite),
		p.Open(build+"/installs", auth.ReadTesters, p.installs),
		p.Open(build+"/sessions", auth.ReadSessions, p.buildSessions),
		p.Open(build+"/devices", auth.ReadSessions, p.buildDevices),

		p.Open("/builds/sessions/:id", auth.ReadSessions, p.session),
		p.Open(feedback, auth.ReadFeedbacks, p.feedbacks),
		p.Open(feedback+"/:id", auth.ReadFeedbacks, p.feedback),
		p.Form(feedback+"/:id/delete", auth.ManageFeedbacks, p.deleteFeedback),
	}
}

// rights are what pages show to some callers only.
type rights struct{ Upload, Change, Delete, Invite, Notify, Tokens, Feedback, Override, Status bool }

func rightsOf(c *gin.Context) rights {
	return rights{Upload: frame.May(c, auth.UploadBuilds), Change: frame.May(c, auth.ChangeBuilds), Delete: frame.May(c, auth.DeleteBuilds),
		Invite: frame.May(c, auth.InviteTesters), Notify: frame.May(c, auth.NotifyTesters), Tokens: frame.May(c, auth.ManageSDKTokens),
		Feedback: frame.May(c, auth.ManageFeedbacks), Override: frame.May(c, auth.OverrideGate),
		Status: frame.May(c, auth.ManageCommitStatus)}
}
