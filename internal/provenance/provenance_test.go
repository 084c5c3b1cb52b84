package provenance

import (
	"encoding/json"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestVersion(t *testing.T) {
	info := func(module string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: module}, Settings: settings}
	}
	for _, tc := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{info("v1.2.3"), "v1.2.3"},
		{info("(devel)"), "devel"},
		{info("", debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}), "devel-0123456789ab"},
		{info("", debug.BuildSetting{Key: "vcs.revision", Value: "01"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			"devel-01+changes"},
	} {
		if got := versionOf(tc.info); got != tc.want {
			t.Errorf("versionOf = %q, want %q", got, tc.want)
		}
	}
	if Version() == "" || !strings.HasPrefix(Platform(), "go") {
		t.Errorf("Version = %q, Platform = %q", Version(), Platform())
	}
	version = "v9"
	defer func() { version = "" }()
	if got := Version(); got != "v9" {
		t.Errorf("Version = %q, want what the linker set", got)
	}
}

func TestRecord(t *testing.T) {
	args := []string{"simulate", "x"}
	r := New(args)
	args[0] = "changed"
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got["tool"] != "slackline" || got["command"].([]any)[0] != "simulate" {
		t.Errorf("record = %s", b)
	}
	for _, key := range []string{"inputs", "warnings"} {
		if list, ok := got[key].([]any); !ok || len(list) != 0 {
			t.Errorf("%s = %v, want an empty list", key, got[key])
		}
	}
	if _, err := time.Parse(time.RFC3339, r.Time); err != nil {
		t.Error(err)
	}
}

func TestMeter(t *testing.T) {
	m := NewMeter(strings.NewReader("abc"))
	if _, err := io.ReadAll(m); err != nil {
		t.Fatal(err)
	}
	n, sum := m.Sum()
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if n != 3 || sum != want {
		t.Errorf("Sum = %d, %s; want 3, %s", n, sum, want)
	}
}
