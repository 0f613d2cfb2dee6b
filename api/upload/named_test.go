package upload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/object"
	quotas "github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/resumable"
)

// sender is a CI job that sends a file in parts.
type sender struct {
	*world
	t        testing.TB
	key      string // API key
	job      string // Idempotency-Key
	data     []byte
	id       string
	partSize int
}

func (w *world) sender(t testing.TB, job string, data []byte) *sender {
	return &sender{world: w, t: t, key: w.boot.Owner.APIKey, job: job, data: data}
}

// bothStores runs a test with parts of 8 MiB on a folder and on MinIO.
func bothStores(t *testing.T, change func(*Config), test func(*testing.T, *world)) {
	t.Parallel()
	for name, minio := range map[string]bool{"folder": false, "MinIO": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, minio, func(c *Config) {
				c.LeastPart = object.PartUnit
				if change != nil {
					change(c)
				}
			}))
		})
	}
}

func (s *sender) call(method, path string, body io.Reader, length int64, headers map[string]string) (int, map[string]any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	require.NoError(s.t, err)
	r.ContentLength = length
	r.Header.Set("X-API-Key", s.key)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	var out map[string]any
	if len(raw) > 0 {
		require.NoError(s.t, json.Unmarshal(raw, &out), string(raw))
	}
	return res.StatusCode, out
}

// begin begins the upload and expects a status; more are further members.
func (s *sender) begin(want int, more string) map[string]any {
	s.t.Helper()
	body := fmt.Sprintf(`{"file_name":"Demo.ipa","file_size":%d%s}`, len(s.data), more)
	headers := map[string]string{"Content-Type": "application/json"}
	if s.job != "" {
		headers["Idempotency-Key"] = s.job
	}
	status, out := s.call(http.MethodPost, "/api/v3/uploads", strings.NewReader(body), int64(len(body)), headers)
	require.Equal(s.t, want, status, out)
	u, _ := out["upload"].(map[string]any)
	if u != nil {
		s.id, s.partSize = u["id"].(string), int(u["part_size"].(float64))
	} else {
		u = out
	}
	return u
}

func (s *sender) count() int { return (len(s.data) + s.partSize - 1) / s.partSize }

func (s *sender) bytes(n int) []byte {
	return s.data[(n-1)*s.partSize : min(n*s.partSize, len(s.data))]
}

func (s *sender) path(n int) string { return fmt.Sprintf("/api/v3/uploads/%s/parts/%d", s.id, n) }

func (s *sender) put(n int, data []byte, headers map[string]string) (int, map[string]any) {
	s.t.Helper()
	return s.call(http.MethodPut, s.path(n), bytes.NewReader(data), int64(len(data)), headers)
}

// send sends parts, which must be taken.
func (s *sender) send(numbers ...int) {
	s.t.Helper()
	for _, n := range numbers {
		sum := sha256.Sum256(s.bytes(n))
		text := hex.EncodeToString(sum[:])
		status, out := s.put(n, s.bytes(n), map[string]string{"X-Part-SHA256": strings.ToUpper(text)})
		require.Equal(s.t, 200, status, out)
		require.Equal(s.t, map[string]any{"number": float64(n), "size": float64(len(s.bytes(n))), "sha256": text,
			"crc32c": fmt.Sprintf("%08x", crc32.Checksum(s.bytes(n), crc32.MakeTable(crc32.Castagnoli)))}, out["part"])
	}
}

func (s *sender) sum() string {
	sum := sha256.Sum256(s.data)
	return hex.EncodeToString(sum[:])
}

// build completes the upload as a build.
func (s *sender) build(fields ...field) (int, map[string]any) {
	s.t.Helper()
	headers := map[string]string{}
	if s.job != "" {
		headers["Idempotency-Key"] = s.job
	}
	return s.post("/api/v3/builds/upload", headers, append([]field{textField("api_key", s.key), textField("upload_id", s.id)}, fields...)...)
}

// bigIPA is an app of some MiB above three parts.
func bigIPA(version string) []byte {
	return ipa("com.example.demo", version, noise(3*object.PartUnit+1000, 9))
}

