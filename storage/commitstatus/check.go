package commitstatus

import (
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// maxURL is the longest address that the API accepts anywhere.
	maxURL = 2048
	// maxRepository is more than GitLab's longest path with its subgroups.
	maxRepository = 512
	// maxContext leaves room below the 255 characters that providers store.
	maxContext = 100
	// maxToken is far above the tokens of all providers, and below the headers that their
	// servers take.
	maxToken = 1000
)

// DefaultContext begins the name of a status when a setting names none. The app follows: apps of
// one repository, such as those for Android and iOS, must not overwrite the statuses of each other.
const DefaultContext = "slipway/gate"

// defaultContext is the name of a status of an app. Apps for several platforms often have the
// same name.
func defaultContext(app, platform string) string {
	if platform != "" {
		platform = " (" + platform + ")"
	}
	begin := DefaultContext + ": "
	return begin + strings.TrimSpace(storage.Cut(app, maxContext-len(begin)-len([]rune(platform)))) + platform
}

// defaultURL is the address of a provider that is mostly used where it is; "": none. Gitea
// has none: it is run by its users, and a forgotten address must not send their token to
// somebody else.
func defaultURL(p Provider) string {
	switch p {
	case GitHub:
		return "https://api.github.com"
	case GitLab:
		return "https://gitlab.com"
	}
	return ""
}

// Complete fills in what a setting may leave out, but for the context, which Save fills in, and
// refuses what cannot be one. The token is checked by CheckToken, before it is sealed.
func (s *Setting) Complete() error {
	switch s.Provider {
	case GitHub, GitLab, Gitea:
	default:
		return storage.Invalid("provider", "must be %s, %s or %s", GitHub, GitLab, Gitea)
	}
	if s.URL == "" {
		s.URL = defaultURL(s.Provider)
	}
	if err := s.checkURL(); err != nil {
		return err
	}
	if err := s.checkRepository(); err != nil {
		return err
	}
	if s.Context == "" {
		return nil
	}
	var err error
	s.Context, err = storage.Name("context", s.Context, maxContext)
	return err
}

// checkURL checks the form. Where the address leads is the guard's matter.
func (s *Setting) checkURL() error {
	if s.URL == "" {
		return storage.Invalid("url", "is required for %s: the address of your server", s.Provider)
	}
	u, err := url.Parse(s.URL)
	switch {
	case len(s.URL) > maxURL || err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return storage.Invalid("url", "must be an http or https URL of at most %d characters", maxURL)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return storage.Invalid("url", "must not hold a user name, a password, a query or a fragment")
	}
	if _, err := storage.Line("url", s.URL, maxURL); err != nil {
		return err
	}
	s.URL = strings.TrimRight(s.URL, "/")
	// People copy the address of the interface as well as that of the server.
	switch s.Provider {
	case GitLab:
		s.URL = strings.TrimSuffix(s.URL, "/api/v4")
	case Gitea:
		s.URL = strings.TrimSuffix(s.URL, "/api/v1")
	}
	return nil
}

// checkRepository refuses what would name another path than that of a repository.
func (s *Setting) checkRepository() error {
	if len(s.Repository) > maxRepository {
		return storage.Invalid("repository", "must have at most %d characters", maxRepository)
	}
	parts := strings.Split(s.Repository, "/")
	if s.Provider != GitLab && len(parts) != 2 || len(parts) < 2 {
		return storage.Invalid("repository", "must be owner/name%s", map[bool]string{true: ", with its groups"}[s.Provider == GitLab])
	}
	for _, part := range parts {
		if !repositoryPart(part) {
			return storage.Invalid("repository", "must have letters, digits, dots, hyphens and underscores between its slashes")
		}
	}
	return nil
}

func repositoryPart(text string) bool {
	if strings.Trim(text, ".") == "" {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	})
}

// CheckToken refuses what no header can carry. The text of the error never has the token.
func CheckToken(token string) error {
	if token == "" || len(token) > maxToken {
		return storage.Invalid("token", "must have 1 to %d characters", maxToken)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return storage.Invalid("token", "must be printable ASCII without spaces")
	}
	return nil
}

// FullCommit reports whether a text is the full hash of a commit: 40 hexadecimal digits
// (SHA-1) or 64 (SHA-256). Providers take statuses for no other.
func FullCommit(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
