package action

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
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// Fill makes a text the value of a field.
//
// The page script sets the value as frameworks expect it, with the events of an
// input and a change, in the call that waits for the field: a fifth of the time
// of clearing and typing. A field whose page does not let the value stay (masks,
// fields that a framework controls by keys) is cleared and typed into instead.
// What the field then makes of the text is noted and no failure, unless nothing of
// it stayed, or the field is one whose value is chosen (dates, ranges, colours). A
// field that the page puts in its place must hold the text as well.
func (a Action) Fill(ctx context.Context, value string) error {
	secret := len(a.Secrets.In(value)) > 0
	a.Secrets.TypedInFrame = a.Secrets.TypedInFrame || (secret && len(a.At.Frames) > 0)
	a.Secrets.NoteTyped(a.Href, value)
	for {
		got, err := a.Act(ctx, page.ActQuery{Want: page.WantFill, Text: value, Hidden: secret && len(a.At.Frames) > 0})
		if err != nil || !got.Keys {
			a.Secrets.NoteTyped(a.Href, value) // the page may be another one by now
			return err
		}
		err = a.typeInto(ctx, got, value)
		switch {
		case !Missed(err):
			return a.AfterInput(ctx, err)
		case time.Now().After(a.Deadline):
			return failure.Stepf("%s was found, but it changed while it was typed into", a.ShowSelector(a.At.Selector))
		}
	}
}

// fieldTextScript reads back what a field holds when the page has rendered; a
// password's length only.
const fieldTextScript = `return (async (el) => {
	for (let n = 0; n < 2; n++) await new Promise((done) => { setTimeout(done, document.hidden ? 20 : 1000); requestAnimationFrame(done); });
	if (el.localName === "input" && el.type === "password") return {size: el.value.length, secret: true};
	const text = typeof el.value === "string" ? el.value : el.innerText;
	return {size: text.length, text: text.slice(0, 65536), gone: !el.isConnected};
})(arguments[0]);`

// focusScript moves the focus to a field with all that it holds selected. Typing
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
func (a Action) typeInto(ctx context.Context, got page.ActResult, value string) error {
	e := got.Element
	err := a.WithPageTimeout(ctx, func(ctx context.Context) error { return a.Driver.Clear(ctx, e) })
	if err != nil || value == "" {
		return err
	}
	var field struct {
		Focused bool `json:"focused"`
		Lines   bool `json:"lines"`
	}
	if err := a.Execute(ctx, focusScript, &field, e); err != nil {
		return err
	}
	if !field.Focused {
		return failure.Stepf("the field does not take the focus")
	}
	if err := a.typeKeys(ctx, keysOf(value, field.Lines)); err != nil {
		return a.inputOutcome(ctx, got, err)
	}
	var held struct {
		Size   int    `json:"size"`
		Text   string `json:"text"`
		Secret bool   `json:"secret"`
		Gone   bool   `json:"gone"`
	}
	if err := a.Execute(ctx, fieldTextScript, &held, e); err != nil {
		return a.inputOutcome(ctx, got, err)
	}
	switch {
	case held.Gone:
		return a.inputOutcome(ctx, got, &webdriver.Error{Code: webdriver.ErrStaleElement, Message: "the field was replaced"})
	case held.Size == 0:
		return failure.Stepf("the field does not take the text")
	case !held.Secret && lettersAndDigits(held.Text) != lettersAndDigits(value):
		a.Note("the field holds %q", a.Quote(held.Text, 100))
	}
	return nil
}

// keysPerCommand is how many keys one command presses: some hundred milliseconds.
const keysPerCommand = 250

// typeKeys presses one key after the other where the focus is.
func (a Action) typeKeys(ctx context.Context, keys []string) error {
	for chunk := range slices.Chunk(keys, keysPerCommand) {
		keyboard := webdriver.NewKeyboard()
		for _, key := range chunk {
			keyboard.Down(key).Up(key)
		}
		err := a.WithPageTimeout(ctx, func(ctx context.Context) error { return a.Driver.Input.Perform(ctx, keyboard) })
		var reported *webdriver.Error
		if errors.As(err, &reported) && !failure.Lost(err) { // a key may still be held
			_ = a.WithPageTimeout(ctx, a.Driver.Input.Release)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keysOf returns the keys that type a text. A field of one line takes no line
// breaks, and Enter would send its form.
func keysOf(value string, lines bool) []string {
	value = strings.ReplaceAll(strings.ReplaceAll(Typable(value), "\r\n", "\n"), "\r", "\n")
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

// Typable leaves out the characters that the protocol would take for keys.
func Typable(value string) string {
	return strings.Map(func(r rune) rune {
		if r >= '\uE000' && r <= '\uF8FF' {
			return -1
		}
		return r
	}, value)
}

// lettersAndDigits is what the mask of a field leaves of a text.
func lettersAndDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Upload puts files into a file input, without a selector into the one whose chooser the
// step before has opened. The page creates them from their bytes, so they are the same for
// browsers on other machines, and no file is left there.
func (a Action) Upload(ctx context.Context, into *step.Selector, files []step.File) error {
	if len(files) == 0 {
		return failure.Stepf("the step names no file")
	}
	var list []page.File
	for _, f := range files {
		kind := mime.TypeByExtension(path.Ext(f.Name))
		if kind == "" {
			kind = "application/octet-stream"
		}
		list = append(list, page.File{Name: f.Name, Type: kind, Content: append([]byte{}, f.Content...)})
	}
	if into == nil {
		return a.chooseFiles(ctx, list)
	}
	_, err := a.Act(ctx, page.ActQuery{Want: page.WantFile, Files: list})
	return err
}
