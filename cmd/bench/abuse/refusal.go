package abuse

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// refusalWait is how long the effect of an attack that may be refused is waited for.
const refusalWait = 10 * time.Second

// refusalRow prints whether something happened that must not.
func (b *bench) refusalRow(attack, measured string, happened bool, refused error) {
	result := "nothing happened"
	if refused != nil {
		result = "refused: " + oneLine(refused.Error())
	}
	if happened {
		result = "it happened"
	}
	b.row(attack, measured, "", result, "does not happen", !happened)
}

// waitFor waits until something has happened, or for refusalWait.
func waitFor(ctx context.Context, happened func() bool) bool {
	for end := time.Now().Add(refusalWait); time.Now().Before(end) && !happened(); {
		if process.Sleep(ctx, 50*time.Millisecond) != nil {
			break
		}
	}
	return happened()
}

// capabilities has a real chromedriver as hub. The attacker's capabilities name a program
// that writes a file, in the ways in which chromedriver and Chromium start programs.
func (b *bench) capabilities(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder, err := localservice.Open(filepath.Join(dir, "hub"))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = folder.Close(ctx)
	}()
	driver, err := folder.Chromedriver(ctx, localservice.ChromedriverConfig{})
	if err != nil {
		return err
	}
	t, err := b.startTarget(ctx, "--webdriver-url", driver.URL())
	if err != nil {
		return err
	}
	defer t.stop()
	for n, way := range []struct {
		name    string
		options func(program string) map[string]any
	}{
		{"binary", func(program string) map[string]any { return map[string]any{"binary": program} }},
		{"--renderer-cmd-prefix", func(program string) map[string]any {
			return map[string]any{"args": append(localservice.BrowserArguments(), "--headless=new", "--renderer-cmd-prefix="+program)}
		}},
	} {
		program, proof := filepath.Join(dir, fmt.Sprint("program", n)), filepath.Join(dir, fmt.Sprint("proof", n))
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho started > '"+proof+"'\nexec \"$@\"\n"), 0o700); err != nil {
			return err
		}
		refused := t.attacker.runWith(ctx, capability.Capabilities{"browserName": "chrome", "goog:chromeOptions": way.options(program)})
		happened := refused == nil && waitFor(ctx, func() bool {
			_, err := os.Stat(proof)
			return err == nil
		})
		b.refusalRow("capabilities on a hub that all organizations share", "a program started by "+way.name, happened, refused)
	}
	return ctx.Err()
}

// runWith imports a case with the capabilities and starts it; the error is the refusal.
func (t *tenant) runWith(ctx context.Context, capabilities capability.Capabilities) error {
	var made struct{ ID string }
	if err := t.Call(ctx, http.MethodPost, "/testcases", map[string]any{"name": "Program",
		"steps":       []step.Step{{ID: "s1", Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: t.Base + "/"}}}},
		"runSettings": map[string]any{"target": map[string]any{"capabilities": capabilities}}}, &made); err != nil {
		return err
	}
	var run process.RunState
	return t.Call(ctx, http.MethodPost, "/testcases/"+made.ID+"/run", struct{}{}, &run)
}

// addresses starts Slipway as behind a proxy on the same machine: it listens on loopback,
// and has a public address. The attacker's webhook and storage lead to this machine.
func (b *bench) addresses(ctx context.Context) error {
	t, err := b.startTarget(ctx, "--public-url", "https://qa.example.com")
	if err != nil {
		return err
	}
	defer t.stop()
	r, err := startReceiver()
	if err != nil {
		return err
	}
	defer r.close()
	const attack = "private addresses, behind a proxy on the same machine"
	client := probeClient()
	hook := t.attacker.v3(ctx, http.MethodPost, "/webhooks", map[string]any{"name": "inside", "url": r.base + "/hook",
		"actions": []string{"upload"}}, nil)
	connection := t.attacker.v3(ctx, http.MethodPut, "/settings/storage", map[string]any{"kind": "http", "endpoint": r.base +
		"/copy", "access_key": "a", "secret": "s"}, nil)
	if err := t.attacker.uploadApp(ctx, client, "sync_to_slipway", "on"); err != nil && !refusedWith(err) {
		return err
	}
	b.refusalRow(attack, "a webhook reaches 127.0.0.1", waitFor(ctx, func() bool { return r.count("/hook") > 0 }), hook)
	b.refusalRow(attack, "a storage connection reaches 127.0.0.1", waitFor(ctx, func() bool { return r.count("/copy") > 0 }), connection)
	return ctx.Err()
}

// storageSecret has an administrator who does not know the secret of a storage connection
// change its kind, so that it is sent to a server as a password.
func (b *bench) storageSecret(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	r, err := startReceiver()
	if err != nil {
		return err
	}
	defer r.close()
	const secret = "the-secret-of-the-bucket"
	if err := t.attacker.v3(ctx, http.MethodPut, "/settings/storage", map[string]any{"kind": "s3", "endpoint": r.base,
		"bucket": "b", "access_key": "key", "secret": secret}, nil); err != nil {
		return err
	}
	change := t.attacker.v3(ctx, http.MethodPut, "/settings/storage", map[string]any{"kind": "http", "endpoint": r.base,
		"access_key": "key"}, nil)
	if change != nil && !refusedWith(change) {
		return change
	}
	if err := t.attacker.uploadApp(ctx, probeClient(), "sync_to_slipway", "on"); err != nil && !refusedWith(err) {
		return err
	}
	b.refusalRow("a storage connection whose kind changes", "its secret is sent in another way",
		waitFor(ctx, func() bool { return r.passwordSeen(secret) }), change)
	return ctx.Err()
}
