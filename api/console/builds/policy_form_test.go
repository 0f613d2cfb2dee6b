package builds

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/storage/gate"
)

// The form has each member that a condition of a type takes, and no other one.
func TestFormHasTheMembersOfEachType(t *testing.T) {
	t.Parallel()
	in := map[string]bool{}
	for _, kind := range gate.Types() {
		doc := map[string]any{"name": nameOf(kind), "type": kind}
		for _, f := range fieldsOf(kind) {
			in[f.Member] = true
			switch f.Kind {
			case numberField:
				doc[f.Member] = 1
			case switchField:
				doc[f.Member] = true
			case choiceField:
				doc[f.Member] = f.Options[0]
			case someField:
				doc[f.Member] = f.Options
			case suitesField:
				doc[f.Member] = []uuid.UUID{uuid.New()}
			}
		}
		text, err := json.Marshal(map[string]any{"conditions": []any{doc}})
		require.NoError(t, err)
		var p gate.Policy
		require.NoError(t, json.Unmarshal(text, &p), kind)
		require.NoError(t, p.Check(), kind)
	}
	of := reflect.TypeFor[gate.Condition]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		require.True(t, in[name] || name == "name" || name == "type", "no field for %s", name)
	}
}

// sentBack is the form as a browser sends what the page shows.
func sentBack(form *policyForm) url.Values {
	sent := url.Values{"channels": {strings.ReplaceAll(form.Channels, "\n", "\r\n")},
		"allowed_hosts": {strings.ReplaceAll(form.Hosts, "\n", "\r\n")}}
	if form.Unnamed {
		sent.Set("unnamed", "1")
	}
	if form.Hold {
		sent.Set("hold_notifications", "1")
	}
	for _, v := range form.Views() {
		sent.Set(v.Path+".name", v.Name)
		sent.Set(v.Path+".type", string(v.Type))
		for _, f := range v.Fields {
			if len(f.Values) > 0 {
				sent[f.Path] = f.Values
			}
		}
	}
	for _, v := range form.RunViews() {
		sent.Set(v.Path+".suite_id", v.SuiteID)
		sent.Set(v.Path+".url", v.URL)
	}
	return sent
}

const suite = "6f1d3a3e-0b1f-4f67-9a0b-0f6a9d3e8c11"

// What is stored, shown and sent back asks for the same.
func TestFormKeepsAPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stored, sent string }{
		"defaults": {`{"conditions":[{"name":"a","type":"crash_groups"},{"name":"b","type":"signature"},{"name":"c","type":"testers"},` +
			`{"name":"d","type":"symbols"}],"hold_notifications":false}`,
			`{"conditions":[{"name":"a","type":"crash_groups"},{"name":"b","type":"signature","verified":true,"same_signer":false},{"name":"c",` +
				`"type":"testers","no_blocker":true},{"name":"d","type":"symbols","mapping":false}],"hold_notifications":false}`},
		"all": {`{"conditions":[{"name":"z","type":"suites","suite_ids":["` + suite +
			`"],"min_share":0.95,"flaky":"failed"},{"name":"a","type":"crash_groups","kinds":["regressed"],"max_reports":0,"max_users":3,` +
			`"hours":48},{"name":"s","type":"signature","same_signer":true},{"name":"m","type":"size","max_bytes":1099511627776,` +
			`"max_growth_percent":2.5}],"channels":["beta","","a,b"],"hold_notifications":true,"run_suites":[{"suite_id":"` + suite +
			`","url":"https://{{metadata.host}}/?a=1&b=<x>"}],"allowed_hosts":["preview.example.com","*.pr.example.com"]}`,
			`{"conditions":[{"name":"z","type":"suites","suite_ids":["` + suite +
				`"],"min_share":0.95,"flaky":"failed"},{"name":"a","type":"crash_groups","kinds":["regressed"],"max_reports":0,"max_users":3,` +
				`"hours":48},{"name":"s","type":"signature","verified":false,"same_signer":true},{"name":"m","type":"size","max_bytes":1099511627776,` +
				`"max_growth_percent":2.5}],"channels":["beta","a,b",""],"hold_notifications":true,"run_suites":[{"suite_id":"` + suite +
				`","url":"https://{{metadata.host}}/?a=1&b=<x>"}],"allowed_hosts":["preview.example.com","*.pr.example.com"]}`},
	} {
		var p policy
		require.NoError(t, json.Unmarshal([]byte(c.stored), &p), name)
		form := storedPolicy(&p)
		typed := typedPolicy(sentBack(form))
		body, err := typed.body()
		require.NoError(t, err, name)
		text, err := json.Marshal(body)
		require.NoError(t, err)
		require.JSONEq(t, c.sent, string(text), name)
		var checked gate.Policy
		require.NoError(t, json.Unmarshal(text, &checked), name)
		require.NoError(t, checked.Check(), name)

		// The text for the repository is YAML that says what is stored.
		shown, err := settingsText(json.RawMessage(c.stored))
		require.NoError(t, err)
		var tree struct {
			Gate map[string]any `yaml:"gate"`
		}
		require.NoError(t, yaml.Unmarshal([]byte(shown), &tree), shown)
		again, err := json.Marshal(tree.Gate)
		require.NoError(t, err)
		require.JSONEq(t, c.stored, string(again), shown)
	}
	shown, err := settingsText(json.RawMessage(`{"conditions":[],"hold_notifications":false,"run_suites":[{"suite_id":"` + suite + `"}]}`))
	require.NoError(t, err)
	require.Equal(t, "gate:\n  conditions: []\n  hold_notifications: false\n  run_suites:\n    - {\"suite_id\":\""+suite+"\"}\n", shown)
}

