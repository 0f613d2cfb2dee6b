package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// groupForm is the form of a step group: Parameters and Steps as JSON. Without an ID it is a
// new one. Opened is the digest of the group that the form was opened on.
type groupForm struct {
	ID, Name, Description, Parameters, Steps string

	Opened, Fault string
}

// digest tells whether what the form was opened on is still what is stored.
func (f *groupForm) digest() string {
	sum := sha256.Sum256(fmt.Append(nil, f.Name, "\n", f.Description, "\n", f.Parameters, "\n", f.Steps))
	return hex.EncodeToString(sum[:12])
}

// givenParameter is a parameter as a person writes it.
type givenParameter struct {
	Name    string  `json:"name"`
	Default *string `json:"default,omitempty"`
}

// storedGroup is the form of a group as it is stored.
func (p *Pages) storedGroup(c *gin.Context) (form groupForm, err error) {
	answered, err := get[json.RawMessage](p, c, groupPath(c), nil)
	if err != nil {
		return form, err
	}
	var one stepGroup
	var given struct {
		Steps []givenStep `json:"steps"`
	}
	if err := errors.Join(json.Unmarshal(answered, &one), json.Unmarshal(answered, &given)); err != nil {
		return form, fmt.Errorf("read a step group: %w", err)
	}
	form = groupForm{ID: one.ID, Name: one.Name, Description: one.Description}
	parameters := make([]givenParameter, len(one.Parameters))
	for i, parameter := range one.Parameters {
		parameters[i] = givenParameter(parameter)
	}
	if form.Parameters, err = indented(parameters); err != nil {
		return form, err
	}
	form.Steps, err = indented(given.Steps)
	form.Opened = form.digest()
	return form, err
}

// typedGroup is the form as it was sent.
func typedGroup(c *gin.Context) groupForm {
	return groupForm{Name: field(c, "name"), Description: field(c, "description"), Parameters: c.PostForm("parameters"),
		Steps: c.PostForm("steps")}
}

func (p *Pages) showGroupForm(c *gin.Context, form groupForm) error {
	title := "New step group"
	if form.ID != "" {
		title = "Edit " + form.Name
	}
	return p.show(c, "editgroup", form.Fault, frame.Page{Title: title, Data: form})
}

func (p *Pages) newGroup(c *gin.Context) error {
	return p.showGroupForm(c, groupForm{Parameters: "[]", Steps: "[]"})
}

func (p *Pages) createGroup(c *gin.Context) error {
	form := typedGroup(c)
	body := map[string]any{"name": form.Name, "description": form.Description}
	// Of a new one all is sent.
	if form.Fault = form.put(body, groupForm{}); form.Fault != "" {
		return p.showGroupForm(c, form)
	}
	made, err := post[stepGroup](p, c, "/step-groups", body)
	if form.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if form.Fault != "" {
		return p.showGroupForm(c, form)
	}
	return p.Done(c, "/tests/groups/"+made.ID, "The step group was created.")
}

// put sets the members that are JSON and are not what is stored. The fault says where it is none.
func (f *groupForm) put(body map[string]any, stored groupForm) (fault string) {
	if fault = over(body, stored.Parameters, f.Parameters, "parameters", "The parameters"); fault != "" {
		return fault
	}
	return over(body, stored.Steps, f.Steps, "steps", "The steps")
}

func (p *Pages) editGroup(c *gin.Context) error {
	form, err := p.storedGroup(c)
	if err != nil {
		return err
	}
	return p.showGroupForm(c, form)
}

// changeGroup sends what the form changes: steps and parameters that are what they were stay.
func (p *Pages) changeGroup(c *gin.Context) error {
	stored, err := p.storedGroup(c)
	if err != nil {
		return err
	}
	form := typedGroup(c)
	form.ID, form.Opened = stored.ID, stored.Opened
	if opened := c.PostForm("opened"); opened != "" && opened != stored.Opened {
		form.Fault = "The step group was changed since this form was opened: look at it first. Saving once more replaces that by what stands here."
		return p.showGroupForm(c, form)
	}
	body := map[string]any{"name": form.Name, "description": form.Description}
	if form.Fault = form.put(body, stored); form.Fault != "" {
		return p.showGroupForm(c, form)
	}
	if form.Fault, err = frame.Refusal(p.do(c, http.MethodPatch, groupPath(c), body)); err != nil {
		return err
	}
	if form.Fault != "" {
		return p.showGroupForm(c, form)
	}
	return p.Done(c, "/tests/groups/"+stored.ID, "The step group was changed. Runs that have begun play it as it was.")
}
