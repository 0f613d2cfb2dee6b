// Package upload measures builds: an upload to MinIO, the memory it takes, the inspection of
// packages, and lists of builds.
//
// Uploads alternate with PutObject of the same file to the same MinIO, which the bench starts
// beside the product. Inspection reads real packages by ranges, as an upload does. An upload
// that is refused ends the command with an error; a missed target is only printed.
package upload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
)

// Command measures uploads of builds, and their lists.
type Command struct {
	Size     int64    `default:"1073741824" help:"Bytes of the file that is uploaded."`
	Rounds   int      `default:"3" help:"Uploads of each kind, alternating."`
	Parallel int      `default:"8" help:"Uploads at once of the memory part."`
	Builds   int      `default:"100000" help:"Builds of the project that is listed."`
	Packages []string `help:"APKs to inspect; default: those of the npm packages in the user's cache."`
	Only     []string `help:"Parts to measure: memory, throughput, parts, inspection, list; default: all."`
	Binary   string   `help:"A slipway program to measure; default: build this checkout."`
}

// Bench is one run of the command.
type Bench struct {
	*Command
	Product *process.Product
	db      *storage.DB
	dir     string
	File    string // of Size random bytes
	objects string // URL of the bucket
	client  *minio.Client
	bucket  string
}

// Run measures the parts in turn and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	b := &Bench{Command: c}
	parts := b.parts()
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return err
	}
	return b.With(ctx, func() error {
		fmt.Printf("uploads of %d MiB to MinIO, %d rounds\n\n| part | measured | target | |\n|---|---|---|---|\n", c.Size>>20, c.Rounds)
		return measure.RunParts(ctx, c.Only, parts)
	})
}

// With runs work beside MinIO and the product.
func (b *Bench) With(ctx context.Context, work func() error) (err error) {
	if b.dir, err = os.MkdirTemp("", "slipway-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	servers, err := localservice.Open(filepath.Join(b.dir, "servers"))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = servers.Close(ctx)
	}()
	if err := b.startMinIO(ctx, servers); err != nil {
		return err
	}
	if b.Product, err = process.Start(ctx, b.Binary, "--objects-url", b.objects); err != nil {
		return err
	}
	defer b.Product.Stop()
	if b.db, err = storage.Open(storage.Config{URL: b.Product.Database, MaxConns: 4}); err != nil {
		return err
	}
	defer b.db.Close()
	return work()
}

// parts are the parts in the order in which they run: memory first, since a process keeps
// its buffers after an upload. A deadline has room for a tenth of the speed that was
// measured.
func (b *Bench) parts() []measure.Part {
	once := time.Duration(b.Size/(20<<20)) * time.Second // a file at 20 MiB a second
	return []measure.Part{
		{Name: "memory", Limit: 3*time.Minute + time.Duration(b.Parallel)*once, Run: b.memory},
		{Name: "throughput", Limit: 3*time.Minute + 2*time.Duration(b.Rounds+1)*once, Run: b.throughput},
		{Name: "parts", Limit: 3*time.Minute + 2*time.Duration(b.Rounds+1)*once, Run: b.inParts},
		{Name: "inspection", Limit: 5 * time.Minute, Run: b.inspection},
		{Name: "list", Limit: 10 * time.Minute, Run: b.list},
	}
}

// startMinIO starts MinIO and creates the client of the baseline.
func (b *Bench) startMinIO(ctx context.Context, servers *localservice.Folder) error {
	server, err := servers.Minio(ctx, localservice.MinioConfig{})
	if err != nil {
		return err
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		return err
	}
	password, _ := u.User.Password()
	b.bucket = "bench"
	u.Path = "/" + b.bucket
	b.objects = u.String()
	b.client, err = minio.New(u.Host, &minio.Options{Creds: credentials.NewStaticV4(u.User.Username(), password, "")})
	if err != nil {
		return err
	}
	return b.client.MakeBucket(ctx, b.bucket, minio.MakeBucketOptions{})
}

// makeFile writes the file: bytes that cannot be compressed, from a fixed seed.
func (b *Bench) makeFile() error {
	if b.File != "" {
		return nil
	}
	b.File = filepath.Join(b.dir, "file.bin")
	f, err := os.Create(b.File)
	if err != nil {
		return err
	}
	source := rand.NewChaCha8([32]byte{1})
	buf := make([]byte, 1<<20)
	for left := b.Size; left > 0; left -= int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), left)]
		_, _ = source.Read(buf)
		if _, err := f.Write(buf); err != nil {
			return err
		}
	}
	return f.Close()
}

// allowGenericFiles allows the organization to upload files of any kind.
func (b *Bench) allowGenericFiles(ctx context.Context) error {
	_, err := b.db.ExecContext(ctx, `update organizations set generic_files = true`)
	return err
}

