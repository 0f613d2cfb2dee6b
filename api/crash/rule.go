package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/rule"
)

// ruleView is a rule with what it did.
type ruleView struct {
	ID             int64               `json:"id"`
	Name           string              `json:"name"`
	CrashProjectID *int64              `json:"crash_project_id"` // null: all of the organization
	Enabled        bool                `json:"enabled"`
	Trigger        rule.Trigger        `json:"trigger"`
	Above          int                 `json:"above"`
	Minutes        int                 `json:"minutes"`
	Conditions     []ruleConditionView `json:"conditions"`
	Mail           []personView        `json:"mail"`
	Webhook        bool                `json:"webhook"`
	Assignee       *personView         `json:"assignee"`
	RepeatHours    int                 `json:"repeat_hours"`
	Fired          int64               `json:"fired"`
	FiredAt        *time.Time          `json:"fired_at"`
	CreatedAt      time.Time           `json:"created_at"`
	UpdatedAt      time.Time           `json:"updated_at"`
}

type ruleConditionView struct {
	Subject rule.Subject `json:"subject"`
	Key     string       `json:"key"`
	Values  []string     `json:"values"`
}

// ruleRequest creates a rule, or replaces one.
type ruleRequest struct {
	Name           string                 `json:"name"`
	CrashProjectID *int64                 `json:"crash_project_id"`
	Enabled        *bool                  `json:"enabled"` // absent: true
	Trigger        string                 `json:"trigger"`
	Above          int                    `json:"above"`
	Minutes        int                    `json:"minutes"`
	Conditions     []ruleConditionRequest `json:"conditions"`
	Mail           []word                 `json:"mail"` // ids, mail addresses or me
	Webhook        bool                   `json:"webhook"`
	Assignee       word                   `json:"assignee"`
	RepeatHours    int                    `json:"repeat_hours"`
}

type ruleConditionRequest struct {
	Subject string   `json:"subject"`
	Key     string   `json:"key"`
	Values  []string `json:"values"`
}

// Rules serves GET /api/v3/crash-rules. Parameter: project, the id of a crash project.
func (h *Handlers) Rules(c *gin.Context) error {
	project := int64(0)
	if text := c.Request.URL.Query().Get("project"); text != "" {
		var err error
		if project, err = pagination.ID(text); err != nil {
			return storage.Invalid("project", "must be the id of a crash project")
		}
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	list, err := rule.List(ctx, h.store.DB(), organization, project)
	if err != nil {
		return err
	}
	views, err := h.ruleViews(c, organization, list)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_rules": views})
}

// Rule serves GET /api/v3/crash-rules/{id}.
func (h *Handlers) Rule(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	r, err := rule.ByID(c.Request.Context(), h.store.DB(), auth.Organization(c), id)
	if err != nil {
		return err
	}
	return h.showRule(c, http.StatusOK, r)
}

// CreateRule serves POST /api/v3/crash-rules.
func (h *Handlers) CreateRule(c *gin.Context) error {
	return h.saveRule(c, 0, http.StatusCreated, rule.Create)
}

// UpdateRule serves PUT /api/v3/crash-rules/{id}: what is absent has its default.
func (h *Handlers) UpdateRule(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	if _, err := rule.ByID(c.Request.Context(), h.store.DB(), auth.Organization(c), id); err != nil {
		return err
	}
	return h.saveRule(c, id, http.StatusOK, rule.Update)
}

// DeleteRule serves DELETE /api/v3/crash-rules/{id}.
func (h *Handlers) DeleteRule(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	if err := h.store.DB().InTx(ctx, func(tx *storage.Tx) error { return rule.Delete(ctx, tx, w, id) }); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// ruleSaver is CreateRule or UpdateRule of the store.
type ruleSaver func(ctx context.Context, tx *storage.Tx, w account.Writer, r rule.Rule) (*rule.Rule, error)

func (h *Handlers) saveRule(c *gin.Context, id int64, status int, save ruleSaver) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	var in ruleRequest
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxChange)
	if err := body.Read(c, &in); err != nil {
		return err
	}
	r, err := h.ruleOf(c, w, &in)
	if err != nil {
		return err
	}
	r.ID = id
	var made *rule.Rule
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		made, err = save(ctx, tx, w, r)
		return err
	})
	if err != nil {
		return conflict(err, fmt.Sprintf("an organization has at most %d crash rules", rule.MaxRules))
	}
	return h.showRule(c, status, made)
}

