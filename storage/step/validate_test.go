package step_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func decode(t testing.TB, text string) []step.Step {
	t.Helper()
	var steps []step.Step
	require.NoError(t, json.Unmarshal([]byte(text), &steps), text)
	return steps
}

// one is a step list of one tool.
func one(kind, args string) string {
	return fmt.Sprintf(`[{"tool":{"type":%q,"args":{%s}}}]`, kind, args)
}

const element = `"selector":{"type":"css","value":"#a"}`

func nested(deep int, kind, inner string) string {
	for range deep {
		inner = fmt.Sprintf(`"selector":"#f","tool":{"type":%q,"args":{%s}}`, kind, inner)
		kind = step.InFrame
	}
	return one(kind, inner)
}

var valid = []string{
	`[]`,
	one("go_to_url", `"url":"https://example.com/a?b=c#d"`), one("go_to_url", `"url":"/login"`), one("go_to_url", `"url":"{{base}}/x"`),
	one("go_to_url", `"url":"file:///etc/passwd"`),
	one("click", element), one("click", `"selector":"(//a)[2]","reasoning":"because"`),
	one("click", element+`,"text":null,"matcher":null,"not":false`),
	one("click", `"selector":{"type":"css","value":"a","index":2,"fingerprint":{"tag":"a","attributes":{"id":"x"},"framePath":["#f"]}}`),
	one("input_text", element+`,"text":""`), one("input_text", element+`,"text":"{{team:name}}"`),
	one("select", element+`,"optionValue":""`),
	one("enter_key_submit", ``), one("finish", `"reasoning":"done"`),
	one("switch_window", `"matcher":"Shop"`), one("switch_window", `"matcher":{"name":"new"}`),
	one("switch_window", `"matcher":{"name":"index","args":{"value":1}}`),
	one("pause", `"time":0`), one("pause", `"time":600000`),
	one("scroll_document", `"direction":"bottom"`), one("scroll_element", element+`,"direction":"up"`),
	one("assert", element+`,"matcher":{"name":"visible"}`), one("assert", element+`,"not":true,"matcher":{"name":"checked","args":{}}`),
	one("assert", element+`,"matcher":{"name":"text","args":{"value":true}}`), one("assert", element+`,"matcher":{"name":"text"}`),
	one("assert", element+`,"matcher":{"name":"text","args":{"value":"^a+$","mode":"matches"}}`),
	one("assert", element+`,"matcher":{"name":"count","args":{"value":3,"mode":"at_least"}}`),
	one("assert", element+`,"matcher":{"name":"count","args":{"value":"{{n}}"}}`),
	one("assert", `"matcher":{"name":"url","args":{"value":"/cart","mode":"contains"}}`),
	one("assert", `"matcher":{"name":"title","args":{"value":"Cart"}}`),
	one("assert", element+`,"matcher":{"name":"attribute","args":{"name":"href","value":"/"}}`),
	one("in_shadow_root", `"selector":"//div","tool":{"type":"click","args":{"selector":"b"}}`),
	one("in_shadow_root",
		`"selector":"a","tool":{"type":"in_frame","args":{"selector":"iframe","tool":{"type":"hover","args":{"selector":"//b"}}}}`),
	nested(8, "click", element),
	one("hover", element), one("drag", element+`,"target":"#b"`), one("upload_file", element+`,"file":{"name":"a.txt","content":"YQ=="}`),
	one("press_key", `"key":"Control+Shift+a"`), one("press_key", `"key":"+",`+element), one("press_key", `"key":"Control++"`),
	one("press_key", `"key":"é"`),
	one("handle_dialog", `"action":"accept","text":"yes"`),
	one("double_click", element), one("right_click", element), one("type_keys", element+`,"text":"{{x}}"`), one("type_keys", `"text":" "`),
	one("back", ``), one("forward", `"reasoning":"x"`), one("reload", ``), one("set_viewport", `"width":100,"height":10000`),
	`[{"id":"A.b_c-1","optional":true,"timeoutMs":600000,"result":{"success":true,"message":"ok"},"screenshotUrl":"x",` +
		`"tool":{"type":"click","args":{"selector":"a"}}}]`,
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, text := range valid {
		require.NoError(t, step.Validate(decode(t, text)), text)
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", step.MaxText+1)
	attributes := strings.TrimSuffix(strings.Repeat(`"%d":"",`, 33), ",")
	numbers := make([]any, 33)
	for i := range numbers {
		numbers[i] = i
	}
	print := func(v string) string {
		return one("click", `"selector":{"type":"css","value":"a","fingerprint":{`+v+`}}`)
	}
	for _, c := range []struct{ text, path, msg string }{
		{`[{}]`, "[0].tool.type", "missing"},
		{one("jump", ``), "[0].tool.type", "assert, back, background, clear_state, click"},
		{one("click", ``), "[0].tool.args.selector", "missing"},
		{one("click", element+`,"text":"x"`), "[0].tool.args.text", "no argument of click"},
		{one("click", element+`,"not":true`), "[0].tool.args.not", "no argument"},
		{one("click", `"selector":" "`), "[0].tool.args.selector.value", "missing"},
		{one("click", `"selector":{"value":"a"}`), "[0].tool.args.selector.type", "css, xpath, role"},
		{one("click", `"selector":"`+long[:4097]+`"`), "[0].tool.args.selector.value", "4096"},
		{one("click", `"selector":"a\u0000"`), "[0].tool.args.selector.value", "NUL"},
		{one("drag", element+`,"target":{"type":"id","value":"x"}`), "[0].tool.args.target.type", "css, xpath, role"},
		{print(`"text":"` + long[:1025] + `"`), "[0].tool.args.selector.fingerprint.text", "1024"},
		{print(`"attributes":{` + fmt.Sprintf(attributes, numbers...) + `}`), "[0].tool.args.selector.fingerprint.attributes", "32"},
		{print(`"attributes":{"":"x"}`), "[0].tool.args.selector.fingerprint.attributes", "missing"},
		{print(`"attributes":{"id":"\u0000"}`), "[0].tool.args.selector.fingerprint.attributes.id", "NUL"},
		{print(`"framePath":["` + long[:1025] + `"]`), "[0].tool.args.selector.fingerprint.framePath[0]", "1024"},
		{print(`"shadowPath":["a","a","a","a","a","a","a","a","a"]`), "[0].tool.args.selector.fingerprint.shadowPath", "8"},
		{one("go_to_url", ``), "[0].tool.args.url", "missing"},
		{one("go_to_url", `"url":"java\nscript:1"`), "[0].tool.args.url", "control"},
		{one("go_to_url", `"url":" /a"`), "[0].tool.args.url", "white space"},
		{one("go_to_url", `"url":"/`+long[:2048]+`"`), "[0].tool.args.url", "2048"},
		{one("input_text", element), "[0].tool.args.text", "missing"},
		{one("input_text", element+`,"text":"`+long+`"`), "[0].tool.args.text", "20000"},
		{one("input_text", element+`,"text":"a\u0000"`), "[0].tool.args.text", "NUL"},
		{one("select", element), "[0].tool.args.optionValue", "missing"},
		{one("pause", ``), "[0].tool.args.time", "missing"},
		{one("pause", `"time":600001`), "[0].tool.args.time", "600000"},
		{one("pause", `"time":-1`), "[0].tool.args.time", "600000"},
		{one("scroll_document", `"direction":"around"`), "[0].tool.args.direction", "up, down"},
		{one("finish", `"reasoning":"`+long+`"`), "[0].tool.args.reasoning", "20000"},
		{one("switch_window", `"matcher":{"name":"handle"}`), "[0].tool.args.matcher.name", "title, url, index, new"},
		{one("switch_window", `"matcher":{"name":"title"}`), "[0].tool.args.matcher.args.value", "missing"},
		{one("switch_window", `"matcher":{"name":"new","args":{"value":"x"}}`), "[0].tool.args.matcher.args.value", "no argument"},
		{one("switch_window", `"matcher":{"name":"index","args":{"value":"x"}}`), "[0].tool.args.matcher.args.value", "number"},
		{one("switch_window", `"matcher":{"name":"title","args":{"value":"x","mode":"equals"}}`), "[0].tool.args.matcher.args.mode",
			"no argument"},
		{one("assert", element), "[0].tool.args.matcher", "missing"},
		{one("assert", element+`,"matcher":"visible"`), "[0].tool.args.matcher", "object"},
		{one("assert", element+`,"matcher":{"name":"blue"}`), "[0].tool.args.matcher.name", "visible, hidden"},
		{one("assert", `"matcher":{"name":"visible"}`), "[0].tool.args.selector", "missing"},
		{one("assert", element+`,"matcher":{"name":"url","args":{"value":"x"}}`), "[0].tool.args.selector", "no argument"},
		{one("assert", element+`,"matcher":{"name":"visible","args":{"value":"x"}}`), "[0].tool.args.matcher.args.value", "no argument"},
		{one("assert", element+`,"matcher":{"name":"visible","args":{"mode":"equals"}}`), "[0].tool.args.matcher.args.mode", "no argument"},
		{one("assert", element+`,"matcher":{"name":"text","args":{"mode":"at_least"}}`), "[0].tool.args.matcher.args.mode",
			"equals, contains, matches"},
		{one("assert", element+`,"matcher":{"name":"text","args":{"name":"x"}}`), "[0].tool.args.matcher.args.name", "no argument"},
		{one("assert", element+`,"matcher":{"name":"text","args":{"value":"(","mode":"matches"}}`), "[0].tool.args.matcher.args.value", "RE2"},
		{one("assert", element+`,"matcher":{"name":"text","args":{"value":"((a{100}){100}b){100}","mode":"matches"}}`),
			"[0].tool.args.matcher.args.value", "re"},
		{one("assert", element+`,"matcher":{"name":"text","args":{"value":"(`+long[:30]+`){1000}","mode":"matches"}}`),
			"[0].tool.args.matcher.args.value", "repeats too much"},
		{one("assert", element+`,"matcher":{"name":"text","args":{"value":"`+long[:1025]+`","mode":"matches"}}`),
			"[0].tool.args.matcher.args.value", "1024"},
		{one("assert", element+`,"matcher":{"name":"count"}`), "[0].tool.args.matcher.args.value", "number"},
		{one("assert", element+`,"matcher":{"name":"count","args":{"value":1.5}}`), "[0].tool.args.matcher.args.value", "number"},
		{one("assert", element+`,"matcher":{"name":"count","args":{"value":1,"mode":"contains"}}`),
			"[0].tool.args.matcher.args.mode", "at_least"},
		{one("assert", element+`,"matcher":{"name":"attribute","args":{"value":"x"}}`), "[0].tool.args.matcher.args.name", "missing"},
		{one("in_frame", element), "[0].tool.args.tool", "missing"},
		{one("in_frame", element+`,"tool":{"type":"pause","args":{"time":1}}`), "[0].tool.args.tool.type", "acts on no element"},
		{one("in_frame", element+`,"tool":{"type":"assert","args":{"matcher":{"name":"title","args":{"value":"x"}}}}`),
			"[0].tool.args.tool.args.matcher.name", "page"},
		{one("in_shadow_root", element+`,"tool":{"type":"click","args":{"selector":"//a"}}`),
			"[0].tool.args.tool.args.selector.type", "shadow root"},
		{nested(9, "click", element), "[0]" + strings.Repeat(".tool.args", 9) + ".tool", "more than 8"},
		{one("upload_file", element+`,"file":{"content":""}`), "[0].tool.args.file.name", "missing"},
		{one("upload_file", element+`,"file":{"name":"../a"}`), "[0].tool.args.file.name", "folder"},
		{one("press_key", `"key":"Hyper+a"`), "[0].tool.args.key", "Control"},
		{one("press_key", `"key":"Control+Control+a"`), "[0].tool.args.key", "Control"},
		{one("press_key", `"key":"ab"`), "[0].tool.args.key", "Enter"},
		{one("double_click", ``), "[0].tool.args.selector", "missing"},
		{one("right_click", element+`,"text":"x"`), "[0].tool.args.text", "no argument"},
		{one("type_keys", element), "[0].tool.args.text", "missing"},
		{one("type_keys", element+`,"text":""`), "[0].tool.args.text", "character"},
		{one("type_keys", element+`,"text":"`+long+`"`), "[0].tool.args.text", "20000"},
		{one("back", element), "[0].tool.args.selector", "no argument"},
		{one("reload", `"url":"/"`), "[0].tool.args.url", "no argument"},
		{one("set_viewport", `"width":800`), "[0].tool.args.height", "missing"},
		{one("set_viewport", `"width":99,"height":800`), "[0].tool.args.width", "100 to 10000"},
		{one("set_viewport", `"width":800,"height":10001`), "[0].tool.args.height", "100 to 10000"},
		{one("in_frame", element+`,"tool":{"type":"forward"}`), "[0].tool.args.tool.type", "acts on no element"},
		{one("handle_dialog", `"action":"close"`), "[0].tool.args.action", "accept, dismiss"},
		{`[{"id":"a b","tool":{"type":"finish"}}]`, "[0].id", "64"},
		{`[{"id":"` + long[:65] + `","tool":{"type":"finish"}}]`, "[0].id", "64"},
		{`[{"id":"a","tool":{"type":"finish"}},{"id":"a","tool":{"type":"finish"}}]`, "[1].id", "another"},
		{`[{"timeoutMs":-1,"tool":{"type":"finish"}}]`, "[0].timeoutMs", "600000"},
		{`[{"tool":{"type":"finish"},"screenshotId":"\u0000"}]`, "[0].screenshotId", "NUL"},
		{`[{"tool":{"type":"finish"},"result":{"message":"\u0000"}}]`, "[0].result.message", "NUL"},
		{`[{"optional":true,"tool":{"type":"in_frame","args":{"selector":"a","tool":{"type":"assert","args":{"selector":"a",` +
			`"matcher":{"name":"visible"}}}}}}]`, "[0].optional", "assertion"},
		{`[` + strings.TrimSuffix(strings.Repeat(`{"tool":{"type":"finish"}},`, 1001), ",") + `]`, "steps", "1000"},
	} {
		err := step.Validate(decode(t, c.text))
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong, "%.200s", c.text)
		require.Equal(t, c.path, wrong.Path, "%.200s", c.text)
		require.Contains(t, wrong.Msg, c.msg, "%.200s", c.text)
	}
	bad := "a\xff"
	require.ErrorContains(t, step.Validate([]step.Step{{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: bad}}}}), "UTF-8")
	large := []step.Step{{Tool: step.Tool{Type: step.UploadFile, Args: step.Args{
		Selector: &step.Selector{Type: step.CSS, Value: "a"}, File: &step.File{Name: "a", Content: make([]byte, step.MaxFile+1)}}}}}
	require.ErrorContains(t, step.Validate(large), "[0].tool.args.file.content")
}

