package webdriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// bidiMessage bounds a message: a screenshot of a long page comes in one.
	bidiMessage = 64 << 20
	// bidiCommand is the deadline of a command whose caller set none.
	bidiCommand = 60 * time.Second
	// bidiWrite bounds the sending of one message; a remote end that does not read
	// for so long is gone.
	bidiWrite = 30 * time.Second
)

// errBiDiClosed is what commands get after Close.
var errBiDiClosed = errors.New("the BiDi connection is closed")

// BiDi is the session's WebDriver BiDi connection. Its methods may be used at
// once, and while the session's own commands run. (chromedriver starts a BiDi
// command only when no classic one is under way; a classic one does not wait for
// those of BiDi.)
//
// Three goroutines serve it: one reads, one writes, and one calls the handlers of
// events. They end with the connection. A caller that stops waiting does not end
// the connection; its answer is dropped when it comes.
type BiDi struct {
	client *Client
	conn   *websocket.Conn
	out    chan []byte
	done   chan struct{}  // closed when the connection ended
	ends   sync.WaitGroup // reader and writer

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan bidiAnswer
	err     error // why the connection ended
	noJPEG  bool  // the remote end knows PNG only

	events eventQueue
}

// bidiAnswer is any message of the remote end: the answer to a command, an error,
// or an event.
type bidiAnswer struct {
	Type       string          `json:"type"` // success, error, event
	ID         *uint64         `json:"id"`
	Result     json.RawMessage `json:"result"`
	Error      string          `json:"error"`
	Message    string          `json:"message"`
	StackTrace string          `json:"stacktrace"`
	Method     string          `json:"method"`
	Params     json.RawMessage `json:"params"`
}

// Command sends a command and reads its result into out (nil: it is dropped).
// params nil are none. What the remote end refuses is an *Error; a connection that
// ended or a deadline that passed is a *TransportError.
func (b *BiDi) Command(ctx context.Context, method string, params, out any) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, bidiCommand)
		defer cancel()
	}
	if params == nil {
		params = struct{}{}
	}
	id, answer, err := b.register()
	if err != nil {
		return &TransportError{Err: err}
	}
	defer b.forget(id)
	doc, err := json.Marshal(struct {
		ID     uint64 `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params"`
	}{id, method, params})
	if err != nil {
		return fmt.Errorf("webdriver: %s: %w", method, err)
	}
	select {
	case b.out <- doc:
	case <-b.done:
		return &TransportError{Err: b.cause()}
	case <-ctx.Done():
		return ended(ctx)
	}
	select {
	case a := <-answer:
		return b.result(a, method, out)
	case <-b.done:
		select { // the answer may have come before the end
		case a := <-answer:
			return b.result(a, method, out)
		default:
			return &TransportError{Err: b.cause()}
		}
	case <-ctx.Done():
		return ended(ctx)
	}
}

// result reads what an answer says.
func (b *BiDi) result(a bidiAnswer, method string, out any) error {
	if a.Type == "error" {
		return b.client.newError(0, a.Error, a.Message, a.StackTrace)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, out); err != nil {
		return &TransportError{Err: fmt.Errorf("%s: %w", method, &shapeError{err})}
	}
	return nil
}

// register gives the next command's number and the channel of its answer.
func (b *BiDi) register() (uint64, <-chan bidiAnswer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, nil, b.err
	}
	b.last++
	answer := make(chan bidiAnswer, 1)
	b.pending[b.last] = answer
	return b.last, answer, nil
}

func (b *BiDi) forget(id uint64) {
	b.mu.Lock()
	delete(b.pending, id)
	b.mu.Unlock()
}

// read hands out messages until the connection ends.
func (b *BiDi) read() {
	defer b.ends.Done()
	for {
		kind, r, err := b.conn.Reader(context.Background())
		if err != nil {
			b.end(err)
			return
		}
		doc, err := io.ReadAll(r)
		if err != nil {
			b.end(err)
			return
		}
		var a bidiAnswer
		if kind != websocket.MessageText || json.Unmarshal(doc, &a) != nil {
			b.end(errors.New("a message that is no BiDi"))
			return
		}
		b.deliver(a)
	}
}

// deliver hands a message to whom it is for. An answer that nobody waits for any
// more is dropped, as is an error that names no command.
func (b *BiDi) deliver(a bidiAnswer) {
	if a.Type == "event" {
		b.events.push(bidiEvent{a.Method, a.Params})
		return
	}
	if a.ID == nil {
		return
	}
	b.mu.Lock()
	answer := b.pending[*a.ID]
	delete(b.pending, *a.ID)
	b.mu.Unlock()
	if answer != nil {
		answer <- a
	}
}

func (b *BiDi) write() {
	defer b.ends.Done()
	for {
		select {
		case doc := <-b.out:
			ctx, cancel := context.WithTimeout(context.Background(), bidiWrite)
			err := b.conn.Write(ctx, websocket.MessageText, doc)
			cancel()
			if err != nil {
				b.end(err)
				return
			}
		case <-b.done:
			return
		}
	}
}

// end notes the first reason why the connection ended and wakes all that wait.
func (b *BiDi) end(err error) {
	b.mu.Lock()
	first := b.err == nil
	if first {
		b.err = err
		if !errors.Is(err, errBiDiClosed) {
			b.err = fmt.Errorf("the BiDi connection ended: %w", b.client.shown(err))
		}
	}
	b.mu.Unlock()
	if !first {
		return
	}
	close(b.done)
	b.events.close()
	_ = b.conn.CloseNow() // ends the reader, and says nothing that matters now
}

func (b *BiDi) cause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Close ends the connection; commands that wait fail at once. The session goes on.
// It does not wait for a handler that runs, so handlers may call it.
func (b *BiDi) Close() {
	b.end(errBiDiClosed)
	b.ends.Wait()
}

// Done is closed when the connection ended, for whatever reason.
func (b *BiDi) Done() <-chan struct{} { return b.done }
