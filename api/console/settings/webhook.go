package settings

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	store "github.com/slipway-qa/slipway/storage/webhook"
)

// webhook is a webhook without its secret.
type webhook struct {
	ID              int64      `json:"id"`
	Name            string     `json:"name"`
	URL             string     `json:"url"`
	Status          string     `json:"status"`
	SuspendedReason string     `json:"suspended_reason"`
	SuspendedAt     *time.Time `json:"suspended_at"`
	Actions         []string   `json:"actions"`
	ProjectIDs      []int64    `json:"project_ids"`
	Failures        int        `json:"failures"`
	FailingSince    *time.Time `json:"failing_since"`
	RetryAt         *time.Time `json:"retry_at"`
	LastSuccessAt   *time.Time `json:"last_success_at"`
	Skipped         int64      `json:"skipped_events"`
	SkippedAt       *time.Time `json:"skipped_at"`
	FormerUntil     *time.Time `json:"former_secret_until"`
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       time.Time  `json:"updated_at"`
}

// State is the status, and failing where deliveries fail.
func (w *webhook) State() string {
	if w.Status == string(store.Active) && w.FailingSince != nil {
		return "failing"
	}
	return w.Status
}

// webhooksData is the list of webhooks.
type webhooksData struct {
	Rights   rights
	Webhooks []webhook
	Fault    string
	Failing  bool // only those that fail
	Pager    *frame.Pager
}

const webhooksPath = "/api/v3/webhooks"

func (p *Pages) webhooks(c *gin.Context) (err error) {
	var answer struct {
		Webhooks   []webhook    `json:"webhooks"`
		Pagination frame.Paging `json:"pagination"`
	}
	data := webhooksData{Rights: rightsOf(c), Failing: c.Query("failing") == "true"}
	if data.Fault, err = p.read(c, webhooksPath, frame.Filters(c), &answer); err != nil {
		return err
	}
	data.Webhooks, data.Pager = answer.Webhooks, p.PagesOf(c, answer.Pagination)
	return p.show(c, "webhooks", data.Fault, frame.Page{Title: "Webhooks", Data: data})
}

// webhookForm is a webhook as it is typed.
type webhookForm struct {
	Name, URL string
	Suspended bool
	Actions   map[string]bool
	Apps      map[string]bool
	All       []store.Action // that there are
	AllApps   []named
}

// readForm reads the form.
func readForm(c *gin.Context) webhookForm {
	return webhookForm{Name: c.PostForm("name"), URL: strings.TrimSpace(c.PostForm("url")), Suspended: c.PostForm("suspended") != "",
		Actions: chosen(c.PostFormArray("actions")), Apps: chosen(c.PostFormArray("apps"))}
}

// stored is the form with the settings that a webhook has.
func stored(w *webhook) webhookForm {
	f := webhookForm{Name: w.Name, URL: w.URL, Suspended: w.Status == string(store.Suspended),
		Actions: chosen(w.Actions), Apps: map[string]bool{}}
	for _, id := range w.ProjectIDs {
		f.Apps[fmt.Sprint(id)] = true
	}
	return f
}

// body is the webhook of the form for the api.
func (f *webhookForm) body(c *gin.Context) map[string]any {
	status := store.Active
	if f.Suspended {
		status = store.Suspended
	}
	return map[string]any{"name": f.Name, "url": f.URL, "status": status, "actions": c.PostFormArray("actions"),
		"project_ids": c.PostFormArray("apps")}
}

// choices reads what can be chosen. An app that was chosen and is beyond the first hundred
// stays chosen by its number.
func (p *Pages) choices(c *gin.Context, f *webhookForm) (err error) {
	f.All = store.Actions()
	if f.AllApps, err = p.apps(c); err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, app := range f.AllApps {
		listed[fmt.Sprint(app.ID)] = true
	}
	for _, id := range slices.Sorted(maps.Keys(f.Apps)) {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil && !listed[id] {
			f.AllApps = append(f.AllApps, named{ID: n})
		}
	}
	return nil
}

// newWebhookData is the form for a webhook.
type newWebhookData struct {
	Rights rights
	Form   webhookForm
	Fault  string
}

