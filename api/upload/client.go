package upload

import "strings"

// clients are what is known of programs that upload, by how a product in their User-Agent
// begins, in lower case. The first one in the table wins: a build tool before the library
// that it sends with.
var clients = []struct{ product, name string }{
	{"jenkins", "Jenkins"},
	{"gradle", "Gradle"},
	{"fastlane", "fastlane"},
	{"bitrise", "Bitrise"},
	{"github-actions", "GitHub Actions"},
	{"actions", "GitHub Actions"},
	{"gitlab", "GitLab"},
	{"azure", "Azure Pipelines"},
	{"vsts", "Azure Pipelines"},
	{"teamcity", "TeamCity"},
	{"circleci", "CircleCI"},
	{"codemagic", "Codemagic"},
	{"maven", "Maven"},
	{"curl", "curl"},
	{"wget", "Wget"},
	{"httpie", "HTTPie"},
	{"postmanruntime", "Postman"},
	{"python-requests", "python-requests"},
	{"python-httpx", "python-httpx"},
	{"python-urllib", "Python"},
	{"powershell", "PowerShell"},
	{"windowspowershell", "PowerShell"},
	{"faraday", "Faraday"},
	{"rest-client", "rest-client"},
	{"ruby", "Ruby"},
	{"okhttp", "OkHttp"},
	{"apache-httpclient", "Apache HttpClient"},
	{"java-http-client", "Java"},
	{"java", "Java"},
	{"go-http-client", "Go"},
	{"axios", "axios"},
	{"undici", "Node.js"},
	{"node", "Node.js"},
	{"got", "got"},
}

// maxClient bounds a product that is not known, in characters.
const maxClient = 60

// clientOf names the program that sends a request, by its User-Agent: a known one by its
// name, another by its first product (RFC 9110, 10.1.5) without the version. "" for a
// browser, which calls itself Mozilla, and where there is no such header.
func clientOf(userAgent string) string {
	products := productsOf(userAgent)
	for _, known := range clients {
		for _, product := range products {
			if strings.HasPrefix(strings.ToLower(product), known.product) {
				return known.name
			}
		}
	}
	if len(products) == 0 || strings.EqualFold(products[0], "Mozilla") {
		return ""
	}
	return products[0]
}

const (
	// maxUserAgent is how much of the header is looked at, in bytes; maxProducts how many
	// products in it.
	maxUserAgent, maxProducts = 512, 8
)

// productsOf returns the products of a User-Agent, without versions and comments. What may
// not stand in one is left out.
func productsOf(userAgent string) (products []string) {
	depth := 0
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '(':
			depth++
			return ' '
		case r == ')':
			depth = max(0, depth-1)
			return ' '
		case depth > 0:
			return -1
		}
		return r
	}, userAgent[:min(len(userAgent), maxUserAgent)])
	for word := range strings.FieldsSeq(text) {
		name, _, _ := strings.Cut(word, "/")
		name = strings.Map(func(r rune) rune {
			if r > ' ' && r < 0x7f && !strings.ContainsRune(`"<>@,;:\[]?={}`, r) {
				return r
			}
			return -1
		}, name)
		if name = name[:min(len(name), maxClient)]; name != "" {
			products = append(products, name)
		}
		if len(products) == maxProducts {
			break
		}
	}
	return products
}
