// Package admin is slipway admin: organizations, people, groups, keys, crash projects and
// operators, changed directly in the database.
//
// Each command is a type with its arguments and Run, which works in one transaction and prints its
// result as JSON, so that scripts can read the secrets that are shown once. Changes are in force at
// once in every process, and are in the audit log as those of the command line.
//
// What the database says of a failure is turned into a sentence; its words are in the log at the
// level debug.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Command changes the database directly, in any deployment; changes are in
// force at once in every process. Results are JSON on standard output, so that
// scripts can read the secrets that are shown once.
type Command struct {
	Org struct {
		Create orgCreate `cmd:"" help:"Create an organization with a first team."`
		List   orgList   `cmd:"" help:"List organizations."`
	} `cmd:"" help:"Organizations."`
	Quota organizationQuota `cmd:"" help:"Show what an organization uses; set bounds of its own."`
	Team  struct {
		Create teamCreate `cmd:"" help:"Create a team."`
		Add    teamAdd    `cmd:"" help:"Add a member to a team."`
	} `cmd:"" help:"Teams."`
	User struct {
		Create  userCreate `cmd:"" help:"Create a person, or add a known one to the organization."`
		Role    userRole   `cmd:"" help:"Change a member's role."`
		Block   userBlock  `cmd:"" help:"Block a member."`
		Unblock userFree   `cmd:"" help:"End a member's block."`
		List    userList   `cmd:"" help:"List the members of an organization."`
	} `cmd:"" help:"People."`
	Group struct {
		Create groupCreate `cmd:"" help:"Create a tester group."`
		List   groupList   `cmd:"" help:"List tester groups."`
		Show   groupShow   `cmd:"" help:"Show a group with its testers."`
		Add    groupAdd    `cmd:"" help:"Add people to a group."`
		Remove groupRemove `cmd:"" help:"Remove a person from a group."`
		Delete groupDelete `cmd:"" help:"Delete a group."`
	} `cmd:"" help:"Groups of testers."`
	ServiceAccount struct {
		Create serviceCreate `cmd:"" help:"Create a service account."`
	} `cmd:"" help:"Service accounts."`
	Key struct {
		Create keyCreate `cmd:"" help:"Create another key for a member."`
		Rotate keyRotate `cmd:"" help:"Replace a member's keys of a kind by a new one."`
		Revoke keyRevoke `cmd:"" help:"End one key."`
		List   keyList   `cmd:"" help:"List a member's keys."`
	} `cmd:"" help:"Keys of people and service accounts."`
	CrashProject struct {
		Create projectCreate `cmd:"" help:"Create a crash project with a token."`
		List   projectList   `cmd:"" help:"List crash projects."`
	} `cmd:"" help:"Crash projects."`
	CrashToken struct {
		Create tokenCreate `cmd:"" help:"Create another token for a crash project."`
		Rotate tokenRotate `cmd:"" help:"Replace a token by a new one."`
		Revoke tokenRevoke `cmd:"" help:"End a token."`
		List   tokenList   `cmd:"" help:"List the tokens of a crash project."`
	} `cmd:"" help:"Tokens of crash projects."`
	Rekey    rekey `cmd:"" help:"Encrypt all stored secrets anew with SLIPWAY_SIGNING_KEY, and report which keys of SLIPWAY_SIGNING_KEYS_OLD may be dropped."`
	Operator struct {
		Create operatorCreate `cmd:"" help:"Create an operator."`
		Rotate operatorRotate `cmd:"" help:"Replace an operator's password by a new one."`
		Revoke operatorRevoke `cmd:"" help:"End an operator's access."`
	} `cmd:"" help:"Operators of the installation."`
}

// timeout bounds one administration command.
const timeout = time.Minute

// change is the work of a command: it changes rows in the transaction and
// returns the result to print.
type change func(ctx context.Context, tx *storage.Tx, keys *account.Issuer) (any, error)

// execute executes work in one transaction and prints the result. What the database says
// of a failure is turned into a sentence; the log has it at the level debug.
func execute(ctx context.Context, s *setting.Settings, work change) error {
	if s.DatabaseURL == "" {
		return errors.New("slipway admin needs SLIPWAY_DATABASE_URL (for slipway up: set -a; . DIR/environment)")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 2, ApplicationName: "slipway-admin"})
	if err != nil {
		return err
	}
	defer db.Close()
	keys, err := account.NewIssuer(s.Region, nil)
	if err != nil {
		return err
	}
	var result any
	err = db.InTx(ctx, func(tx *storage.Tx) error {
		var err error
		result, err = work(ctx, tx, keys)
		return err
	})
	if err != nil {
		return storage.Plain(err)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(result)
}

// inOrganization is admin for commands on one organization.
func inOrganization(ctx context.Context, s *setting.Settings, slug string,
	work func(context.Context, *storage.Tx, *account.Issuer, *account.Organization) (any, error)) error {
	return execute(ctx, s, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer) (any, error) {
		org, err := account.OrganizationBySlug(ctx, tx, slug)
		if err != nil {
			return nil, err
		}
		return work(ctx, tx, keys, org)
	})
}

// onMember is admin for commands on one member.
func onMember(ctx context.Context, s *setting.Settings, slug, login string,
	work func(context.Context, *storage.Tx, *account.Issuer, *account.Membership, int64) (any, error)) error {
	return inOrganization(ctx, s, slug, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		org *account.Organization) (any, error) {
		m, err := account.MemberByLogin(ctx, tx, org.ID, login)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", login, err)
		}
		return work(ctx, tx, keys, m, org.ID)
	})
}

type done struct {
	Status string `json:"status"`
}

func ok(err error) (any, error) { return done{"ok"}, err }

// created is a row and the secret that is shown once with it.
func created(what string, row any, secret account.Secret) any {
	return map[string]any{what: row, "secret": secret.Text}
}
