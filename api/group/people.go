package group

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/tester"
)

// people are those whom a request adds: by mail address, by user id, or both.
type people struct {
	emails []string
	users  []int64
	member string // of the addresses in the body
}

// peopleBody is how requests name people. Email is one address or several by commas.
type peopleBody struct {
	Email   body.LongList `json:"email"`
	Emails  body.LongList `json:"emails"`
	UserID  *int64        `json:"user_id"`
	UserIDs body.LongList `json:"user_ids"`
}

func readPeople(c *gin.Context) (p people, err error) {
	var in peopleBody
	if err := body.Read(c, &in); err != nil {
		return p, err
	}
	p.emails, p.member = append(in.Email, in.Emails...), "email"
	if p.users, err = ids("user_ids", in.UserIDs); err != nil {
		return p, err
	}
	if in.UserID != nil {
		p.users = append(p.users, *in.UserID)
	}
	if len(p.emails) == 0 && len(p.users) == 0 {
		return p, storage.Invalid("email", "is required")
	}
	return p, nil
}

// distinct counts mail addresses, in any case.
func distinct(emails []string) int {
	seen := make(map[string]bool, len(emails))
	for _, email := range emails {
		seen[strings.ToLower(email)] = true
	}
	return len(seen)
}

// known returns the ids of the people, when each of them is in the organization.
func (p *people) known(ctx context.Context, tx *storage.Tx, w account.Writer) (users []int64, all bool, err error) {
	if len(p.emails) == 0 {
		return p.users, true, nil
	}
	if err := account.CheckEmails(p.member, p.emails); err != nil {
		return nil, false, err
	}
	users, err = testergroup.UsersByEmail(ctx, tx, w.OrganizationID, p.emails)
	return append(users, p.users...), len(users) == distinct(p.emails), err
}

// addToGroup puts people into a group that the writer may change. Those whom nobody knows
// become testers of the organization: the audit entry of that has the group, so a call is
// one entry however many they are.
func addToGroup(ctx context.Context, tx *storage.Tx, w account.Writer, g *testergroup.Group, p people) error {
	if len(p.emails) == 0 && len(p.users) == 0 {
		return nil
	}
	users, all, err := p.known(ctx, tx, w)
	if err != nil {
		return err
	}
	if !all {
		_, err := tester.Add(ctx, tx, w.Actor, tester.New{OrganizationID: w.OrganizationID, Emails: p.emails,
			Groups: []tester.Group{{ID: g.ID, Name: g.Name}}})
		if err != nil {
			return err
		}
		users = p.users
	}
	_, err = testergroup.AddMembers(ctx, tx, w, g.ID, users)
	return err
}

// addPeople adds people to the group with an id, in a transaction.
func (r *room) addPeople(c *gin.Context, id int64, p people) error {
	return r.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		g, err := testergroup.Changeable(ctx, tx, w, id)
		if err != nil {
			return err
		}
		return addToGroup(ctx, tx, w, g, p)
	})
}

// add serves POST /api/v3/groups/{id}/testers. Members: email (one or more by commas),
// emails (array), user_ids (array). Mail addresses that nobody has become testers.
func (h groups) add(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	p, err := readPeople(c)
	if err != nil {
		return err
	}
	err = h.addPeople(c, id, p)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, id, gin.H{})
}

// remove serves DELETE /api/v3/groups/{id}/testers/{user}. An empty group stays.
func (h groups) remove(c *gin.Context) error {
	id, user, err := pathOfUser(c)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		n, err := testergroup.RemoveMembers(ctx, tx, w, id, []int64{user}, false)
		if err != nil {
			return err
		}
		if n == 0 {
			return storage.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

func pathOfUser(c *gin.Context) (id, user int64, err error) {
	if id, err = pagination.ID(c.Param("id")); err != nil {
		return 0, 0, err
	}
	user, err = pagination.ID(c.Param("user"))
	return id, user, err
}

// projects are the handlers of the testers of an app in version 3.
type projects struct{ *room }

// testers serves GET /api/v3/projects/{id}/testers: who may install the app, directly,
// by a group, or because every tester may, each once. Parameters: search (part of a mail
// address or name), page, per_page.
func (h projects) testers(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return h.listPeople(c, func(ctx context.Context, search string, p storage.Page) (*testergroup.People, error) {
		return testergroup.ProjectTesters(ctx, h.db, auth.Organization(c), id, search, p)
	})
}

// add serves POST /api/v3/projects/{id}/testers: gives people the app without a group.
// Members as of a group.
func (h projects) add(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	p, err := readPeople(c)
	if err != nil {
		return err
	}
	var added int
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := distribution.MayChangeProject(ctx, tx, w, id); err != nil {
			return err
		}
		users, all, err := p.known(ctx, tx, w)
		if err != nil {
			return err
		}
		if !all {
			made, err := tester.AddPeople(ctx, tx, w.Actor, w.OrganizationID, p.emails)
			if err != nil {
				return err
			}
			users = append(made, p.users...)
		}
		added, err = testergroup.AddProjectTesters(ctx, tx, w, id, users)
		return err
	})
	if err != nil {
		return err
	}
	app, err := distribution.ProjectByID(c.Request.Context(), h.db, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"project": h.projectView(app), "added": added})
}

// remove serves DELETE /api/v3/projects/{id}/testers/{user}: takes back what the tester
// was given without a group.
func (h projects) remove(c *gin.Context) error {
	id, user, err := pathOfUser(c)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return testergroup.RemoveProjectTester(ctx, tx, w, id, user)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
