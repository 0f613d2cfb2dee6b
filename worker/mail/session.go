package mail

import (
	"errors"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/mailmessage"
)

// session is one connection to the mail server, signed in.
type session struct {
	client    *smtp.Client
	text      *textproto.Conn
	conn      net.Conn
	limit     *limitedConn
	pipelined bool // the server takes commands without waiting for its replies
	unicode   bool // it takes addresses with letters beyond ASCII
	mails     int  // that went over it
	usable    bool // for another mail
	timer     *time.Timer
}

// errConnectionEnded means that the server has ended a kept connection: nothing of the
// mail was handed over.
var errConnectionEnded = errors.New("the mail server has ended the connection")

func newSession(client *smtp.Client, conn net.Conn, limit *limitedConn) *session {
	s := &session{client: client, text: client.Text, conn: conn, limit: limit, usable: true}
	s.pipelined, _ = client.Extension("PIPELINING")
	s.unicode, _ = client.Extension("SMTPUTF8")
	return s
}

func (s *session) close() { _ = s.text.Close() }

// quitTime bounds the farewell, which no mail depends on.
const quitTime = 2 * time.Second

func (s *session) quit() {
	_ = s.conn.SetDeadline(time.Now().Add(quitTime))
	_ = s.client.Quit()
	s.close()
}

// send hands a message over. MAIL concerns our sender, which is a setting; RCPT and
// DATA concern this mail. ending is called right before the line that ends the
// message.
func (s *session) send(msg *mailmessage.Message, ending func()) error {
	first := s.mails == 0
	s.mails++
	s.usable = false
	if msg.Unicode && !s.unicode {
		s.usable = true
		return &RefusedError{Text: "the mail server takes no addresses with letters beyond ASCII"}
	}
	if err := s.envelope(msg); err != nil {
		var reply *textproto.Error
		switch {
		case !first && (!errors.As(err, &reply) && !isRefused(err) || isEnding(err)):
			return errConnectionEnded
		case isEnding(err):
			return err
		}
		s.reset()
		return err
	}
	if err := s.content(msg.Bytes, ending); err != nil {
		return err
	}
	s.usable = true
	return nil
}

func isRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

// isEnding reports whether the server says that it ends the connection.
func isEnding(err error) bool {
	var ending *endingError
	return errors.As(err, &ending)
}

// reset makes the connection usable after a refusal.
func (s *session) reset() { s.usable = s.command(250, "RSET") == nil }

// command sends one command and reads its reply.
func (s *session) command(code int, line string) error {
	if err := s.text.PrintfLine("%s", line); err != nil {
		return err
	}
	_, _, err := s.text.ReadResponse(code)
	return err
}

// envelope sends MAIL, RCPT and DATA, at once where the server allows it.
func (s *session) envelope(msg *mailmessage.Message) error {
	mail := "MAIL FROM:" + msg.From
	if msg.Unicode {
		mail += " SMTPUTF8"
	}
	lines := []string{mail, "RCPT TO:" + msg.To, "DATA"}
	if !s.pipelined {
		for i, line := range lines {
			if err := s.command(codes[i], line); err != nil {
				return stepFailure(i, err)
			}
		}
		return nil
	}
	if err := s.text.PrintfLine("%s", strings.Join(lines, "\r\n")); err != nil {
		return stepError(steps[0], err)
	}
	var failure error
	for i := range lines {
		_, _, err := s.text.ReadResponse(codes[i])
		var reply *textproto.Error
		switch {
		case err == nil && i == 2 && failure != nil:
			// The server wants a message for a recipient whom it has refused: an empty
			// one, which it refuses (RFC 2920, 3.1).
			if err := s.text.PrintfLine("."); err != nil {
				return failure
			}
			_, _, _ = s.text.ReadResponse(250)
		case err != nil && failure == nil:
			failure = stepFailure(i, err)
			if !errors.As(err, &reply) {
				return failure
			}
		}
	}
	return failure
}

// content sends the message after DATA was accepted.
func (s *session) content(message []byte, ending func()) error {
	w := s.text.DotWriter()
	if _, err := w.Write(message); err != nil {
		return stepError("content", err)
	}
	// All of it but its end goes out now, so that nothing lies between the note of the
	// caller and the end.
	if err := s.text.W.Flush(); err != nil {
		return stepError("content", err)
	}
	if ending != nil {
		ending()
	}
	if err := w.Close(); err != nil {
		return stepError("content", err)
	}
	_, _, err := s.text.ReadResponse(250)
	var reply *textproto.Error
	if err == nil {
		return nil
	}
	s.usable = errors.As(err, &reply) && reply.Code != 421
	return classifyReply("content", err)
}

// steps are the commands of an envelope, with the replies that accept them.
var (
	steps = [...]string{"MAIL", "RCPT", "DATA"}
	codes = [...]int{250, 25, 354}
)

// endingError is a reply 421: the server ends the connection.
type endingError struct{ error }

func (e *endingError) Unwrap() error { return e.error }

// stepFailure classifies the failure of a command of the envelope. MAIL is never the
// mail's fault.
func stepFailure(step int, err error) error {
	var reply *textproto.Error
	if errors.As(err, &reply) && reply.Code == 421 {
		return &endingError{stepError(steps[step], err)}
	}
	if step == 0 {
		return stepError(steps[step], err)
	}
	return classifyReply(steps[step], err)
}

// classifyReply returns a *RefusedError for a reply that no further attempt will
// change. Replies about commands and sign-in concern the settings.
func classifyReply(step string, err error) error {
	var reply *textproto.Error
	if !errors.As(err, &reply) || reply.Code < 500 || reply.Code > 599 {
		return stepError(step, err)
	}
	switch reply.Code {
	case 500, 502, 503, 504, 530, 534, 535, 538:
		return stepError(step, err)
	}
	refused := &RefusedError{Code: reply.Code, Status: statusOf(reply.Msg), Text: oneLine(reply.Msg)}
	refused.Address = mail.IsAddressRefused(refused.Status) ||
		step == "RCPT" && isUnspecific(refused.Status) && isMailboxCode(reply.Code) && !mail.IsAboutSender(reply.Msg)
	return refused
}

// isUnspecific reports whether a status says nothing beyond the reply's code.
func isUnspecific(status string) bool { return status == "" || status == "5.0.0" }

// isMailboxCode: RFC 5321, 4.2.3: 550 mailbox unavailable, 551 user not local, 553
// mailbox name not allowed.
func isMailboxCode(code int) bool { return code == 550 || code == 551 || code == 553 }

// statusOf returns the status of RFC 3463 that begins a reply, "" for none.
func statusOf(reply string) string {
	word, _, _ := strings.Cut(reply, " ")
	parts := strings.Split(word, ".")
	if len(parts) != 3 || len(word) > 11 || parts[0] != "5" {
		return ""
	}
	for _, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return ""
		}
	}
	return word
}
