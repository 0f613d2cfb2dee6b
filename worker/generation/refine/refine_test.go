package refine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/generation/refine"
)

// role returns a selector by role and name, with its fingerprint.
func role(role, name string) *step.Selector {
	return &step.Selector{Type: step.ByRole, Value: role, Name: name, Exact: true, Fingerprint: &step.Fingerprint{Tag: "x",
		Role: role, Name: name}}
}

func act(id, tool string, s *step.Selector) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: tool, Args: step.Args{Selector: s}}}
}

func typed(id string, s *step.Selector, text string) step.Step {
	st := act(id, step.InputText, s)
	st.Tool.Args.Text = &text
	return st
}

func chosen(id string, s *step.Selector, value string) step.Step {
	st := act(id, step.Select, s)
	st.Tool.Args.OptionValue = &value
	return st
}

func claim(id string, s *step.Selector, text, why string) step.Step {
	st := act(id, step.Assert, s)
	st.Tool.Args.Matcher = &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: text, Mode: step.Contains}}
	st.Tool.Args.Reasoning = why
	return st
}

// shop is a test that logs in, adds a lamp to a cart, and orders it.
func shop() ([]step.Step, string) {
	add := role("button", "Add to cart")
	add.Within = &step.Selector{Type: step.ByRole, Value: "listitem", HasText: "Lamp"}
	return []step.Step{
			typed("s1", role("textbox", "User name"), "ann"),                                     // 0
			typed("s2", role("textbox", "Password"), "k3"),                                       // 1
			act("s3", step.Click, role("button", "Sign in")),                                     // 2
			act("s4", step.Click, add),                                                           // 3
			typed("s5", role("spinbutton", "Quantity"), "2"),                                     // 4
			act("s6", step.Click, role("radio", "Red")),                                          // 5
			chosen("s7", role("combobox", "Country"), "Germany"),                                 // 6
			typed("s8", role("textbox", "Email address"), "ann@web.com"),                         // 7
			act("s9", step.Click, role("checkbox", "Subscribe to our newsletter")),               // 8
			act("s10", step.Click, role("button", "Submit order")),                               // 9
			claim("s11", role("heading", "Thank you"), "Thank you", "the text of the heading"),   // 10
			claim("s12", role("status", ""), "1 lamp, Red", "suggested: it appeared at the end"), // 11
			{ID: "s13", Tool: step.Tool{Type: step.Finish}},                                      // 12
		}, `Log in as "ann" with password "k3". Add the lamp to the cart, set the quantity to 2, select Red, ` +
			`choose Germany as the country, enter ann@web.com as the email address, subscribe to the newsletter and submit the order. ` +
			`Verify that the heading says "Thank you".`
}

// outline shows a plan: the indices that are kept (with ! when edited), what is written
// in <>, with what it replaces, and what is removed.
func outline(p *refine.Plan) string {
	var words []string
	for _, s := range p.Segments {
		if len(s.Keep) > 0 {
			for _, i := range s.Keep {
				edited := ""
				if slices.Contains(p.Edited, i) {
					edited = "!"
				}
				words = append(words, fmt.Sprint(i)+edited)
			}
			continue
		}
		w := "<" + strings.ReplaceAll(s.Write.Source, "\n", "; ") + ">"
		if len(s.Replaces) > 0 {
			w += fmt.Sprint(s.Replaces)
		}
		words = append(words, w)
	}
	if len(p.Removed) > 0 {
		words = append(words, fmt.Sprint("-", p.Removed))
	}
	return strings.Join(words, " ")
}

