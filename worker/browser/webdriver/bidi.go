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
	// maxMessage bounds a message: a screenshot of a long page comes in one.
	maxMessage = 64 << 20
	// commandTimeout ends a command whose caller set no deadline.
	commandTimeout = 60 * time.Second
	// writeTimeout bounds the sending of one message; a remote end that does not read
	// for so long is gone.
	writeTimeout = 30 * time.Second
)

// errBiDiClosed is the error of commands after Close.
var errBiDiClosed = errors.New("the BiDi connection is closed")

// BiDi is the session's WebDriver BiDi connection. Its methods may be called
// concurrently, and while the session's commands over HTTP run. (chromedriver starts
// a BiDi command only when none over HTTP runs; one over HTTP does not wait for
// those of BiDi.)
//
// Three goroutines serve it: one reads, one writes, and one calls the handlers of
// events. They end with the connection. A caller that stops waiting does not end
// the connection; its response is dropped when it comes.
type BiDi struct {
	client *Client
	conn   *websocket.Conn
	out    chan []byte
	done   chan struct{}  // closed when the connection ended
	ends   sync.WaitGroup // reader and writer

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan bidiMessage
	err     error // why the connection ended
	noJPEG  bool  // the remote end knows PNG only

	events eventQueue
}

// bidiMessage is any message of the remote end: the response to a command, an error,
// or an event.
type bidiMessage struct {
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
		ctx, cancel = context.WithTimeout(ctx, commandTimeout)
		defer cancel()
	}
	sent, err := b.Send(ctx, method, params)
	if err != nil {
		return err
	}
	return sent.Result(ctx, out)
}

// SentCommand is a command that is on its way; its Result must be called.
type SentCommand struct {
	bidi     *BiDi
	method   string
	id       uint64
	response <-chan bidiMessage
}

// Send sends a command and does not wait for its result. It is on its way when Send
// returns, before what the caller then sends over HTTP.
func (b *BiDi) Send(ctx context.Context, method string, params any) (*SentCommand, error) {
	if params == nil {
		params = struct{}{}
	}
	id, response, err := b.register()
	if err != nil {
		return nil, &TransportError{Err: err}
	}
	doc, err := json.Marshal(struct {
		ID     uint64 `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params"`
	}{id, method, params})
	if err != nil {
		b.unregister(id)
		return nil, fmt.Errorf("webdriver: %s: %w", method, err)
	}
	select {
	case b.out <- doc: // to the writer, which has nothing else to write
		return &SentCommand{b, method, id, response}, nil
	case <-b.done:
		b.unregister(id)
		return nil, &TransportError{Err: b.cause()}
	case <-ctx.Done():
		b.unregister(id)
		return nil, contextError(ctx)
	}
}

// Result waits for the result of the command and reads it as Command does.
func (c *SentCommand) Result(ctx context.Context, out any) error {
	b := c.bidi
	defer b.unregister(c.id)
	select {
	case m := <-c.response:
		return b.readResult(m, c.method, out)
	case <-b.done:
		select { // the response may have come before the end
		case m := <-c.response:
			return b.readResult(m, c.method, out)
		default:
			return &TransportError{Err: b.cause()}
		}
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// readResult reads a response: the result into out, or the error.
func (b *BiDi) readResult(m bidiMessage, method string, out any) error {
	if m.Type == "error" {
		return b.client.newError(0, m.Error, m.Message, m.StackTrace)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, out); err != nil {
		return &TransportError{Err: fmt.Errorf("%s: %w", method, &shapeError{err})}
	}
	return nil
}

// register returns the next command's number and the channel of its response.
func (b *BiDi) register() (uint64, <-chan bidiMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, nil, b.err
	}
	b.last++
	response := make(chan bidiMessage, 1)
	b.pending[b.last] = response
	return b.last, response, nil
}

func (b *BiDi) unregister(id uint64) {
	b.mu.Lock()
	delete(b.pending, id)
	b.mu.Unlock()
}

// read dispatches messages until the connection ends.
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
		var m bidiMessage
		if kind != websocket.MessageText || json.Unmarshal(doc, &m) != nil {
			b.end(errors.New("a message that is no BiDi"))
			return
		}
		b.dispatch(m)
	}
}

// dispatch queues an event and sends a response to the caller of its command. A
// response that nobody waits for any more is dropped, as is an error that names no
// command.
func (b *BiDi) dispatch(m bidiMessage) {
	if m.Type == "event" {
		b.events.push(bidiEvent{name: m.Method, params: m.Params})
		return
	}
	if m.ID == nil {
		return
	}
	b.mu.Lock()
	response := b.pending[*m.ID]
	delete(b.pending, *m.ID)
	b.mu.Unlock()
	if response != nil {
		response <- m
	}
}

func (b *BiDi) write() {
	defer b.ends.Done()
	for {
		select {
		case doc := <-b.out:
			ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
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

// end stores the first reason why the connection ended and wakes all that wait.
func (b *BiDi) end(err error) {
	if !b.storeCause(err) {
		return
	}
	close(b.done)
	b.events.close()
	_ = b.conn.CloseNow() // ends the reader; its error does not matter any more
}

// storeCause stores why the connection ended; false when it had ended before.
func (b *BiDi) storeCause(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return false
	}
	b.err = err
	if !errors.Is(err, errBiDiClosed) {
		b.err = fmt.Errorf("the BiDi connection ended: %w", b.client.concealed(err))
	}
	return true
}

func (b *BiDi) cause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Close ends the connection; commands that wait fail immediately. The session goes
// on. Close does not wait for a handler that runs, so handlers may call it.
func (b *BiDi) Close() {
	b.end(errBiDiClosed)
	b.ends.Wait()
}

// Done is closed when the connection ended, for whatever reason.
func (b *BiDi) Done() <-chan struct{} { return b.done }
