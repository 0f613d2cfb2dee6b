package builds

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/gate"
)

// policyForm is a policy as it is typed. The names of its fields are the paths that members
// have in the api, so that what the api says of one stands beside it.
type policyForm struct {
	Conditions []conditionForm
	Channels   string // one a line
	Hosts      string // one a line
	Unnamed    bool   // builds without a channel have a gate as well
	Hold       bool
	Runs       []suiteToRun
	Suites     []suiteChoice
	Fault      string // why it was refused
	FaultAt    string // path of the member that it is about; "" for the whole
}

// conditionForm is a condition as it is typed.
type conditionForm struct {
	Name   string
	Type   gate.Type
	Values map[string][]string // by the member
}

// maxTyped bounds the conditions and suites that the form reads: one above what a policy may
// have, so that the api refuses them.
const maxTyped = gate.MaxConditions + 1

func conditionPath(i int) string { return fmt.Sprintf("conditions[%d]", i) }

func runPath(i int) string { return fmt.Sprintf("run_suites[%d]", i) }

// typedPolicy reads a form.
func typedPolicy(sent url.Values) *policyForm {
	form := &policyForm{Channels: strings.ReplaceAll(sent.Get("channels"), "\r\n", "\n"), Unnamed: sent.Has("unnamed"),
		Hold:  sent.Has("hold_notifications"),
		Hosts: strings.ReplaceAll(sent.Get("allowed_hosts"), "\r\n", "\n")}
	for i := 0; i < maxTyped && sent.Has(conditionPath(i)+".type"); i++ {
		at := conditionPath(i)
		c := conditionForm{Name: strings.TrimSpace(sent.Get(at + ".name")), Type: gate.Type(sent.Get(at + ".type")),
			Values: map[string][]string{}}
		for _, f := range fieldsOf(c.Type) {
			c.Values[f.Member] = sent[at+"."+f.Member]
		}
		form.Conditions = append(form.Conditions, c)
	}
	for i := 0; i < maxTyped && sent.Has(runPath(i)+".suite_id"); i++ {
		form.Runs = append(form.Runs, suiteToRun{sent.Get(runPath(i) + ".suite_id"), strings.TrimSpace(sent.Get(runPath(i) + ".url"))})
	}
	return form
}

// storedPolicy is the form of a policy.
func storedPolicy(p *policy) *policyForm {
	form := &policyForm{Hold: p.Hold, Runs: p.RunSuites, Hosts: strings.Join(p.Hosts, "\n")}
	var channels []string
	for _, channel := range p.Channels {
		if channel == "" {
			form.Unnamed = true
		} else {
			channels = append(channels, channel)
		}
	}
	form.Channels = strings.Join(channels, "\n")
	for _, doc := range p.Conditions {
		c := conditionForm{Values: map[string][]string{}}
		_ = json.Unmarshal(doc["name"], &c.Name) // texts, as the api has them
		_ = json.Unmarshal(doc["type"], &c.Type)
		for _, f := range fieldsOf(c.Type) {
			c.Values[f.Member] = f.stored(doc[f.Member])
		}
		if _, said := doc["verified"]; !said && len(c.Values["same_signer"]) > 0 {
			c.Values["verified"] = nil // is asked for where nothing else is
		}
		form.Conditions = append(form.Conditions, c)
	}
	return form
}

// stored is what stands in a field for a member of the api; nil where the condition leaves it out.
func (f field) stored(value json.RawMessage) []string {
	var list []string
	switch {
	case value == nil && f.Kind == someField:
		return f.Options
	case value == nil && f.On, f.Kind == switchField && string(value) == "true":
		return []string{"1"}
	case value == nil, f.Kind == switchField:
		return nil
	case f.Kind == numberField:
		return []string{string(value)}
	case json.Unmarshal(value, &list) == nil:
		return list
	}
	var text string
	_ = json.Unmarshal(value, &text)
	return []string{text}
}

// jsonNumber are the numbers that JSON has.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?$`)

// body is the policy of the form for the api. The error is of a text that is no number, and of a
// suite that was not chosen.
func (form *policyForm) body() (map[string]any, error) {
	conditions := []map[string]any{}
	for i, c := range form.Conditions {
		doc := map[string]any{"name": c.Name, "type": c.Type}
		for _, f := range fieldsOf(c.Type) {
			value, err := f.value(c.Values[f.Member])
			if err != nil {
				return nil, wrongMember(conditionPath(i)+"."+f.Member, err.Error())
			}
			if value != nil {
				doc[f.Member] = value
			}
		}
		conditions = append(conditions, doc)
	}
	body := map[string]any{"conditions": conditions, "hold_notifications": form.Hold}
	channels := linesOf(form.Channels)
	if form.Unnamed {
		channels = append(channels, "")
	}
	if channels != nil {
		body["channels"] = channels
	}
	for i, run := range form.Runs {
		if run.SuiteID == "" {
			return nil, wrongMember(runPath(i)+".suite_id", "is required")
		}
	}
	if len(form.Runs) > 0 {
		body["run_suites"] = form.Runs
	}
	if hosts := linesOf(form.Hosts); hosts != nil {
		body["allowed_hosts"] = hosts
	}
	return body, nil
}

