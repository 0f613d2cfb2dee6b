package install

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModelOf(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"": "", "curl/8.5.0": "",
		"com.apple.appstored/1.0 iOS/18.6 model/iPhone14,5 hwp/t8110 build/22G86 (6; dt:246)": "iPhone14,5, iOS 18.6",
		"itunesstored/1.0 model/iPad13,4": "iPad13,4",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 " +
			"Safari/604.1": "iPhone, iOS 18.6",
		"Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15": "iPad, iOS 12.5.7",
		"something with an iPhone": "iPhone or iPad",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36": "Android 10",
		"Mozilla/5.0 (Android 15; Mobile; rv:139.0) Gecko/139.0 Firefox/139.0":                                            "Android 15",
		"Mozilla/5.0 (Linux; Android 15; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/100.0.0.0 Mobile " +
			"Safari/537.36": "Pixel 8, Android 15",
		"Mozilla/5.0 (Linux; U; Android 4.0.3; de-de; GT-I9300 Build/IML74K) AppleWebKit/534.30": "GT-I9300, Android 4.0.3",
		"Android": "Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15":             "Mac",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0.0.0":    "",
		"\xff\xfe(Linux; Android 15; \xffPixel 8)":                                         "Pixel 8, Android 15",
		"Mozilla/5.0 (Linux; Android 15; " + strings.Repeat("x", 10_000) + ") AppleWebKit": "Android",
	} {
		require.Equal(t, want, modelOf(agent), "%.100s", agent)
	}
}
