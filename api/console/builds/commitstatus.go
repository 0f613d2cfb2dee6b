package builds

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	store "github.com/slipway-qa/slipway/storage/commitstatus"
)

// commitStatus is where the statuses of an app's commits go.
type commitStatus struct {
	Provider    store.Provider `json:"provider"`
	URL         string         `json:"url"`
	Repository  string         `json:"repository"`
	Context     string         `json:"context"`
	HasToken    bool           `json:"has_token"`
	LastSentAt  *time.Time     `json:"last_sent_at"`
	LastError   string         `json:"last_error"`
	LastErrorAt *time.Time     `json:"last_error_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
}

// commitStatusData is the page of an app's commit status.
type commitStatusData struct {
	appData
	Status    *commitStatus // nil: the app has none
	Form      commitStatus
	FaultAt   string // the member that the fault is about; "" for the whole
	Providers []store.Provider
}

// FaultOf is what is wrong with a member; "" for nothing.
func (d *commitStatusData) FaultOf(member string) string {
	if member != d.FaultAt {
		return ""
	}
	return d.Fault
}

func commitStatusPath(c *gin.Context) string {
	return appPath(frame.Segment(c, "id")) + "/commit-status"
}

func commitStatusPage(c *gin.Context) string {
	return "/builds/apps/" + frame.Segment(c, "id") + "/commit-status"
}

func (p *Pages) commitStatus(c *gin.Context) error { return p.showCommitStatus(c, nil, "") }

// showCommitStatus shows the setting; form is what was typed and refused, nil: what is stored.
func (p *Pages) showCommitStatus(c *gin.Context, form *commitStatus, fault string) error {
	begun, err := p.beginApp(c, "commit-status")
	if err != nil {
		return err
	}
	data := &commitStatusData{appData: begun, Form: commitStatus{Provider: store.GitHub},
		Providers: []store.Provider{store.GitHub, store.GitLab, store.Gitea}}
	var answer struct {
		Status commitStatus `json:"commit_status"`
	}
	err = p.API.Get(c, commitStatusPath(c), nil, &answer)
	if err != nil && respond.Explain(err).Status != http.StatusNotFound {
		return err
	}
	if err == nil {
		data.Status, data.Form = &answer.Status, answer.Status
	}
	if form != nil {
		data.Form = *form
	}
	data.Fault = fault
	for _, member := range []string{"provider", "url", "repository", "context", "token"} {
		if text, found := strings.CutPrefix(fault, member+": "); found {
			data.FaultAt, data.Fault = member, text
		}
	}
	return p.show(c, "commitstatus", fault, frame.Page{Title: "Commit status of " + data.App.Title(), Data: data})
}

// saveCommitStatus stores the setting. An empty token leaves the one that there is.
func (p *Pages) saveCommitStatus(c *gin.Context) error {
	text := func(name string) string { return strings.TrimSpace(c.PostForm(name)) }
	form := commitStatus{Provider: store.Provider(text("provider")), URL: text("url"), Repository: text("repository"),
		Context: text("context")}
	body := map[string]any{"provider": form.Provider, "url": form.URL, "repository": form.Repository, "context": form.Context}
	if token := text("token"); token != "" {
		body["token"] = token
	}
	fault, err := frame.Refusal(p.API.Send(c, http.MethodPut, commitStatusPath(c), body, nil))
	if err != nil {
		return err
	}
	if fault != "" {
		return p.showCommitStatus(c, &form, fault)
	}
	return p.Done(c, commitStatusPage(c), "The setting was saved. Test it to see whether the repository can be read.")
}

// testCommitStatus has the repository read, and says what was seen.
func (p *Pages) testCommitStatus(c *gin.Context) error {
	var answer struct {
		Test struct {
			OK         bool   `json:"ok"`
			Repository string `json:"repository"`
			Push       *bool  `json:"push"`
			Error      string `json:"error"`
		} `json:"test"`
	}
	page := commitStatusPage(c)
	if err := p.API.Send(c, http.MethodPost, commitStatusPath(c)+"/test", nil, &answer); err != nil {
		return p.Refused(c, page, err)
	}
	seen := &answer.Test
	refused := func(text string) error {
		return p.Refused(c, page, &respond.Problem{Status: http.StatusConflict, Text: text})
	}
	switch {
	case !seen.OK:
		return refused("The repository was not seen: " + seen.Error)
	case seen.Push == nil:
		return p.Done(c, page, "The repository "+seen.Repository+
			" was seen. The provider does not say whether the token's owner may push to it, which a status asks for.")
	case !*seen.Push:
		return refused("The repository " + seen.Repository + " was seen, and the token's owner may not push to it: a status would be refused")
	}
	return p.Done(c, page, "The repository "+seen.Repository+
		" was seen, and the token's owner may push to it. Only a status that was sent proves the scopes of the token.")
}

func (p *Pages) deleteCommitStatus(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, commitStatusPath(c), nil, nil)
	return p.End(c, commitStatusPage(c), "The setting was removed with its token. No status is sent any more.", err)
}
