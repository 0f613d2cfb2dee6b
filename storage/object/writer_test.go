package object

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// writerSizes reach every way in which an object is written: one request, one
// full buffer, several parts.
var writerSizes = []int{0, 1, partSize - 1, partSize, partSize + 1, 20 * mib}

// create begins a write.
func create(t *testing.T, h *harness, key string, size int64) Writer {
	t.Helper()
	w, err := h.Create(t.Context(), key, size, WriteOptions{ContentType: "image/png"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Abort()) })
	return w
}

// writeAll writes content in pieces of a size that divides no part.
func writeAll(t *testing.T, w Writer, content []byte) {
	t.Helper()
	for len(content) > 0 {
		n, err := w.Write(content[:min(len(content), 3*mib+1)])
		require.NoError(t, err)
		content = content[n:]
	}
}

func TestObjectAppearsWithCommit(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, n := range writerSizes {
			for _, before := range []string{"", "old"} {
				t.Run(fmt.Sprintf("%d over %q", n, before), func(t *testing.T) {
					key := fmt.Sprintf("commit/%d-%s.x", n, before)
					if before != "" {
						store(t, h, key, before, "")
					}
					want := noise(n, uint64(n))
					w := create(t, h, key, -1)
					writeAll(t, w, want)
					requireContent(t, h, key, before)
					info, err := w.Commit()
					require.NoError(t, err)
					got, found := readAll(t, h, key, 0, -1)
					require.True(t, bytes.Equal(want, got))
					require.Equal(t, int64(n), info.Size)
					require.Equal(t, "image/png", info.ContentType)
					require.Equal(t, found.ETag, info.ETag)
					require.Equal(t, key, info.Key)

					// The writer has ended.
					require.NoError(t, w.Abort())
					_, err = w.Commit()
					require.ErrorIs(t, err, errEnded)
					_, err = w.Write([]byte("x"))
					require.ErrorIs(t, err, errEnded)
					_, err = h.Stat(t.Context(), key)
					require.NoError(t, err)
					require.Zero(t, h.unfinished(t, key))
				})
			}
		}
	})
}

// requireContent expects an object, or none when want is "".
func requireContent(t *testing.T, h *harness, key, want string) {
	t.Helper()
	if want == "" {
		_, err := h.Stat(t.Context(), key)
		require.ErrorIs(t, err, ErrNotFound)
		return
	}
	got, _ := readAll(t, h, key, 0, -1)
	require.Equal(t, want, string(got))
}

func TestAbortLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, n := range writerSizes {
			for _, before := range []string{"", "old"} {
				for _, cancelled := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d over %q, cancelled=%v", n, before, cancelled), func(t *testing.T) {
						key := fmt.Sprintf("abort/%d-%s-%v.x", n, before, cancelled)
						if before != "" {
							store(t, h, key, before, "")
						}
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						w, err := h.Create(ctx, key, -1, WriteOptions{})
						require.NoError(t, err)
						writeAll(t, w, noise(n, 1))
						if cancelled {
							cancel()
							_, err := w.Write([]byte("x"))
							require.ErrorIs(t, err, context.Canceled)
						}
						require.NoError(t, w.Abort())
						require.NoError(t, w.Abort())
						_, err = w.Write([]byte("x"))
						require.ErrorIs(t, err, errEnded)
						_, err = w.Commit()
						require.ErrorIs(t, err, errEnded)
						requireContent(t, h, key, before)
						require.Zero(t, h.unfinished(t, key))
					})
				}
			}
		}
	})
}

func TestFailedCommitLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, n := range writerSizes {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				key := fmt.Sprintf("failed/%d", n)
				for name, fail := range map[string]func() error{
					"cancelled": func() error {
						ctx, cancel := context.WithCancel(t.Context())
						w, err := h.Create(ctx, key, -1, WriteOptions{})
						require.NoError(t, err)
						writeAll(t, w, noise(n, 1))
						cancel()
						_, err = w.Commit()
						require.ErrorIs(t, err, context.Canceled)
						return w.Abort()
					},
					"too short": func() error {
						w := create(t, h, key, int64(n)+1)
						writeAll(t, w, noise(n, 1))
						_, err := w.Commit()
						require.ErrorIs(t, err, ErrSize)
						return w.Abort()
					},
					"too long": func() error {
						w := create(t, h, key, int64(n))
						writeAll(t, w, noise(n, 1))
						for range 2 {
							_, err := w.Write([]byte("x"))
							require.ErrorIs(t, err, ErrSize)
						}
						_, err := w.Commit()
						require.ErrorIs(t, err, ErrSize)
						return w.Abort()
					},
				} {
					require.NoError(t, fail(), name)
					requireContent(t, h, key, "")
					require.Zero(t, h.unfinished(t, key), name)
				}
			})
		}
	})
}

// TestWritersOfOneKey lets two overlap: the one that commits last wins.
func TestWritersOfOneKey(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		first, second := create(t, h, "two", -1), create(t, h, "two", -1)
		var wait sync.WaitGroup
		for i, w := range []Writer{first, second} {
			wait.Go(func() {
				if _, err := w.Write(noise(partSize+i, uint64(i))); err != nil {
					t.Errorf("write: %v", err)
				}
			})
		}
		wait.Wait()
		for i, w := range []Writer{second, first} {
			_, err := w.Commit()
			require.NoError(t, err)
			got, _ := readAll(t, h, "two", 0, -1)
			require.Len(t, got, partSize+1-i)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, key := range invalidKeys() {
			_, err := h.Create(t.Context(), key, -1, WriteOptions{})
			require.ErrorIs(t, err, ErrInvalidKey, "%q", key)
		}
		_, err := h.Create(t.Context(), "k", -1, WriteOptions{ContentType: "a\r\nX: 1"})
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = h.Create(ctx, "k", -1, WriteOptions{})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, h.unfinished(t, ""))
	})
}

// TestPanicOfAReader leaves neither a write nor a buffer behind.
func TestPanicOfAReader(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		content := bytes.NewReader(noise(partSize+mib, 1))
		require.PanicsWithValue(t, "reader", func() {
			_, _ = Put(t.Context(), h, "k", readerFunc(func(p []byte) (int, error) {
				if content.Len() == 0 {
					panic("reader")
				}
				return content.Read(p)
			}), -1, WriteOptions{})
		})
		requireContent(t, h, "k", "")
		require.Zero(t, h.unfinished(t, "k"))
	})
}
