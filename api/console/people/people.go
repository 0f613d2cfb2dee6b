// Package people has the console's pages of who may install what: testers, their groups,
// the teams, and the devices that testers registered.
//
// A list takes the parameters of the route behind it, from the page's address; those that
// the route refuses are said on the page. What only some may do is shown to them, by the
// table that the routes have their rights from. A form with much text in it has a page of
// its own, which shows the text again when the api refuses it.
package people

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
	const tester, group, team, devices = "/people/testers/:id", "/people/groups/:id", "/people/teams/:id", "/people/devices"
	return []route.Route{
		p.Open("/people", auth.ReadTesters, p.testers),
		p.Open("/people/testers/new", auth.InviteTesters, p.newTesters),
		p.Form("/people/testers/new", auth.InviteTesters, p.addTesters),
		p.Open(tester, auth.ReadTesters, p.tester),
		p.Form(tester+"/block", auth.ManageTesters, p.blockTester),
		p.Form(tester+"/unblock", auth.ManageTesters, p.unblockTester),
		p.Form(tester+"/remove", auth.ManageTesters, p.removeTester),
		p.Form(tester+"/groups", auth.ManageGroups, p.joinGroup),

		p.Open("/people/groups", auth.ReadGroups, p.groups),
		p.Open("/people/groups/new", auth.ManageGroups, p.newGroup),
		p.Form("/people/groups/new", auth.ManageGroups, p.createGroup),
		p.Open(group, auth.ReadGroups, p.group),
		p.Form(group+"/change", auth.ManageGroups, p.changeGroup),
		p.Form(group+"/delete", auth.ManageGroups, p.deleteGroup),
		p.Form(group+"/testers/add", auth.ManageGroups, p.addToGroup),
		p.Form(group+"/testers/:user/remove", auth.ManageGroups, p.removeFromGroup),
		p.Form(group+"/apps/add", auth.ManageGroups, p.addApp),
		p.Form(group+"/apps/:app/remove", auth.ManageGroups, p.removeApp),

		p.Open("/people/teams", auth.ReadTeams, p.teams),
		p.Form("/people/teams/create", auth.CreateTeams, p.createTeam),
		p.Open(team, auth.ReadTeams, p.team),
		p.Form(team+"/change", auth.ManageTeams, p.renameTeam),
		p.Form(team+"/delete", auth.DeleteTeams, p.deleteTeam),
		p.Form(team+"/members/add", auth.ManageTeams, p.addMember),
		p.Form(team+"/members/:user/admin", auth.ManageTeams, p.setTeamAdmin),
		p.Form(team+"/members/:user/remove", auth.ManageTeams, p.removeMember),

		p.Open(devices, auth.ReadDevices, p.devices),
		p.Open(devices+"/export", auth.ReadDevices, p.exportDevices),
		p.Form(devices+"/add", auth.ManageDevices, p.addDevice),
		p.Form(devices+"/:id/remove", auth.ManageDevices, p.removeDevice),
	}
}

// rights say what the pages offer to who is signed in; whether it is allowed for this one
// group or team the routes say.
type rights struct {
	Invite, Manage, Groups, CreateTeams, Teams, DeleteTeams, ReadDevices, Devices bool
}

func rightsOf(c *gin.Context) rights {
	may := func(action auth.Action) bool { return frame.May(c, action) }
	return rights{Invite: may(auth.InviteTesters), Manage: may(auth.ManageTesters), Groups: may(auth.ManageGroups),
		CreateTeams: may(auth.CreateTeams), Teams: may(auth.ManageTeams), DeleteTeams: may(auth.DeleteTeams),
		ReadDevices: may(auth.ReadDevices), Devices: may(auth.ManageDevices)}
}
