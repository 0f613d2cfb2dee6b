package intent

import "testing"

// A sentence in letters of no language that is read is no value for a field.
func TestUnwritten(t *testing.T) {
	for _, text := range []string{
		"Откройте страницу заказов.",
		"「Orders」を開いてください。",
		"افتح صفحة الطلبات",
		"Click Save. Откройте страницу заказов.",
	} {
		for _, r := range Read(text).Readings {
			if len(r.Unread) == 0 {
				t.Errorf("%q is read as %s", text, r)
			}
		}
	}
	for _, text := range []string{"Enter Мария as the name.", "Type 山田 into Name and click Save."} {
		if list := Read(text).Readings; len(list) == 0 || len(list[0].Unread) > 0 {
			t.Errorf("%q is not read: %v", text, list)
		}
	}
}