// ruleOf is the rule that a request describes.
func (h *Handlers) ruleOf(c *gin.Context, w account.Writer, in *ruleRequest) (rule.Rule, error) {
	r := rule.Rule{Name: in.Name, ProjectID: in.CrashProjectID, Enabled: in.Enabled == nil || *in.Enabled, Trigger: rule.Trigger(in.Trigger),
		Above: in.Above, Minutes: in.Minutes, Webhook: in.Webhook, RepeatHours: in.RepeatHours}
	for _, one := range in.Conditions {
		r.Conditions = append(r.Conditions, rule.Condition{Subject: rule.Subject(one.Subject), Key: one.Key, Values: one.Values})
	}
	if len(in.Mail) > rule.MaxPeople { // each is looked for
		return r, storage.Invalid("mail", "must be at most %d", rule.MaxPeople)
	}
	for i, who := range in.Mail {
		user, err := h.rulePerson(c, w, who)
		if err != nil {
			return r, err
		}
		if user == 0 {
			return r, storage.Invalid(fmt.Sprintf("mail[%d]", i), personExpected)
		}
		r.People = append(r.People, user)
	}
	if in.Assignee == "" || in.Assignee == wordNone {
		return r, nil
	}
	user, err := h.rulePerson(c, w, in.Assignee)
	if err != nil {
		return r, err
	}
	if user == 0 {
		return r, storage.Invalid("assignee", personExpected)
	}
	r.AssigneeID = &user
	return r, nil
}

const personExpected = "must be the id or the mail address of a person of the organization who may read crashes, or me"

// rulePerson finds a person; 0: there is none.
func (h *Handlers) rulePerson(c *gin.Context, w account.Writer, who word) (int64, error) {
	change := groupChange{Assignee: who}
	user, err := change.assignee(c.Request.Context(), h.store.DB(), w)
	var invalid *storage.InvalidError
	if errors.As(err, &invalid) {
		return 0, nil
	}
	if err != nil || user == nil {
		return 0, err
	}
	return *user, nil
}

func (h *Handlers) showRule(c *gin.Context, status int, r *rule.Rule) error {
	views, err := h.ruleViews(c, r.OrganizationID, []rule.Rule{*r})
	if err != nil {
		return err
	}
	return respond.JSON(c, status, gin.H{"crash_rule": views[0]})
}

// ruleViews are rules as they are shown. Who may not read crashes any more gets no mail, and is not
// shown.
func (h *Handlers) ruleViews(c *gin.Context, organization int64, list []rule.Rule) ([]ruleView, error) {
	readers, err := rule.Readers(c.Request.Context(), h.store.DB(), organization, list)
	if err != nil {
		return nil, err
	}
	views := make([]ruleView, 0, len(list))
	for i := range list {
		r := &list[i]
		v := ruleView{ID: r.ID, Name: r.Name, CrashProjectID: r.ProjectID, Enabled: r.Enabled, Trigger: r.Trigger,
			Above: r.Above, Minutes: r.Minutes,
			Conditions: []ruleConditionView{}, Mail: []personView{}, Webhook: r.Webhook, RepeatHours: r.RepeatHours, Fired: r.Fired,
			CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
		if r.FiredAt != nil {
			at := r.FiredAt.UTC()
			v.FiredAt = &at
		}
		for _, one := range r.Conditions {
			v.Conditions = append(v.Conditions, ruleConditionView{one.Subject, one.Key, one.Values})
		}
		for _, user := range r.People {
			if p, may := readers[user]; may {
				v.Mail = append(v.Mail, personView{p.ID, p.Email, p.Name})
			}
		}
		if r.AssigneeID != nil {
			if p, may := readers[*r.AssigneeID]; may {
				v.Assignee = &personView{p.ID, p.Email, p.Name}
			}
		}
		views = append(views, v)
	}
	return views, nil
}
