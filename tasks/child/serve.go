package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Operation does the work of one request. file is the parent's, and reads nothing where the
// request has none. An error that is a *symbol.InvalidError says what is wrong with the
// file; a panic says that the reader is broken.
type Operation func(ctx context.Context, file *File, args json.RawMessage) (any, error)

// Typed returns the operation that a function of decoded arguments is.
func Typed[A, R any](do func(context.Context, A) (R, error)) Operation {
	return TypedFile(func(ctx context.Context, _ *File, args A) (R, error) { return do(ctx, args) })
}

// TypedFile returns the operation that a function of the parent's file and of decoded
// arguments is.
func TypedFile[A, R any](do func(context.Context, *File, A) (R, error)) Operation {
	return func(ctx context.Context, file *File, doc json.RawMessage) (any, error) {
		var args A
		if err := json.Unmarshal(doc, &args); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return do(ctx, file, args)
	}
}

// IsChild reports whether the arguments of the program, without its name, are those of a
// child.
func IsChild(args []string) bool { return len(args) == 2 && args[0] == Command }

// maxStack of a goroutine: readers bound their depth; this is for one that forgot.
const maxStack = 48 << 20

// Serve is the main function of a child: it sets the limits, serves requests until the
// parent closes the pipe, and returns the exit code. Of tables that name an operation twice
// the later one counts.
func Serve(args []string, tables ...map[string]Operation) int {
	if !IsChild(args) {
		fmt.Fprintln(os.Stderr, "this command is started by slipway itself")
		return exitSetup
	}
	s := &server{operations: map[string]Operation{}, requests: make(chan request), data: make(chan []byte, 1)}
	for _, table := range tables {
		for name, do := range table {
			s.operations[name] = do
		}
	}
	if err := json.Unmarshal([]byte(args[1]), &s.limits); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		return exitSetup
	}
	// A signal to stop is for the parent: it ends its children when their work is done.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := s.limit(); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		return exitSetup
	}
	s.in, s.out = os.NewFile(3, "requests"), os.NewFile(4, "responses")
	go s.receive()
	for r := range s.requests {
		if err := s.serve(r); err != nil {
			fmt.Fprintln(os.Stderr, "limits:", err)
			return exitSetup
		}
	}
	return 0
}

// server is the child's side.
type server struct {
	limits     Limits
	operations map[string]Operation
	in, out    *os.File
	requests   chan request
	data       chan []byte // what a File asked for
}

// limit bounds this process for good.
func (s *server) limit() error {
	if err := setLimits(s.limits); err != nil {
		return err
	}
	debug.SetMaxStack(int(min(maxStack, s.limits.Memory/2)))
	overrun := make(chan os.Signal, 1)
	signal.Notify(overrun, syscall.SIGXCPU)
	go func() {
		<-overrun
		os.Exit(exitCPU)
	}()
	var used runtime.MemStats
	runtime.ReadMemStats(&used)
	debug.SetMemoryLimit(int64(used.Sys-used.HeapReleased) + s.limits.Memory/4*3)
	seal(s.limits.Sealed)
	return nil
}

// receive reads what the parent sends. When the parent is gone, so is the use of what is
// under way: the process ends.
func (s *server) receive() {
	for {
		kind, content, err := readFrame(s.in, maxRequest)
		if err != nil {
			os.Exit(exitEnd(err))
		}
		switch kind {
		case frameData:
			s.data <- content
		case frameRequest:
			var r request
			if json.Unmarshal(content, &r) != nil {
				os.Exit(1)
			}
			s.requests <- r
		default:
			os.Exit(1)
		}
	}
}

func exitEnd(err error) int {
	if errors.Is(err, io.EOF) {
		return 0
	}
	return 1
}

// serve serves one request. An error means that its limits could not be set.
func (s *server) serve(r request) error {
	if err := allowCPU(r.CPU); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := watch(r.CPU, s.limits.Interactive, cancel)
	res := s.respond(ctx, r)
	slow := w.stop()
	var used runtime.MemStats
	runtime.ReadMemStats(&used)
	// Memory that was taken from the system counts as long as the process lives: a child
	// that has taken much has too little left for the next file.
	res.Retire = slow || int64(used.HeapSys) > s.limits.Memory/2
	if err := writeJSON(s.out, frameResponse, res, maxResponse); err != nil {
		res = &response{Invalid: &invalid{Code: symbol.TooLarge, Reason: "what is in this file is too large: " + err.Error()}}
		if err := writeJSON(s.out, frameResponse, res, maxResponse); err != nil {
			os.Exit(1)
		}
	}
	if used.HeapInuse > keptHeap {
		debug.FreeOSMemory() // an idle child should be small
	}
	return nil
}

// keptHeap is the heap that an idle child may keep.
const keptHeap = 24 << 20

// respond does the work of one request.
func (s *server) respond(ctx context.Context, r request) (res *response) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", v, debug.Stack())
			res = &response{Panic: clipped(fmt.Sprint(v))}
		}
	}()
	do, ok := s.operations[r.Operation]
	if !ok {
		return &response{Failure: "no operation " + r.Operation}
	}
	file := &File{size: r.Size, out: s.out, data: s.data, blocks: map[int64][]byte{}}
	if !r.File {
		file.failed = errFile
	}
	result, err := do(ctx, file, r.Args)
	var wrong *symbol.InvalidError
	switch {
	case errors.As(err, &wrong):
		return &response{Invalid: &invalid{Code: wrong.Code, Reason: clipped(wrong.Reason)}}
	case errors.Is(err, syscall.EFBIG):
		return &response{Invalid: &invalid{Code: symbol.TooLarge, Reason: "what is in this file is larger than a file may be"}}
	case err != nil && ctx.Err() != nil:
		return &response{Invalid: &invalid{Code: symbol.Timeout,
			Reason: fmt.Sprintf("reading this file takes more than %s of processor time", r.CPU)}}
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
