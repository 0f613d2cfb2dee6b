package abuse

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage/step"
)

// target is an installation with two organizations. Its browsers are a hub of this
// process (stubHub): what counts is how long a run waits for its turn.
type target struct {
	product          *process.Product
	hub              *stubHub
	attacker, victim *tenant
}

// tenant is an organization of a target as its owner sees it: the product with the
// owner's keys and a crash token of the organization.
type tenant struct {
	process.Product
	slug         string
	crashProject int64
	project      int64 // of the build that was uploaded first
	caseID       string
}

// startTarget starts `slipway up` with the two organizations.
func (b *bench) startTarget(ctx context.Context, args ...string) (t *target, err error) {
	t = &target{hub: startStubHub()}
	defer func() {
		if err != nil {
			t.stop()
		}
	}()
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	if t.product, err = process.StartAt(ctx, b.program, "127.0.0.1:"+port, append([]string{"--webdriver-url", t.hub.url},
		args...)...); err != nil {
		return nil, err
	}
	variables := append(os.Environ(), "SLIPWAY_DATABASE_URL="+t.product.Database)
	if t.attacker, err = newTenant(ctx, t.product, b.program, variables, "attacker"); err != nil {
		return nil, err
	}
	if t.victim, err = newTenant(ctx, t.product, b.program, variables, "victim"); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *target) stop() {
	if t.product != nil {
		t.product.Stop()
	}
	t.hub.close()
}

// newTenant creates an organization by the program's own commands, and what the victim's
// probes need of it: a build, and a case of two steps.
func newTenant(ctx context.Context, p *process.Product, program string, variables []string, slug string) (*tenant, error) {
	t := &tenant{Product: process.Product{Dir: p.Dir, Base: p.Base, Database: p.Database}, slug: slug}
	mail := "owner@" + slug + ".example"
	command := func(into any, line ...string) error {
		cmd := exec.CommandContext(ctx, program, append([]string{"admin"}, line...)...)
		cmd.Env = variables
		var log bytes.Buffer
		cmd.Stderr = &log
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("slipway admin %s: %w\n%s", strings.Join(line, " "), err, log.String())
		}
		return json.Unmarshal(out, into)
	}
	var made struct {
		Team struct{ ID int64 }
		User struct{ Username string }
		// CrashProject is that of the last line.
		CrashProject struct{ ID int64 } `json:"crash_project"`
		Secret       string
	}
	if err := command(&made, "org", "create", slug); err != nil {
		return nil, err
	}
	if err := command(&made, "user", "create", slug, mail, "--role", "owner", "--username", slug, "--team-id",
		fmt.Sprint(made.Team.ID)); err != nil {
		return nil, err
	}
	t.Username = made.User.Username
	if err := command(&made, "key", "create", slug, mail); err != nil {
		return nil, err
	}
	t.APIKey = made.Secret
	if err := command(&made, "key", "create", slug, mail, "--kind", "access"); err != nil {
		return nil, err
	}
	t.AccessKey = made.Secret
	if err := command(&made, "crash-project", "create", slug, "shop"); err != nil {
		return nil, err
	}
	t.Token, t.crashProject = made.Secret, made.CrashProject.ID
	return t, t.prepare(ctx)
}

// prepare uploads a first build and creates the case that runs start.
func (t *tenant) prepare(ctx context.Context) error {
	if err := t.uploadApp(ctx, probeClient()); err != nil {
		return fmt.Errorf("first build: %w", err)
	}
	var list struct{ Projects []struct{ ID int64 } }
	if err := t.v3(ctx, http.MethodGet, "/projects", nil, &list); err != nil {
		return err
	}
	if len(list.Projects) != 1 {
		return fmt.Errorf("%d projects after one build", len(list.Projects))
	}
	t.project = list.Projects[0].ID
	var err error
	t.caseID, err = t.ImportCase(ctx, "Two steps", pauses(1, 1))
	return err
}

// pauses are steps that take so many milliseconds.
func pauses(times ...int) []step.Step {
	var steps []step.Step
	for i, ms := range times {
		steps = append(steps, step.Step{ID: fmt.Sprint("s", i+1), Tool: step.Tool{Type: step.Pause, Args: step.Args{Time: &ms}}})
	}
	return steps
}

// v3 sends a request to the version 3 interface and decodes the response. into may be nil.
func (t *tenant) v3(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		doc, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(doc)
	}
	r, err := http.NewRequestWithContext(ctx, method, t.Base+"/api/v3"+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", t.APIKey)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return &statusError{response.StatusCode, fmt.Sprintf("%s %s: %s: %s", method, path, response.Status, text)}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// statusError is a response that is a refusal.
type statusError struct {
	status int
	text   string
}

// Error implements error.
func (e *statusError) Error() string { return e.text }

// refusedWith reports whether an error is a response with one of the codes from 400 to 499.
func refusedWith(err error) bool {
	var e *statusError
	return errors.As(err, &e) && e.status/100 == 4
}

// appFile returns an iOS app of about size bytes: a bundle with its Info.plist and content
// that cannot be compressed. The content differs from app to app.
func appFile(name string, size int) ([]byte, error) {
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	content := make([]byte, size)
	seed := [32]byte{}
	copy(seed[:], name)
	_, _ = rand.NewChaCha8(seed).Read(content)
	for _, f := range []struct {
		path string
		body []byte
	}{
		{"Payload/Shop.app/Info.plist", []byte(`<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>CFBundleIdentifier</key><string>com.example.` + name + `</string>
<key>CFBundleName</key><string>Shop</string>
<key>CFBundleExecutable</key><string>Shop</string>
<key>CFBundleShortVersionString</key><string>1.0</string>
<key>CFBundleVersion</key><string>1</string>
<key>MinimumOSVersion</key><string>15.0</string>
<key>CFBundleSupportedPlatforms</key><array><string>iPhoneOS</string></array>
</dict></plist>`)},
		{"Payload/Shop.app/Shop", content},
	} {
		w, err := archive.Create(f.path)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return file.Bytes(), err
}

// from returns a dialer whose connections come from an address of this machine: Linux
// has all of 127.0.0.0/8 on the loopback interface.
func from(number int) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+number/250), byte(1+number%250))}}
}
