package task

import (
	"fmt"
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/tasks"
)

// permit refuses a caller whose standing does not reach what the kind asks for.
// The route lets members in; which of the organization's tasks they may change is
// the kind's matter, for the end of some tasks would undo what a caller was told.
func permit(caller *auth.Caller, needs tasks.Grant, verb, kind string) error {
	var who string
	switch {
	case caller.Operator, needs == tasks.GrantMember:
		return nil
	case needs == tasks.GrantAdmin && caller.Admin():
		return nil
	case needs == tasks.GrantAdmin:
		who = "the role admin"
	default:
		who = "operator credentials"
	}
	return &respond.Problem{Status: http.StatusForbidden,
		Text: fmt.Sprintf("to %s a task of type %s takes %s", verb, kind, who)}
}