// linesOf are the lines of a text that are not empty; nil for none.
func linesOf(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// value is what a field says to the api; nil: the condition leaves the member out.
func (f field) value(values []string) (any, error) {
	text := ""
	if len(values) > 0 {
		text = strings.TrimSpace(values[0])
	}
	switch f.Kind {
	case numberField:
		if text == "" {
			return nil, nil
		}
		if !jsonNumber.MatchString(text) {
			return nil, fmt.Errorf("must be a number")
		}
		return json.Number(text), nil
	case switchField:
		return text != "", nil
	case someField:
		if slices.Equal(values, f.Options) {
			return nil, nil
		}
		return append([]string{}, values...), nil
	case suitesField:
		return append([]string{}, values...), nil
	}
	if text == "" {
		return nil, nil
	}
	return text, nil
}

func wrongMember(path, text string) error {
	return &respond.Problem{Status: http.StatusBadRequest, Text: path + ": " + text}
}

// change does what a button of the form asks for: add, remove:N, up:N, down:N of conditions,
// and add-suite, remove-suite:N of suites to run. What it does not know changes nothing.
func (form *policyForm) change(do string, sent url.Values) {
	verb, place, _ := strings.Cut(do, ":")
	n, err := strconv.Atoi(place)
	is := func(name string, length int) bool { return verb == name && err == nil && n >= 0 && n < length }
	swap := func(i, k int) { form.Conditions[i], form.Conditions[k] = form.Conditions[k], form.Conditions[i] }
	all := len(form.Conditions)
	switch t := gate.Type(sent.Get("add_type")); {
	case verb == "add" && slices.Contains(gate.Types(), t) && all < maxTyped:
		form.add(t)
	case verb == "add-suite" && len(form.Runs) < maxTyped:
		form.Runs = append(form.Runs, suiteToRun{})
	case is("remove", all):
		form.Conditions = slices.Delete(form.Conditions, n, n+1)
	case is("remove-suite", len(form.Runs)):
		form.Runs = slices.Delete(form.Runs, n, n+1)
	case is("up", all) && n > 0:
		swap(n, n-1)
	case is("down", all-1):
		swap(n, n+1)
	}
}

// add adds a condition of a type, with the defaults of its members and a name that no other has.
func (form *policyForm) add(t gate.Type) {
	c := conditionForm{Name: nameOf(t), Type: t, Values: map[string][]string{}}
	for n := 2; slices.ContainsFunc(form.Conditions, func(o conditionForm) bool { return o.Name == c.Name }); n++ {
		c.Name = fmt.Sprintf("%s %d", nameOf(t), n)
	}
	for _, f := range fieldsOf(t) {
		c.Values[f.Member] = f.stored(nil)
	}
	form.Conditions = append(form.Conditions, c)
}

// place finds the path of a member at the beginning of what the api says of it.
var place = regexp.MustCompile(`^((?:conditions|run_suites)(?:\[\d+\](?:\.[a-z_]+)?)?|channels|allowed_hosts)(?:\[\d+\])?: (.+)$`)

// fault notes why the form was refused.
func (form *policyForm) fault(text string) {
	form.Fault = text
	if found := place.FindStringSubmatch(text); found != nil {
		form.FaultAt, form.Fault = found[1], found[2]
	}
}

// FaultOf is what the api says of the member at a path; "" for nothing.
func (form *policyForm) FaultOf(path string) string {
	if path != form.FaultAt {
		return ""
	}
	return form.Fault
}

// fieldID is the id that the page has for the member at a path.
func fieldID(path string) string {
	return strings.NewReplacer("[", "-", "].", "-", "]", "").Replace(path)
}

// FaultID is the id of the field that the fault is about.
func (form *policyForm) FaultID() string { return fieldID(form.FaultAt) }

// chosenSuites are the suites that the form names.
func (form *policyForm) chosenSuites() (list []string) {
	add := func(id string) {
		if id != "" && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	for _, c := range form.Conditions {
		for _, id := range c.Values["suite_ids"] {
			add(id)
		}
	}
	for _, run := range form.Runs {
		add(run.SuiteID)
	}
	return list
}

// conditionView is a condition of the form for the page.
type conditionView struct {
	Index  int
	First  bool
	Last   bool
	Path   string
	ID     string
	Name   string
	Type   gate.Type
	Fault  string // of the whole condition
	Naming string // what is wrong with the name
	Fields []typed
}

// Views are the conditions for the page.
func (form *policyForm) Views() (list []conditionView) {
	for i, c := range form.Conditions {
		at := conditionPath(i)
		v := conditionView{Index: i, First: i == 0, Last: i == len(form.Conditions)-1, Path: at, ID: fieldID(at), Name: c.Name, Type: c.Type,
			Fault: form.FaultOf(at), Naming: form.FaultOf(at + ".name")}
		for _, f := range fieldsOf(c.Type) {
			t := typed{field: f, Path: at + "." + f.Member, Values: c.Values[f.Member]}
			t.Fault = form.FaultOf(t.Path)
			if f.Kind == suitesField {
				t.Choices = form.Suites
			}
			v.Fields = append(v.Fields, t)
		}
		list = append(list, v)
	}
	return list
}

// runView is a suite to run for the page.
type runView struct {
	suiteToRun
	Index                int
	Path, ID             string
	SuiteFault, URLFault string
	Listed               bool // the suite is among the choices
}

// RunViews are the suites to run for the page.
func (form *policyForm) RunViews() (list []runView) {
	for i, run := range form.Runs {
		at := runPath(i)
		listed := slices.ContainsFunc(form.Suites, func(s suiteChoice) bool { return s.ID == run.SuiteID })
		list = append(list, runView{run, i, at, fieldID(at), form.FaultOf(at + ".suite_id"), form.FaultOf(at + ".url"), listed})
	}
	return list
}