// A job is killed in its third part; the next one goes on where it was, with the same key,
// and a build has the file as a whole.
func TestUploadInPartsResumes(t *testing.T) {
	bothStores(t, nil, func(t *testing.T, w *world) {
		s := w.sender(t, "job 1", bigIPA("1"))
		require.Empty(t, s.begin(201, "")["parts"])
		s.send(1, 2)
		r, feed := io.Pipe()
		ctx, kill := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.url+s.path(3), r)
		require.NoError(t, err)
		req.ContentLength = int64(len(s.bytes(3)))
		req.Header.Set("X-API-Key", s.key)
		done := make(chan error, 1)
		go func() {
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				_ = res.Body.Close()
			}
			done <- err
		}()
		_, err = feed.Write(s.bytes(3)[:len(s.bytes(3))/2])
		require.NoError(t, err)
		require.Eventually(t, func() bool { return w.h.held(w.boot.Organization.ID) == 1 }, waitFor, tick)
		kill()
		_ = feed.CloseWithError(io.ErrClosedPipe)
		require.Error(t, <-done)
		require.Eventually(t, w.h.idle, waitFor, tick)

		next := w.sender(t, "job 1", s.data)
		parts := next.begin(200, "")["parts"].([]any)
		require.Len(t, parts, 2, "no more than one part is sent twice")
		require.Equal(t, s.id, next.id)
		next.send(3, 4)
		require.Equal(t, 4, next.count())
		require.Equal(t, 4, w.count(`select count(*) from upload_parts where sum_after <> ''`))
		require.Equal(t, s.sum(), w.text(`select sum_after from upload_parts where number = 4`), "in order nothing is left to read")
		status, out := next.build(textField("release_notes", "resumed"))
		require.Equal(t, 201, status, out)
		build := out["build"].(map[string]any)
		require.Equal(t, s.sum(), w.text(`select f.sha256 from builds b join files f on f.id = b.file_id where b.release_notes = 'resumed'`))
		content, info, err := w.store.Open(t.Context(), w.text(`select f.object_key from builds b join files f on f.id = b.file_id`), 0, -1)
		require.NoError(t, err)
		defer content.Close()
		stored, err := io.ReadAll(content)
		require.NoError(t, err)
		require.EqualValues(t, len(s.data), info.Size)
		require.True(t, bytes.Equal(s.data, stored))
		require.Equal(t, "Demo.ipa", w.text(`select file_name from builds`))

		// The same once more, by the key and by the upload alone, is the same build.
		status, out = next.build()
		require.Equal(t, 201, status, out)
		require.Equal(t, build["id"], out["build"].(map[string]any)["id"])
		require.NotContains(t, fmt.Sprint(out["warnings"]), "Idempotency-Key")
		next.job = ""
		status, out = next.build()
		require.Equal(t, 201, status, out)
		require.Equal(t, build["id"], out["build"].(map[string]any)["id"])
		require.NotContains(t, fmt.Sprint(out["warnings"]), "Idempotency-Key")
		status, out = w.post("/api/upload", nil, w.key(), textField("upload_id", s.id))
		require.Equal(t, 200, status, out)
		require.Equal(t, fmt.Sprint(build["id"]), out["build_id"])
		require.Equal(t, 1, w.count(`select count(*) from builds`))
		status, out = next.call(http.MethodGet, "/api/v3/uploads/"+s.id, nil, 0, nil)
		require.Equal(t, 200, status)
		require.Equal(t, "used", out["upload"].(map[string]any)["state"])
		require.Equal(t, build["id"], out["upload"].(map[string]any)["build_id"])
		next.send(2) // a part that is there
		status, _ = next.call(http.MethodDelete, "/api/v3/uploads/"+s.id, nil, 0, nil)
		require.Equal(t, 204, status)
		_, err = w.store.Stat(t.Context(), w.text(`select f.object_key from builds b join files f on f.id = b.file_id`))
		require.NoError(t, err, "the build keeps its file")
		require.Zero(t, w.unfinished())
	})
}

