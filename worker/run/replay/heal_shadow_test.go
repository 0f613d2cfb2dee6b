package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// An element is not taken for one in the shadow root of another host, as far as ids and
// test ids name the hosts.
func TestHealingStaysInItsShadowHost(t *testing.T) {
	t.Parallel()
	card := func(host, content string) string {
		return `<p id=out></p>` + host + `<script>document.querySelector("x-card").attachShadow({mode: "open"}).innerHTML = "` + content + `";
			const b = document.querySelector("x-card").shadowRoot.querySelector("button");
			if (b) b.onclick = () => out.textContent = "pressed"</script>`
	}
	button := func(id string) string { return `<button id=` + id + `>Rename</button>` }
	for name, c := range map[string]struct {
		before, after string
		heals         bool
	}{
		"another id":      {`<x-card id=ada></x-card>`, `<x-card id=bob></x-card>`, false},
		"another test id": {`<x-card data-testid=ada></x-card>`, `<x-card data-testid=bob></x-card>`, false},
		"the same id":     {`<x-card id=ada></x-card>`, `<main><x-card id=ada class=new></x-card></main>`, true},
		"an id was made":  {`<x-card id=radix-1></x-card>`, `<x-card id=radix-2></x-card>`, true},
		"a counted id":    {`<x-card id=mat-card-1></x-card>`, `<x-card id=mat-card-2></x-card>`, true},
		"a hashed id":     {`<x-card id=card-a8f3b2></x-card>`, `<x-card id=card-b2c9d1></x-card>`, true},
		"a test id too":   {`<x-card id=ada></x-card>`, `<x-card id=ada data-testid=card></x-card>`, true},
		"an id is new":    {`<x-card></x-card>`, `<x-card id=ada></x-card>`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			learned := pass(t, card(c.before, button("first")), do(step.Click, step.Args{Selector: css("#first")})).Fingerprints
			require.Len(t, learned, 1)
			for _, print := range learned {
				require.Len(t, print.ShadowPath, 1)
				press := healing(printed("#first", print))
				if !c.heals {
					fails(t, card(c.after, button("second")), store.CodeStepFailed, "it is in the shadow root of another host", press)
					continue
				}
				r := pass(t, card(c.after, button("second")), press, is("#out", step.TextIs, "pressed"))
				require.Equal(t, 1, r.Healed)
				require.True(t, strings.HasPrefix(r.Records[0].Healed.Reason, "same "))
			}
		})
	}
}