func TestNew(t *testing.T) {
	t.Parallel()
	steps, text := shop()
	all := "0 1 2 3 4 5 6 7 8 9 10"
	for _, c := range []struct{ sentence, want string }{
		// Further instructions are written at the end, before its finish; what was only
		// suggested there goes.
		{`Also verify that the total is 12`, all + " <verify that the total is 12> 12 -[11]"},
		{`verify that the cart is empty`, all + " <verify that the cart is empty> 12 -[11]"},
		{`Then click Log out and verify that "Goodbye" is shown.`, all + ` <click Log out and verify that "Goodbye" is shown> 12 -[11]`},
		{`At the end, log out`, all + " <log out> 12 -[11]"},
		{`Remove the lamp from the cart`, all + " <Remove the lamp from the cart> 12 -[11]"},
		{`Prüfe außerdem, dass die Summe 12 ist`, all + " <Prüfe außerdem, dass die Summe 12 ist> 12 -[11]"},
		// Places.
		{`Before submitting, check Express delivery`, "0 1 2 3 4 5 6 7 8 <check Express delivery> 9 10 11 12"},
		{`Before submitting check Express delivery`, "0 1 2 3 4 5 6 7 8 <check Express delivery> 9 10 11 12"},
		{`before you submit the order, verify that the total is 24`, "0 1 2 3 4 5 6 7 8 <verify that the total is 24> 9 10 11 12"},
		{`check Gift wrap before submitting the order`, "0 1 2 3 4 5 6 7 8 <check Gift wrap> 9 10 11 12"},
		{`After adding the lamp, verify that the cart shows 1 item`, "0 1 2 3 <verify that the cart shows 1 item> 4 5 6 7 8 9 10 11 12"},
		{`after logging in, verify that "Welcome" is displayed`, `0 1 2 <verify that "Welcome" is displayed> 3 4 5 6 7 8 9 10 11 12`},
		{`Verify that "Welcome" is displayed after signing in`, `0 1 2 <Verify that "Welcome" is displayed> 3 4 5 6 7 8 9 10 11 12`},
		{`Before logging in, accept the cookies`, "<accept the cookies> 0 1 2 3 4 5 6 7 8 9 10 11 12"},
		{`At the beginning, accept the cookies`, "<accept the cookies> 0 1 2 3 4 5 6 7 8 9 10 11 12"},
		{`After step 4, click Continue`, "0 1 2 3 <click Continue> 4 5 6 7 8 9 10 11 12"},
		{`Before the last step, wait 2 seconds`, "0 1 2 3 4 5 6 7 8 9 <wait 2 seconds> 10 11 12"},
		{`Vor dem Absenden klicke auf "Express"`, `0 1 2 3 4 5 6 7 8 <klicke auf "Express"> 9 10 11 12`},
		{`Nachdem du dich angemeldet hast, klicke auf "Start"`, `0 1 2 <klicke auf "Start"> 3 4 5 6 7 8 9 10 11 12`},
		{`Am Anfang klicke auf "Start"`, `<klicke auf "Start"> 0 1 2 3 4 5 6 7 8 9 10 11 12`},
		// Something else instead.
		{`Instead of Red choose Blue`, "0 1 2 3 4 <select Blue>[5] 6 7 8 9 10 11! 12"},
		{`instead of Red, choose Blue`, "0 1 2 3 4 <select Blue>[5] 6 7 8 9 10 11! 12"},
		{`Choose Blue instead of Red`, "0 1 2 3 4 <select Blue>[5] 6 7 8 9 10 11! 12"},
		{`Use Blue, not Red`, "0 1 2 3 4 <select Blue>[5] 6 7 8 9 10 11! 12"},
		{`Statt Red wähle Blau`, "0 1 2 3 4 <select Blau>[5] 6 7 8 9 10 11! 12"},
		{`Wähle Blau statt Red`, "0 1 2 3 4 <select Blau>[5] 6 7 8 9 10 11! 12"},
		{`Use bob@example.com as the email instead`, "0 1 2 3 4 5 6 7! 8 9 10 11 12"},
		{`Use bob@example.com instead of ann@web.com`, "0 1 2 3 4 5 6 7! 8 9 10 11 12"},
		{`use bob@example.com instead`, "0 1 2 3 4 5 6 7! 8 9 10 11 12"},
		{`Change the quantity to 3`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Change the quantity from 2 to 3 and verify that the total is 36`, "0 1 2 3 4! 5 6 7 8 9 10 <verify that the total is 36> 12 -[11]"},
		{`Ändere die Quantity auf 3`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Replace Germany with France`, "0 1 2 3 4 5 6! 7 8 9 10 11 12"},
		{`Ersetze Germany durch France`, "0 1 2 3 4 5 6! 7 8 9 10 11 12"},
		{`Select France as the country`, "0 1 2 3 4 5 6! 7 8 9 10 11 12"},
		{`Enter Bob as the user name`, "0! 1 2 3 4 5 6 7 8 9 10 11 12"},
		{`Log in as bob instead of ann`, "0! 1 2 3 4 5 6 7 8 9 10 11 12"},
		{`Instead of the lamp, add the chair to the cart`, "0 1 2 <Add the chair to the cart>[3] 4 5 6 7 8 9 10 11! 12"},
		{`Instead of clicking Submit order press Enter`, "0 1 2 3 4 5 6 7 8 <press Enter>[9] 10 11 12"},
		// Without.
		{`Do not subscribe`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Don't subscribe to the newsletter`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Skip the newsletter step`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Remove the step that subscribes to the newsletter`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`without the newsletter`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Überspringe den Newsletter`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Lass den Newsletter weg`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Abonniere den Newsletter nicht`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Skip the login`, "3 4 5 6 7 8 9 10 11 12 -[0 1 2]"},
		{`No longer verify the heading`, "0 1 2 3 4 5 6 7 8 9 11 12 -[10]"},
		{`Skip the newsletter and the quantity`, "0 1 2 3 5 6 7 9 10 11 12 -[4 8]"},
		// Several.
		{`Use bob@example.com as the email and do not subscribe.`, "0 1 2 3 4 5 6 7! 9 10 11 12 -[8]"},
		{"Change the quantity to 3.\nBefore submitting, check Express.\nSkip the newsletter step; then log out",
			"0 1 2 3 4! 5 6 7 <check Express> 9 10 <log out> 12 -[8 11]"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			p, err := refine.New(refine.Request{Steps: steps, Intent: text, Sentence: c.sentence})
			require.NoError(t, err)
			require.Equal(t, c.want, outline(p))
			require.NotEmpty(t, p.Reasoning)
		})
	}
}

