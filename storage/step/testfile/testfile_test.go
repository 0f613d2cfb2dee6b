package testfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const whole = `id: 6924f0c2a7b1d0e5f3a1b2c4
revision: 6924f0c2a7b1d0e5f3a1b2c5-0123456789ab
name: Buy a lamp
suite: Shop
tags: [smoke, "1e3"]
url: https://shop.example.com/
targets:
  - chrome
  - capabilities:
      browserName: firefox
      slipway:options:
        idle: 90
    isRdc: true
tunnel: office
strict: false
healing: suggest
drift: report
retries: 0
basicAuth:
  user: ann
  password: '{{password}}'
clientCertificate:
  certificate: '{{certificate}}'
  key: '{{key}}'
intent: |-
  Search for "red",
  and buy it.
description: "no"
steps:
  - tool:
      type: go_to_url
      args:
        url: /
  - tool:
      type: input_text
      args:
        selector:
          type: label
          value: Search
        text: "1e3"
    optional: true
    timeoutMs: 2000
  - tool:
      type: assert
      args:
        selector:
          type: css
          value: li
        matcher:
          name: count
          args:
            value: 3
`

func TestCaseIsReadAndWrittenTheSame(t *testing.T) {
	t.Parallel()
	c, err := Read([]byte(whole))
	require.NoError(t, err)
	require.Equal(t, "6924f0c2a7b1d0e5f3a1b2c4", c.ID)
	require.Equal(t, "6924f0c2a7b1d0e5f3a1b2c5", c.Base())
	require.True(t, c.Changed(), "the digest is that of something else")
	require.Equal(t, []string{"smoke", "1e3"}, c.Tags)
	require.True(t, c.FirstMatch)
	require.Equal(t, "no", c.Description)
	require.Zero(t, *c.Retries)
	require.Equal(t, Access{"ann", "{{password}}"}, *c.BasicAuth)
	require.Equal(t, Access{"{{certificate}}", "{{key}}"}, *c.ClientCertificate)
	require.JSONEq(t, `{"browserName":"chrome"}`, string(c.Targets[0].Capabilities))
	require.JSONEq(t, `{"browserName":"firefox","slipway:options":{"idle":90}}`, string(c.Targets[1].Capabilities))
	require.True(t, c.Targets[1].IsRDC)
	require.JSONEq(t, `{"tool":{"type":"input_text","args":{"selector":{"type":"label","value":"Search"},"text":"1e3"}},"optional":true,`+
		`"timeoutMs":2000}`,
		string(c.Steps[1].Body))
	require.Contains(t, string(c.Steps[2].Body), `"value":3`, "the matcher counts")
	require.Equal(t, []int{30, 34, 43}, []int{c.Steps[0].Line, c.Steps[1].Line, c.Steps[2].Line})
	text, err := c.Write()
	require.NoError(t, err)
	require.Equal(t, whole, string(text))
}

// Texts that readers of YAML take for something else come back as they were.
func TestTextsAreKept(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"no", "Yes", "on", "null", "~", "1e3", "007", "0x1F", "1_000", "12:30", "2026-11-29",
		"true", "", " ", "a: b", "- a",
		"# a", "a #b", "&a", "*a", "!a", "{{user}}", "{a}", "[a]", "a\nb", "a\nb\n", "\na", " a\nb", "a \nb", "a\n\nb\n\n",
		"tab\there", "\x00", "\u2028",
		"e\u0301", "\ufeffa", "<<", "=", "...", "---", "---\na", "a\r\nb", "🙂", "'", `"`, `\`, "%", "@", "`", "a\n  b\n c",
		"|", ">", "?", "? a", "-", ":"} {
		body, err := json.Marshal(map[string]any{"tool": map[string]any{"type": "input_text", "args": map[string]any{"text": text}}})
		require.NoError(t, err)
		c := &Case{Name: "a", Intent: text, Tags: []string{"x" + text}, Steps: []Step{{Body: body}}}
		file, err := c.Write()
		require.NoError(t, err)
		again, err := Read(file)
		require.NoError(t, err, "%q:\n%s", text, file)
		require.Equal(t, text, again.Intent, "%s", file)
		require.Equal(t, "x"+text, again.Tags[0], "%s", file)
		require.JSONEq(t, string(body), string(again.Steps[0].Body), "%s", file)
		require.Equal(t, c.Digest(), again.Digest())
		third, err := again.Write()
		require.NoError(t, err)
		require.Equal(t, string(file), string(third))
	}
}

func TestFilesAreRefusedWithTheirLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"nothing":            {"", 1, "no test"},
		"a comment":          {"# only\n", 1, "no test"},
		"a list":             {"- a\n", 1, "members"},
		"no name":            {"url: https://a\n", 1, "name is required"},
		"unknown member":     {"name: a\nurls: b\n", 2, "urls is unknown here: there are id, revision, name"},
		"twice":              {"name: a\nurl: b\nurl: c\n", 3, "stands twice"},
		"twice below":        {"name: a\nsteps:\n- tool:\n    type: click\n    type: click\n", 5, "stands twice"},
		"no YAML":            {"name: a\n\turl: b\n", 2, "no YAML"},
		"two documents":      {"name: a\n---\nname: b\n", 3, "second document"},
		"id":                 {"name: a\nid: 12\n", 2, "24 hexadecimal digits"},
		"revision":           {"name: a\nrevision: mine\n", 2, "written by pull and push"},
		"alias":              {"name: &a x\nurl: *a\n", 1, "anchors"},
		"alias in a step":    {"name: a\nsteps:\n- tool: {type: click, args: &b {}}\n- tool: {type: click, args: *b}\n", 3, "anchors"},
		"merge":              {"name: a\nsteps:\n- tool: {<<: {type: click}}\n", 3, "must be a text"},
		"tag":                {"name: a\nsteps:\n- tool: !!binary aGk=\n", 3, "tags (!!binary)"},
		"step without tool":  {"name: a\nsteps:\n- optional: true\n", 3, "must have a tool"},
		"unknown in a step":  {"name: a\nsteps:\n- tool: {type: click}\n  retry: 3\n", 4, "retry is unknown in a step"},
		"step that is none":  {"name: a\nsteps:\n- click\n", 3, "a step has members"},
		"steps that are one": {"name: a\nsteps: {tool: 1}\n", 2, "must be a list"},
		"strict":             {"name: a\nstrict: sometimes\n", 2, "true or false"},
		"retries":            {"name: a\nretries: \"2\"\n", 2, "a whole number"},
		"basicAuth":          {"name: a\nbasicAuth: ann\n", 2, "user and password"},
		"basicAuth member":   {"name: a\nbasicAuth: {user: ann, host: b}\n", 2, "unknown here"},
		"target":             {"name: a\ntargets:\n- browser: chrome\n", 3, "capabilities"},
		"number":             {"name: a\nsteps:\n- tool: {type: pause, args: {time: .inf}}\n", 3, "no number"},
		"deep":               {"name: a\nsteps:\n- tool: " + strings.Repeat("[", 80) + strings.Repeat("]", 80) + "\n", 3, "nested"},
		"large":              {"name: a\n# " + strings.Repeat("x", MaxSize), 1, "MiB"},
	} {
		_, err := Read([]byte(c.text))
		var refused *Error
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, c.line, refused.Line, "%s: %v", name, err)
		require.Contains(t, refused.Text, c.says, name)
	}
}

// What grows without bound when it is expanded is never expanded.
func TestBombsAreRefused(t *testing.T) {
	t.Parallel()
	bomb := "name: a\nsteps:\n- tool: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 20 {
		bomb += strings.ReplaceAll("- tool: &aN [*aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM]\n", "N", string(rune('b'+i)))
	}
	_, err := Read([]byte(strings.ReplaceAll(bomb, "*aM", "*a0")))
	require.ErrorContains(t, err, "anchors")
}

func TestStepsOfTheServer(t *testing.T) {
	t.Parallel()
	s, err := StepOf(
		json.RawMessage(`{"id":"s1","tool":{"type":"click","args":{"selector":{"type":"css","value":"#a","fingerprint":{"tag":"a"},
		"within":{"type":"text","value":"x","fingerprint":{}}}}},"result":{"success":true,"message":""},"screenshotUrl":"https://a",` +
			`"timeoutMs":5}`))
	require.NoError(t, err)
	require.Equal(t, "s1", s.ID)
	require.Equal(t, `{"tool":{"type":"click","args":{"selector":{"type":"css","value":"#a","within":{"type":"text","value":"x"}}}},`+
		`"timeoutMs":5}`,
		string(s.Body))
	bare, err := StepOf(json.RawMessage(`{"id":"s2","tool":{"type":"back","args":{}},"result":null,"screenshotUrl":""}`))
	require.NoError(t, err)
	mine, err := Read([]byte("name: a\nsteps:\n- tool: {type: back}\n- tool: {type: back, args: {}}\n  optional: false\n"))
	require.NoError(t, err)
	for _, m := range mine.Steps {
		require.Equal(t, (&Case{Steps: []Step{bare}}).Digest(), (&Case{Steps: []Step{m}}).Digest(), "what changes nothing is no difference")
	}
}

