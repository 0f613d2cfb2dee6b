package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Operation does the work of one request. An error that is a *symbol.InvalidError says
// what is wrong with the file; a panic says that the reader is broken.
type Operation func(ctx context.Context, args json.RawMessage) (any, error)

// Typed returns the operation that a function of decoded arguments is.
func Typed[A, R any](do func(context.Context, A) (R, error)) Operation {
	return func(ctx context.Context, doc json.RawMessage) (any, error) {
		var args A
		if err := json.Unmarshal(doc, &args); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return do(ctx, args)
	}
}

// IsChild reports whether the arguments of the program, without its name, are those of a
// child.
func IsChild(args []string) bool { return len(args) == 2 && args[0] == Command }

// maxStack of a goroutine: readers bound their depth; this is for one that forgot.
const maxStack = 64 << 20

// Serve is the main function of a child: it sets the limits, serves requests until the
// parent closes the pipe, and returns the exit code.
func Serve(args []string, operations map[string]Operation) int {
	if !IsChild(args) {
		fmt.Fprintln(os.Stderr, "this command is started by slipway itself")
		return exitSetup
	}
	var limits Limits
	if err := json.Unmarshal([]byte(args[1]), &limits); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		return exitSetup
	}
	if err := setLimits(limits); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		return exitSetup
	}
	debug.SetMemoryLimit(limits.Memory / 4 * 3)
	debug.SetMaxStack(maxStack)
	overrun := make(chan os.Signal, 1)
	signal.Notify(overrun, syscall.SIGXCPU)
	go func() {
		<-overrun
		os.Exit(exitCPU)
	}()
	// A signal to stop is for the parent: it ends its children when their work is done.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	in, out := os.NewFile(3, "requests"), os.NewFile(4, "responses")
	requests := make(chan request)
	go func() {
		defer close(requests)
		for {
			var r request
			if err := readFrame(in, &r, maxRequest); err != nil {
				// The parent is gone: so is the use of what is under way.
				os.Exit(exitEnd(err))
			}
			requests <- r
		}
	}()
	for r := range requests {
		if err := allowCPU(limits.CPU); err != nil {
			fmt.Fprintln(os.Stderr, "limits:", err)
			return exitSetup
		}
		res := respond(operations, r)
		if err := writeFrame(out, res, maxResponse); err != nil {
			res = &response{Invalid: &invalid{Code: symbol.TooLarge, Reason: "what is in this file is too large: " + err.Error()}}
			if err := writeFrame(out, res, maxResponse); err != nil {
				return 1
			}
		}
		// What a large file left must not count against the next one.
		debug.FreeOSMemory()
	}
	return 0
}

func exitEnd(err error) int {
	if errors.Is(err, io.EOF) {
		return 0
	}
	return 1
}

// respond does the work of one request.
func respond(operations map[string]Operation, r request) (res *response) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", v, debug.Stack())
			res = &response{Panic: clipped(fmt.Sprint(v))}
		}
	}()
	do, ok := operations[r.Operation]
	if !ok {
		return &response{Failure: "no operation " + r.Operation}
	}
	result, err := do(context.Background(), r.Args)
	var wrong *symbol.InvalidError
	switch {
	case errors.As(err, &wrong):
		return &response{Invalid: &invalid{Code: wrong.Code, Reason: clipped(wrong.Reason)}}
	case errors.Is(err, syscall.EFBIG):
		return &response{Invalid: &invalid{Code: symbol.TooLarge, Reason: "what is in this file is larger than a file may be"}}
	case err != nil:
		return &response{Failure: clipped(err.Error())}
	}
	doc, err := json.Marshal(result)
	if err != nil {
		return &response{Failure: clipped(err.Error())}
	}
	return &response{Result: doc}
}

// clipped bounds a reason: people read it in a list.
func clipped(text string) string {
	const most = 1000
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
