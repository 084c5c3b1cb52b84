package whatif

import (
	"bytes"
	"strings"
	"testing"
)

var testSeries = []Property{{"input", "dissemination"}, {"seed", "1"}}

const (
	testHead = `{"slackline_replicas":1,"series":[{"name":"input","value":"dissemination"},{"name":"seed","value":"1"}]}` + "\n"
	testLine = `{"ranks":8,"ops":48,"noiseless_ps":31530000,"first":0,"makespans_ps":[31530000,-1,40000000]}` + "\n"
)

func TestCheckpoint(t *testing.T) {
	c, err := ReadCheckpoint("f", strings.NewReader(testHead+testLine), testSeries)
	if err != nil {
		t.Fatal(err)
	}
	if c.Replicas() != 2 {
		t.Errorf("%d replicas, want 2", c.Replicas())
	}
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	if out.String() != testHead+testLine {
		t.Errorf("written:\n%swant:\n%s", out.String(), testHead+testLine)
	}
}

func TestCheckpointErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "f:1: this is no file of replicas"},
		{"num_ranks 2\n", "f:1: this is no file of replicas"},
		{`{"slackline_replicas":2}`, "f:1: the file has version 2, this slackline reads 1"},
		{strings.Replace(testHead, `"1"`, `"2"`, 1), "f holds replicas of another series: its seed is 2, not 1"},
		{strings.Replace(testHead, "dissemination", "ring", 1), "its input is ring, not dissemination"},
		{strings.Replace(testHead, "dissemination", strings.Repeat("x", 99), 1), "its input differs"},
		{`{"slackline_replicas":1,"series":[{"name":"input","value":"dissemination"},{"name":"delay","value":"1@0:1us"}]}`, "its seed is none, not 1, its delay is 1@0:1us, not none"},
		{testHead + "x\n", "f:2: invalid"},
		{testHead + testLine + testLine, "f:3: begins at replica 0 instead of 3 of 8 ranks"},
		{testHead + strings.Replace(testLine, `"ops":48`, `"ops":0`, 1), "f:2: a number is out of range"},
		{testHead + strings.Replace(testLine, "-1", "-2", 1), "f:2: a makespan is negative"},
		{testHead + testLine + strings.NewReplacer(`"first":0`, `"first":3`, "48", "49").Replace(testLine), "f:3: contradicts"},
	} {
		if _, err := ReadCheckpoint("f", strings.NewReader(tc.text), testSeries); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

// FuzzCheckpoint: what can be read can be written and read again.
func FuzzCheckpoint(f *testing.F) {
	f.Add(testHead + testLine)
	f.Add(testHead)
	f.Add(testHead + `{"ranks":1,"ops":1,"makespans_ps":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadCheckpoint("f", strings.NewReader(text), testSeries)
		if err != nil {
			return
		}
		var one, two bytes.Buffer
		if err := c.Write(&one); err != nil {
			t.Fatal(err)
		}
		again, err := ReadCheckpoint("f", bytes.NewReader(one.Bytes()), testSeries)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, one.String())
		}
		if err := again.Write(&two); err != nil || one.String() != two.String() {
			t.Fatalf("written twice: %v\n%s\n%s", err, one.String(), two.String())
		}
	})
}
