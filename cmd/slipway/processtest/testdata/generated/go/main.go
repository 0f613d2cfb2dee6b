// Command smoke calls a server with the client that oapi-codegen makes of its description:
// an app, a build, a crash and its group, a test and its run, and a refusal.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
)

func main() {
	if err := smoke(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("every call was answered as it is described")
}

func smoke() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	base := os.Getenv("BASE")
	c, err := NewClientWithResponses(base, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", os.Getenv("API_KEY"))
		return nil
	}))
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *ClientWithResponses) error{app, build, crash, refusals} {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	authoring, err := NewClientWithResponses(base, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.SetBasicAuth(os.Getenv("USERNAME"), os.Getenv("ACCESS_KEY"))
		return nil
	}))
	if err != nil {
		return err
	}
	return run(ctx, authoring, base)
}

func app(ctx context.Context, c *ClientWithResponses) error {
	name, platform, pkg := "Smoke of Go", "android", "org.example.smoke.go"
	made, err := c.CreateProjectWithResponse(ctx, CreateProjectJSONRequestBody{Name: &name, Platform: &platform, PackageName: &pkg})
	if err != nil {
		return err
	}
	if made.JSON201 == nil {
		return fmt.Errorf("create an app: %s %s", made.Status(), made.Body)
	}
	read, err := c.GetProjectWithResponse(ctx, strconv.FormatInt(made.JSON201.Project.Id, 10))
	if err != nil {
		return err
	}
	if read.JSON200 == nil || read.JSON200.Project.Name != name || read.JSON200.Project.PackageName != pkg {
		return fmt.Errorf("read the app: %s %s", read.Status(), read.Body)
	}
	return nil
}

func build(ctx context.Context, c *ClientWithResponses) error {
	yes := true
	set, err := c.UpdateOrganizationSettingsWithResponse(ctx, UpdateOrganizationSettingsJSONRequestBody{GenericFiles: &yes})
	if err != nil {
		return err
	}
	if set.JSON200 == nil {
		return fmt.Errorf("allow files of other kinds: %s %s", set.Status(), set.Body)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "smoke-go.zip")
	if err != nil {
		return err
	}
	if _, err = file.Write([]byte("a file of Go")); err != nil {
		return err
	}
	if err = errors.Join(form.WriteField("platform", "linux"), form.WriteField("release_notes", "Of Go"), form.Close()); err != nil {
		return err
	}
	up, err := c.UploadBuildV3WithBodyWithResponse(ctx, &UploadBuildV3Params{}, form.FormDataContentType(), &body)
	if err != nil {
		return err
	}
	if up.JSON201 == nil {
		return fmt.Errorf("upload a build: %s %s", up.Status(), up.Body)
	}
	read, err := c.GetBuildWithResponse(ctx, strconv.FormatInt(up.JSON201.Build.Id, 10))
	if err != nil {
		return err
	}
	if read.JSON200 == nil || read.JSON200.Build.ReleaseNotes != "Of Go" {
		return fmt.Errorf("read the build: %s %s", read.Status(), read.Body)
	}
	return nil
}

func crash(ctx context.Context, c *ClientWithResponses) error {
	report := CrashSubmission{Uuid: uuid.NewString(), Timestamp: time.Now().Unix(), Lang: "go", LangVersion: "1",
		Agent: "smoke", AgentVersion: "1", MainThread: "0"}
	report.Classifiers, report.Attributes = &[]string{"SmokeOfGo"}, &map[string]any{"error.message": "it broke"}
	if err := json.Unmarshal([]byte(`{"0":{"name":"main","fault":true,"stack":[{"funcName":"sail"}]}}`), &report.Threads); err != nil {
		return err
	}
	format := CrashFormat("json")
	sent, err := c.SubmitCrashWithResponse(ctx, &SubmitCrashParams{Token: os.Getenv("CRASH_TOKEN"), Format: &format}, report)
	if err != nil {
		return err
	}
	if sent.JSON200 == nil || sent.JSON200.UnderscoreRxid == "" {
		return fmt.Errorf("post a crash: %s %s", sent.Status(), sent.Body)
	}
	search := "SmokeOfGo"
	for { // until the worker has read it, or the time is up
		list, err := c.ListCrashGroupsWithResponse(ctx, &ListCrashGroupsParams{Search: &search})
		if err != nil {
			return err
		}
		if list.JSON200 == nil {
			return fmt.Errorf("list groups: %s %s", list.Status(), list.Body)
		}
		if len(list.JSON200.CrashGroups) == 0 {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		read, err := c.GetCrashGroupWithResponse(ctx, list.JSON200.CrashGroups[0].Id, &GetCrashGroupParams{})
		if err != nil {
			return err
		}
		if read.JSON200 == nil || read.JSON200.CrashGroup.Classifier != search || read.JSON200.CrashGroup.Count != 1 {
			return fmt.Errorf("read the group: %s %s", read.Status(), read.Body)
		}
		return nil
	}
}

func refusals(ctx context.Context, c *ClientWithResponses) error {
	absent, err := c.GetProjectWithResponse(ctx, "999999999")
	if err != nil {
		return err
	}
	if absent.JSON404 == nil || absent.JSON404.Error == "" {
		return fmt.Errorf("an app that there is not: %s %s", absent.Status(), absent.Body)
	}
	unnamed, err := c.CreateProjectWithResponse(ctx, CreateProjectJSONRequestBody{})
	if err != nil {
		return err
	}
	if unnamed.JSON400 == nil || unnamed.JSON400.Error == "" {
		return fmt.Errorf("an app without a name: %s %s", unnamed.Status(), unnamed.Body)
	}
	return nil
}

func run(ctx context.Context, c *ClientWithResponses, base string) error {
	var body ImportTestCaseJSONRequestBody
	err := json.Unmarshal(fmt.Appendf(nil,
		`{"name":"Smoke of Go","runSettings":{"testUrl":%q,"target":{"capabilities":{"browserName":"chrome"}}},
		"steps":[{"id":"s1","tool":{"type":"go_to_url","args":{"url":"/healthz"}}}]}`, base), &body)
	if err != nil {
		return err
	}
	made, err := c.ImportTestCaseWithResponse(ctx, body)
	if err != nil {
		return err
	}
	if made.JSON201 == nil || len(made.JSON201.Data.Revisions) != 1 {
		return fmt.Errorf("import a test: %s %s", made.Status(), made.Body)
	}
	id := made.JSON201.Data.Id
	started, err := c.RunTestCaseWithResponse(ctx, id, &RunTestCaseParams{}, RunTestCaseJSONRequestBody{})
	if err != nil {
		return err
	}
	if started.JSON200 == nil || len(started.JSON200.Data.Jobs) != 1 {
		return fmt.Errorf("start a run: %s %s", started.Status(), started.Body)
	}
	read, err := c.GetTestCaseRunWithResponse(ctx, id, started.JSON200.Data.Id, &GetTestCaseRunParams{})
	if err != nil {
		return err
	}
	if read.JSON200 == nil || read.JSON200.Data.Id != started.JSON200.Data.Id || !read.JSON200.Data.Status.Valid() {
		return fmt.Errorf("read the run: %s %s", read.Status(), read.Body)
	}
	absent, err := c.GetTestCaseWithResponse(ctx, "000000000000000000000000")
	if err != nil {
		return err
	}
	if absent.JSON404 == nil || absent.JSON404.Error.Detail == "" {
		return fmt.Errorf("a test that there is not: %s %s", absent.Status(), absent.Body)
	}
	return nil
}
