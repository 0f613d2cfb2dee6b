package replay

import (
	"context"
	"errors"
	"mime"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// input makes a text the value of a field.
//
// The page script sets the value as frameworks expect it, with the events of an
// input and a change, in the call that waits for the field: a fifth of the time
// of clearing and typing. A field whose page does not let the value stay (masks,
// fields that a framework controls by keys) is cleared and typed into instead.
// What the field makes of the text then is its own business and is noted, unless
// nothing of it stayed.
func (p *player) input(ctx context.Context, at *place, value string) error {
	secret := len(p.vault.in(value)) > 0
	p.vault.framed = p.vault.framed || (secret && len(at.frames) > 0)
	p.vault.note(p.href, value)
	for {
		got, err := p.act(ctx, at, query{Want: wantFill, Text: value, Hidden: secret && len(at.frames) > 0})
		if err != nil || !got.Keys {
			p.vault.note(p.href, value) // the page may be another one by now
			return err
		}
		err = p.typeInto(ctx, at, got, value)
		if missed(err) && time.Now().Before(p.deadline) {
			continue
		}
		return p.done(ctx, err)
	}
}

// heldScript reads back what a field holds; a password's length only.
const heldScript = `const el = arguments[0];
if (el.localName === "input" && el.type === "password") return {size: el.value.length, secret: true};
const text = typeof el.value === "string" ? el.value : el.innerText;
return {size: text.length, text: text.slice(0, 65536)};`

// focusScript gives a field the focus with all that it holds selected. Typing
// into what has the focus must not begin in another field.
const focusScript = `const el = arguments[0], root = el.getRootNode();
if (!el.isConnected) return {focused: false};
if (root.activeElement !== el) el.focus({preventScroll: true});
if (el.matches("input, textarea")) el.select();
else getSelection().selectAllChildren(el);
const active = root.activeElement;
return {focused: active === el || (el.isContentEditable && !!active && active.contains(el)), lines: el.localName !== "input"};`

// typeInto types by key actions and never by the protocol's Element Send Keys: a
// page may make a file input of the field meanwhile, and for one of those drivers
// take the text for the path of a file on their machine. A field may send its form
// by the last key: then there is nothing to read back.
func (p *player) typeInto(ctx context.Context, at *place, got answer, value string) error {
	e := got.Element
	err := p.led(ctx, func(ctx context.Context) error { return p.s.Clear(ctx, e) })
	if err != nil || value == "" {
		return err
	}
	var field struct {
		Focused bool `json:"focused"`
		Lines   bool `json:"lines"`
	}
	if err := p.execute(ctx, focusScript, &field, e); err != nil {
		return err
	}
	if !field.Focused {
		return stepf("the field does not take the focus")
	}
	if err := p.typeKeys(ctx, keysOf(value, field.Lines)); err != nil {
		return p.outcome(ctx, at, got, err)
	}
	var held struct {
		Size   int    `json:"size"`
		Text   string `json:"text"`
		Secret bool   `json:"secret"`
	}
	if err := p.execute(ctx, heldScript, &held, e); err != nil {
		return p.outcome(ctx, at, got, err)
	}
	switch {
	case held.Size == 0:
		return stepf("the field does not take the text")
	case !held.Secret && essence(held.Text) != essence(value):
		p.note("the field holds %q", p.quote(held.Text, 100))
	}
	return nil
}

// keyRun is how many keys one command presses: some hundred milliseconds.
const keyRun = 250

// typeKeys presses one key after the other where the focus is.
func (p *player) typeKeys(ctx context.Context, keys []string) error {
	for run := range slices.Chunk(keys, keyRun) {
		board := webdriver.NewKeyboard()
		for _, key := range run {
			board.Down(key).Up(key)
		}
		err := p.led(ctx, func(ctx context.Context) error { return p.s.Input.Perform(ctx, board) })
		var answer *webdriver.Error
		if errors.As(err, &answer) && !lost(err) { // a key may still be held
			_ = p.led(ctx, p.s.Input.Release)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keysOf gives the keys that type a text. A field of one line takes no line
// breaks, and Enter would send its form.
func keysOf(value string, lines bool) []string {
	value = strings.ReplaceAll(strings.ReplaceAll(typable(value), "\r\n", "\n"), "\r", "\n")
	var keys []string
	for _, r := range value {
		switch {
		case r == '\n' && lines:
			keys = append(keys, webdriver.KeyEnter)
		case !unicode.IsControl(r):
			keys = append(keys, string(r))
		}
	}
	return keys
}

// typable leaves out what the protocol would take for keys.
func typable(value string) string {
	return strings.Map(func(r rune) rune {
		if r >= '\uE000' && r <= '\uF8FF' {
			return -1
		}
		return r
	}, value)
}

// essence is what a mask leaves of a text.
func essence(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// upload gives a file to a file input. The page makes it from its bytes, so it is
// the same for browsers on other machines, and no file lies about.
func (p *player) upload(ctx context.Context, at *place, f *step.File) error {
	if f == nil {
		return stepf("the step names no file")
	}
	kind := mime.TypeByExtension(path.Ext(f.Name))
	if kind == "" {
		kind = "application/octet-stream"
	}
	content := f.Content
	if content == nil {
		content = []byte{}
	}
	_, err := p.act(ctx, at, query{Want: wantFile, File: &pageFile{Name: f.Name, Type: kind, Content: content}})
	return err
}
