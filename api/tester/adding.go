package tester

import (
	"context"
	"errors"
	"strconv"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/tasks"
)

// adding is a request for testers.
type adding struct {
	emails []string
	name   string
	groups []string // names or ids
	create bool     // a group that is missing is created; else it is an error
	notify bool     // write welcome mails
}

// add adds the testers, and with notify the task of their welcome mails, whose id is
// returned; "" without.
func (r *room) add(ctx context.Context, tx *storage.Tx, w account.Writer, a adding) (added *tester.Added, task string, err error) {
	// Before the groups, in the order of all who lock both.
	if err := account.LockOrganization(ctx, tx, w.OrganizationID); err != nil {
		return nil, "", err
	}
	n := tester.New{OrganizationID: w.OrganizationID, Emails: a.emails, Name: a.name}
	names := []string{}
	for _, ref := range a.groups {
		g, err := groupFor(ctx, tx, w, ref, a.create)
		if err != nil {
			return nil, "", err
		}
		n.Groups, names = append(n.Groups, tester.Group{ID: g.ID, Name: g.Name}), append(names, g.Name)
	}
	if added, err = tester.Add(ctx, tx, w.Actor, n); err != nil || !a.notify {
		return added, "", err
	}
	mailing, err := tester.InsertMailing(ctx, tx, tester.Mailing{OrganizationID: w.OrganizationID, UserIDs: added.UserIDs, Groups: names})
	if err != nil {
		return nil, "", err
	}
	welcome := tasks.NewTesterWelcome(w.OrganizationID, respond.RequestID(ctx), mailing)
	if err := r.queue.Insert(ctx, tx, welcome); err != nil {
		return nil, "", err
	}
	return added, welcome.ID.String(), nil
}

// groupFor finds a group that the writer may put testers into. A number that is no group
// of the organization is not found, as everywhere; a name is invalid.
func groupFor(ctx context.Context, tx *storage.Tx, w account.Writer, ref string, create bool) (*testergroup.Group, error) {
	if create {
		return testergroup.Ensure(ctx, tx, w, ref)
	}
	_, err := testergroup.ByRef(ctx, tx, w.OrganizationID, ref)
	if !errors.Is(err, storage.ErrNotFound) {
		if err != nil {
			return nil, err
		}
		return testergroup.Ensure(ctx, tx, w, ref)
	}
	if _, number := strconv.ParseUint(ref, 10, 63); number == nil {
		return nil, err
	}
	return nil, storage.Invalid("groups", "%q is no group of the organization", storage.Cut(ref, maxShown))
}

// maxShown bounds what a failure repeats of a name, in characters.
const maxShown = 64

// inviting is a request for invitations to a build.
type inviting struct {
	project, build int64 // project 0: any
	groups         grant.Groups
	comment        string
	notify         bool
}

// invited is what the request did.
type invited struct {
	*announcement.Invite
	task string // of the mails; "" without
}

// names are the names of the groups.
func (i *invited) names() []string {
	names := make([]string, 0, len(i.Groups))
	for _, g := range i.Groups {
		names = append(names, g.Name)
	}
	return names
}

// invite gives a build to groups and invites their testers, with one audit entry, and
// with notify the task of the mails.
func (r *room) invite(ctx context.Context, tx *storage.Tx, w account.Writer, in inviting) (*invited, error) {
	if err := tester.CheckComment(in.comment); err != nil {
		return nil, err
	}
	given, err := announcement.InviteGroups(ctx, tx, w, in.project, in.build, in.groups)
	if err != nil {
		return nil, err
	}
	done := &invited{Invite: given}
	if err := tester.InviteAll(ctx, tx, w.OrganizationID, in.build, given.UserIDs, w.Actor.Name); err != nil {
		return nil, err
	}
	detail := map[string]any{"build_id": in.build, "project_id": given.Build.ProjectID, "groups": done.names(), "all_testers": in.groups.All,
		"invited": len(given.UserIDs)}
	if in.notify && len(given.UserIDs) > 0 {
		mailing, err := tester.InsertMailing(ctx, tx, tester.Mailing{OrganizationID: w.OrganizationID, BuildID: in.build,
			UserIDs: given.UserIDs, Groups: done.names(), Comment: in.comment})
		if err != nil {
			return nil, err
		}
		mails := tasks.NewBuildInvite(w.OrganizationID, respond.RequestID(ctx), mailing)
		if err := r.queue.Insert(ctx, tx, mails); err != nil {
			return nil, err
		}
		done.task = mails.ID.String()
		detail["task_id"] = done.task
	}
	return done, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildInvited, Actor: w.Actor,
		Subject: "build " + strconv.FormatInt(in.build, 10), Detail: detail})
}
