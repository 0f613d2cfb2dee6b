package upload

import (
	"context"
	"fmt"
	"os"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// inParts compares uploads in parts, which go on after a lost connection, with PutObject of
// the same file.
func (b *Bench) inParts(ctx context.Context) error {
	f, o, err := b.Alternate(ctx, func(ctx context.Context) error { return uploadInParts(ctx, b.Product, b.File, "windows") })
	if err != nil {
		return err
	}
	mib := float64(b.Size) / (1 << 20)
	regression.Measured(ctx, "upload parts", f/o)
	measure.Row("upload of the file in parts", fmt.Sprintf("%.0f MiB/s, %.2f of the baseline of %.0f", mib/o, f/o, mib/f),
		"0.9 of the baseline", f/o >= 0.9)
	return nil
}

// uploadInParts sends a file in parts as slipway-ci does, and completes it as a build.
func uploadInParts(ctx context.Context, p *process.Product, path, platform string) error {
	transport, err := client.Transport(os.Getenv)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{Server: p.Base, Credential: client.Key(p.APIKey), HTTP: transport})
	if err != nil {
		return err
	}
	f, err := client.OpenFile(path, "")
	if err != nil {
		return err
	}
	// A key of its own: without one, the parts of an upload before would be found.
	_, err = c.Upload(ctx, client.NewBuild{File: f, Platform: platform}, client.Sending{Key: client.NewKey()})
	return err
}
