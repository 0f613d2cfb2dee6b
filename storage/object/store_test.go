package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

const mib = 1 << 20

// noise is n bytes that differ by seed.
func noise(n int, seed uint64) []byte {
	out := make([]byte, n)
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	_, _ = rand.NewChaCha8(key).Read(out)
	return out
}

func readAll(t *testing.T, s Store, key string, offset, length int64) ([]byte, Info) {
	t.Helper()
	r, info, err := s.Open(t.Context(), key, offset, length)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return data, info
}

func TestPutAndRead(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		sizes := map[string]int{
			"empty": 0, "one": 1, "small": 1000, "small bound": smallSize, "above small": smallSize + 1,
			"one part less one": partSize - 1, "one part": partSize, "one part and one": partSize + 1,
			"two parts": 2 * partSize, "20 MiB": 20 * mib,
		}
		for name, n := range sizes {
			for _, known := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s known=%v", name, known), func(t *testing.T) {
					key := fmt.Sprintf("put/%s-%v", strings.ReplaceAll(name, " ", "-"), known)
					want, size := noise(n, uint64(n)), int64(-1)
					if known {
						size = int64(n)
					}
					// OneByteReader at the small sizes: short reads must not matter.
					var r io.Reader = bytes.NewReader(want)
					if n <= 1000 {
						r = iotest.OneByteReader(r)
					}
					put, err := Put(t.Context(), h, key, r, size, WriteOptions{ContentType: "image/png"})
					require.NoError(t, err)
					got, info := readAll(t, h, key, 0, -1)
					require.True(t, bytes.Equal(want, got))
					require.Equal(t, int64(n), info.Size)
					stat, err := h.Stat(t.Context(), key)
					require.NoError(t, err)
					for _, i := range []Info{put, info, stat} {
						require.Equal(t, key, i.Key)
						require.Equal(t, int64(n), i.Size)
						require.Equal(t, "image/png", i.ContentType)
						require.Equal(t, stat.ETag, i.ETag)
						require.NotEmpty(t, i.ETag)
						require.WithinDuration(t, time.Now(), i.ModTime, time.Minute)
					}
					require.Zero(t, h.unfinished(t, key))
				})
			}
		}
	})
}

func TestReplaceChangesETag(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		one, err := Put(t.Context(), h, "k", strings.NewReader("one"), 3, WriteOptions{})
		require.NoError(t, err)
		two, err := Put(t.Context(), h, "k", strings.NewReader("two"), -1, WriteOptions{})
		require.NoError(t, err)
		require.NotEqual(t, one.ETag, two.ETag)
		got, info := readAll(t, h, "k", 0, -1)
		require.Equal(t, "two", string(got))
		require.Equal(t, defaultType, info.ContentType)
	})
}

func TestRanges(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		_, err := Put(t.Context(), h, "r/ten", strings.NewReader("0123456789"), 10, WriteOptions{})
		require.NoError(t, err)
		_, err = Put(t.Context(), h, "r/none", strings.NewReader(""), 0, WriteOptions{})
		require.NoError(t, err)
		for _, c := range []struct {
			key            string
			offset, length int64
			want           string
			err            error
		}{
			{"r/ten", 0, -1, "0123456789", nil},
			{"r/ten", 0, 1, "0", nil},
			{"r/ten", 3, 4, "3456", nil},
			{"r/ten", 3, -1, "3456789", nil},
			{"r/ten", 9, 1, "9", nil},
			{"r/ten", 8, 100, "89", nil},
			{"r/ten", 8, 1<<63 - 1, "89", nil},
			{"r/ten", 4, 0, "", nil},
			{"r/ten", 10, -1, "", nil},
			{"r/ten", 10, 5, "", nil},
			{"r/ten", 10, 0, "", nil},
			{"r/ten", 11, -1, "", ErrRange},
			{"r/ten", 11, 0, "", ErrRange},
			{"r/ten", -1, 5, "", ErrRange},
			{"r/ten", 0, -2, "", ErrRange},
			{"r/none", 0, -1, "", nil},
			{"r/none", 0, 10, "", nil},
			{"r/none", 1, 10, "", ErrRange},
			{"r/missing", 0, -1, "", ErrNotFound},
			{"r/missing", 0, 0, "", ErrNotFound},
			{"r/missing", 5, 5, "", ErrNotFound},
		} {
			t.Run(fmt.Sprintf("%s %d+%d", c.key, c.offset, c.length), func(t *testing.T) {
				if c.err != nil {
					_, _, err := h.Open(t.Context(), c.key, c.offset, c.length)
					require.ErrorIs(t, err, c.err)
					return
				}
				got, info := readAll(t, h, c.key, c.offset, c.length)
				require.Equal(t, c.want, string(got))
				whole, err := h.Stat(t.Context(), c.key)
				require.NoError(t, err)
				require.Equal(t, whole, info)
			})
		}
	})
}

