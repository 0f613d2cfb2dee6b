package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
)

const (
	// maxSource and maxConsole bound what is kept of a failed step.
	maxSource  = 2 << 20
	maxConsole = 1 << 20
	// sceneTimeout bounds the looking around after a failure.
	sceneTimeout = 15 * time.Second
)

// sourceScript gives the page as HTML, cut there: a page of 50 MB must not go over
// the wire. Most is in UTF-16 units.
const sourceScript = `const most = arguments[0], kind = document.doctype ? "<!DOCTYPE " + document.doctype.name + ">\n" : "";
const text = kind + (document.documentElement ? document.documentElement.outerHTML : "");
return {cut: text.length > most, text: text.slice(0, most)};`

// scene captures what there is to see after a step failed: a screenshot, the
// page's source and the console.
func (c *camera) scene(ctx context.Context, i int) {
	ctx, cancel := context.WithTimeout(ctx, sceneTimeout)
	defer cancel()
	if c.p.Lease.Mobile {
		return
	}
	c.p.framesDone(ctx)
	if c.p.stuck { // each look at the page would take its full time
		c.keep(i, authoring.Console, c.p.consoleText(ctx))
		return
	}
	if _, err := c.p.s.Dialog.Text(ctx); err == nil {
		c.keep(i, authoring.Console, c.p.consoleText(ctx))
		return // the page does not answer while its dialog is open
	}
	c.take(ctx, i)
	c.wait(ctx)
	var page struct {
		Cut  bool   `json:"cut"`
		Text string `json:"text"`
	}
	longest := c.p.vault.longest()
	if err := c.p.execute(ctx, sourceScript, &page, maxSource+longest); err == nil {
		source := c.p.vault.redact(page.Text)
		if page.Cut { // half a secret may stand at the end
			source = source[:max(len(source)-longest, 0)]
		}
		c.keep(i, authoring.Source, bounded(source, maxSource))
	}
	c.keep(i, authoring.Console, c.p.consoleText(ctx))
}

// keep hands a text to be stored.
func (c *camera) keep(i int, kind, text string) {
	if text == "" {
		return
	}
	ready := make(chan struct{})
	close(ready)
	c.rolls <- &roll{Artifact{Kind: kind, Step: i, ContentType: "text/plain; charset=utf-8", Data: []byte(text)}, ready}
}

// mask blurs what holds a secret. ok is false when it could not be done: then
// there is no screenshot.
func (c *camera) mask(ctx context.Context) (masked, ok bool) {
	if len(c.p.vault.typed) == 0 {
		return false, true
	}
	var href string
	if c.p.execute(ctx, "return location.href", &href) != nil || href == "" {
		return false, false
	}
	secrets := c.p.vault.typed[origin(href)]
	if len(secrets) == 0 && !c.p.vault.framed {
		return false, true
	}
	count := 0
	args := map[string]any{"secrets": append([]string{}, secrets...), "frames": c.p.vault.framed, "origin": origin(href)}
	if c.p.execute(ctx, maskScript, &count, args) != nil || count < 0 {
		return false, false
	}
	return count > 0, true
}

func (c *camera) unmask(ctx context.Context) {
	// A page that is gone, or an open dialog, leaves nothing to be seen.
	_ = c.p.execute(ctx, maskScript, nil, map[string]any{"off": true})
}