// Parts in any order and some twice, two jobs at once with one key: one build of the right
// bytes.
func TestTwoJobsWithOneKey(t *testing.T) {
	bothStores(t, nil, func(t *testing.T, w *world) {
		data := bigIPA("2")
		ids := make([]any, 2)
		var wait sync.WaitGroup
		for i := range ids {
			wait.Go(func() {
				s := w.sender(t, "job", data)
				body := fmt.Sprintf(`{"file_name":"Demo.ipa","file_size":%d,"sha256":%q}`, len(data), s.sum())
				_, out := s.call(http.MethodPost, "/api/v3/uploads", strings.NewReader(body), int64(len(body)),
					map[string]string{"Content-Type": "application/json", "Idempotency-Key": s.job})
				u := out["upload"].(map[string]any)
				s.id, s.partSize = u["id"].(string), int(u["part_size"].(float64))
				for _, n := range [][]int{{4, 2, 1, 3}, {4, 1, 2, 3}}[i] {
					for {
						status, out := s.put(n, s.bytes(n), nil)
						if status == 409 { // the other job is at it, in a folder, or has just joined the parts
							require.Contains(t, out["error"], "try again")
							continue
						}
						require.Equal(t, 200, status, out)
						break
					}
				}
				for {
					status, out := s.build()
					if status == 409 {
						require.Contains(t, out["error"], "try again")
						continue
					}
					require.Equal(t, 201, status, out)
					ids[i] = out["build"].(map[string]any)["id"]
					return
				}
			})
		}
		wait.Wait()
		require.NotNil(t, ids[0])
		require.Equal(t, ids[0], ids[1])
		require.Equal(t, 1, w.count(`select count(*) from builds`))
		require.Equal(t, 1, w.count(`select count(*) from resumable_uploads`))
		require.Equal(t, w.sender(t, "", data).sum(), w.text(`select f.sha256 from builds b join files f on f.id = b.file_id`))
		require.Zero(t, w.unfinished())
		require.Len(t, w.objects(), 2, "the file and its icon")
	})
}

func TestPartsThatAreRefused(t *testing.T) {
	bothStores(t, func(c *Config) { c.MaxBytes, c.MaxSymbols = 5*object.PartUnit, 2*object.PartUnit }, func(t *testing.T, w *world) {
		s := w.sender(t, "job", bigIPA("3"))
		s.begin(201, "")
		for name, row := range map[string]struct {
			number  int
			data    []byte
			headers map[string]string
			status  int
			text    string
		}{
			"too short":     {1, s.bytes(1)[1:], nil, 400, "part 1 has 8388608 bytes"},
			"too long":      {4, append(s.bytes(4), 1), nil, 400, "part 4 has"},
			"empty":         {1, nil, nil, 400, "part 1 has"},
			"no such part":  {5, s.bytes(1), nil, 400, "from 1 to 4"},
			"part 0":        {0, s.bytes(1), nil, 400, "from 1 to 4"},
			"wrong digest":  {1, s.bytes(1), map[string]string{"X-Part-SHA256": strings.Repeat("0", 64)}, 400, "the part that came has"},
			"broken digest": {1, s.bytes(1), map[string]string{"X-Part-SHA256": "abc"}, 400, "64 digits"},
		} {
			status, out := s.put(row.number, row.data, row.headers)
			require.Equal(t, row.status, status, name)
			require.Contains(t, out["error"], row.text, name)
		}
		require.Zero(t, w.count(`select count(*) from upload_parts`))
		s.send(2)
		status, out := s.build()
		require.Equal(t, 409, status)
		require.Equal(t, "parts 1, 3 to 4 are missing", out["error"])
		status, out = w.post("/api/upload", nil, w.key(), textField("upload_id", s.id))
		require.Equal(t, 400, status, out)
		status, out = s.put(2, noise(object.PartUnit, 44), nil)
		require.Equal(t, 409, status)
		require.Contains(t, out["error"], "other bytes")
		// The broken writes of another sender have not harmed what is there.
		s.send(1, 3, 4, 2)

		// In place of a file, not beside one; not for symbols beyond their bound.
		status, _ = s.build(file("file", "a.ipa", ipa("com.example.demo", "1")))
		require.Equal(t, 400, status)
		status, out = w.post("/api/v3/symbols", nil, w.key(), textField("upload_id", s.id))
		require.Equal(t, 413, status, out)
		status, out = w.post("/api/v3/builds/upload", nil, w.key(), textField("upload_id", "not an id"))
		require.Equal(t, 404, status, out)

		// What is refused for its other fields leaves the file for another form.
		status, _ = s.build(textField("project_id", "987654"))
		require.Equal(t, 404, status)
		require.Equal(t, "complete", w.text(`select state from resumable_uploads`))
		status, out = s.build()
		require.Equal(t, 201, status, out)

		for _, body := range []string{`{"file_name":"a","file_size":0}`, `{"file_name":"","file_size":1}`,
			`{"file_name":"a","file_size":1,"sha256":"x"}`, `{"file_size":1}`} {
			status, _ := s.call(http.MethodPost, "/api/v3/uploads", strings.NewReader(body), int64(len(body)),
				map[string]string{"Content-Type": "application/json"})
			require.Equal(t, 400, status, body)
		}
		large := fmt.Sprintf(`{"file_name":"a","file_size":%d}`, 5*object.PartUnit+1)
		status, out = s.call(http.MethodPost, "/api/v3/uploads", strings.NewReader(large), int64(len(large)),
			map[string]string{"Content-Type": "application/json"})
		require.Equal(t, 413, status, out)
		s.data = s.data[1:]
		require.Contains(t, s.begin(409, "")["error"], "Idempotency-Key")
	})
}

