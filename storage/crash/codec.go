package crash

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxInflated bounds what a stored body may inflate to: a commit has at most
// its byte limit, or one report of the largest size that a setting allows. Accept
// refuses more, so that whatever is stored can be read.
const maxInflated = 256 << 20

// codec compresses bodies with zstd at its fastest level: reports are JSON, and
// at 60 KB a slower level costs more processor time than it saves in writing.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &codec{enc: enc, dec: dec}, nil
}

func (c *codec) pack(dst, body []byte) []byte { return c.enc.EncodeAll(body, dst) }

func (c *codec) unpack(dst, packed []byte) ([]byte, error) {
	body, err := c.dec.DecodeAll(packed, dst)
	if err != nil {
		return nil, fmt.Errorf("inflate a stored body: %w", err)
	}
	return body, nil
}
