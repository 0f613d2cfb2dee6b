package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const partSize = 256 << 10

// store takes files in parts as the server does, and counts what came.
type store struct {
	*httptest.Server
	mu      sync.Mutex
	uploads map[string]*stored // by id
	keys    map[string]string  // ids
	builds  map[string]string  // by key: the digest of the file
	puts    map[int]int        // parts that were sent, by number
	bytes   atomic.Int64       // of parts that arrived
	open    atomic.Int64
	most    atomic.Int64
	silent  bool // it says no checksums, as servers did before
	// fault may end a request for a part; after is how many bytes of it have come.
	fault atomic.Pointer[func(number int, after int64) bool]
}

type stored struct {
	partUpload
	content map[int][]byte
}

func newStore(t *testing.T) *store {
	s := &store{uploads: map[string]*stored{}, keys: map[string]string{}, builds: map[string]string{}, puts: map[int]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v3/uploads", s.begin)
	mux.HandleFunc("GET /api/v3/uploads/{id}", s.get)
	mux.HandleFunc("DELETE /api/v3/uploads/{id}", s.remove)
	mux.HandleFunc("PUT /api/v3/uploads/{id}/parts/{number}", s.put)
	mux.HandleFunc("POST /api/upload", s.upload)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *store) client(t *testing.T) *Client {
	t.Helper()
	c, err := New(Config{Server: s.URL, Credential: Key("k"), HTTP: &http.Transport{}, RetryFor: 10 * time.Second})
	require.NoError(t, err)
	return c
}

func (s *store) breaks(when func(number int, after int64) bool) { s.fault.Store(&when) }

// sent is how often a part was sent.
func (s *store) sent(number int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.puts[number]
}

// numbers are the parts of the open upload that are stored.
func (s *store) numbers() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, up := range s.uploads {
		if up.State == "open" {
			return slices.Collect(maps.Keys(up.content))
		}
	}
	return nil
}

func reply(w http.ResponseWriter, status int, of any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(of)
}

func refuse(w http.ResponseWriter, status int, text string) {
	reply(w, status, map[string]string{"error": text})
}

func (s *store) begin(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if id := s.keys[key]; s.uploads[id] != nil {
		reply(w, http.StatusOK, map[string]any{"upload": s.uploads[id].partUpload})
		return
	}
	up := &stored{content: map[int][]byte{}}
	_ = json.NewDecoder(r.Body).Decode(&up.partUpload)
	up.ID, up.PartSize, up.State, up.Parts = fmt.Sprint("u", len(s.keys)), partSize, "open", []partRow{}
	s.uploads[up.ID], s.keys[key] = up, up.ID
	reply(w, http.StatusCreated, map[string]any{"upload": up.partUpload})
}

func (s *store) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if up := s.uploads[r.PathValue("id")]; up != nil {
		reply(w, http.StatusOK, map[string]any{"upload": up.partUpload})
		return
	}
	refuse(w, http.StatusNotFound, "no such upload")
}

func (s *store) remove(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uploads, r.PathValue("id"))
	w.WriteHeader(http.StatusNoContent)
}

func (s *store) put(w http.ResponseWriter, r *http.Request) {
	s.most.Store(max(s.most.Load(), s.open.Add(1)))
	defer s.open.Add(-1)
	number, _ := strconv.Atoi(r.PathValue("number"))
	s.mu.Lock()
	s.puts[number]++
	s.mu.Unlock()
	var content bytes.Buffer
	for buf := make([]byte, 16<<10); ; {
		n, err := r.Body.Read(buf)
		content.Write(buf[:n])
		s.bytes.Add(int64(n))
		if fault := s.fault.Load(); fault != nil && (*fault)(number, int64(content.Len())) {
			panic(http.ErrAbortHandler) // the connection is cut
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, "the part ended early")
			return
		}
	}
	sum := sha256.Sum256(content.Bytes())
	row := partRow{Number: number, Size: int64(content.Len()), SHA256: hex.EncodeToString(sum[:])}
	answered := row
	if !s.silent {
		answered.CRC32C = fmt.Sprintf("%08x", crc32.Checksum(content.Bytes(), castagnoli))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	up := s.uploads[r.PathValue("id")]
	switch {
	case up == nil:
		refuse(w, http.StatusNotFound, "no such upload")
	case up.content[number] != nil && !bytes.Equal(up.content[number], content.Bytes()):
		refuse(w, http.StatusConflict, "the part is there with other bytes")
	default:
		if up.content[number] == nil {
			up.content[number], up.Parts = content.Bytes(), append(up.Parts, row)
		}
		reply(w, http.StatusOK, map[string]any{"part": answered})
	}
}