func TestIDsAreGiven(t *testing.T) {
	t.Parallel()
	finish := step.Tool{Type: step.Finish}
	steps := []step.Step{{Tool: finish}, {ID: "s2", Tool: finish}, {Tool: finish}, {ID: "s1", Tool: finish}, {Tool: finish}}
	require.NoError(t, step.Validate(steps))
	var ids []string
	for _, s := range steps {
		ids = append(ids, s.ID)
	}
	require.Equal(t, []string{"s3", "s2", "s4", "s1", "s5"}, ids)
	require.NoError(t, step.Validate(steps), "they are valid")
}

func TestParts(t *testing.T) {
	t.Parallel()
	s := decode(t, one("in_frame",
		`"selector":"#f","tool":{"type":"in_shadow_root","args":{"selector":"#h","tool":{"type":"drag","args":{"selector":"#a",`+
			`"target":"#b"}}}}`))[0]
	require.Equal(t, step.Drag, step.Inner(&s.Tool).Type)
	var values []string
	for _, selector := range s.Tool.Selectors() {
		values = append(values, selector.Value)
	}
	require.Equal(t, []string{"#f", "#h", "#a", "#b"}, values)
	require.Same(t, s.Tool.Args.Selector, s.Tool.Selectors()[0], "callers may complete them")
	require.Empty(t, step.Tool{Type: step.Finish}.Selectors())
	require.Len(t, step.Tools(), 55)

	var none *step.Fingerprint
	require.True(t, none.Partial())
	require.True(t, (&step.Fingerprint{Text: "Buy"}).Partial())
	require.False(t, (&step.Fingerprint{Tag: "a"}).Partial())
}

