package tests

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/live"
)

// wrong is a refusal of what was typed.
func wrong(text string) error { return &respond.Problem{Status: badRequest, Text: text} }

// describedTarget is the target that a form describes, by the name of a browser or by its
// capabilities; nil when it describes none.
func describedTarget(c *gin.Context) (target any, fault string) {
	if typed := field(c, "capabilities"); typed != "" {
		capabilities, fault := readJSON(typed, "The capabilities")
		if fault != "" {
			return nil, fault
		}
		return map[string]any{"capabilities": capabilities}, ""
	}
	capabilities := map[string]any{}
	for member, name := range map[string]string{"browserName": "browser", "browserVersion": "version", "platformName": "platform"} {
		if value := field(c, name); value != "" {
			capabilities[member] = value
		}
	}
	if len(capabilities) == 0 {
		return nil, ""
	}
	return map[string]any{"capabilities": capabilities}, ""
}

// generateData is the page of generation and import, with what was typed.
type generateData struct {
	Intent, TestURL, Name, Suite, Tags, Tunnel, Browser, Version, Platform, Capabilities, MaxSteps, Explore string
	KeepDraft                                                                                               bool
	Suites                                                                                                  []named
	Tunnels                                                                                                 list[named]
	Fault                                                                                                   string
	// The import.
	Document, ImportName, SideTest, ImportFault string
}

func (p *Pages) generateForm(c *gin.Context) error {
	return p.showGenerate(c, generateData{Name: c.Query("name"), Suite: c.Query("testSuiteId"), Browser: "chrome"})
}

func (p *Pages) showGenerate(c *gin.Context, data generateData) (err error) {
	if data.Suites, err = p.suiteChoice(c); err != nil {
		return err
	}
	if data.Tunnels, err = p.tunnelChoice(c); err != nil {
		return err
	}
	return p.show(c, "generate", data.Fault+data.ImportFault, frame.Page{Title: "New test", Data: data})
}

// maxShortName is how much of a sentence becomes the name of its test, in characters.
const maxShortName = 80

func (p *Pages) generate(c *gin.Context) error {
	data := generateData{Intent: field(c, "intent"), TestURL: field(c, "url"), Name: field(c, "name"), Suite: field(c, "suite"),
		Tags: field(c, "tags"), Tunnel: field(c, "tunnel"), Browser: field(c, "browser"), Version: field(c, "version"),
		Platform: field(c, "platform"), Capabilities: field(c, "capabilities"), MaxSteps: field(c, "max_steps"),
		Explore: field(c, "explore"), KeepDraft: field(c, "keep_draft") != ""}
	settings := map[string]any{"testUrl": data.TestURL, "scTunnelName": orNull(data.Tunnel)}
	prompt := map[string]any{"intent": data.Intent, "explore": orNull(data.Explore), "keepDraft": data.KeepDraft}
	target, fault := describedTarget(c)
	if target != nil {
		settings["target"] = target
	}
	name := data.Name
	if name == "" {
		runes := []rune(strings.Join(strings.Fields(data.Intent), " "))
		name = strings.TrimSpace(string(runes[:min(len(runes), maxShortName)]))
	}
	body := map[string]any{"name": name, "tags": words(data.Tags), "runSettings": settings, "promptSettings": prompt}
	if data.Suite != "" {
		body["testSuiteId"] = data.Suite
	}
	if fault == "" {
		fault = maxSteps(prompt, data.MaxSteps)
	}
	if data.Fault = fault; fault != "" {
		return p.showGenerate(c, data)
	}
	started, err := post[startedTask](p, c, "/testcases/generate", body)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showGenerate(c, data)
	}
	return p.Done(c, "/tests/generate/"+started.TaskID, said("The test is being written.", started.Warnings))
}

// startedTask is what a generation is known by.
type startedTask struct {
	TaskID   string   `json:"taskId"`
	Warnings []string `json:"warnings"`
}