// Nobody but its user finds an upload: neither another organization nor a colleague.
func TestUploadInPartsIsItsUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(c *Config) { c.LeastPart = object.PartUnit })
	_, colleague := w.user("colleague@example.com", account.Member)
	s := w.sender(t, "job", ipa("com.example.demo", "1"))
	s.begin(201, "")
	s.send(1)
	for name, key := range map[string]string{"organization": w.otherOrganization(), "colleague": colleague} {
		other := *s
		other.key = key
		status, _ := other.call(http.MethodGet, "/api/v3/uploads/"+s.id, nil, 0, nil)
		require.Equal(t, 404, status, name)
		status, _ = other.put(1, s.data, nil)
		require.Equal(t, 404, status, name)
		status, _ = other.call(http.MethodDelete, "/api/v3/uploads/"+s.id, nil, 0, nil)
		require.Equal(t, 404, status, name)
		other.job = ""
		status, _ = other.build()
		require.Equal(t, 404, status, name)
		other.job = "job"
		require.NotEqual(t, s.id, other.begin(201, "")["id"], name)
	}
	_, tester := w.user("tester@example.com", account.Tester)
	s.key = tester
	s.begin(403, "")
	s.key = "none"
	s.begin(401, "")
}

// The bytes go with the upload: when it is deleted, when its time is over, and when they are
// not those that were announced.
func TestUploadInPartsEnds(t *testing.T) {
	bothStores(t, nil, func(t *testing.T, w *world) {
		gone := func(s *sender, what string) {
			status, _ := s.call(http.MethodGet, "/api/v3/uploads/"+s.id, nil, 0, nil)
			require.Equal(t, 404, status, what)
			status, _ = s.put(1, s.bytes(1), nil)
			require.Equal(t, 404, status, what)
			s.job = ""
			status, _ = s.build()
			require.Equal(t, 404, status, what)
			require.Zero(t, w.count(`select count(*) from resumable_uploads`), what)
			require.Empty(t, w.objects(), what)
			if _, s3 := w.store.(*object.S3); !s3 {
				require.Zero(t, w.partFiles(), what)
			}
			require.Zero(t, w.unfinished(), what)
		}
		s := w.sender(t, "a", bigIPA("4"))
		s.begin(201, "")
		s.send(1, 3)
		status, _ := s.call(http.MethodDelete, "/api/v3/uploads/"+s.id, nil, 0, nil)
		require.Equal(t, 204, status)
		gone(s, "deleted")

		s = w.sender(t, "b", bigIPA("5"))
		s.begin(201, fmt.Sprintf(`,"sha256":%q`, strings.Repeat("0", 64)))
		s.send(1, 2, 3, 4)
		status, out := s.build()
		require.Equal(t, 400, status)
		require.Contains(t, out["error"], s.sum())
		gone(s, "other bytes")

		for _, complete := range []bool{false, true} {
			s = w.sender(t, "c", noise(2*object.PartUnit, 3))
			s.begin(201, "")
			s.send(1, 2)
			if complete { // no app: refused, and complete all the same
				status, out := s.build()
				require.Equal(t, 400, status, out)
				require.Len(t, w.objects(), 1)
			}
			w.exec(`update resumable_uploads set expires_at = now()`)
			status, _ = s.put(2, s.bytes(2), nil)
			require.Equal(t, 404, status, "over before the maintenance comes")
			list, err := resumable.Expire(t.Context(), w.db, 10)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.NoError(t, list[0].Remove(t.Context(), w.store))
			gone(s, fmt.Sprintf("over, complete: %v", complete))
		}
		require.Zero(t, w.count(`select coalesce(sum(amount), 0) from quota_usage`), "nothing counts any more")
	})
}

