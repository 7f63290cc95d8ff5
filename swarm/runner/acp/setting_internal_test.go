package acp

import (
	"encoding/json"
	"testing"
)

func TestSettingIsTheOneOfThatName(t *testing.T) {
	for options, want := range map[string][2]string{
		`[{"id":"provider","category":"model","currentValue":"p"},{"id":"model","category":"model","currentValue":"m"}]`: {"model", "m"}, // cline 3.0.65
		`[{"id":"llm","category":"model","currentValue":"m"}]`:                                                           {"llm", "m"},
		`[{"id":"model","currentValue":"m"}]`:                                                                            {"model", "m"},
		`[{"configId":"model","category":"model","currentValue":"m"}]`:                                                   {"model", "m"},
		`[{"id":"model","category":"mode","currentValue":"m"},{"id":"mode","category":"other","currentValue":1}]`:        {"", ""},
		`[{"id":"model","category":"model","currentValue":true}]`:                                                        {"model", ""},
	} {
		var o opened
		if err := json.Unmarshal([]byte(`{"configOptions":`+options+`}`), &o); err != nil {
			t.Fatal(err)
		}
		if id, value := o.setting("model"); id != want[0] || value != want[1] {
			t.Errorf("%s: setting = %q, %q; want %q", options, id, value, want)
		}
	}
}