// maxSteps sets the bound that was typed, if any.
func maxSteps(prompt map[string]any, typed string) (fault string) {
	if typed == "" {
		return ""
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		return "The number of steps is no number."
	}
	prompt["maxSteps"] = n
	return ""
}

// refineCase has a case written on by a further sentence.
func (p *Pages) refineCase(c *gin.Context) error {
	back := p.Back(c, "/tests/cases/"+frame.Segment(c, "id"))
	of, err := get[testCase](p, c, casePath(c), nil)
	if err != nil {
		return err
	}
	prompt := map[string]any{"intent": field(c, "intent")}
	body := map[string]any{"promptSettings": prompt}
	if at, err := strconv.Atoi(field(c, "target")); err == nil && at >= 0 && at < len(of.RunSettings.RunTargets) {
		target := of.RunSettings.RunTargets[at]
		body["runSettings"] = map[string]any{"target": map[string]any{"capabilities": target.Capabilities, "isRdc": target.IsRDC}}
	}
	if fault := maxSteps(prompt, field(c, "max_steps")); fault != "" {
		return p.Refused(c, back, wrong(fault))
	}
	started, err := post[startedTask](p, c, casePath(c)+"/generate", body)
	if err != nil {
		return p.Refused(c, back, err)
	}
	return p.Done(c, "/tests/generate/"+started.TaskID+"?case="+frame.Segment(c, "id"), "The test is being changed.")
}

// generation is the state of a generation.
type generation struct {
	Status           string      `json:"status"`
	TestCaseID       string      `json:"testCaseId"`
	RevisionID       string      `json:"revisionId"`
	Error            *failure    `json:"error"`
	Steps            []step.Step `json:"steps"`
	Reasoning        []reason    `json:"reasoning"`
	DiscoveredIntent string      `json:"discoveredIntent"`
	Description      string      `json:"description"`
	Files            []file      `json:"files"`
	Name             string      `json:"name"`
	CreationDate     string      `json:"creationDate"`
	Deadline         string      `json:"deadline"`
	span
	Changes *struct {
		Kept    []string `json:"kept"`
		Changed []string `json:"changed"`
		Added   []string `json:"added"`
		Removed []string `json:"removed"`
	} `json:"changes"`
	Model           json.RawMessage `json:"model"`
	DraftTestCaseID string          `json:"draftTestCaseId"`
	Findings        *taken          `json:"findings"`
}

// taken says how the sentence was taken.
type taken struct {
	Clauses []struct {
		Text string   `json:"text"`
		Done bool     `json:"done"`
		Left []string `json:"left"`
	} `json:"clauses"`
	Candidates []struct {
		What string `json:"what"`
		Why  string `json:"why"`
	} `json:"candidates"`
	Trivial []string `json:"trivial"`
	Decided []struct {
		What string `json:"what"`
		By   string `json:"by"`
	} `json:"decided"`
}

// generationData is the page of a generation.
type generationData struct {
	Generation *generation
	Task       string
	Case       string // that it refines; "" when it is new
}

// Going reports whether the generation has not ended.
func (d generationData) Going() bool { return runs(d.Generation.Status) }

func (p *Pages) generation(c *gin.Context) error {
	q := filters(c, "case")
	q.Set("detail", "1")
	g, err := get[generation](p, c, "/testcases/generate/"+frame.Segment(c, "task"), q)
	if err != nil {
		return err
	}
	data := generationData{Generation: &g, Task: c.Param("task"), Case: c.Query("case")}
	page := frame.Page{Title: "Generation of " + g.Name, Data: data}
	if data.Going() {
		page.Live = []live.Topic{live.Of(live.Generation, data.Task)}
	}
	return p.show(c, "generation", "", page)
}

func (p *Pages) cancelGeneration(c *gin.Context) error {
	err := p.do(c, http.MethodDelete, "/testcases/generate/"+frame.Segment(c, "task"), nil)
	return p.End(c, p.Back(c, "/tests/generate/"+frame.Segment(c, "task")), "The generation was cancelled.", err)
}

