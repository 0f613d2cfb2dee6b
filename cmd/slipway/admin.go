package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// adminCommand changes the database directly, in any deployment; changes are in
// force at once in every process. Results are JSON on standard output, so that
// scripts can read the secrets that are shown once.
type adminCommand struct {
	Org struct {
		Create adminOrgCreate `cmd:"" help:"Create an organization with a first team."`
		List   adminOrgList   `cmd:"" help:"List organizations."`
	} `cmd:"" help:"Organizations."`
	Quota adminQuota `cmd:"" help:"Show what an organization uses; set bounds of its own."`
	Team  struct {
		Create adminTeamCreate `cmd:"" help:"Create a team."`
		Add    adminTeamAdd    `cmd:"" help:"Add a member to a team."`
	} `cmd:"" help:"Teams."`
	User struct {
		Create  adminUserCreate `cmd:"" help:"Create a person, or add a known one to the organization."`
		Role    adminUserRole   `cmd:"" help:"Change a member's role."`
		Block   adminUserBlock  `cmd:"" help:"Block a member."`
		Unblock adminUserFree   `cmd:"" help:"End a member's block."`
		List    adminUserList   `cmd:"" help:"List the members of an organization."`
	} `cmd:"" help:"People."`
	Group struct {
		Create adminGroupCreate `cmd:"" help:"Create a tester group."`
		List   adminGroupList   `cmd:"" help:"List tester groups."`
		Show   adminGroupShow   `cmd:"" help:"Show a group with its testers."`
		Add    adminGroupAdd    `cmd:"" help:"Add people to a group."`
		Remove adminGroupRemove `cmd:"" help:"Remove a person from a group."`
		Delete adminGroupDelete `cmd:"" help:"Delete a group."`
	} `cmd:"" help:"Groups of testers."`
	ServiceAccount struct {
		Create adminServiceCreate `cmd:"" help:"Create a service account."`
	} `cmd:"" help:"Service accounts."`
	Key struct {
		Create adminKeyCreate `cmd:"" help:"Create another key for a member."`
		Rotate adminKeyRotate `cmd:"" help:"Replace a member's keys of a kind by a new one."`
		Revoke adminKeyRevoke `cmd:"" help:"End one key."`
		List   adminKeyList   `cmd:"" help:"List a member's keys."`
	} `cmd:"" help:"Keys of people and service accounts."`
	CrashProject struct {
		Create adminProjectCreate `cmd:"" help:"Create a crash project with a token."`
		List   adminProjectList   `cmd:"" help:"List crash projects."`
	} `cmd:"" help:"Crash projects."`
	CrashToken struct {
		Create adminTokenCreate `cmd:"" help:"Create another token for a crash project."`
		Rotate adminTokenRotate `cmd:"" help:"Replace a token by a new one."`
		Revoke adminTokenRevoke `cmd:"" help:"End a token."`
		List   adminTokenList   `cmd:"" help:"List the tokens of a crash project."`
	} `cmd:"" help:"Tokens of crash projects."`
	Rekey    adminRekey `cmd:"" help:"Encrypt all stored secrets anew with SLIPWAY_SIGNING_KEY, and report which keys of SLIPWAY_SIGNING_KEYS_OLD may be dropped."`
	Operator struct {
		Create adminOperatorCreate `cmd:"" help:"Create an operator."`
		Rotate adminOperatorRotate `cmd:"" help:"Replace an operator's password by a new one."`
		Revoke adminOperatorRevoke `cmd:"" help:"End an operator's access."`
	} `cmd:"" help:"Operators of the installation."`
}

// adminTimeout bounds one administration command.
const adminTimeout = time.Minute

// adminWork is the work of a command: it changes rows in the transaction and
// returns the result to print.
type adminWork func(ctx context.Context, tx *storage.Tx, keys *account.Issuer) (any, error)

// admin executes work in one transaction and prints the result. What the database says
// of a failure is turned into a sentence; the log has it at the level debug.
func admin(ctx context.Context, s *settings, work adminWork) error {
	if s.DatabaseURL == "" {
		return errors.New("slipway admin needs SLIPWAY_DATABASE_URL (for slipway up: set -a; . DIR/environment)")
	}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
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
func inOrganization(ctx context.Context, s *settings, slug string,
	work func(context.Context, *storage.Tx, *account.Issuer, *account.Organization) (any, error)) error {
	return admin(ctx, s, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer) (any, error) {
		org, err := account.OrganizationBySlug(ctx, tx, slug)
		if err != nil {
			return nil, err
		}
		return work(ctx, tx, keys, org)
	})
}

// onMember is admin for commands on one member.
func onMember(ctx context.Context, s *settings, slug, login string,
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