// throughput compares uploads with PutObject of the same file.
func (b *Bench) throughput(ctx context.Context) error {
	f, o, err := b.Alternate(ctx, func(ctx context.Context) error { return b.Product.UploadFile(ctx, b.File, "windows") })
	if err != nil {
		return err
	}
	mib := float64(b.Size) / (1 << 20)
	measure.Row("baseline: PutObject of the file", fmt.Sprintf("%.0f MiB/s", mib/f), "", true)
	regression.Measured(ctx, "upload", f/o)
	measure.Row("upload of the file", fmt.Sprintf("%.0f MiB/s, %.2f of the baseline", mib/o, f/o), "0.8 of the baseline", f/o >= 0.8)
	return nil
}

// Alternate sends the file and puts it as an object, in turns, and returns the median
// seconds of PutObject and of the other.
func (b *Bench) Alternate(ctx context.Context, send func(context.Context) error) (baseline, ours float64, err error) {
	if err := b.makeFile(); err != nil {
		return 0, 0, err
	}
	if err := b.allowGenericFiles(ctx); err != nil {
		return 0, 0, err
	}
	var puts, sent []float64
	var done atomic.Int64
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("round %d of %d", done.Load()+1, b.Rounds+1) })()
	for n := range b.Rounds + 1 {
		put, err := b.putObject(ctx, fmt.Sprint("baseline/", n))
		if err != nil {
			return 0, 0, err
		}
		took, err := b.upload(ctx, send)
		if err != nil {
			return 0, 0, err
		}
		if n > 0 { // the first round warms disks and caches
			puts, sent = append(puts, put.Seconds()), append(sent, took.Seconds())
		}
		done.Add(1)
	}
	return measure.Median(puts), measure.Median(sent), nil
}

// putObject is the baseline; it deletes the object again.
func (b *Bench) putObject(ctx context.Context, key string) (time.Duration, error) {
	f, err := os.Open(b.File)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	start := time.Now()
	if _, err := b.client.PutObject(ctx, b.bucket, key, f, b.Size, minio.PutObjectOptions{}); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, b.client.RemoveObject(ctx, b.bucket, key, minio.RemoveObjectOptions{})
}

// upload sends the file and deletes the object again.
func (b *Bench) upload(ctx context.Context, send func(context.Context) error) (time.Duration, error) {
	before, err := b.keys(ctx)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := send(ctx); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, b.removeNew(ctx, before)
}

// keys are the stored files.
func (b *Bench) keys(ctx context.Context) (map[string]bool, error) {
	keys := map[string]bool{}
	for o := range b.client.ListObjects(ctx, b.bucket, minio.ListObjectsOptions{Prefix: "builds/", Recursive: true}) {
		if o.Err != nil {
			return nil, o.Err
		}
		keys[o.Key] = true
	}
	return keys, nil
}

// removeNew deletes the objects that were not there before, to free the disk.
func (b *Bench) removeNew(ctx context.Context, before map[string]bool) error {
	now, err := b.keys(ctx)
	if err != nil {
		return err
	}
	for key := range now {
		if !before[key] {
			if err := b.client.RemoveObject(ctx, b.bucket, key, minio.RemoveObjectOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// memory runs uploads at once and samples how much memory they add.
func (b *Bench) memory(ctx context.Context) error {
	if err := b.makeFile(); err != nil {
		return err
	}
	if err := b.allowGenericFiles(ctx); err != nil {
		return err
	}
	before, err := b.keys(ctx)
	if err != nil {
		return err
	}
	pid := b.Product.Cmd.Process.Pid
	base, err := processMemory(pid)
	if err != nil {
		return err
	}
	errs := make(chan error, b.Parallel)
	start := time.Now()
	for range b.Parallel {
		go func() { errs <- b.Product.UploadFile(ctx, b.File, "windows") }()
	}
	var peak int64
	defer progress.Waits(ctx, fmt.Sprintf("%d uploads at once", b.Parallel))()
	for left := b.Parallel; left > 0; {
		select {
		case err := <-errs:
			if err != nil {
				return err
			}
			left--
		case <-time.After(20 * time.Millisecond):
			now, err := processMemory(pid)
			if err != nil {
				return err
			}
			peak = max(peak, now)
		}
	}
	took := time.Since(start)
	added := (peak - base) >> 20
	measure.Row(fmt.Sprintf("memory that %d uploads at once add", b.Parallel),
		fmt.Sprintf("%d MiB on top of %d, %.0f MiB/s in sum", added, base>>20, float64(b.Size>>20)*float64(b.Parallel)/took.Seconds()),
		"256 MiB", added <= 256)
	return b.removeNew(ctx, before)
}

// processMemory is the memory of one process alone (PSS), in bytes.
func processMemory(pid int) (int64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	var kb int64
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			_, err = fmt.Sscan(rest, &kb)
		}
	}
	return kb << 10, err
}