// importCase stores a test from a text or a file: steps, a case as the interface shows it,
// or a project of Selenium IDE.
func (p *Pages) importCase(c *gin.Context) error {
	data := generateData{Browser: "chrome"}
	document, fault := uploaded(c)
	data.Document, data.ImportName, data.SideTest = c.PostForm("document"), field(c, "name"), field(c, "side_test")
	if document == "" {
		document = data.Document
	}
	if fault == "" && strings.TrimSpace(document) == "" {
		fault = "Choose a file, or paste what it has."
	}
	var body map[string]any
	if fault == "" {
		body, fault = importOf(document)
	}
	if data.ImportFault = fault; fault != "" {
		return p.showGenerate(c, data)
	}
	if data.ImportName != "" {
		body["name"] = data.ImportName
	}
	if data.SideTest != "" {
		body["sideTest"] = data.SideTest
	}
	made, err := post[testCase](p, c, "/testcases", body)
	if data.ImportFault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.ImportFault != "" {
		if len(document) <= maxShown {
			data.Document = document
		}
		return p.showGenerate(c, data)
	}
	return p.Done(c, "/tests/cases/"+made.ID, said("The test was imported.", made.Warnings))
}

// maxShown is the longest file that a refused form shows, to be changed there: more than a
// form takes helps nobody.
const maxShown = 256 << 10

// uploaded is the file of the form; "" without one.
func uploaded(c *gin.Context) (text, fault string) {
	if !strings.HasPrefix(c.ContentType(), "multipart/") {
		return "", ""
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxImport)
	sent, _, err := c.Request.FormFile("document")
	if err != nil {
		return "", "The file is missing, or is too large."
	}
	defer sent.Close()
	content, err := io.ReadAll(sent)
	if err != nil {
		return "", "The file was not received as a whole."
	}
	return string(content), ""
}

// importOf is the body of an import by what the document is.
func importOf(document string) (body map[string]any, fault string) {
	compact, fault := readJSON(document, "The steps")
	if fault != "" {
		return nil, fault
	}
	if bytes.HasPrefix(compact, []byte("[")) {
		return map[string]any{"steps": compact}, ""
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(compact, &given) != nil {
		return nil, "The document must be an array of steps, a test, or a project of Selenium IDE."
	}
	body = map[string]any{}
	if given["data"] != nil && json.Unmarshal(given["data"], &given) == nil {
		delete(given, "data")
	}
	switch {
	case given["tests"] != nil:
		return map[string]any{"side": compact, "name": nameOf(given["name"])}, ""
	case given["revisions"] != nil:
		return importOfCase(given), ""
	}
	for name, value := range given {
		body[name] = value
	}
	return body, ""
}

func nameOf(text json.RawMessage) string {
	var name string
	_ = json.Unmarshal(text, &name) // without one the interface says so
	return name
}

// importOfCase is the body of an import of a case that was read elsewhere: its newest steps,
// its name, tags and settings. Its ids are of where it was.
func importOfCase(of map[string]json.RawMessage) map[string]any {
	body := map[string]any{}
	for _, name := range []string{"name", "tags", "runSettings"} {
		if of[name] != nil {
			body[name] = of[name]
		}
	}
	var revisions []map[string]json.RawMessage
	if json.Unmarshal(of["revisions"], &revisions) != nil || len(revisions) == 0 {
		return body
	}
	newest := revisions[len(revisions)-1]
	for _, name := range []string{"steps", "intent", "description"} {
		if newest[name] != nil {
			body[name] = newest[name]
		}
	}
	return body
}

// tunnelChoice are the first tunnels of the organization, by name.
func (p *Pages) tunnelChoice(c *gin.Context) (list[named], error) {
	return get[list[named]](p, c, "/tunnels", url.Values{"limit": {most}})
}