func (s *store) upload(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseMultipartForm(1 << 20)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	up := s.uploads[r.FormValue("upload_id")]
	switch {
	case s.builds[key] != "":
	case up == nil:
		refuse(w, http.StatusNotFound, "no such upload")
		return
	case int64(len(up.content)) < (up.FileSize+partSize-1)/partSize:
		refuse(w, http.StatusConflict, "parts are missing")
		return
	default:
		h := sha256.New()
		for n := 1; n <= len(up.content); n++ {
			h.Write(up.content[n])
		}
		up.SHA256, up.State = hex.EncodeToString(h.Sum(nil)), "used"
		s.builds[key] = up.SHA256
	}
	reply(w, http.StatusOK, map[string]any{"build_id": "1", "sha256": s.builds[key]})
}

// random writes a file of parts and a bit.
func random(t *testing.T, parts int) (f *File, digest string) {
	t.Helper()
	content := make([]byte, parts*partSize+1000)
	source := rand.NewChaCha8([32]byte{byte(parts)})
	_, _ = source.Read(content)
	path := filepath.Join(t.TempDir(), "app.apk")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := OpenFile(path, "")
	require.NoError(t, err)
	sum := sha256.Sum256(content)
	return f, hex.EncodeToString(sum[:])
}

func TestPartsAreSentOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 8)
	var sent atomic.Int64
	how := Sending{Key: "k1", Threshold: 1, Count: func(n int64) { sent.Add(n) }}
	up, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, how)
	require.NoError(t, err)
	require.Equal(t, digest, up.SHA256)
	require.Equal(t, f.Size, s.bytes.Load())
	require.Greater(t, sent.Load(), f.Size-1)
	require.LessOrEqual(t, s.most.Load(), int64(unanswered), "the bytes of one part at a time: no more can be lost")

	var had int64
	how.Have = func(n int64) { had += n }
	again, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, how)
	require.NoError(t, err)
	require.Equal(t, up.SHA256, again.SHA256)
	require.Equal(t, f.Size, had, "the same job again sends nothing")
	require.Equal(t, f.Size, s.bytes.Load())
	require.Len(t, s.builds, 1)

	how.Key = ""
	_, err = s.client(t).Upload(t.Context(), NewBuild{File: f}, how)
	require.NoError(t, err)
	_, err = s.client(t).Upload(t.Context(), NewBuild{File: f}, how)
	require.NoError(t, err)
	require.Len(t, s.builds, 3, "without a key a person means another build")
}

// Without a key too, a file that was uploaded before is resumed where its next upload was.
func TestAFileThatWasUsedIsResumed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 6)
	for range 5 {
		_, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, Sending{Threshold: 1})
		require.NoError(t, err)
	}
	require.Len(t, s.builds, 5)
	s.bytes.Store(0)
	ctx, kill := context.WithCancelCause(t.Context())
	killed := errors.New("killed")
	s.breaks(func(number int, _ int64) bool {
		if number == 5 {
			kill(killed)
		}
		return false
	})
	_, err := s.client(t).Upload(ctx, NewBuild{File: f}, Sending{Threshold: 1})
	require.ErrorIs(t, err, killed)
	s.fault.Store(nil)
	// The second process has it as another file of the same place, as a folder that is packed again.
	content, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "app.apk")
	require.NoError(t, os.WriteFile(copied, content, 0o600))
	again, err := OpenFile(copied, "")
	require.NoError(t, err)
	again.Place = f.Path
	up, err := s.client(t).Upload(t.Context(), NewBuild{File: again}, Sending{Threshold: 1})
	require.NoError(t, err)
	require.Equal(t, digest, up.SHA256)
	require.Less(t, s.bytes.Load(), f.Size+2*partSize)
	require.Len(t, s.builds, 6)
}

