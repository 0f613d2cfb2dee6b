package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func pointed(tool, selector string, p step.Pointing) step.Step {
	return do(tool, step.Args{Selector: css(selector), Pointing: p})
}

func TestPointing(t *testing.T) {
	t.Parallel()
	body := `<div style="height:3000px"></div><div id=box style="position:relative;width:400px;height:300px;background:#eee">` +
		`<button id=cover style="position:absolute;left:150px;top:100px;width:100px;height:100px">x</button></div>
		<p id=out></p><div style="height:3000px"></div><script>
		for (const type of ["click", "dblclick", "contextmenu", "auxclick"]) box.addEventListener(type, (e) => {
			if (type === "auxclick" && e.button === 2) return;
			const r = box.getBoundingClientRect();
			out.textContent = [type, Math.round(e.clientX - r.left), Math.round(e.clientY - r.top), e.button, e.detail, e.ctrlKey,
			e.shiftKey].join();
			e.preventDefault();
		});
		box.addEventListener("mousemove", (e) => { box.dataset.over = Math.round(e.clientX - box.getBoundingClientRect().left) })</script>`
	at := &step.Position{X: 20, Y: 30}
	three := 3
	pass(t, body,
		pointed(step.Click, "#box", step.Pointing{Position: at}), is("#out", step.TextIs, "click,20,30,0,1,false,false"),
		pointed(step.Click, "#box", step.Pointing{Position: &step.Position{X: 399, Y: 299},
			Modifiers: []string{"Control", "Shift"}}), is("#out", step.TextIs, "click,399,299,0,1,true,true"),
		pointed(step.Click, "#box", step.Pointing{Position: at}), is("#out", step.TextIs, "click,20,30,0,1,false,false"),
		pointed(step.Click, "#box", step.Pointing{Position: at, Button: "right"}), is("#out", step.TextIs, "contextmenu,20,30,2,0,false,false"),
		pointed(step.Click, "#box", step.Pointing{Position: at, Button: "middle"}), is("#out", step.TextIs, "auxclick,20,30,1,1,false,false"),
		pointed(step.Click, "#box", step.Pointing{Position: at, ClickCount: &three}), is("#out", step.TextIs, "click,20,30,0,3,false,false"),
		pointed(step.DoubleClick, "#box", step.Pointing{Position: at, Modifiers: []string{"Shift"}}),
		is("#out", step.TextIs, "dblclick,20,30,0,2,false,true"),
		pointed(step.RightClick, "#box", step.Pointing{Position: at}), is("#out", step.TextIs, "contextmenu,20,30,2,0,false,false"),
		pointed(step.Hover, "#box", step.Pointing{Position: &step.Position{X: 7, Y: 7}}),
		do(step.Assert, step.Args{Selector: css("#box"), Matcher: &step.Matcher{Name: step.AttributeIs,
			Args: step.MatcherArgs{Name: "data-over", Value: "7"}}}))
	fails(t, body, store.CodeStepFailed, "the position is outside of the element, which is 400 by 300",
		pointed(step.Click, "#box", step.Pointing{Position: &step.Position{X: 401, Y: 1}}))
	fails(t, body+`<div style="position:fixed;inset:0;background:#fff" id=veil></div>`, store.CodeStepFailed,
		"covered there by div#veil", pointed(step.Click, "#box", step.Pointing{Position: at}))
}

func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	body := `<input type=file id=many multiple><input type=file id=one><p id=out></p><button id=b>Choose</button><script>
		const list = (el) => { out.textContent = [...el.files].map((f) => f.name + f.size).join() };
		many.onchange = () => list(many);
		b.onclick = () => { const made = document.createElement("input"); made.type = "file"; made.multiple = true;
		made.onchange = () => list(made); made.click() }</script>`
	files := []step.File{{Name: "a.txt", Content: []byte("abc")}, {Name: "b.txt", Content: []byte("de")}}
	pass(t, body, do(step.UploadFile, step.Args{Selector: css("#many"), Files: files}), is("#out", step.TextIs, "a.txt3,b.txt2"),
		click("#b"), do(step.UploadFile, step.Args{Files: files}), is("#out", step.TextIs, "a.txt3,b.txt2"),
		click("#b"), do(step.UploadFile, step.Args{File: &files[0]}), is("#out", step.TextIs, "a.txt3"))
	fails(t, body, store.CodeStepFailed, "the input takes one file", do(step.UploadFile, step.Args{Selector: css("#one"), Files: files}))
	fails(t, body, store.CodeStepFailed, "no file chooser was opened", do(step.UploadFile, step.Args{Files: files}))
}

