// Package people measures what concerns people and what systems hear of: mail, webhooks,
// lists of testers and of the audit, and sessions of apps.
//
// Each part starts what it needs, fills it, and counts what arrives: at a mail server, at
// receivers of webhooks, in the database. Some receivers fail or are slow on purpose, and
// workers are killed while they send; what arrives twice or never is in the table. An error
// that is no part of that ends the command.
package people

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
)

// Command measures what concerns people and what systems hear of: mail, webhooks,
// lists of testers and of the audit, sessions.
type Command struct {
	Only []string `help:"Parts to measure, by name; default: all."`
}

// peopleParts are the parts, in the order in which they run. A part prints its rows with
// measure.Row.
var peopleParts = []measure.Part{
	{Name: "webhooks", Limit: peopleLimit, Run: measureWebhooks},
	{Name: "audits", Limit: peopleLimit, Run: measureAudits},
	{Name: "testers", Limit: peopleLimit, Run: measureTesters},
	{Name: "groups", Limit: peopleLimit, Run: measureGroups},
	{Name: "sessions", Limit: peopleLimit, Run: measureSessions},
	{Name: "notify", Limit: peopleLimit, Run: measureNotify},
}

// Run measures the parts in turn and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	if err := measure.CheckParts(c.Only, peopleParts); err != nil {
		return err
	}
	fmt.Print("| part | measured | target | |\n|---|---|---|---|\n")
	return measure.RunParts(ctx, c.Only, peopleParts)
}

// peopleLimit is the deadline of a part; the longest fills a million rows.
const peopleLimit = 20 * time.Minute
