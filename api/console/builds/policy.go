package builds

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/gate"
)

// policy is the gate policy of an app. Its conditions stay as the api has them: each has the
// members of its type.
type policy struct {
	Conditions []map[string]json.RawMessage `json:"conditions"`
	Channels   []string                     `json:"channels"`
	Hold       bool                         `json:"hold_notifications"`
	RunSuites  []suiteToRun                 `json:"run_suites"`
	Hosts      []string                     `json:"allowed_hosts"`
	UpdatedAt  time.Time                    `json:"updated_at"`
	UpdatedBy  string                       `json:"updated_by"`
}

// suiteToRun is a suite that each new build starts.
type suiteToRun struct {
	SuiteID string `json:"suite_id"`
	URL     string `json:"url,omitempty"`
}

// policyData is the page of an app's gate policy.
type policyData struct {
	appData
	Policy *policy // nil: the app has none
	Text   string  // the policy as slipway.yaml has it
	Form   *policyForm
	Draft  bool // the form is not what is stored
	Types  []gate.Type
	Manage bool
}

func policyPath(c *gin.Context) string { return appPath(frame.Segment(c, "id")) + "/gate-policy" }

// policyPage is where the policy of the app of the path is edited.
func policyPage(c *gin.Context) string { return "/builds/apps/" + frame.Segment(c, "id") + "/gate" }

func (p *Pages) gatePolicy(c *gin.Context) error { return p.showPolicy(c, nil) }

// showPolicy shows the policy; draft is a form that was typed and is not stored, nil: none.
func (p *Pages) showPolicy(c *gin.Context, draft *policyForm) error {
	begun, err := p.beginApp(c, "gate")
	if err != nil {
		return err
	}
	data := policyData{appData: begun, Form: &policyForm{}, Types: gate.Types(), Manage: frame.May(c, auth.ManageGates)}
	var answer struct {
		Policy json.RawMessage `json:"gate_policy"`
	}
	err = p.API.Get(c, policyPath(c), nil, &answer)
	if err != nil && respond.Explain(err).Status != http.StatusNotFound {
		return err
	}
	if err == nil {
		data.Policy = &policy{}
		if err := json.Unmarshal(answer.Policy, data.Policy); err != nil {
			return err
		}
		if data.Text, err = settingsText(answer.Policy); err != nil {
			return err
		}
		data.Form = storedPolicy(data.Policy)
	}
	if draft != nil {
		data.Form, data.Draft = draft, true
	}
	if data.Manage {
		if data.Form.Suites, err = p.suiteChoices(c, data.Form.chosenSuites()); err != nil {
			return err
		}
	}
	return p.show(c, "gatepolicy", data.Form.Fault, frame.Page{Title: "Gate policy of " + data.App.Title(), Data: data})
}

// suiteChoice is a suite that can be chosen.
type suiteChoice struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// suiteChoices are the newest suites of the organization, and those that are chosen.
func (p *Pages) suiteChoices(c *gin.Context, chosen []string) ([]suiteChoice, error) {
	read := func(q url.Values) ([]suiteChoice, error) {
		var answer struct {
			Data struct {
				Items []suiteChoice `json:"items"`
			} `json:"data"`
		}
		q.Set("limit", most)
		err := p.API.Get(c, "/v1/ai-authoring/testsuites", q, &answer)
		return answer.Data.Items, err
	}
	list, err := read(url.Values{})
	if err != nil {
		return nil, err
	}
	further := slices.DeleteFunc(chosen, func(id string) bool {
		return slices.ContainsFunc(list, func(s suiteChoice) bool { return s.ID == id })
	})
	if len(further) == 0 {
		return list, nil
	}
	found, err := read(url.Values{"ids": further})
	if _, err = frame.Refusal(err); err != nil {
		return nil, err
	}
	return append(list, found...), nil
}

// savePolicy stores the policy of the form, or shows the form again where a button asked for
// one more condition, one less, or another order.
func (p *Pages) savePolicy(c *gin.Context) error {
	form := typedPolicy(c.Request.PostForm)
	if do := c.PostForm("do"); do != "" && do != "save" {
		form.change(do, c.Request.PostForm)
		return p.showPolicy(c, form)
	}
	text, err := frame.Refusal(p.sendPolicy(c, form))
	if err != nil {
		return err
	}
	if text != "" {
		form.fault(text)
		return p.showPolicy(c, form)
	}
	return p.Done(c, policyPage(c), "The policy was saved. The gates of the newest builds are evaluated by it.")
}

func (p *Pages) sendPolicy(c *gin.Context, form *policyForm) error {
	body, err := form.body()
	if err != nil {
		return err
	}
	return p.API.Send(c, http.MethodPut, policyPath(c), body, nil)
}

func (p *Pages) deletePolicy(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, policyPath(c), nil, nil)
	return p.End(c, policyPage(c), "The policy was removed. Builds of the app have no gate any more.", err)
}

// settingsText is a policy as the member gate of slipway.yaml: a line for each condition, in
// the form of YAML that JSON is, with the order of members that the api has.
func settingsText(doc json.RawMessage) (string, error) {
	var p struct {
		Conditions []json.RawMessage `json:"conditions"`
		Channels   json.RawMessage   `json:"channels"`
		Hold       json.RawMessage   `json:"hold_notifications"`
		RunSuites  []json.RawMessage `json:"run_suites"`
		Hosts      json.RawMessage   `json:"allowed_hosts"`
	}
	if err := json.Unmarshal(doc, &p); err != nil {
		return "", err
	}
	var b strings.Builder
	list := func(name string, of []json.RawMessage) {
		b.WriteString("  " + name + ":\n")
		for _, one := range of {
			b.WriteString("    - " + string(one) + "\n")
		}
	}
	b.WriteString("gate:\n")
	if len(p.Conditions) == 0 {
		b.WriteString("  conditions: []\n")
	} else {
		list("conditions", p.Conditions)
	}
	if len(p.Channels) > 0 {
		b.WriteString("  channels: " + string(p.Channels) + "\n")
	}
	b.WriteString("  hold_notifications: " + string(p.Hold) + "\n")
	if len(p.RunSuites) > 0 {
		list("run_suites", p.RunSuites)
	}
	if len(p.Hosts) > 0 {
		b.WriteString("  allowed_hosts: " + string(p.Hosts) + "\n")
	}
	return b.String(), nil
}