// Two files that differ by a byte in the middle of a part are two, and under one key the server's
// answer says so.
func TestAnotherFileUnderAKey(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, _ := random(t, 20)
	_, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, Sending{Key: "k", Threshold: 1})
	require.NoError(t, err)
	content, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	content[5*partSize+7]++
	require.NoError(t, os.WriteFile(f.Path, content, 0o600))
	other, err := OpenFile(f.Path, "")
	require.NoError(t, err)
	_, err = s.client(t).Upload(t.Context(), NewBuild{File: other}, Sending{Key: "k", Threshold: 1})
	require.True(t, Is(err, Conflict), "%v", err)
	require.ErrorContains(t, err, "the server has another file under this Idempotency-Key")
}

// Two jobs send files of one name, size and samples: each gets its own build.
func TestFilesThatDifferBetweenTheSamples(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 20)
	content, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	content[5*partSize+7]++
	path := filepath.Join(t.TempDir(), "app.apk")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	other, err := OpenFile(path, "")
	require.NoError(t, err)
	one, err := f.sample()
	require.NoError(t, err)
	two, err := other.sample()
	require.NoError(t, err)
	require.Equal(t, one, two)
	for range 2 { // again: the same builds
		for _, file := range []*File{f, other} {
			up, err := s.client(t).Upload(t.Context(), NewBuild{File: file}, Sending{Job: "job", Threshold: 1})
			require.NoError(t, err)
			want, err := file.SHA256()
			require.NoError(t, err)
			require.Equal(t, want, up.SHA256)
			require.Equal(t, file == f, up.SHA256 == digest)
		}
	}
	require.Len(t, s.builds, 2)
}

// Bytes that arrive as others are sent again, whether the server names a checksum or a digest.
func TestBytesThatAreChangedOnTheirWay(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"checksum": false, "digest": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.silent = silent
			f, digest := random(t, 4)
			c := s.client(t)
			var once sync.Once
			c.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/parts/2") {
					once.Do(func() { r.Body = &changing{r.Body} })
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			up, err := c.Upload(t.Context(), NewBuild{File: f}, Sending{Key: "k", Threshold: 1})
			require.NoError(t, err)
			require.Equal(t, digest, up.SHA256)
			require.Equal(t, 2, s.sent(2))
		})
	}
}

// changing changes the first byte that is read.
type changing struct{ io.ReadCloser }

func (c *changing) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if n > 0 {
		p[0] ^= 1
	}
	return n, err
}

func TestAConnectionThatIsCutCostsAPart(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 6)
	var cuts atomic.Int64
	s.breaks(func(number int, after int64) bool { return number == 4 && after > partSize/2 && cuts.Add(1) <= 2 })
	var sent atomic.Int64
	up, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, Sending{Key: "k", Threshold: 1, Count: func(n int64) { sent.Add(n) }})
	require.NoError(t, err)
	require.Equal(t, digest, up.SHA256)
	require.Equal(t, 3, s.sent(4))
	require.Less(t, s.bytes.Load(), f.Size+2*partSize)
	require.Less(t, sent.Load(), f.Size+10_000, "what was sent in vain was taken back from the progress")
}

