package upload

import (
	"io"
	"strconv"

	"github.com/slipway-qa/slipway/api/auth"
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
func (u *upload) readText(p *part, name string) error {
	u.textBytes += len(p.name)
	text, err := u.textOf()
	if err != nil {
		return arrival(err)
	}
	u.textBytes += len(text)
	if len(text) > maxText {
		return problemTooLarge(name + ": is longer than " + strconv.Itoa(maxText) + " bytes")
	}
	if u.textBytes > maxTexts {
		return problemTooLarge("the text parts are longer than " + strconv.Itoa(maxTexts) + " bytes")
	}
	u.fields.add(p.name, string(text))
	if name != fieldKey || u.caller != nil {
		return nil
	}
	key := u.fields.text(fieldKey)
	if key == "" {
		return nil
	}
	caller, err := u.cfg.Auth.IdentifyKey(u.c, auth.UploadBuilds, key)
	if err != nil {
		return err
	}
	return u.authenticated(caller)
}

// textOf reads up to a byte more than a text may have. An upload without a key
// that has more than maxEarly bytes of texts needs a permit, as for a file.
func (u *upload) textOf() ([]byte, error) {
	var text []byte
	if u.caller == nil && !u.permit.slot {
		early := max(0, maxEarly-u.textBytes)
		var err error
		if text, err = io.ReadAll(io.LimitReader(u.form, int64(early)+1)); err != nil || len(text) <= early {
			return text, err
		}
		if err := u.admit(); err != nil {
			return nil, err
		}
	}
	more, err := io.ReadAll(io.LimitReader(u.form, int64(maxText+1-len(text))))
	return append(text, more...), err
}
