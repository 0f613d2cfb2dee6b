// Package crashes has the console's pages about crashes: groups and what people decide
// about them, single reports with their threads, crash projects with tokens and versions,
// symbol files, and the removal of a person's reports.
//
// A list hands the parameters of its address to the route of the api as they are. So an
// address that works there works here, can be kept, and what the api refuses is said on the
// page, above an empty list.
//
// What only admins may read (the names of crash projects, the audit log) is left out of the
// pages of others.
package crashes

import (
	"embed"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/route"
)

//go:embed page
var files embed.FS

// area is the path of these pages in the navigation.
const area = "/crashes"

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
	const read, change, manage = auth.ReadCrashes, auth.ChangeCrashes, auth.ManageCrashProjects
	upload := p.Form("/crashes/symbols", auth.UploadSymbols, p.uploadSymbols)
	upload.Body, upload.Deadline = route.OwnBound, route.UploadDeadline
	attachment := p.Open("/crashes/reports/:id/attachments/:attachment", read, p.attachment)
	attachment.Deadline = route.StreamDeadline
	return []route.Route{
		p.Open("/crashes", read, p.groups),
		p.Form("/crashes/change", change, p.changeGroups),
		p.Form("/crashes/searches", auth.SaveSearches, p.saveSearch),
		p.Form("/crashes/searches/:search/delete", auth.SaveSearches, p.deleteSearch),
		p.Open("/crashes/all", change, p.confirmAll),
		p.Form("/crashes/all", change, p.changeAll),
		p.Open("/crashes/all/:task", read, p.watchAll),
		p.Form("/crashes/all/:task/cancel", change, p.cancelAll),
		p.Open("/crashes/groups/:id", read, p.group),
		p.Open("/crashes/groups/:id/attributes", read, p.groupAttributes),
		p.Open("/crashes/groups/:id/split", read, p.stacks),
		p.Open("/crashes/groups/:id/history", auth.ReadAudits, p.history),
		p.Form("/crashes/groups/:id/state", change, p.changeState),
		p.Form("/crashes/groups/:id/assignee", change, p.assign),
		p.Form("/crashes/groups/:id/issue", change, p.linkIssue),
		p.Form("/crashes/groups/:id/merge", change, p.merge),
		p.Form("/crashes/groups/:id/unmerge", change, p.unmerge),
		p.Form("/crashes/groups/:id/split", change, p.split),
		p.Form("/crashes/groups/:id/comments", change, p.comment),
		p.Form("/crashes/groups/:id/comments/:comment", change, p.changeComment),
		p.Form("/crashes/groups/:id/comments/:comment/delete", change, p.deleteComment),

		p.Open("/crashes/reports", read, p.reports),
		p.Open("/crashes/reports/:id", read, p.report),
		p.Open("/crashes/reports/:id/annotations", read, p.annotations),
		p.Open("/crashes/reports/:id/raw", read, p.raw),
		attachment,

		p.Open("/crashes/projects", manage, p.projects),
		p.Form("/crashes/projects", manage, p.createProject),
		p.Open("/crashes/projects/:id", manage, p.project),
		p.Form("/crashes/projects/:id", manage, p.changeProject),
		p.Form("/crashes/projects/:id/delete", manage, p.deleteProject),
		p.Form("/crashes/projects/:id/tokens", manage, p.createToken),
		p.Form("/crashes/projects/:id/tokens/:token/end", manage, p.endToken),
		p.Open("/crashes/projects/:id/versions", read, p.versions),

		p.Open("/crashes/symbols", auth.ReadSymbols, p.symbols),
		upload,
		p.Open("/crashes/symbols/missing", auth.ReadSymbols, p.missing),
		p.Open("/crashes/symbols/:id", auth.ReadSymbols, p.symbol),
		p.Open("/crashes/symbols/:id/download", auth.ReadSymbols, p.downloadSymbol),
		p.Form("/crashes/symbols/:id/index", auth.UploadSymbols, p.indexSymbol),
		p.Form("/crashes/symbols/:id/delete", auth.DeleteSymbols, p.deleteSymbol),

		p.Open("/crashes/removal", auth.PurgeCrashes, p.removal),
		p.Form("/crashes/removal/begin", auth.PurgeCrashes, p.remove),
	}
}