// The buttons change the form and nothing else.
func TestFormChanges(t *testing.T) {
	t.Parallel()
	names := func(form *policyForm) string {
		var list []string
		for _, c := range form.Conditions {
			list = append(list, c.Name)
		}
		return strings.Join(list, ", ")
	}
	for do, want := range map[string]string{
		"remove:1": "a, c", "up:1": "b, a, c", "up:0": "a, b, c", "down:1": "a, c, b", "down:2": "a, b, c", "remove:3": "a, b, c",
		"remove:-1": "a, b, c", "remove:": "a, b, c", "up:99999999999999999999": "a, b, c", "nothing": "a, b, c",
		"add": "a, b, c, Small enough",
	} {
		form := policyForm{Conditions: []conditionForm{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
		form.change(do, url.Values{"add_type": {"size"}})
		require.Equal(t, want, names(&form), do)
	}
	form := policyForm{}
	form.change("add", url.Values{"add_type": {"<script>"}})
	require.Empty(t, form.Conditions)
	for range 30 {
		form.change("add", url.Values{"add_type": {"testers"}})
		form.change("add-suite", nil)
	}
	require.Len(t, form.Conditions, maxTyped)
	require.Len(t, form.Runs, maxTyped)
	require.Equal(t, "Tried by testers 2", form.Conditions[1].Name)
	form.change("remove-suite:0", nil)
	require.Len(t, form.Runs, maxTyped-1)

	sent := url.Values{}
	for i := range 100 {
		sent.Set(fmt.Sprintf("conditions[%d].type", i), "size")
		sent.Set(fmt.Sprintf("run_suites[%d].suite_id", i), suite)
	}
	read := typedPolicy(sent)
	require.Len(t, read.Conditions, maxTyped, "one above what the api takes")
	require.Len(t, read.Runs, maxTyped)
}

// What is refused is said beside the member that it is about.
func TestFormSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]string{
		"conditions[2].min_share: must be 0 to 1":              {"conditions[2].min_share", "conditions-2-min_share", "must be 0 to 1"},
		"conditions[0].suite_ids[1]: is no suite of: it":       {"conditions[0].suite_ids", "conditions-0-suite_ids", "is no suite of: it"},
		"conditions[0]: needs max_bytes or max_growth_percent": {"conditions[0]", "conditions-0", "needs max_bytes or max_growth_percent"},
		"conditions: must have at least one":                   {"conditions", "conditions", "must have at least one"},
		"channels[3]: must be at most 60 characters":           {"channels", "channels", "must be at most 60 characters"},
		"run_suites[1].url: must be an http or https address": {"run_suites[1].url", "run_suites-1-url",
			"must be an http or https address"},
		"this takes admin rights on the app's team":                  {"", "", "this takes admin rights on the app's team"},
		"body: conditions[0].x: is no member that this place knows.": {"", "", "body: conditions[0].x: is no member that this place knows."},
	} {
		form := policyForm{}
		form.fault(text)
		require.Equal(t, want, [3]string{form.FaultAt, form.FaultID(), form.Fault}, text)
	}
	for value, fine := range map[string]bool{"1": true, "0.95": true, "-1": true, "1e3": true, "": true, " 7 ": true,
		"x": false, "1,5": false, "0x10": false,
		"NaN": false, "01": false, `1,"a":2`: false, "99999999999999999999999": false} {
		form := policyForm{Conditions: []conditionForm{{Name: "a", Type: gate.Size, Values: map[string][]string{"max_bytes": {value}}}}}
		body, err := form.body()
		if !fine {
			require.ErrorContains(t, err, "conditions[0].max_bytes: must be a number", value)
			continue
		}
		require.NoError(t, err, value)
		_, err = json.Marshal(body)
		require.NoError(t, err, value)
	}
	form := policyForm{Runs: []suiteToRun{{URL: "https://example.com"}}}
	_, err := form.body()
	require.ErrorContains(t, err, "run_suites[0].suite_id: is required")
}
