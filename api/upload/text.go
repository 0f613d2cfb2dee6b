package upload

import (
	"io"
	"strconv"
)

const (
	// maxText bounds one text part, maxTexts all of them, in bytes.
	maxText  = 64 << 10
	maxTexts = 1 << 20
	// maxEarly bounds the texts that are kept before the sender has shown a key or
	// was admitted, in bytes.
	maxEarly = 64 << 10
)

// readText reads a field. The first key authenticates a sender that is not known
// by its headers.
func (r *receiver) readText(p *part, name string) error {
	r.textBytes += len(p.name)
	text, err := r.textOf()
	if err != nil {
		return arrival(err)
	}
	r.textBytes += len(text)
	if len(text) > maxText {
		return problemTooLarge(name + ": is longer than " + strconv.Itoa(maxText) + " bytes")
	}
	if r.textBytes > maxTexts {
		return problemTooLarge("the text parts are longer than " + strconv.Itoa(maxTexts) + " bytes")
	}
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
	if r.caller == nil && !r.permit.slot {
		early := max(0, maxEarly-r.textBytes)
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
