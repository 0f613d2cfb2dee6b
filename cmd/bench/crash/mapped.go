package crash

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/bench/schedule"
)

const (
	// mappedLines are those that frames of samples lie in.
	mappedLines = 2000
	// mappedTarget is the least share of the burst that reports with source maps are drained at.
	mappedTarget = 0.6
	mappedLimit  = 2 * time.Minute
)

// measureMapped uploads a source map for each script of the samples, sends as fast as
// responses arrive, and waits for the workers, who map every frame.
func (b *bench) measureMapped(ctx context.Context) error {
	if _, err := b.share(ctx, 1); err != nil {
		return err
	}
	if err := b.uploadMaps(ctx); err != nil {
		return err
	}
	// The first reports bring the indexes into memory.
	if _, err := measure.Send(ctx, b.submit(b.Duration/5, 0)); err != nil {
		return err
	}
	if err := b.symbolsSettled(ctx); err != nil {
		return err
	}
	before, err := b.processed(ctx)
	if err != nil {
		return err
	}
	o, err := measure.Send(ctx, b.submit(b.Duration, 0))
	if err != nil {
		return err
	}
	b.row("burst with source maps present", fmt.Sprintf("%.0f/s", o.PerSecond()), o, "", true)
	during, err := b.processed(ctx)
	if err != nil {
		return err
	}
	took, err := b.drained(ctx)
	if err != nil {
		return err
	}
	after, err := b.processed(ctx)
	if err != nil {
		return err
	}
	if after-before != o.Accepted {
		return fmt.Errorf("accepted %d reports, processed %d", o.Accepted, after-before)
	}
	var mapped int
	if err := b.db.GetContext(ctx, &mapped, `select count(*) from (
		select state from crash_symbolications order by crash_id desc limit 100) newest where state in ('complete', 'partial')`); err != nil {
		return err
	}
	if mapped == 0 {
		return fmt.Errorf("none of the newest reports was mapped")
	}
	rate := float64(after-during) / took.Seconds()
	ratio := rate / b.burst.PerSecond()
	regression.Measured(ctx, "mapped", ratio)
	b.row(fmt.Sprintf("drain of %d reports whose scripts have maps", after-during), fmt.Sprintf("%.0f/s, %.2f of the burst", rate, ratio), nil,
		fmt.Sprintf("%.1f", mappedTarget), ratio >= mappedTarget)
	return nil
}

// uploadMaps uploads the maps of all scripts that samples name.
func (b *bench) uploadMaps(ctx context.Context) error {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	text := `{"version":3,"file":"x.js","sources":["../src/cart.ts"],"names":["price"],"mappings":"AAAAA,CAAC,CAAC,CAAC` +
		strings.Repeat(";AACA,CAAC,CAAC", mappedLines) + `"}`
	for _, folder := range measure.Words {
		for _, name := range measure.Words {
			f, err := z.Create(folder + "/" + name + ".js.map")
			if err != nil {
				return err
			}
			if _, err := f.Write([]byte(text)); err != nil {
				return err
			}
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("url_prefix", "~/srv/app/dist"); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", "maps.zip")
	if err != nil {
		return err
	}
	if _, err := part.Write(packed.Bytes()); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.product.Base+"/api/v3/symbols", &body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("X-API-Key", b.product.APIKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("upload of source maps: %s", resp.Status)
	}
	return b.symbolsSettled(ctx)
}

// symbolsSettled waits until all maps are indexed and no report waits for one.
func (b *bench) symbolsSettled(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, mappedLimit,
		fmt.Errorf("symbol files were not indexed, or reports not read, within %s", mappedLimit))
	defer cancel()
	defer progress.Waits(ctx, "symbol files to be indexed, and reports to be read with them")()
	for {
		var open int
		if err := b.db.GetContext(ctx, &open, `select count(*) from `+openTasks,
			schedule.Array([]string{"symbol:index", "crash:process", "crash:symbolicate", "crash:resymbolicate"})); err != nil {
			return err
		}
		if open == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