func TestPattern(t *testing.T) {
	t.Parallel()
	p, err := step.Pattern(`^\d{2,3} items?$`)
	require.NoError(t, err)
	require.True(t, p.MatchString("12 items"))
	for _, value := range []string{"(", `(?=a)`, strings.Repeat("(", 600) + strings.Repeat(")", 600),
		"(" + strings.Repeat("[a-z]", 30) + "){900}", strings.Repeat("((", 3000)} {
		_, err := step.Pattern(value)
		require.Error(t, err, value)
		require.NotContains(t, err.Error(), "(", "the value may be a secret")
	}
}

func FuzzValidate(f *testing.F) {
	for _, text := range valid {
		f.Add([]byte(text))
	}
	f.Add([]byte(`[{"tool":{"type":"assert","args":{"matcher":{"name":"count","args":{"value":{}}}}}}]`))
	f.Add([]byte(`[{"tool":{"type":"assert","args":{"selector":{"type":"role","value":"row","nth":-1,"level":2,"state":{"selected":true},` +
		`"within":"//a","has":{"type":"text","value":"b","exact":true},"hasText":"c"},"matcher":{"name":"toBeChecked",` +
		`"args":[{"checked":false}]}}}}]`))
	f.Add([]byte(`[{"when":{"selector":"{{a}}","not":true,"matcher":{"name":"toHaveText","args":["x"]}},"tool":{"type":"set_viewport",` +
		`"args":{"width":100,"height":100}}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var steps []step.Step
		if json.Unmarshal(text, &steps) != nil {
			return
		}
		if err := step.Validate(steps); err != nil {
			if wrong := (*step.InvalidError)(nil); !errors.As(err, &wrong) || wrong.Path == "" || wrong.Msg == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		first, err := json.Marshal(steps)
		if err != nil {
			t.Fatal(err)
		}
		again := decode(t, string(first))
		if err := step.Validate(again); err != nil {
			t.Fatalf("%v of %s", err, first)
		}
		second, err := json.Marshal(again)
		if err != nil || string(first) != string(second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
	})
}