var errCut = errors.New("the line was cut")

// TestBrokenPutLeavesNothing breaks writes at every stage, and of every kind.
func TestBrokenPutLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		type breaking struct {
			name string
			size func(n int) int64
			// reader yields n bytes and then breaks.
			reader func(data io.Reader, cancel context.CancelFunc) io.Reader
			want   error
		}
		unknown := func(int) int64 { return -1 }
		cut := func(data io.Reader, _ context.CancelFunc) io.Reader {
			return io.MultiReader(data, iotest.ErrReader(errCut))
		}
		kinds := []breaking{
			{"cut", unknown, cut, errCut},
			{"cut announced", func(n int) int64 { return int64(n) + 10 }, cut, errCut},
			{"ends early", func(n int) int64 { return int64(n) + 1 },
				func(data io.Reader, _ context.CancelFunc) io.Reader { return data }, ErrSize},
			{"goes on", func(n int) int64 { return int64(n) },
				func(data io.Reader, _ context.CancelFunc) io.Reader {
					return io.MultiReader(data, strings.NewReader("more"))
				}, ErrSize},
			{"cancelled", unknown, func(data io.Reader, cancel context.CancelFunc) io.Reader {
				return io.MultiReader(data, cancelling(cancel), strings.NewReader("more"))
			}, context.Canceled},
			{"cancelled at the end", unknown, func(data io.Reader, cancel context.CancelFunc) io.Reader {
				return io.MultiReader(data, cancelling(cancel))
			}, context.Canceled},
		}
		for _, kind := range kinds {
			for _, n := range []int{0, 100, 2 * mib, partSize, partSize + 1, 20 * mib} {
				for _, before := range []string{"", "old"} {
					t.Run(fmt.Sprintf("%s after %d over %q", kind.name, n, before), func(t *testing.T) {
						key := fmt.Sprintf("broken/%s-%d-%s.x", strings.ReplaceAll(kind.name, " ", "-"), n, before)
						if before != "" {
							_, err := Put(t.Context(), h, key, strings.NewReader(before), -1, WriteOptions{})
							require.NoError(t, err)
						}
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						_, err := Put(ctx, h, key, kind.reader(bytes.NewReader(noise(n, 1)), cancel), kind.size(n), WriteOptions{})
						require.ErrorIs(t, err, kind.want)
						require.Zero(t, h.unfinished(t, key))
						if before == "" {
							_, err = h.Stat(t.Context(), key)
							require.ErrorIs(t, err, ErrNotFound)
						} else {
							got, _ := readAll(t, h, key, 0, -1)
							require.Equal(t, before, string(got))
						}
					})
				}
			}
		}
		t.Run("cancelled before", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := Put(ctx, h, "broken/early", strings.NewReader("x"), 1, WriteOptions{})
			require.ErrorIs(t, err, context.Canceled)
			require.Zero(t, h.unfinished(t, "broken/early"))
		})
	})
}

// cancelling yields nothing and cancels.
func cancelling(cancel context.CancelFunc) io.Reader {
	return readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestConcurrentPutsOfOneKey(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		const writers = 6
		contents := make([][]byte, writers)
		var wait sync.WaitGroup
		for i := range contents {
			// Of both kinds: one request, and several parts.
			contents[i] = noise(100+i%2*(partSize+mib), uint64(i))
			wait.Go(func() {
				_, err := Put(t.Context(), h, "same/key", bytes.NewReader(contents[i]), -1, WriteOptions{})
				if err != nil {
					t.Errorf("put %d: %v", i, err)
				}
			})
		}
		wait.Wait()
		got, info := readAll(t, h, "same/key", 0, -1)
		require.Equal(t, int64(len(got)), info.Size)
		whole := false
		for _, content := range contents {
			whole = whole || bytes.Equal(content, got)
		}
		require.True(t, whole, "the object is none of those written")
		require.Zero(t, h.unfinished(t, "same/key"))
	})
}

func TestDelete(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, key := range []string{"c", "d/a", "d/b/c", "d/e"} {
			_, err := Put(t.Context(), h, key, strings.NewReader("x"), 1, WriteOptions{})
			require.NoError(t, err)
		}
		require.NoError(t, h.Delete(t.Context()))
		require.NoError(t, h.Delete(t.Context(), "missing"))
		require.NoError(t, h.Delete(t.Context(), "d/a", "missing/too", "d/b/c", "d/a"))
		require.ErrorIs(t, h.Delete(t.Context(), "c", "../x"), ErrInvalidKey)
		left, err := h.List(t.Context(), "", "", 10)
		require.NoError(t, err)
		require.Equal(t, []string{"c", "d/e"}, keysOf(left))
		// The folders may be gone: writing there again must work.
		_, err = Put(t.Context(), h, "d/b/c", strings.NewReader("x"), 1, WriteOptions{})
		require.NoError(t, err)
	})
}

