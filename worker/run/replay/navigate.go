package replay

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// whereScript tells where a navigation ended. A page that the browser shows in
// place of one that it could not load names the error. The proxy's refusal is a page of
// plain text with status 403.
const whereScript = `const [nav] = performance.getEntriesByType("navigation");
const plain = document.contentType === "text/plain" && nav && nav.responseStatus === 403;
const broken = location.protocol === "chrome-error:" && document.body;
return {href: location.href, error: broken ? (/ERR_[A-Z_]+/.exec(document.body.textContent) || [""])[0] : "", refusal: plain && document.body ? document.body.textContent.slice(0, 300) : ""};`

// goTo opens an address, which may be relative to the current page.
func (p *player) goTo(ctx context.Context, address string) error {
	if u, err := url.Parse(address); err == nil && !u.IsAbs() {
		if address, err = p.absolute(ctx, u); err != nil {
			return err
		}
	}
	return p.open(ctx, address)
}

func (p *player) absolute(ctx context.Context, ref *url.URL) (string, error) {
	var current string
	err := p.do(ctx, func() (err error) {
		current, err = p.s.URL(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	base, err := url.Parse(current)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https" && base.Scheme != "file") {
		text, err := step.Expand(p.TestURL, p.vault.get)
		if err != nil {
			return "", variableFailure(err)
		}
		if base, err = url.Parse(text); err != nil || !base.IsAbs() {
			return "", stepf("the address %s is relative, and no page is open", p.quote(ref.String(), 200))
		}
	}
	return base.ResolveReference(ref).String(), nil
}

// open navigates and judges where that led to.
func (p *player) open(ctx context.Context, address string) error {
	if err := p.allowed(ctx, address); err != nil {
		return err
	}
	p.camera.wait(ctx)
	started := time.Now()
	p.vault.note(address, address)
	if err := p.do(ctx, func() error {
		return p.led(ctx, func(ctx context.Context) error { return p.s.Navigate(ctx, address) })
	}); err != nil {
		return p.unreachable(ctx, address, started, err)
	}
	var at struct{ Href, Error, Refusal string }
	for {
		err := p.execute(ctx, whereScript, &at)
		switch {
		case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
			if handlesDialog(p.next) {
				return nil // the page opened it, and the next step with a script looks
			}
			if err := p.dismiss(ctx); err != nil {
				return err
			}
			continue
		case err != nil && !retriable(err), lost(err):
			return err
		}
		if err == nil && at.Href != "" {
			break
		}
		if time.Since(started) > p.PageTimeout {
			return failf(run.CodeUnreachable, "%s does not come to rest", p.show(address))
		}
		if err := rest(ctx, again); err != nil {
			return err
		}
	}
	refused := outbound.ErrForbiddenAddress.Error() + ": "
	if strings.HasPrefix(at.Refusal, refused) {
		return failf(run.CodeForbidden, "%s: %s", p.show(address), p.quote(strings.TrimSpace(at.Refusal), 200))
	}
	if strings.HasPrefix(at.Href, "chrome-error:") {
		return p.unreachable(ctx, address, started, errors.New("net::"+at.Error))
	}
	return p.arrived(ctx, at.Href)
}

func handlesDialog(tool string) bool { return tool == step.HandleDialog }

// unreachable is the failure of a navigation.
func (p *player) unreachable(ctx context.Context, address string, since time.Time, err error) error {
	if ctx.Err() != nil || lost(err) {
		return err
	}
	var f *failure
	if f, _ = err.(*failure); f != nil {
		return f
	}
	reason := "the browser could not load it"
	switch text := errorText(err); {
	case webdriver.Is(err, webdriver.ErrTimeout):
		reason = "it did not load within " + p.PageTimeout.String()
	case strings.Contains(text, "ERR_TOO_MANY_REDIRECTS"):
		reason = "it redirects without end"
	case strings.Contains(text, "ERR_CONNECTION_REFUSED"):
		reason = "the connection was refused"
	case strings.Contains(text, "ERR_NAME_NOT_RESOLVED"):
		reason = "the name is unknown"
	case strings.Contains(text, "net::ERR_"):
		_, text, _ = strings.Cut(text, "net::")
		reason = "the browser says " + bounded(strings.Fields(text)[0], 60)
	case webdriver.Is(err, webdriver.ErrInsecureCert):
		reason = "its certificate is not trusted"
	case webdriver.Is(err, webdriver.ErrInvalidArgument):
		return stepf("%s is not an address", p.show(address))
	}
	if u, bad := url.Parse(address); bad == nil && p.Trouble != nil {
		if text, ok := p.Trouble(u.Hostname(), since); ok {
			if strings.Contains(text, outbound.ErrForbiddenAddress.Error()+": ") {
				return failf(run.CodeForbidden, "%s: %s", p.show(address), p.quote(text, 200))
			}
			reason = p.quote(text, 200)
		}
	}
	return failf(run.CodeUnreachable, "%s was not reached: %s", p.show(address), reason)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// show shortens an address for a message, without user and password.
func (p *player) show(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.User = nil
		address = u.String()
	}
	return p.quote(address, 200)
}

// allowed judges an address before it is opened, or after a page went there.
// Pages of the browser itself are no matter of settings: some end the session.
func (p *player) allowed(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return stepf("%s is not an address", p.quote(address, 200))
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case address == "about:blank":
		return nil
	case scheme == "http" || scheme == "https":
	case scheme == "file" && p.CheckURL != nil:
	default:
		return failf(run.CodeForbidden, "%s: addresses of the scheme %q are refused", p.show(address), scheme)
	}
	if p.CheckURL == nil {
		return nil
	}
	if err := p.CheckURL(ctx, address); err != nil {
		return failf(run.CodeForbidden, "%s: %s", p.show(address), p.quote(err.Error(), 300))
	}
	return nil
}

// arrived judges the page that a step was led to, each origin once. Documents
// that a page makes itself (about:, blob:, data:) are its own.
func (p *player) arrived(ctx context.Context, href string) error {
	if href == "" || href == p.href {
		return nil
	}
	p.href = href
	u, err := url.Parse(href)
	if err != nil {
		return nil
	}
	switch u.Scheme {
	case "about", "blob", "data", "chrome-error":
		return nil
	}
	key := origin(href)
	if u.Scheme == "file" {
		key = href
	}
	if p.checked[key] {
		return nil
	}
	if err := p.allowed(ctx, href); err != nil {
		return err
	}
	p.checked[key] = true
	return nil
}

// locate looks where the page is, and meets the dialogs that are open.
func (p *player) locate(ctx context.Context) error {
	var href string
	err := p.do(ctx, func() error { return p.execute(ctx, "return location.href", &href) })
	if err != nil {
		if err := p.interrupted(ctx, err); err != nil {
			return err
		}
	}
	return p.arrived(ctx, href)
}