func TestRelations(t *testing.T) {
	t.Parallel()
	body := `<style>b, i { position: absolute; width: 40px; height: 20px; overflow: hidden }</style>
		<b id=mid style="left:200px;top:200px">mid</b><i id=right style="left:260px;top:200px">r</i><i id=far style="left:500px;top:200px">f</i>
		<i id=left style="left:100px;top:200px">l</i><i id=above style="left:200px;top:100px">a</i><i id=below style="left:200px;top:300px">b</i>
		<i id=hidden style="left:245px;top:200px;display:none">h</i>`
	lies := func(set func(*step.Selector, *step.Relation), distance int) *step.Selector {
		s := css("i")
		set(s, &step.Relation{Selector: css("#mid"), Distance: distance})
		return s
	}
	near := func(s *step.Selector, r *step.Relation) { s.Near = r }
	rightOf := func(s *step.Selector, r *step.Relation) { s.RightOf = r }
	id := func(s *step.Selector, want string) step.Step {
		return do(step.Assert, step.Args{Selector: s, Matcher: &step.Matcher{Name: step.AttributeIs,
			Args: step.MatcherArgs{Name: "id", Value: want}}})
	}
	count := func(s *step.Selector, want string) step.Step {
		return do(step.Assert, step.Args{Selector: s, Matcher: &step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: want}}})
	}
	second := lies(rightOf, 0)
	one := 1
	second.Index = &one
	pass(t, body, id(lies(near, 0), "right"), id(lies(rightOf, 0), "right"), id(second, "far"), count(lies(rightOf, 0), "2"),
		count(lies(rightOf, 100), "1"),
		id(lies(func(s *step.Selector, r *step.Relation) { s.LeftOf = r }, 0), "left"),
		id(lies(func(s *step.Selector, r *step.Relation) { s.Above = r }, 0), "above"),
		id(lies(func(s *step.Selector, r *step.Relation) { s.Below = r }, 0), "below"), count(lies(near, 400), "5"))
	fails(t, `<b id=mid style="position:absolute;left:200px;top:100px;width:40px;height:20px"></b><i style="position:absolute;left:100px;`+
		`top:100px;width:40px;height:20px">1</i><i style="position:absolute;left:300px;top:100px;width:40px;height:20px">2</i>`,
		store.CodeStepFailed, "near css #mid: 2 elements match", do(step.Click, step.Args{Selector: lies(near, 100)}))
}

func TestForEach(t *testing.T) {
	t.Parallel()
	body := `<table><tr class=r><td>Ada<td><input><td><button>Save</button><tr class=r><td>Linus<td><input><td><button>Save</button>` +
		`<tr class=r><td>Grace<td><input><td><button>Save</button></table><p id=out></p>
		<script>for (const b of document.querySelectorAll("button")) b.onclick = () => { const tr = b.closest("tr");
		out.textContent += tr.cells[0].textContent + "=" + tr.querySelector("input").value + ";" }</script>`
	tool := func(s step.Step) step.Tool { return s.Tool }
	each := func(rows *step.Selector, most *int, tools ...step.Tool) step.Step {
		return do(step.ForEach, step.Args{Selector: rows, StateArgs: step.StateArgs{Tools: tools, Max: most}})
	}
	two := 2
	r := pass(t, body, each(css(".r"), nil, tool(saving(step.SavedText, "td:first-child", "", "who")),
		tool(input("input", "{{saved:who}}!")), tool(click("button"))),
		is("#out", step.TextIs, "Ada=Ada!;Linus=Linus!;Grace=Grace!;"))
	require.Len(t, r.Records[0].Iterations, 3)
	require.Equal(t, playback.Passed, r.Records[0].Iterations[2].Status)
	require.Empty(t, r.Fingerprints)
	r = fails(t, body, store.CodeAssertionFailed, `row 2 of 3: `, each(css(".r"), nil,
		step.Tool{Type: step.Assert, Args: step.Args{Not: true, Selector: css("td:first-child"),
			Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "Linus"}}}}))
	require.Equal(t, []string{playback.Passed, playback.Failed}, []string{r.Records[0].Iterations[0].Status,
		r.Records[0].Iterations[1].Status})
	fails(t, body, store.CodeStepFailed, "there are 3 rows, and the step goes through at most 2", each(css(".r"), &two, tool(click("button"))))
	fails(t, body, store.CodeStepFailed, "there is no row", each(css(".none"), nil, tool(click("button"))))
	pass(t, `<iframe id=f srcdoc="<ul><li><button onclick='this.textContent=1'>x</button><li>`+
		`<button onclick='this.textContent=2'>y</button></ul>"></iframe>`,
		frame("#f", each(css("li"), nil, tool(click("button")))), frame("#f", is("li:last-child button", step.TextIs, "2")))
}