func keysOf(infos []Info) []string {
	keys := []string{}
	for _, info := range infos {
		keys = append(keys, info.Key)
	}
	return keys
}

func TestInvalidKeys(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, key := range invalidKeys() {
			_, err := Put(t.Context(), h, key, strings.NewReader("x"), 1, WriteOptions{})
			require.ErrorIs(t, err, ErrInvalidKey, "%q", key)
			_, _, err = h.Open(t.Context(), key, 0, -1)
			require.ErrorIs(t, err, ErrInvalidKey, "%q", key)
			_, err = h.Stat(t.Context(), key)
			require.ErrorIs(t, err, ErrInvalidKey, "%q", key)
			require.ErrorIs(t, h.Delete(t.Context(), key), ErrInvalidKey, "%q", key)
			_, err = h.SignGet(t.Context(), key, time.Minute, SignOptions{})
			require.ErrorIs(t, err, ErrInvalidKey, "%q", key)
		}
		for _, prefix := range []string{"/", "../", "a//", ".", "a/../"} {
			_, err := h.List(t.Context(), prefix, "", 10)
			require.ErrorIs(t, err, ErrInvalidKey, "%q", prefix)
		}
	})
}

func invalidKeys() []string {
	return []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "./a", ".a", "a/.b",
		"A", "-a", "_a", "a\x00b", "a\nb", "a b", "a\\b", "a=b", "a%2e", "ä", "a~b", "a:b", "a*",
		strings.Repeat("a", maxSegment+1), strings.Repeat("a/", maxSegments) + "a",
		strings.Repeat(strings.Repeat("a", 100)+"/", 6) + "a",
	}
}

func TestList(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		// Neighbours of the separator, of shard names and of their bounds.
		keys := []string{
			"a/b", "a/bc/d", "a-b", "a.b", "a0", "aB", "a_b", "ab",
			"abcd/x", "abcd-x", "abcde-f", "abcde.f", "abcde/f", "abcde/fghij/k", "abcdef/g",
			"abcdefghij", "abcde0", "b/0199a1b2-c3d4-7000-8000-000000000001/file.png",
			"b/0199a1b2-c3d4-7000-8000-000000000002/file.png", "b/0199f/x", "b/0199", "z",
		}
		for i, key := range keys {
			_, err := Put(t.Context(), h, key, bytes.NewReader(make([]byte, i)), int64(i), WriteOptions{})
			require.NoError(t, err)
		}
		want := sorted(keys)
		for _, limit := range []int{1, 2, 7, 100, 5000} {
			got, after := []string{}, ""
			for range len(keys) + 1 {
				page, err := h.List(t.Context(), "", after, limit)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page), limit)
				got = append(got, keysOf(page)...)
				if len(page) < limit {
					break
				}
				after = page[len(page)-1].Key
			}
			require.Equal(t, want, got, "limit %d", limit)
		}
		for _, prefix := range []string{"a", "a/", "ab", "abcd", "abcde", "abcde/", "abcde/f", "abcdef", "b/0199",
			"b/0199a", "b/0199a1b2-c3d4-7000-8000-000000000001/", "zz", "n/"} {
			for _, after := range append([]string{"", "abcde/", "abcde/f0", "zzz"}, keys...) {
				after = strings.TrimSuffix(after, "/")
				expected := []string{}
				for _, key := range want {
					if strings.HasPrefix(key, prefix) && key > after {
						expected = append(expected, key)
					}
				}
				page, err := h.List(t.Context(), prefix, after, 1000)
				require.NoError(t, err)
				require.Equal(t, expected, keysOf(page), "prefix %q after %q", prefix, after)
			}
		}
		page, err := h.List(t.Context(), "abcdefg", "", 1)
		require.NoError(t, err)
		stat, err := h.Stat(t.Context(), "abcdefghij")
		require.NoError(t, err)
		require.Equal(t, stat.Size, page[0].Size)
		require.Equal(t, stat.ETag, page[0].ETag)
		require.WithinDuration(t, stat.ModTime, page[0].ModTime, time.Second)

		_, err = h.List(t.Context(), "", "", 0)
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = h.List(ctx, "", "", 10)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestBadOptions(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		for _, contentType := range []string{"a\r\nX: 1", "a\x00", "ü/b", strings.Repeat("a", 201)} {
			_, err := Put(t.Context(), h, "k", strings.NewReader("x"), 1, WriteOptions{ContentType: contentType})
			require.Error(t, err)
		}
		for _, ttl := range []time.Duration{0, -1, time.Millisecond, MaxLinkAge + 1} {
			_, err := h.SignGet(t.Context(), "k", ttl, SignOptions{})
			require.Error(t, err)
		}
	})
}

func TestCheck(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		require.NoError(t, h.Check(t.Context()))
		require.Zero(t, h.unfinished(t, ""))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, h.Check(ctx), context.Canceled)
	})
}