func TestRestampChangesTwoLines(t *testing.T) {
	t.Parallel()
	const id, revision = "6924f0c2a7b1d0e5f3a1b2c4", "6924f0c2a7b1d0e5f3a1b2c5-0123456789ab"
	for _, c := range []struct{ before, after string }{
		{"# why\nname: a # so\nurl:   b\n", "# why\nid: " + id + "\nrevision: " + revision + "\nname: a # so\nurl:   b\n"},
		{"name: a\nrevision: -0123456789ab\nid: 012345678901234567890123\n", "name: a\nrevision: " + revision + "\nid: " + id + "\n"},
		{"---\nname: a\n", "---\nid: " + id + "\nrevision: " + revision + "\nname: a\n"},
		{"{name: a, url: b}\n", "id: " + id + "\nrevision: " + revision + "\nname: a\nurl: b\n"},
	} {
		out, err := Restamp([]byte(c.before), id, revision)
		require.NoError(t, err, c.before)
		require.Equal(t, c.after, string(out))
	}
	out, err := Restamp([]byte("id: "+id+"\nname: a\n"), "123456789012345678901234", "")
	require.NoError(t, err)
	require.Equal(t, "id: \"123456789012345678901234\"\nname: a\n", string(out), "an id of digits stays a text")
}

func TestAlignKeepsIDs(t *testing.T) {
	t.Parallel()
	steps := func(list ...string) (out []Step) {
		for _, text := range list {
			id, url, _ := strings.Cut(text, ":")
			out = append(out, Step{ID: id, Body: json.RawMessage(`{"tool":{"type":"go_to_url","args":{"url":"` + url + `"}}}`)})
		}
		return out
	}
	server := steps("1:a", "2:b", "3:c", "4:d")
	for _, c := range []struct{ file, want string }{
		{":a :b :c :d", "1 2 3 4"},
		{":a :c :d", "1 3 4"},
		{":a :x :c :d", "1 2 3 4"}, // changed at its place
		{":a :x :b :c :d", "1 - 2 3 4"},
		{":d :c :b :a", "- - - 1"}, // order: one of them keeps its place
		{":x :y", "1 2"},
		{"9:a :b", "9 2"},
		{"2:x :b", "2 -"}, // an id of the file is not given twice
		{"", ""},
	} {
		mine := steps(strings.Fields(c.file)...)
		Align(mine, server)
		var got []string
		for _, s := range mine {
			if s.ID == "" {
				s.ID = "-"
			}
			got = append(got, s.ID)
		}
		if c.file == ":d :c :b :a" {
			require.Len(t, got, 4)
			continue
		}
		require.Equal(t, strings.Fields(c.want), append([]string{}, got...), c.file)
	}
}

func TestDiffShowsWhatChanged(t *testing.T) {
	t.Parallel()
	require.Empty(t, Diff("a\n", "a\n"))
	require.Equal(t, "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", Diff("a\nb\nc\n", "a\nx\nc\n"))
	require.Equal(t, "@@ -1,0 +1,2 @@\n+a\n+b\n", Diff("", "a\nb\n"))
	long := strings.Repeat("same\n", 50)
	d := Diff(long+"b\n"+long, long+"x\n"+long)
	require.Equal(t, 2, strings.Count(d, "@@"), d)
	require.Equal(t, 6, strings.Count(d, " same\n"), d)
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, c := range []struct{ name, want string }{
		{"Buy a lamp", "buy-a-lamp.yaml"}, {"buy a LAMP!", "buy-a-lamp-2.yaml"}, {"../../etc/passwd", "etc-passwd.yaml"},
		{"", "test.yaml"}, {"CON", "test-con.yaml"}, {"Größe ändern", "größe-ändern.yaml"}, {"🙂", "test-2.yaml"},
		{strings.Repeat("long ", 60), ""},
	} {
		got := FileName(c.name, taken)
		require.Less(t, len(got), 120)
		if c.want != "" {
			require.Equal(t, c.want, got)
		}
	}
}

// Steps of native apps are read as they are written, with their points as numbers.
func TestMobileStepsAreReadAndWrittenTheSame(t *testing.T) {
	t.Parallel()
	text := `name: Find a lamp
targets:
  - capabilities:
      platformName: Android
steps:
  - tool:
      type: swipe
      args:
        start:
          x: 0.5
          y: 1
        end:
          x: 0.5
          y: 0
        time: 300
  - tool:
      type: scroll_to
      args:
        selector: //a
        container: //b
        max: 5
  - tool:
      type: set_permissions
      args:
        grant: [camera]
        appId: com.example.shop
`
	c, err := Read([]byte(text))
	require.NoError(t, err)
	require.JSONEq(t, `{"tool":{"type":"swipe","args":{"start":{"x":0.5,"y":1},"end":{"x":0.5,"y":0},"time":300}}}`, string(c.Steps[0].Body))
	require.JSONEq(t, `{"tool":{"type":"scroll_to","args":{"selector":"//a","container":"//b","max":5}}}`, string(c.Steps[1].Body))
	require.JSONEq(t, `{"tool":{"type":"set_permissions","args":{"grant":["camera"],"appId":"com.example.shop"}}}`, string(c.Steps[2].Body))
	again, err := c.Write()
	require.NoError(t, err)
	written, err := Read(again)
	require.NoError(t, err)
	for i := range c.Steps {
		require.JSONEq(t, string(c.Steps[i].Body), string(written.Steps[i].Body))
	}
}