// What the object store has lost is asked for again.
func TestUploadInPartsSurvivesItsStore(t *testing.T) {
	bothStores(t, nil, func(t *testing.T, w *world) {
		s := w.sender(t, "job", bigIPA("6"))
		s.begin(201, "")
		s.send(1, 2, 3)
		lose := func() {
			var id string
			require.NoError(t, w.db.GetContext(t.Context(), &id, `select store_id from resumable_uploads`))
			require.NoError(t, w.store.AbortParts(t.Context(), object.Multipart{Key: "builds/" + s.id, ID: id,
				Size: int64(len(s.data)), PartSize: int64(s.partSize)}))
		}
		lose()
		status, out := s.put(4, s.bytes(4), nil)
		require.Equal(t, 409, status, out)
		require.Equal(t, "parts 1 to 4 were lost: send them again", out["error"])
		require.Empty(t, s.begin(200, "")["parts"])
		s.send(1, 2, 3, 4)
		lose()
		status, out = s.build()
		require.Equal(t, 409, status, out)
		require.Equal(t, "parts 1 to 4 were lost: send them again", out["error"])
		s.send(4, 3, 2, 1)
		status, out = s.build()
		require.Equal(t, 201, status, out)
		require.Equal(t, s.sum(), w.text(`select f.sha256 from builds b join files f on f.id = b.file_id`))
	})
}

// When the build is deleted that an upload has become, its job can upload the file again.
func TestUploadAgainAfterDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(c *Config) { c.LeastPart = object.PartUnit })
	s := w.sender(t, "job", ipa("com.example.demo", "1"))
	s.begin(201, "")
	s.send(1)
	status, out := s.build()
	require.Equal(t, 201, status, out)
	first := s.id
	w.exec(`update builds set deleted_at = now()`)
	w.exec(`delete from idempotency_keys`)
	s.begin(200, "")
	require.Equal(t, first, s.id)
	status, out = s.build()
	require.Equal(t, 409, status, out)
	require.Contains(t, out["error"], "upload it again")
	s.begin(201, "")
	require.NotEqual(t, first, s.id)
	s.send(1)
	status, out = s.build()
	require.Equal(t, 201, status, out)
}

// A user has a third of what the organization may have unfinished, and what nobody sends ends
// after an hour.
func TestUnfinishedUploadsOfAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(c *Config) { c.LeastPart = object.PartUnit })
	s := w.sender(t, "", noise(10, 1))
	for range 34 {
		s.begin(201, "")
	}
	require.Contains(t, s.begin(429, "")["error"], "you have too many unfinished uploads")
	_, key := w.user("other@example.com", account.Owner)
	other := w.sender(t, "", noise(10, 1))
	other.key = key
	other.begin(201, "")
	const left = `select count(*) from resumable_uploads where expires_at - created_at = $1::interval`
	require.Equal(t, 35, w.count(left, "1 hour"))
	s.send(1)
	require.Equal(t, 1, w.count(left, "24 hours"))
	w.exec(`update resumable_uploads set expires_at = now() where state = 'open'`)
	s.begin(201, "") // their time is over
}

// All of a file counts against the quota from its beginning, and once.
func TestUploadInPartsCounts(t *testing.T) {
	t.Parallel()
	bounds, err := quotas.New(quotas.Bounds{quotas.StoredBytes: 1 << 20})
	require.NoError(t, err)
	w := newWorld(t, false, func(c *Config) {
		c.Quotas, c.Symbols, c.LeastPart = bounds, symbol.NewStore(c.DB, nil, bounds), object.PartUnit
	})
	used := func() int {
		return w.count(`select coalesce(sum(amount), 0) from quota_usage where resource = 'stored_bytes'`)
	}
	s := w.sender(t, "a", ipa("com.example.demo", "1", noise(700<<10, 1)))
	s.begin(201, "")
	require.Equal(t, len(s.data), used())
	other := w.sender(t, "b", noise(700<<10, 2))
	require.Contains(t, other.begin(413, "")["error"], "quota stored_bytes is used up")
	require.Equal(t, 1, w.partFiles(), "what was begun for the refused one is gone")
	s.send(1)
	status, out := s.build()
	require.Equal(t, 201, status, out)
	require.Equal(t, w.count(`select sum(size) from files`), used())

	w.exec(`delete from resumable_uploads`)
	require.Equal(t, w.count(`select sum(size) from files`), used(), "a used one was counted out before")
	w.exec(`insert into resumable_uploads (id, organization_id, user_id, file_name, size, part_size, store_id, expires_at)
		select gen_random_uuid(), organization_id, 1, 'a', 1, 1, 'x', now() + interval '1 day' from builds, generate_series(1, 100) limit 100`)
	require.Contains(t, w.sender(t, "c", noise(10, 1)).begin(429, "")["error"], "too many unfinished uploads")
}

