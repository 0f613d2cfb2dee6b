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
	ReadQueues    Action = "queues.read" // the console of the installation
	ReadMetrics   Action = "metrics.read"
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
	// OwnTeam holds members to what belongs to one of their teams; admins work in
	// all teams. The handler asks Caller.InTeam once it knows the team.
	OwnTeam bool
	// TeamAdmin lets a member through who is the admin of a team; the handler
	// asks Caller.TeamAdmin once it knows the team.
	TeamAdmin bool
}

// Table is the authorization of the whole api: nobody may do what no line says.
// It is made anew for each call, so that nobody can change it.
func Table() map[Action]Rule {
	return map[Action]Rule{
		ReadTasks: {Least: account.Member, Operators: OperatorsToo},
		// The least that any kind of task asks for: the handler asks by the kind.
		ChangeTasks:   {Least: account.Member, Operators: OperatorsToo},
		ReadCrashes:   {Least: account.Member},
		ChangeCrashes: {Least: account.Member},
		PurgeCrashes:  {Least: account.Admin},
		ReadQueues:    {Operators: OperatorsOnly},
		ReadMetrics:   {Operators: OperatorsOnly},
	}
}

// Allow answers nil when the rule lets the caller through, as far as that can be
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
