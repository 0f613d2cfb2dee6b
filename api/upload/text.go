package upload

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// maxText bounds one text part, maxTexts all the optional ones, and all others, in
	// bytes.
	maxText  = 64 << 10
	maxTexts = 1 << 20
	// maxEarly bounds the texts that are kept before the sender has shown a key or
	// was admitted, in bytes.
	maxEarly = 64 << 10
)

// readText reads a field. The first key authenticates a sender that is not known
// by its headers. An optional text that is too long is shortened, and left out where the
// texts together are too long; other parts refuse the upload.
func (r *receiver) readText(p *part, name string) error {
	text, err := r.textOf()
	if err != nil {
		return arrival(err)
	}
	if !r.mode.hasTexts() || !optional(name) {
		r.controlBytes += len(p.name) + len(text)
		if len(text) > maxText {
			return problemTooLarge(name + ": is longer than " + strconv.Itoa(maxText) + " bytes")
		}
		if r.controlBytes > maxTexts {
			return problemTooLarge("the text parts are longer than " + strconv.Itoa(maxTexts) + " bytes")
		}
		return r.takeText(p, name, text)
	}
	if len(text) > maxText {
		if err := r.skipText(); err != nil {
			return err
		}
		text = cutText(text, maxText)
		r.warnText(p.name, "was shortened to "+strconv.Itoa(maxText)+" bytes")
	}
	if r.textBytes+len(p.name)+len(text) > maxTexts {
		r.warnText(p.name, "was left out: the texts together have more than "+strconv.Itoa(maxTexts)+" bytes")
		return nil
	}
	r.textBytes += len(p.name) + len(text)
	return r.takeText(p, name, text)
}

// warnText keeps a warning about a part, by the name that the request has for it.
func (r *receiver) warnText(name, text string) {
	const most = 50
	if len(r.fields.warnings) < most {
		r.fields.warnings = append(r.fields.warnings, storage.Cut(clean(name), maxWarnedName)+" "+text)
	}
}

// maxWarnedName is as much of a part's name as a warning repeats, in characters.
const maxWarnedName = 100

// skipText reads over the rest of a text. Who has not shown a key may not have much read.
func (r *receiver) skipText() error {
	for skipped := 0; ; {
		chunk, err := r.form.chunk()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return arrival(err)
		}
		if skipped += len(chunk); r.caller == nil && skipped > maxTexts {
			return problemTooLarge("a text part is longer than " + strconv.Itoa(maxTexts) + " bytes: send the key before it")
		}
	}
}

// cutText returns the first bytes of a text, at most so many, without a character that is
// cut through.
func cutText(text []byte, most int) []byte {
	text = text[:most]
	for cut := 1; cut < utf8.UTFMax && cut <= len(text); cut++ {
		if b := text[len(text)-cut]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-cut:]) {
				return text[:len(text)-cut]
			}
			break
		}
	}
	return text
}

// takeText keeps a text, and reads the key.
func (r *receiver) takeText(p *part, name string, text []byte) error {
	r.fields.add(p.name, string(text))
	if name != fieldKey || r.caller != nil {
		return nil
	}
	key := r.fields.text(fieldKey)
	if key == "" {
		return nil
	}
	caller, err := r.cfg.Auth.IdentifyKey(r.c, r.action, key)
	if err != nil {
		return err
	}
	return r.authenticated(caller)
}

// textOf reads up to a byte more than a text may have. An upload without a key
// that has more than maxEarly bytes of texts needs a permit, as for a file.
func (r *receiver) textOf() ([]byte, error) {
	var text []byte
	if r.caller == nil && r.permit.slot == nil {
		early := max(0, maxEarly-r.textBytes-r.controlBytes)
		var err error
		if text, err = io.ReadAll(io.LimitReader(r.form, int64(early)+1)); err != nil || len(text) <= early {
			return text, err
		}
		if err := r.admit(); err != nil {
			return nil, err
		}
	}
	more, err := io.ReadAll(io.LimitReader(r.form, int64(maxText+1-len(text))))
	return append(text, more...), err
}
