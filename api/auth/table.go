package auth

import "github.com/slipway-qa/slipway/storage/account"

// Action is what a route lets its callers do; a line of the table.
type Action string

// The actions.
const (
	ReadTasks     Action = "tasks.read"
	ChangeTasks   Action = "tasks.change" // retry, cancel
	ReadCrashes   Action = "crashes.read"
	ChangeCrashes Action = "crashes.change" // state and merging of groups
	PurgeCrashes  Action = "crashes.purge"
	SaveSearches  Action = "searches.save" // of lists: one's own, and of a team of one's
	ReadSymbols   Action = "symbols.read"
	UploadSymbols Action = "symbols.upload" // and reading one anew
	DeleteSymbols Action = "symbols.delete"
	ReadQueues    Action = "queues.read" // the console of the installation
	ReadMetrics   Action = "metrics.read"
	ReadMail      Action = "mail.read"    // the mail of the installation
	ReceiveMail   Action = "mail.receive" // mail that came back to the installation

	ExchangeToken         Action = "token.exchange"
	ManageOwnKeys         Action = "keys.manage"
	ReadSelf              Action = "self.read" // who one is, and what one may
	ManageServiceAccounts Action = "service_accounts.manage"
	ManageCrashProjects   Action = "crash_projects.manage"
	ManageSettings        Action = "settings.manage" // of the organization

	ReadProjects   Action = "projects.read"
	ChangeProjects Action = "projects.change" // create, update, copy
	DeleteProjects Action = "projects.delete"
	ReadBuilds     Action = "builds.read"
	UploadBuilds   Action = "builds.upload"
	ChangeBuilds   Action = "builds.change" // update, copy; in version 1 also delete
	DeleteBuilds   Action = "builds.delete"
	NotifyTesters  Action = "builds.notify"
	ManageGates    Action = "gate.manage"   // the policy of an app
	OverrideGate   Action = "gate.override" // of a build

	ReadTesters     Action = "testers.read"
	InviteTesters   Action = "testers.invite" // to the organization, to a build
	ManageTesters   Action = "testers.manage" // block, unblock, remove
	ReadGroups      Action = "groups.read"
	ManageGroups    Action = "groups.manage" // of testers, and who is in them
	ReadTeams       Action = "teams.read"
	CreateTeams     Action = "teams.create"
	ManageTeams     Action = "teams.manage"
	DeleteTeams     Action = "teams.delete"
	ReadDevices     Action = "devices.read"
	ManageDevices   Action = "devices.manage"
	ReadWebhooks    Action = "webhooks.read"
	ManageWebhooks  Action = "webhooks.manage"
	ManageOIDC      Action = "oidc.manage"
	ReadAudits      Action = "audits.read"
	ReadSites       Action = "sites.read"
	CreateSites     Action = "sites.create"
	ReadPermissions Action = "permissions.read"
	ReadMembers     Action = "members.read"
	ManageMembers   Action = "members.manage" // role and removal
	ManageMail      Action = "mail.manage"    // templates and settings of the organization
	ReadSessions    Action = "sessions.read"
	ReadFeedbacks   Action = "feedbacks.read"
	ManageFeedbacks Action = "feedbacks.manage"
	ManageSDKTokens Action = "sdk_tokens.manage"

	ReadTests       Action = "tests.read"
	ChangeTests     Action = "tests.change"     // create, update, generate
	ReviewLooks     Action = "looks.review"     // accept pictures and findings: a person's decision, so no scope lets it through
	DeleteTests     Action = "tests.delete"     // cases and suites
	ManageSchedules Action = "schedules.manage" // which run suites again and again
	RunTests        Action = "tests.run"        // run, cancel
	ChangeVariables Action = "variables.change" // those of the organization take an admin
	ManageTunnels   Action = "tunnels.manage"

	ManageCommitStatus Action = "commit_status.manage" // where those of an app's commits go
	UseAgentTools      Action = "agents.use"           // and the record of each use
)

// Operators says how a rule treats the installation's operators.
type Operators int

// What operators may.
const (
	OperatorsNot  Operators = iota // the organization's own business
	OperatorsToo                   // members and operators
	OperatorsOnly                  // the installation's business
)

// Rule is a line of the table.
type Rule struct {
	// Least is the least role of the organization; ignored for OperatorsOnly.
	Least     account.Role
	Operators Operators
	// OwnTeam lets members change what belongs to one of their teams; admins work
	// in all teams. The store asks Caller.Writer once it knows the team.
	OwnTeam bool
	// Scope is what lets a key through that is restricted to scopes; "" lets none.
	Scope account.Scope
	// TeamAdmin lets a member through who is the admin of a team, for what belongs
	// to that team; Caller.Writer has these teams only.
	TeamAdmin bool
}

