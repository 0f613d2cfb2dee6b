// Package settings has the console's pages of what belongs to who is signed in, and of the
// organization's settings: keys and sessions, members, service accounts, webhooks with their
// deliveries, mail, OIDC, the app storage, quotas, and the audit log.
//
// A secret is on the page that answers the form that made it, and nowhere else: in no
// address, no cookie and no later page. A list takes the parameters of the route behind it,
// from the page's address; those that the route refuses are said on the page. A form with
// much in it is answered at its own address, so that a refusal shows what was typed.
package settings

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
	const accounts, webhook, mail = "/settings/accounts", "/settings/webhooks/:id", "/settings/mail"
	const template, oidc, organization = mail + "/templates/:kind", "/settings/oidc", "/settings/organization"
	export := p.Open("/settings/audit/export", auth.ReadAudits, p.exportAudit)
	export.Deadline = route.StreamDeadline // as the route of the api
	return []route.Route{
		p.Open("/settings", auth.ManageOwnKeys, p.own),
		p.Form("/settings/keys", auth.ManageOwnKeys, p.createKey),
		p.Form("/settings/keys/:id/end", auth.ManageOwnKeys, p.endKey),
		p.Form("/settings/sessions/:id/end", auth.ManageOwnKeys, p.endSession),

		p.Open("/settings/members", auth.ReadMembers, p.members),
		p.Open("/settings/members/:id", auth.ReadMembers, p.member),
		p.Form("/settings/members/:id/role", auth.ManageMembers, p.changeRole),
		p.Form("/settings/members/:id/remove", auth.ManageMembers, p.removeMember),
		p.Open(accounts, auth.ManageServiceAccounts, p.accounts),
		p.Form(accounts+"/create", auth.ManageServiceAccounts, p.createAccount),
		p.Open(accounts+"/:id", auth.ManageServiceAccounts, p.account),
		p.Form(accounts+"/:id/keys", auth.ManageServiceAccounts, p.createAccountKey),
		p.Form(accounts+"/:id/keys/:key/end", auth.ManageServiceAccounts, p.endAccountKey),
		p.Form(accounts+"/:id/delete", auth.ManageServiceAccounts, p.deleteAccount),

		p.Open("/settings/webhooks", auth.ReadWebhooks, p.webhooks),
		p.Open("/settings/webhooks/new", auth.ManageWebhooks, p.newWebhook),
		p.Form("/settings/webhooks/new", auth.ManageWebhooks, p.createWebhook),
		p.Open(webhook, auth.ReadWebhooks, p.webhook),
		p.Form(webhook, auth.ManageWebhooks, p.changeWebhook),
		p.Form(webhook+"/secret", auth.ManageWebhooks, p.rotateSecret),
		p.Form(webhook+"/secret/end", auth.ManageWebhooks, p.endFormerSecret),
		p.Form(webhook+"/test", auth.ManageWebhooks, p.testWebhook),
		p.Form(webhook+"/replay", auth.ManageWebhooks, p.replayRange),
		p.Form(webhook+"/delete", auth.ManageWebhooks, p.deleteWebhook),
		p.Open(webhook+"/deliveries/:delivery", auth.ManageWebhooks, p.delivery),
		p.Form(webhook+"/deliveries/:delivery/replay", auth.ManageWebhooks, p.replayDelivery),

		p.Open(mail, auth.ManageMail, p.mail),
		p.Form(mail, auth.ManageMail, p.changeMail),
		p.Open(template, auth.ManageMail, p.template),
		p.Form(template, auth.ManageMail, p.changeTemplate),
		p.Framed(p.Form(template+"/html", auth.ManageMail, p.previewHTML)),
		p.Form(template+"/reset", auth.ManageMail, p.resetTemplate),
		p.Open(mail+"/suppressions", auth.ManageMail, p.suppressions),
		p.Form(mail+"/suppressions/:id/remove", auth.ManageMail, p.removeSuppression),

		p.Open(oidc, auth.ManageOIDC, p.oidc),
		p.Form(oidc, auth.ManageOIDC, p.saveOIDC),
		p.Form(oidc+"/test", auth.ManageOIDC, p.testOIDC),
		p.Form(oidc+"/key", auth.ManageOIDC, p.replaceOIDCKey),
		p.Form(oidc+"/delete", auth.ManageOIDC, p.deleteOIDC),

		p.Open(organization, auth.ManageSettings, p.organization),
		p.Form(organization, auth.ManageSettings, p.changeOrganization),
		p.Form(organization+"/storage", auth.ManageSettings, p.changeStorage),
		p.Form(organization+"/storage/delete", auth.ManageSettings, p.deleteStorage),

		p.Open("/settings/audit", auth.ReadAudits, p.audit),
		export,
	}
}

// rights say what the pages offer to who is signed in.
type rights struct {
	Members, Accounts, Webhooks, ChangeWebhooks, Mail, OIDC, Organization, Audit bool
}

func rightsOf(c *gin.Context) rights {
	may := func(action auth.Action) bool { return frame.May(c, action) }
	return rights{Members: may(auth.ReadMembers), Accounts: may(auth.ManageServiceAccounts), Webhooks: may(auth.ReadWebhooks),
		ChangeWebhooks: may(auth.ManageWebhooks),
		Mail:           may(auth.ManageMail), OIDC: may(auth.ManageOIDC), Organization: may(auth.ManageSettings), Audit: may(auth.ReadAudits)}
}

// show writes a page of the area; with a fault its status is that of a wrong request.
func (p *Pages) show(c *gin.Context, name, fault string, page frame.Page) error {
	page.Area = "/settings"
	return p.pages.ShowList(c, name, fault, page)
}

// secretData is the page that shows a secret, once.
type secretData struct {
	Rights rights
	At     string // the tab
	What   string // what it is for
	Secret string
	Back   string // path of the page to go on with, behind /console
}

func (p *Pages) showSecret(c *gin.Context, title string, data secretData) error {
	data.Rights = rightsOf(c)
	return p.show(c, "secret", "", frame.Page{Title: title, Data: data})
}