// A job that is killed at 60 % goes on where it was: what was stored is not sent again.
func TestAKilledJobGoesOn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 10)
	for round := range 3 {
		key := fmt.Sprint("killed", round)
		s.bytes.Store(0)
		s.mu.Lock()
		clear(s.puts)
		s.mu.Unlock()
		ctx, kill := context.WithCancelCause(t.Context())
		killed := errors.New("killed")
		var there []int // the parts that the server had stored by then
		var once sync.Once
		s.breaks(func(number int, after int64) bool {
			if number == 7 && after > int64(round)*partSize/4 {
				once.Do(func() { there = s.numbers(); kill(killed) })
			}
			return false
		})
		_, err := s.client(t).Upload(ctx, NewBuild{File: f}, Sending{Key: key, Threshold: 1})
		require.ErrorIs(t, err, killed)
		s.fault.Store(nil)
		require.GreaterOrEqual(t, len(there), 5, "at most two of seven were on their way")
		up, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, Sending{Key: key, Threshold: 1})
		require.NoError(t, err)
		require.Equal(t, digest, up.SHA256)
		twice := 0
		for number := 1; number <= 11; number++ {
			require.LessOrEqual(t, s.sent(number), 2)
			twice += s.sent(number) - 1
		}
		for _, number := range there {
			require.Equal(t, 1, s.sent(number), "part %d was stored", number)
		}
		require.LessOrEqual(t, twice, unanswered)
		require.LessOrEqual(t, s.bytes.Load(), f.Size+unanswered*partSize)
	}
}

func TestTwoJobsWithOneKey(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 8)
	var jobs sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		jobs.Go(func() {
			var up *Uploaded
			if up, errs[i] = s.client(t).Upload(t.Context(), NewBuild{File: f},
				Sending{Key: "same", Threshold: 1}); errs[i] == nil && up.SHA256 != digest {
				errs[i] = errors.New("another file")
			}
		})
	}
	jobs.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Len(t, s.builds, 1, "one build")
}

func TestOtherBytesUnderAKeyBeginAnew(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 4)
	c := s.client(t)
	_, err := c.SendParts(t.Context(), f, Sending{Key: "k"})
	require.NoError(t, err)
	up := s.uploads["u0"]
	up.Parts[1].SHA256 = strings.Repeat("0", 64) // as if another version of the file had begun
	done, err := c.Upload(t.Context(), NewBuild{File: f}, Sending{Key: "k", Threshold: 1})
	require.NoError(t, err)
	require.Equal(t, digest, done.SHA256)
	require.True(t, s.uploads["u0"] == nil, "the other one is gone")
}

func TestPartsThatTheServerLostAreSentAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, digest := random(t, 4)
	c := s.client(t)
	var lost sync.Once
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/api/upload" {
			lost.Do(func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.uploads["u0"].content, 2)
				s.uploads["u0"].Parts = slices.DeleteFunc(s.uploads["u0"].Parts, func(p partRow) bool { return p.Number == 2 })
			})
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	c.http.Transport = transport
	up, err := c.Upload(t.Context(), NewBuild{File: f}, Sending{Key: "k", Threshold: 1})
	require.NoError(t, err)
	require.Equal(t, digest, up.SHA256)
	require.Equal(t, 2, s.sent(2))
	require.Equal(t, 1, s.sent(3))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAFileThatChangesIsNoticed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, _ := random(t, 4)
	var once sync.Once
	s.breaks(func(int, int64) bool {
		once.Do(func() {
			file, err := os.OpenFile(f.Path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, _ = file.WriteString("more")
				_ = file.Close()
			}
		})
		return false
	})
	_, err := s.client(t).Upload(t.Context(), NewBuild{File: f}, Sending{Key: "k", Threshold: 1})
	require.ErrorContains(t, err, "was changed while it was sent")
	require.True(t, Is(err, Misused))
	require.Empty(t, s.builds)
}

func TestFilesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.apk")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for path, want := range map[string]string{dir: "is a folder", empty: "is empty: it has 0 bytes",
		filepath.Join(dir, "none"): "no such file"} {
		_, err := OpenFile(path, "")
		require.ErrorContains(t, err, want)
		require.True(t, Is(err, Misused))
	}
}
