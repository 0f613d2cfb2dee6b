package pagination

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// cursorSize is the bytes of a cursor: microseconds since 1970, and an id.
const cursorSize = 8 + 16

// CursorText writes the place of a row in a list that is sorted by time and id, newest first: the
// next page begins after it. A list that grows meanwhile moves nothing.
func CursorText(at time.Time, id uuid.UUID) string {
	place := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(place, id[:]...))
}

// Cursor reads what CursorText wrote; the id is uuid.Nil when the parameter is absent. The error
// is a *storage.InvalidError.
func Cursor(q url.Values, name string) (at time.Time, id uuid.UUID, err error) {
	text := strings.TrimSpace(q.Get(name))
	if text == "" {
		return at, id, nil
	}
	wrong := &storage.InvalidError{Field: name, Msg: "must be the next of an earlier page"}
	if len(text) != base64.RawURLEncoding.EncodedLen(cursorSize) {
		return at, id, wrong
	}
	place, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return at, id, wrong
	}
	at = time.UnixMicro(int64(binary.BigEndian.Uint64(place))).UTC()
	id = uuid.UUID(place[8:])
	if at != within(at) || id == uuid.Nil {
		return time.Time{}, uuid.Nil, wrong
	}
	return at, id, nil
}
