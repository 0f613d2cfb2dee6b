package upload

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/inspect"
	"github.com/slipway-qa/slipway/storage/object"
)

const (
	// inspections of each package; the first ones are not counted.
	inspections = 50
	warmUps     = 5
	// readBlock is the block size of the upload's reader.
	readBlock = 256 << 10
	// largePackage is the size from which on the share that is read has a bound.
	largePackage = 5 << 20
)

// inspection reads real packages out of MinIO, as an upload does.
func (b *Bench) inspection(ctx context.Context) error {
	paths := b.Packages
	if len(paths) == 0 {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		if paths, err = filepath.Glob(filepath.Join(cache, "slipway/npm/node_modules/*/apks/*.apk")); err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return errors.New("no packages: install npm and run make deps")
	}
	store, err := object.Open(ctx, object.Config{URL: b.objects})
	if err != nil {
		return err
	}
	defer store.Close()
	var all []time.Duration
	for _, path := range paths {
		took, err := b.inspect(ctx, store, path)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		all = append(all, took...)
	}
	p95 := measure.Quantile(all, 0.95)
	measure.Row(fmt.Sprintf("inspection of %d packages, p50 and p95", len(paths)),
		fmt.Sprintf("%s, %s", measure.Round(measure.Quantile(all, 0.5)), measure.Round(p95)), "p95 50 ms", p95 <= 50*time.Millisecond)
	return nil
}

func (b *Bench) inspect(ctx context.Context, store object.Store, path string) ([]time.Duration, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	key := "builds/" + uuid.NewString()
	if _, err := object.Put(ctx, store, key, f, info.Size(), object.WriteOptions{}); err != nil {
		return nil, err
	}
	defer func() { _ = store.Delete(context.WithoutCancel(ctx), key) }()
	inspector := inspect.New()
	var took []time.Duration
	var stats object.ReadStats
	for n := range inspections + warmUps {
		start := time.Now()
		r := object.NewReaderAt(ctx, store, key, info.Size(), readBlock)
		p, err := inspector.Package(ctx, artifact.Input{Reader: r, Size: info.Size(), Name: filepath.Base(path)}, "", false)
		if err != nil {
			return nil, err
		}
		if p.PackageName == "" {
			return nil, errors.New("no package name")
		}
		if n >= warmUps {
			took = append(took, time.Since(start))
		}
		stats = r.Stats()
	}
	name := fmt.Sprintf("%s, %.1f MB", filepath.Base(path), float64(info.Size())/1e6)
	read := fmt.Sprintf("%d KiB in %d reads, %.1f %%, p95 %s", stats.BytesRead>>10, stats.Requests,
		100*float64(stats.BytesRead)/float64(info.Size()), measure.Round(measure.Quantile(took, 0.95)))
	if info.Size() <= largePackage {
		measure.Row(name, read, "", true)
		return took, nil
	}
	bound, err := readBound(f, info.Size())
	if err != nil {
		return nil, err
	}
	measure.Row(name, read, fmt.Sprintf("%d KiB", bound>>10), stats.BytesRead <= bound)
	return took, nil
}

// readBound is the larger of 2 % and directory, resource table and 1 MiB.
func readBound(r io.ReaderAt, size int64) (int64, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return 0, err
	}
	sum := int64(1 << 20)
	for _, f := range z.File {
		sum += int64(46 + len(f.Name) + len(f.Extra) + len(f.Comment))
		if f.Name == "resources.arsc" {
			sum += int64(f.CompressedSize64)
		}
	}
	return max(size/50, sum), nil
}

// insertBuilds inserts builds of one project as after uploads; they share the rows of file and
// icon.
const insertBuilds = `
with team as (select id, organization_id from teams order by id limit 1),
project as (
	insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode, build_count)
	select organization_id, id, 'Listed', 'com.example.listed', 'Android', 'benchlisted', 'open', $1 from team
	returning id, organization_id
), file as (
	insert into files (organization_id, object_key, size, sha256, content_type)
	select organization_id, 'builds/bench', 1, 'x', 'application/octet-stream' from project returning id
), made as (
	insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, package_name, kind,
		file_id, file_name, release_notes, tags, metadata)
	select p.organization_id, p.id, 'bench' || n, 'Listed', '1.' || n, n::text, 'Android', 'com.example.listed', 'apk',
		f.id, 'app.apk', 'What is new in this build', '{ci,nightly}', '{"commit":"abc"}'
	from project p, file f, generate_series(1, $1::int) n
)
select id from project`

// list requests pages of a project with many builds.
func (b *Bench) list(ctx context.Context) error {
	var id int64
	if err := b.db.GetContext(ctx, &id, insertBuilds, b.Builds); err != nil {
		return err
	}
	if _, err := b.db.ExecContext(ctx, `analyze builds; analyze projects`); err != nil {
		return err
	}
	times, err := measure.TimeListRequests(ctx, fmt.Sprintf("%s/api/2/projects/%d/builds", b.Product.Base, id),
		func(r *http.Request) { r.Header.Set("X-API-Key", b.Product.APIKey) })
	if err != nil {
		return err
	}
	p99 := measure.Quantile(times, 0.99)
	measure.Row(fmt.Sprintf("list of builds, first page of %d, %d at once, p50 and p99", b.Builds, measure.ListConns),
		fmt.Sprintf("%s, %s", measure.Round(measure.Quantile(times, 0.5)), measure.Round(p99)), "p99 20 ms", p99 <= 20*time.Millisecond)
	return nil
}
