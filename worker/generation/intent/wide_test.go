package intent

import (
	"strings"
	"testing"
)

// TestWide holds readings of what strangers say in ways that a name or a wrong bound was read of.
func TestWide(t *testing.T) {
	tests := []struct{ lang, text, want string }{
		{"en", "show products cheaper than 20 euros", "filter[products min:price price<20_euros]"},
		{"de", "Zeige Produkte teurer als 20 Euro", "filter[Produkte max:price price>20_Euro]"},
		{"fr", "Affiche les articles moins chers que 20 euros", "filter[<item/articles> min:price price<20_euros]"},
		{"en", "check that the total went up", "check[not unchanged: <total/total> op=>]"},
		{"de", "prüfe, dass die Anzahl um 2 gestiegen ist", "check[not unchanged: <count/Anzahl> op=> =2]"},
		{"fr", "vérifie que la somme se met à jour", "check[not unchanged: <total/somme>]"},
		{"es", "comprueba que el subtotal ha subido", "check[not unchanged: <total/subtotal> op=>]"},
		{"en", "the price must not exceed 50 euros", "check[not is: price op=> =50_euros]"},
		{"en", "the list has 3 items", "check[counts: <item/items> =3 where=<list/list>]"},
		{"de", "Antworte Uwe mit \"Ja\", schick es aber nicht ab", "add[Uwe, (mit):\"Ja\"] | !submit[PRO]"},
		{"de", "Öffne ihn aber lösche ihn nicht.", "open[PRO] | !remove[PRO]"},
		{"de", "Schick ihn aber bitte lösche ihn nicht.", "submit[PRO] | !remove[PRO]"},
		{"de", "Öffne es aber schließe das Menü.", "open[PRO] | close[<menu/Menü>]"},
		{"de", "Wähle es aber lösche Bo.", "choose[PRO] | remove[Bo]"},
		{"de", "Geh aber nicht auf Löschen.", "!open[Löschen]"},
		{"de", "Schalte den Dunkelmodus ein und die Benachrichtigungen aus.",
			"toggle[Dunkelmodus, on] | toggle[<message/Benachrichtigungen>, off]"},
		{"de", "Schalte A und B ein und C und D aus.", "toggle[A + B, on] | toggle[C + D, off]"},
		{"de", "Klapp A auf und B zu.", "expand[A] | collapse[B]"},
		{"en", "Turn dark mode on and the alarm off.", "toggle[dark mode, on] | toggle[alarm, off]"},
		{"en", "Turn on dark mode and off the alarm.", "toggle[dark mode, on] | toggle[alarm, off]"},
		{"en", "Turn on dark mode and the alarm.", "toggle[dark mode + alarm, on]"},
		{"en", "Proceed to checkout as a guest.", "open[checkout having(guest)]"},
		{"de", "Das Fenster wieder zumachen ohne zu speichern.", "close[<dialog/Fenster>] | !submit[]"},
		{"de", "Versuche, den Kunden ohne Name zu speichern.", "submit[Kunden, -Name, expected]"},
		{"fr", "N'affiche que les articles en stock", "filter[only is:en stock <item/articles>]"},
		{"fr", "Réponds à Tom sans l'envoyer", "act[~répondre, Tom] | !submit[]"},
		{"fr", "N'oublie pas de cocher la case newsletter.", "complete[newsletter <checkbox/case>]"},
		{"fr", "vérifie que le message « Enregistré » s'affiche", "check[shown: \"Enregistré\" <message/message>]"},
		{"fr", "Assure-toi qu'il ne reste aucune tâche", "check[not shown: tâche]"},
		{"fr", "Prolonge le livre", "increase[livre]"},
		{"es", "Cambia el nombre de la lista Recados a Otros", "edit[Recados <list/lista>, become=Otros]"},
		{"es", "Ordena los zapatos del más barato al más caro", "sort[zapatos, by=min:price]"},
		{"en", "sort the list, newest first", "sort[<list/list>, by=max:date, desc]"},
		{"en", "delete them all", "remove[all PRO]"},
		{"en", "give four stars to the grinder", "rate[grinder, amount=4_stars]"},
	}
	for _, test := range tests {
		text := ReadIn(test.text, test.lang)
		got := "nothing"
		if len(text.Readings) > 0 {
			got = text.Readings[0].String()
		}
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestClock reads hours in words.
func TestClock(t *testing.T) {
	tests := []struct {
		lang, text   string
		hour, minute int
	}{
		{"en", "book it at half past seven in the evening", 19, 30},
		{"en", "book it for quarter to nine", 8, 45},
		{"de", "buche einen Tisch für vier Personen morgen Abend um halb acht", 19, 30},
		{"de", "stell den Wecker auf Viertel vor sieben", 6, 45},
		{"fr", "réserve une table pour quatre personnes demain soir à sept heures et demie", 19, 30},
		{"fr", "réserve une table pour deux personnes demain à 9 h 15", 9, 15},
		{"es", "reserva una mesa para dos personas mañana a las siete y media de la tarde", 19, 30},
	}
	for _, test := range tests {
		found := false
		for _, g := range ReadIn(test.text, test.lang).Readings[0].Goals {
			for _, f := range g.Fields {
				found = found || f.Value.Date != nil && f.Value.Date.Hour == test.hour && f.Value.Date.Minute == test.minute
			}
		}
		if !found {
			t.Errorf("%s: %s", test.text, ReadIn(test.text, test.lang).Readings[0])
		}
	}
}

// TestUnread holds what a reading must say that it did not take.
func TestUnread(t *testing.T) {
	tests := []struct{ lang, text, want string }{
		{"de", "Öffne ihn nicht lösche ihn.", "lösche"},
		{"de", "Schick es nicht speichere es.", "speichere"},
		{"de", "Schick es nicht ab.", ""},
		{"de", "Klicke nicht auf Löschen.", ""},
		{"es", "No toques la de la cocina.", ""},
		{"en", "Do not press send.", ""},
		{"en", "Delete Bo if he is in.", "he is in"},
		{"en", "Delete Bo only if it is over.", "it is over"},
		{"en", "Delete Bo unless it is on.", "it is on"},
		{"en", "Unless it is open, delete Bo.", "it is open"},
		{"de", "Lösche Bo, es sei denn, es ist offen.", "es ist offen"},
		{"en", "Click Load until it is up.", "it is up"},
		{"en", "If it is open, delete Bo.", ""},
		{"en", "Turn on dark mode if it isn't on already.", ""},
		{"de", "Klicke auf Laden und prüfe, dass es stimmt.", "es stimmt"},
	}
	for _, test := range tests {
		text := ReadIn(test.text, test.lang)
		if len(text.Readings) == 0 {
			t.Fatalf("%s: not read", test.text)
		}
		for _, r := range text.Readings {
			if got := r.Left(test.text); got != test.want && (test.want == "" || !strings.Contains(got, test.want)) {
				t.Errorf("%s is %s and leaves %q, want %q", test.text, r, got, test.want)
			}
		}
	}
}