// Table is the authorization of the whole api: nobody may do what no line says.
// It is made anew for each call, so that nobody can change it.
func Table() map[Action]Rule {
	return map[Action]Rule{
		ReadTasks: {Least: account.Member, Operators: OperatorsToo, Scope: account.ScopeRead},
		// The least that any kind of task asks for: the handler asks by the kind.
		ChangeTasks:   {Least: account.Member, Operators: OperatorsToo},
		ReadCrashes:   {Least: account.Member, Scope: account.ScopeRead},
		ChangeCrashes: {Least: account.Member, Scope: account.ScopeCrashes},
		PurgeCrashes:  {Least: account.Admin},
		SaveSearches:  {Least: account.Member, OwnTeam: true},
		ReadSymbols:   {Least: account.Member, Scope: account.ScopeRead},
		UploadSymbols: {Least: account.Member, Scope: account.ScopeBuilds},
		DeleteSymbols: {Least: account.Admin},
		ReadQueues:    {Operators: OperatorsOnly},
		ReadMetrics:   {Operators: OperatorsOnly},
		ReadMail:      {Operators: OperatorsOnly},
		ReceiveMail:   {Operators: OperatorsOnly},

		ExchangeToken:         {Least: account.Member},
		ManageOwnKeys:         {Least: account.Member},
		ReadSelf:              {Least: account.Member, Scope: account.ScopeRead},
		ManageServiceAccounts: {Least: account.Admin},
		ManageCrashProjects:   {Least: account.Admin},
		ManageSettings:        {Least: account.Admin},

		ReadProjects:   {Least: account.Member, Scope: account.ScopeRead},
		ChangeProjects: {Least: account.Member, OwnTeam: true},
		DeleteProjects: {Least: account.Admin, TeamAdmin: true},
		ReadBuilds:     {Least: account.Member, Scope: account.ScopeRead},
		UploadBuilds:   {Least: account.Member, OwnTeam: true, Scope: account.ScopeBuilds},
		ChangeBuilds:   {Least: account.Member, OwnTeam: true},
		DeleteBuilds:   {Least: account.Admin, TeamAdmin: true},
		NotifyTesters:  {Least: account.Admin, TeamAdmin: true},
		ManageGates:    {Least: account.Admin, TeamAdmin: true},
		OverrideGate:   {Least: account.Admin, TeamAdmin: true},

		ReadTesters:     {Least: account.Member},
		InviteTesters:   {Least: account.Admin, TeamAdmin: true},
		ManageTesters:   {Least: account.Admin},
		ReadGroups:      {Least: account.Member},
		ManageGroups:    {Least: account.Admin, TeamAdmin: true},
		ReadTeams:       {Least: account.Member},
		CreateTeams:     {Least: account.Admin},
		ManageTeams:     {Least: account.Admin, TeamAdmin: true},
		DeleteTeams:     {Least: account.Admin},
		ReadDevices:     {Least: account.Admin, TeamAdmin: true},
		ManageDevices:   {Least: account.Admin},
		ReadWebhooks:    {Least: account.Member},
		ManageWebhooks:  {Least: account.Admin, TeamAdmin: true},
		ManageOIDC:      {Least: account.Admin},
		ReadAudits:      {Least: account.Admin},
		ReadSites:       {Least: account.Admin},
		CreateSites:     {Least: account.Owner},
		ReadPermissions: {Least: account.Admin},
		ReadMembers:     {Least: account.Admin},
		ManageMembers:   {Least: account.Admin},
		ManageMail:      {Least: account.Admin},
		ReadSessions:    {Least: account.Member},
		ReadFeedbacks:   {Least: account.Member},
		ManageFeedbacks: {Least: account.Admin, TeamAdmin: true},
		ManageSDKTokens: {Least: account.Admin, TeamAdmin: true},

		ReadTests:       {Least: account.Member, Scope: account.ScopeRead},
		ChangeTests:     {Least: account.Member, OwnTeam: true, Scope: account.ScopeTests},
		ReviewLooks:     {Least: account.Member, OwnTeam: true},
		DeleteTests:     {Least: account.Member, OwnTeam: true},
		ManageSchedules: {Least: account.Member, OwnTeam: true},
		RunTests:        {Least: account.Member, OwnTeam: true, Scope: account.ScopeRuns},
		ChangeVariables: {Least: account.Member, OwnTeam: true},
		ManageTunnels:   {Least: account.Admin},

		ManageCommitStatus: {Least: account.Admin, TeamAdmin: true},
		UseAgentTools:      {Least: account.Member, Scope: account.ScopeRead},
	}
}

// Allow returns nil when the rule lets the caller through, as far as that can be
// said without the resource.
func (r Rule) Allow(c *Caller) error {
	switch {
	case c.Operator && r.Operators == OperatorsNot:
		return problemForbidden("operators have no access to what belongs to an organization")
	case c.Operator:
		return nil
	case r.Operators == OperatorsOnly:
		return problemForbidden("operator credentials are required")
	case c.blocked:
		return problemForbidden("this account is blocked")
	case !c.inScope(r.Scope):
		return problemForbidden("this key is restricted to " + c.scopeList() + ", which does not allow this")
	case c.Role.AtLeast(r.Least):
		return nil
	case c.Role == account.Tester:
		return problemTester()
	case r.TeamAdmin && c.Role == account.Member && adminOfAny(c.Teams):
		return nil
	}
	return problemForbidden("the role " + string(c.Role) + " does not allow this; it takes " + string(r.Least))
}

func adminOfAny(teams []account.TeamPlace) bool {
	for _, t := range teams {
		if t.Admin {
			return true
		}
	}
	return false
}
