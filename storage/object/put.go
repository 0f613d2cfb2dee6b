package object

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// copyBuffer is the most that Put reads at once: each Put under way has a buffer
// of this size beside those of the store.
const copyBuffer = 64 << 10

// Put stores what r yields under key. size is the number of bytes, or -1 when it
// is not known. Put does not close r, and returns only after its last Read has: a
// blocked reader must be unblocked by its owner when ctx ends. It begins to read
// when the store has room for the object.
func Put(ctx context.Context, s Store, key string, r io.Reader, size int64, opts WriteOptions) (Info, error) {
	w, err := s.Create(ctx, key, size, opts)
	if err != nil {
		return Info{}, err
	}
	defer w.Abort() // also when r panics
	if err := copyAll(ctx, w, r, size); err != nil {
		return Info{}, errors.Join(err, w.Abort())
	}
	return w.Commit()
}

// copyAll looks at ctx between reads. It reads one byte more than size, so that a
// reader that goes beyond it is noticed.
func copyAll(ctx context.Context, w Writer, r io.Reader, size int64) error {
	room := copyBuffer
	if 0 <= size && size < copyBuffer {
		room = int(size) + 1
	}
	buf := make([]byte, room)
	for idle := 0; idle < 100; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("put object: %w", err)
		}
		n, readErr := r.Read(buf)
		if n < 0 || n > len(buf) {
			return errors.New("put object: reader returned an impossible count")
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("put object: read: %w", readErr)
		}
		idle++
		if n > 0 {
			idle = 0
		}
	}
	return fmt.Errorf("put object: read: %w", io.ErrNoProgress)
}