// Sentences need not be in the language of the test.
func TestNewInOtherLanguages(t *testing.T) {
	t.Parallel()
	steps, text := shop()
	all := "0 1 2 3 4 5 6 7 8 9 10"
	for _, c := range []struct{ sentence, want string }{
		{`Comprueba también que el total es 12`, all + " <Comprueba también que el total es 12> 12 -[11]"},
		{`Vérifie aussi que le total est 12`, all + " <Vérifie aussi que le total est 12> 12 -[11]"},
		{`Antes de enviar, marca Express`, "0 1 2 3 4 5 6 7 8 <marca Express> 9 10 11 12"},
		{`Avant d'envoyer, coche Express`, "0 1 2 3 4 5 6 7 8 <coche Express> 9 10 11 12"},
		{`Vor dem Abschicken hake Express an`, "0 1 2 3 4 5 6 7 8 <hake Express an> 9 10 11 12"},
		{`Usa bob@example.com como correo electrónico`, "0 1 2 3 4 5 6 7! 8 9 10 11 12"},
		{`Utilise bob@example.com au lieu de ann@web.com`, "0 1 2 3 4 5 6 7! 8 9 10 11 12"},
		{`Verwende bob@example.com statt ann@web.com`, "0 1 2 3 4 5 6 7! 8 9 10 11 12"},
		{`Cambia la cantidad a 3`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Change la quantité en 3`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Ändere die Menge von 2 auf 3`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Elige Blue en lugar de Red`, "0 1 2 3 4 <select Blue>[5] 6 7 8 9 10 11! 12"},
		{`Choisis Blue au lieu de Red`, "0 1 2 3 4 <select Blue>[5] 6 7 8 9 10 11! 12"},
		{`Sáltate el boletín`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Saute l'étape de la newsletter`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`No hagas clic en Subscribe`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Ne clique pas sur Subscribe`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Prüfe vor dem Absenden, dass die Summe 24 ist`, "0 1 2 3 4 5 6 7 8 <Prüfe , dass die Summe 24 ist> 9 10 11 12"},
		{`Nach dem Anmelden prüfe, dass "Welcome" angezeigt wird`, `0 1 2 <prüfe, dass "Welcome" angezeigt wird> 3 4 5 6 7 8 9 10 11 12`},
		{`Después de iniciar sesión, comprueba que se muestra "Welcome"`, `0 1 2 <comprueba que se muestra "Welcome"> 3 4 5 6 7 8 9 10 11 12`},
		{`Après la connexion, vérifie que "Welcome" est affiché`, `0 1 2 <vérifie que "Welcome" est affiché> 3 4 5 6 7 8 9 10 11 12`},
		{`Lass die Anmeldung weg`, "3 4 5 6 7 8 9 10 11 12 -[0 1 2]"},
		{`Pon 5 como cantidad`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Mets 5 comme quantité`, "0 1 2 3 4! 5 6 7 8 9 10 11 12"},
		{`Tausche Germany gegen France`, "0 1 2 3 4 5 6! 7 8 9 10 11 12"},
		{`Cambia Germany por France`, "0 1 2 3 4 5 6! 7 8 9 10 11 12"},
		{`Remplace Germany par France`, "0 1 2 3 4 5 6! 7 8 9 10 11 12"},
		{`Au début, accepte les cookies`, "<accepte les cookies> 0 1 2 3 4 5 6 7 8 9 10 11 12"},
		{`Omite el paso del boletín`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Ne t'abonne pas à la newsletter`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
		{`Klicke nicht auf Subscribe`, "0 1 2 3 4 5 6 7 9 10 11 12 -[8]"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			p, err := refine.New(refine.Request{Steps: steps, Intent: text, Sentence: c.sentence})
			require.NoError(t, err)
			require.Equal(t, c.want, outline(p))
		})
	}
}

// What fits no step, or several, is not guessed.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	steps, text := shop()
	for _, c := range []struct{ sentence, why string }{
		{``, "asks for nothing"},
		{`Choose "Blue" instead`, "instead of what"},
		{`Change the colour to Blue`, "fills and chooses nothing of that name"},
		{`skip step 40`, "has 13 steps"},
		{`do not click the banana`, "no step of the test does that"},
		{`after clicking, verify that "Hi" is shown`, "several steps"},
		{`Before flying to the moon, click Save`, "no step of the test does that"},
		{`Replace Sweden with Norway`, "no step of the test does that"},
		{`Überspringe den Banner`, "no step of the test does that"},
		{`No hagas clic en Reembolso`, "no step of the test does that"},
		{`Ne clique pas sur Rembourser`, "no step of the test does that"},
	} {
		_, err := refine.New(refine.Request{Steps: steps, Intent: text, Sentence: c.sentence})
		var not *plan.NotUnderstoodError
		require.ErrorAs(t, err, &not, c.sentence)
		require.Contains(t, not.Reason, c.why, c.sentence)
	}
}
