package processtest

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// uploadForPeople uploads an app and returns the id of its build.
func uploadForPeople(t *testing.T, at caller) string {
	t.Helper()
	body, contentType := form(t, field{name: "file", file: "shop.ipa", value: string(newIPA(t, "com.example.people", "1.0", "10"))})
	res, text := at.do(t, http.MethodPost, "/api/upload/", body.Bytes(), func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	var up uploaded
	require.NoError(t, json.Unmarshal(text, &up))
	return up.BuildID
}

// mailCounter is a mail server that counts messages by Message-ID and by person, and
// keeps the last one of each person.
type mailCounter struct {
	address string

	mu     sync.Mutex
	byID   map[string]int
	people map[string]int
	last   map[string]string
	sum    int
	taken  func() // called with a message that the server has, before its answer
}

// holdAnswers keeps the server from answering to messages until the returned function is
// called; the channel receives when it has one.
func (m *mailCounter) holdAnswers() (taken <-chan struct{}, answer func()) {
	first, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = func() {
		once.Do(func() { close(first) })
		<-free
	}
	return first, func() { close(free) }
}

// requireOneEach wants that so many people have a mail, and each of them one.
func (m *mailCounter) requireOneEach(t *testing.T, people int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Len(t, m.people, people, "people who have a mail")
	for id, n := range m.byID {
		require.Equal(t, 1, n, "copies of the mail %s", id)
	}
	for person, n := range m.people {
		require.Equal(t, 1, n, "mails to %s", person)
	}
}

// addNotified adds testers who may have every build of the app.
func (c *cluster) addNotified(t *testing.T, n int) {
	t.Helper()
	for _, statement := range []string{
		`insert into users (uuid, username, email) select gen_random_uuid(), 'many' || n, 'tester' || n || '@example.com' from generate_series(1, $1::int) n`,
		`insert into memberships (organization_id, user_id, role)
			select o.id, u.id, 'tester' from organizations o, users u where u.username like 'many%' and $1::int > 0`,
		`update projects set all_testers = true where $1::int > 0`,
	} {
		_, err := c.db.ExecContext(t.Context(), statement, n)
		require.NoError(t, err)
	}
}

func startMailCounter(t *testing.T) *mailCounter {
	t.Helper()
	m := &mailCounter{byID: map[string]int{}, people: map[string]int{}, last: map[string]string{}}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &countedSession{counter: m}, nil }))
	server.Domain, server.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m.address = listener.Addr().String()
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return m
}

// countedSession is one connection.
type countedSession struct {
	counter *mailCounter
	to      string
}

func (s *countedSession) Reset()                                    { s.to = "" }
func (s *countedSession) Logout() error                             { return nil }
func (s *countedSession) Mail(string, *smtp.MailOptions) error      { return nil }
func (s *countedSession) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return nil }

func (s *countedSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	message, err := netmail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		return err
	}
	taken := s.counter.count(strings.TrimSpace(message.Header.Get("Message-ID")), s.to, string(content))
	if taken != nil {
		taken()
	}
	return nil
}

// count counts a message, and returns what is called before the server answers.
func (m *mailCounter) count(id, to, content string) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byID[id]++
	m.people[to]++
	m.last[to] = content
	m.sum++
	return m.taken
}
