package object

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func openTestFolder(t *testing.T, dir string) *Folder {
	t.Helper()
	opened, err := Open(t.Context(), Config{URL: "file://" + dir})
	require.NoError(t, err)
	t.Cleanup(func() { opened.Close() })
	return opened.(*Folder)
}

func TestOpenSweepsOldTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openTestFolder(t, dir)
	old, young := filepath.Join(dir, "tmp", "old"), filepath.Join(dir, "tmp", "young")
	for _, name := range []string{old, young} {
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	past := time.Now().Add(-2 * staleAge)
	require.NoError(t, os.Chtimes(old, past, past))
	f := openTestFolder(t, dir)
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	swept, err := f.Sweep(t.Context(), -time.Minute)
	require.NoError(t, err)
	require.Equal(t, 1, swept)
}

// TestWritesOfAGoneProcess: the next process removes the half files of one that was
// killed at once, and none of one that lives.
func TestWritesOfAGoneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.Getenv("SLIPWAY_TEST_WRITER") != "" {
		dir = os.Getenv("SLIPWAY_TEST_WRITER")
	}
	living := openTestFolder(t, dir)
	w, err := living.Create(t.Context(), "k", -1, WriteOptions{})
	require.NoError(t, err)
	_, err = w.Write([]byte("half"))
	require.NoError(t, err)
	if os.Getenv("SLIPWAY_TEST_WRITER") != "" {
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	}
	files := func() int {
		entries, err := os.ReadDir(filepath.Join(dir, tmpDir))
		require.NoError(t, err)
		return len(entries)
	}
	killed := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWritesOfAGoneProcess$")
	killed.Env = append(os.Environ(), "SLIPWAY_TEST_WRITER="+dir)
	require.ErrorContains(t, killed.Run(), "killed")
	require.Equal(t, 2, files())
	openTestFolder(t, dir)
	require.Equal(t, 1, files(), "that of the living one")
	_, err = w.Commit()
	require.NoError(t, err)
	got, _ := readAll(t, living, "k", 0, -1)
	require.Equal(t, "half", string(got))
	require.Zero(t, files())
}

func TestObjectsSurviveReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := store(t, openTestFolder(t, dir), "a/b", "content", "text/plain")
	f := openTestFolder(t, dir)
	got, info := readAll(t, f, "a/b", 0, -1)
	require.Equal(t, "content", string(got))
	require.Equal(t, before, info)
	_, err := f.SignGet(t.Context(), "a/b", time.Minute, SignOptions{})
	require.Error(t, err, "no public URL")
}

func TestFoldersAreRemovedWhenEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := openTestFolder(t, dir)
	store(t, f, "deep/abcdefgh/ijklmnop/x", "x", "")
	require.NoError(t, f.Delete(t.Context(), "deep/abcdefgh/ijklmnop/x"))
	left, err := os.ReadDir(filepath.Join(dir, objectsDir))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestPutAgainstDelete races the creation of a folder with its removal.
func TestPutAgainstDelete(t *testing.T) {
	t.Parallel()
	f := openTestFolder(t, t.TempDir())
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			key := "same/folder/" + string(rune('a'+i))
			for range 200 {
				if _, err := Put(t.Context(), f, key, strings.NewReader("x"), 1, WriteOptions{}); err != nil {
					t.Errorf("put: %v", err)
				}
				if err := f.Delete(t.Context(), key); err != nil {
					t.Errorf("delete: %v", err)
				}
			}
		})
	}
	wait.Wait()
}

func TestSymbolicLinksDoNotLeadOut(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	f := openTestFolder(t, dir)
	store(t, f, "in/x", "x", "")
	// The file of an object, and a folder, replaced by links.
	tail, err := footer{ContentType: "text/plain", SHA256: strings.Repeat("0", 64)}.encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(outside, "y=o"), append([]byte("secret"), tail...), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(outside, "y=o"), filepath.Join(dir, objectsDir, "in", "y=o")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, objectsDir, "out")))
	for _, key := range []string{"in/y", "out/y"} {
		_, _, err := f.Open(t.Context(), key, 0, -1)
		require.Error(t, err, key)
	}
	_, err = Put(t.Context(), f, "out/z", strings.NewReader("x"), 1, WriteOptions{})
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(outside, "z=o"))
}

func TestDamagedFileIsListedAndDeletable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := openTestFolder(t, dir)
	store(t, f, "k", "content", "")
	require.NoError(t, os.Truncate(filepath.Join(dir, objectPath("k")), 9))
	_, err := f.Stat(t.Context(), "k")
	require.ErrorIs(t, err, errFooter)
	page, err := f.List(t.Context(), "", "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{"k"}, keysOf(page))
	require.NoError(t, f.Delete(t.Context(), "k"))
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{}, {URL: "file://host/x"}, {URL: "file://relative"}, {URL: "ftp://x/y"}, {URL: "s3://host/b"},
		{URL: "s3://a:b@host"}, {URL: "s3://a:b@host/b/c"}, {URL: "s3://a:b@host/b?tls=yes"},
		{URL: "s3://a:b@host/b?x=1"}, {URL: "s3://a:b@host/b", PublicURL: "http://h/path"},
		{URL: "s3://a:b@host/b", PublicURL: "ftp://h"}, {URL: "s3://a:b@host/b", PartBuffers: 1},
		{URL: t.TempDir(), PublicURL: "http://h", SigningKey: []byte("short")},
	} {
		_, err := Open(t.Context(), cfg)
		require.Error(t, err, "%#v", cfg)
	}
	target, err := parseS3(Config{URL: "s3://us%2Fer:pa%40ss@host:9000/bucket?region=eu-1&tls=0&path_style=0"})
	require.NoError(t, err)
	no := false
	require.Equal(t, s3Target{host: "host:9000", bucket: "bucket", region: "eu-1", access: "us/er", secret: "pa@ss", pathStyle: &no}, target)
	target, err = parseS3(Config{URL: "s3://host/bucket", AccessKey: "a", SecretKey: "s"})
	require.NoError(t, err)
	require.Equal(t, s3Target{host: "host", bucket: "bucket", region: "us-east-1", access: "a", secret: "s", tls: true}, target)
}

func FuzzFooter(f *testing.F) {
	good, err := footer{ContentType: "a/b", SHA256: strings.Repeat("a", 64)}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte("content"), good...))
	f.Add(good)
	f.Add(good[1:])
	f.Add([]byte("\xff\xff\xff\xff" + footerMagic))
	f.Add([]byte("\x00\x00\x00\x00" + footerMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		foot, size, err := readFooter(bytes.NewReader(data), int64(len(data)))
		if err == nil && (size < 0 || size > int64(len(data)) || len(foot.SHA256) != 64) {
			t.Fatalf("size %d of %d", size, len(data))
		}
	})
}

func FuzzConfig(f *testing.F) {
	f.Add("s3://A:SECRETSECRET@h/b?tls=0")
	f.Add("s3://A:SECRETSECRET%@h/b")
	f.Add("s3:A:SECRETSECRET@h/b")
	f.Fuzz(func(t *testing.T, raw string) {
		for _, text := range []string{Config{URL: raw}.String()} {
			if strings.Contains(raw, ":SECRETSECRET@") && strings.Contains(text, "SECRETSECRET") {
				t.Fatalf("%q shows as %q", raw, text)
			}
		}
		if _, err := parseS3(Config{URL: raw}); err != nil && strings.Contains(err.Error(), "SECRETSECRET") {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}