// Symbols come in parts too: as files of their own, beside a build, and to builds.
func TestSymbolsInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(c *Config) { c.LeastPart = object.PartUnit })
	upload := func(name string, data []byte) string {
		s := w.sender(t, "", data)
		body := fmt.Sprintf(`{"file_name":%q,"file_size":%d}`, name, len(data))
		status, out := s.call(http.MethodPost, "/api/v3/uploads", strings.NewReader(body), int64(len(body)),
			map[string]string{"Content-Type": "application/json"})
		require.Equal(t, 201, status, out)
		u := out["upload"].(map[string]any)
		s.id, s.partSize = u["id"].(string), int(u["part_size"].(float64))
		s.send(1)
		return s.id
	}
	id := upload(`C:\ci\mapping.txt`, []byte(mappingText))
	status, out := w.post("/api/v3/symbols", nil, w.key(), textField("upload_id", id), textField("release", "1.0"))
	require.Equal(t, 201, status, out)
	first := out["symbol"].(map[string]any)
	require.Equal(t, "mapping.txt", first["name"])
	status, out = w.post("/api/v3/symbols", nil, w.key(), textField("upload_id", id), textField("release", "1.0"))
	require.Equal(t, 200, status, out)
	require.Equal(t, first["id"], out["symbol"].(map[string]any)["id"])
	// The same bytes by another upload are the same symbols, and leave no object.
	again := upload("mapping.txt", []byte(mappingText))
	status, out = w.post("/api/v3/symbols", nil, w.key(), textField("upload_id", again), textField("release", "1.0"))
	require.Equal(t, 200, status, out)
	require.Equal(t, first["id"], out["symbol"].(map[string]any)["id"])
	require.Len(t, w.objects(), 1)

	build := upload("Demo.ipa", ipa("com.example.demo", "1"))
	status, out = w.post("/api/v3/builds/upload", nil, w.key(), textField("upload_id", build), textField("symbols_upload_id",
		upload("Demo.dSYM.zip", dSYM())))
	require.Equal(t, 201, status, out)
	require.Equal(t, "Demo.dSYM.zip", w.text(`select symbols_name from builds`))
	require.Equal(t, 4, w.count(`select count(*) from resumable_uploads where state = 'used'`))

	dsym := upload("Other.dSYM.zip", zipped(map[string]string{"Other.dSYM/Contents/Resources/DWARF/Other": string(machO()), "x": "y"}))
	status, out = w.post("/upload/dsym", nil, w.key(), textField("upload_id", dsym))
	require.Equal(t, 200, status, out)
	before := out
	status, out = w.post("/upload/dsym", nil, w.key(), textField("upload_id", dsym))
	require.Equal(t, 200, status, out)
	require.Equal(t, before, out, "the first answer may have been lost")
	status, out = w.post("/api/v3/builds/upload", nil, w.key(), textField("upload_id", upload("Demo.ipa", ipa("com.example.demo", "2"))),
		textField("symbols_upload_id", dsym))
	require.Equal(t, 409, status, out)
	require.Contains(t, out["error"], "symbols_upload_id: the file was used before")
	status, out = w.post("/api/v3/builds/upload", nil, w.key(), textField("upload_id", id))
	require.Equal(t, 201, status, out)
	require.Equal(t, first["id"], out["symbol"].(map[string]any)["id"])
}

// partFiles counts the files of parts in a folder.
func (w *world) partFiles() int {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir + "/parts")
	require.NoError(w.t, err)
	return len(entries)
}

// A key with scopes uploads builds, and reaches nobody by them.
func TestScopedUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	var scoped string
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, secret, err := account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{OrganizationID: w.boot.Organization.ID,
			UserID: w.boot.Owner.ID,
			Kind:   account.KindAPI, Scopes: []account.Scope{account.ScopeBuilds}})
		scoped = secret.Text
		return err
	})
	app := file("file", "app.ipa", ipa("com.example.demo", "1"))
	for name, value := range map[string]string{"notify": "on", "sync_to_store": "on", "landing_page_mode": "open",
		"landing_page_slug": "our-shop"} {
		status, out := w.post("/api/v3/builds/upload", map[string]string{"X-API-Key": scoped}, app, textField(name, value))
		require.Equal(t, 403, status, "%s: %v", name, out)
		require.Contains(t, out["error"], strings.TrimSuffix(name, "_to_store"))
	}
	w.nothingKept()
	status, out := w.post("/api/v3/builds/upload", map[string]string{"X-API-Key": scoped}, app, textField("notify", "off"))
	require.Equal(t, 201, status, out)
}
