// Command serve runs one PostgreSQL, Redis and MinIO for the tests of a whole run.
//
// It prints the variables that lead the tests to them, one NAME=value a line, and
// closes its output when all are ready. The servers run until its input ends:
// however the script that holds the other end is ended, they end with it. A
// server that ends by itself ends the others too, and the exit code is 1.
//
// The addresses are the same in each run of a checkout, unless two runs of it overlap.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// timeout bounds the start of all servers, and their end.
const timeout = 5 * time.Minute

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	folder, remove, err := servicetest.OpenCheckout()
	if err != nil {
		return err
	}
	var servers []*localservice.Server
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		for _, server := range slices.Backward(servers) {
			if err := server.Stop(ctx); err != nil {
				fmt.Fprintln(os.Stderr, "serve:", err)
			}
		}
		remove() // before another run can lock the folder
		if err := folder.Close(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "serve:", err)
		}
	}()

	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel(context.Canceled)
	}()
	starting, cancelStart := context.WithTimeout(ctx, timeout)
	defer cancelStart()
	var variables []string
	servers, variables, err = servicetest.Start(starting, folder)
	if err != nil {
		return err
	}
	for _, v := range variables {
		fmt.Println(v)
	}
	if err := os.Stdout.Close(); err != nil {
		return err
	}
	for _, server := range servers {
		go func() {
			<-server.Done()
			cancel(server.Err())
		}()
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
