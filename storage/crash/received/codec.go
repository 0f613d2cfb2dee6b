package received

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxInflated bounds what a stored body may inflate to: a commit has at most
// its byte limit, or one report of the largest size that a setting allows. Accept
// refuses more, so that whatever is stored can be read.
const maxInflated = 256 << 20

// Codec compresses bodies with zstd at its fastest level: reports are JSON, and
// at 60 KB a slower level costs more processor time than it saves in writing.
type Codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// NewCodec returns a codec, which many goroutines may use at once.
func NewCodec() (*Codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &Codec{enc: enc, dec: dec}, nil
}

// Pack appends a body, compressed, to dst.
func (c *Codec) Pack(dst, body []byte) []byte { return c.enc.EncodeAll(body, dst) }

// Unpack appends what Pack compressed to dst.
func (c *Codec) Unpack(dst, packed []byte) ([]byte, error) {
	body, err := c.dec.DecodeAll(packed, dst)
	if err != nil {
		return nil, fmt.Errorf("inflate a stored body: %w", err)
	}
	return body, nil
}