func (p *Pages) newWebhook(c *gin.Context) error { return p.showNewWebhook(c, newWebhookData{}) }

func (p *Pages) showNewWebhook(c *gin.Context, data newWebhookData) error {
	data.Rights = rightsOf(c)
	if err := p.choices(c, &data.Form); err != nil {
		return err
	}
	return p.show(c, "newwebhook", data.Fault, frame.Page{Title: "New webhook", Data: data})
}

func (p *Pages) createWebhook(c *gin.Context) error {
	data := newWebhookData{Form: readForm(c)}
	body := data.Form.body(c)
	var answer struct {
		secretAnswer
		Webhook webhook `json:"webhook"`
	}
	err := p.API.Send(c, http.MethodPost, webhooksPath, body, &answer)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showNewWebhook(c, data)
	}
	return p.showSecret(c, "New webhook", secretData{At: "webhooks", What: "The secret that signs its deliveries", Secret: answer.Secret,
		Back: fmt.Sprintf("/settings/webhooks/%d", answer.Webhook.ID)})
}

// webhookData is the page of a webhook.
type webhookData struct {
	Rights     rights
	Webhook    *webhook
	Form       webhookForm
	Fault      string // of the form
	Deliveries *deliveryList
}

func (p *Pages) webhook(c *gin.Context) error { return p.showWebhook(c, nil, "") }

// showWebhook shows a webhook; form is what was typed and refused, nil: what is stored.
func (p *Pages) showWebhook(c *gin.Context, form *webhookForm, fault string) (err error) {
	var answer struct {
		Webhook webhook `json:"webhook"`
	}
	if err := p.API.Get(c, webhookPath(c, ""), nil, &answer); err != nil {
		return err
	}
	data := webhookData{Rights: rightsOf(c), Webhook: &answer.Webhook, Form: stored(&answer.Webhook), Fault: fault}
	if form != nil {
		data.Form = *form
	}
	if err := p.choices(c, &data.Form); err != nil {
		return err
	}
	page := frame.Page{Title: answer.Webhook.Name}
	if data.Rights.ChangeWebhooks {
		if data.Deliveries, err = p.deliveries(c); err != nil {
			return err
		}
		if fault == "" {
			fault = data.Deliveries.Fault
		}
		page.Live = data.Deliveries.live(answer.Webhook.ID)
	}
	page.Data = data
	return p.show(c, "webhook", fault, page)
}

// webhookPath is the path of a route of the webhook that the page's path names.
func webhookPath(c *gin.Context, rest string) string {
	return webhooksPath + "/" + frame.Segment(c, "id") + rest
}

// backToWebhook is the page of the webhook that the path names.
func backToWebhook(c *gin.Context) string { return "/settings/webhooks/" + frame.Segment(c, "id") }

func (p *Pages) changeWebhook(c *gin.Context) error {
	form := readForm(c)
	err := p.API.Send(c, http.MethodPut, webhookPath(c, ""), form.body(c), nil)
	fault, err := frame.Refusal(err)
	if err != nil {
		return err
	}
	if fault != "" {
		return p.showWebhook(c, &form, fault)
	}
	return p.Done(c, backToWebhook(c), "The webhook was changed.")
}

func (p *Pages) rotateSecret(c *gin.Context) error {
	var answer secretAnswer
	body := map[string]any{"valid_hours": typed(c, "hours")}
	if err := p.API.Send(c, http.MethodPost, webhookPath(c, "/secret"), body, &answer); err != nil {
		return p.Refused(c, p.Back(c, backToWebhook(c)), err)
	}
	return p.showSecret(c, "New secret of a webhook", secretData{At: "webhooks", What: "The secret that signs its deliveries",
		Secret: answer.Secret, Back: backToWebhook(c)})
}

func (p *Pages) endFormerSecret(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, webhookPath(c, "/secret"), nil, nil)
	return p.End(c, p.Back(c, backToWebhook(c)), "The former secret has ended.", err)
}

func (p *Pages) deleteWebhook(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, webhookPath(c, ""), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, backToWebhook(c)), err)
	}
	return p.Done(c, "/settings/webhooks", "The webhook was deleted.")
}
