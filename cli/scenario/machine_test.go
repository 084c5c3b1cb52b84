package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"slackline/model/machine"
	"slackline/model/unit"
)

// writeFile writes a file into a directory of its own.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// machineOf is the machine that some flags describe; setting is the machine of the settings.
func machineOf(t *testing.T, setting string, onlyLatency bool, args ...string) (*machine.Machine, error) {
	t.Helper()
	o := MachineOptions{OnlyLatency: onlyLatency}
	c := &cobra.Command{Use: "test"}
	o.AddFlags(c.Flags())
	o.AddModel(c.Flags())
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if o.Name == "" {
		o.Name = setting
	}
	return o.Machine(c)
}

// Parameters replace those of a machine; a full set of them is a machine of its own, whatever the settings name.
func TestMachine(t *testing.T) {
	file := writeFile(t, "m.yaml", "name: mine\nL: 3us\no: 1us\ng: 2us\nG: 1ns\n")
	const all = "-L 1us -o 2us -g 3us -G 4ns"
	for _, tc := range []struct {
		setting, args string
		only          bool
		name          string
		latency, gap  unit.Duration
	}{
		{"", "--machine " + file, false, "mine", 3 * unit.Microsecond, 2 * unit.Microsecond},
		{file, "", false, "mine", 3 * unit.Microsecond, 2 * unit.Microsecond},
		{file, "-L 5us", false, "mine, changed", 5 * unit.Microsecond, 2 * unit.Microsecond},
		{file, all, false, "command line", unit.Microsecond, 3 * unit.Microsecond},
		{"", all + " --machine " + file, false, "mine, changed", unit.Microsecond, 3 * unit.Microsecond},
		{file, "-L 5us", true, "mine, changed", 5 * unit.Microsecond, 2 * unit.Microsecond},
		{file, "-L 5us -o 1us -G 1ns", true, "mine, changed", 5 * unit.Microsecond, 2 * unit.Microsecond},
		{file, all, true, "command line", unit.Microsecond, 3 * unit.Microsecond},
		{"", "-L 5us", true, "command line", 5 * unit.Microsecond, 0},
		{"", "-L 5us -o 1us -G 1ns --model loggps", false, "command line", 5 * unit.Microsecond, 0},
		{"", "--scale-network 10 --machine " + file, false, "mine, network x 10", 300 * unit.Nanosecond, 200 * unit.Nanosecond},
		{"", "--scale-network 0.5 " + all, false, "command line, network x 0.5", 2 * unit.Microsecond, 6 * unit.Microsecond},
	} {
		m, err := machineOf(t, tc.setting, tc.only, strings.Fields(tc.args)...)
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		for class := range machine.Class(machine.NumClasses) {
			if p := m.Classes[class]; p.Latency != tc.latency || p.Gap != tc.gap {
				t.Errorf("%s: class %s has L %s and g %s, want %s and %s", tc.args, class, p.Latency, p.Gap, tc.latency, tc.gap)
			}
		}
		if m.Name != tc.name {
			t.Errorf("%s: the machine is %q, want %q", tc.args, m.Name, tc.name)
		}
	}
}

func TestMachineMistakes(t *testing.T) {
	for _, tc := range []struct {
		args string
		only bool
		want string
	}{
		{"", false, "which machine? Give --machine NAME (see 'slackline machine list'), --machine FILE, or -L, -o, -g and -G"},
		{"", true, "--machine FILE, or -L"},
		{"-L 1us", false, "; or give --machine"},
		{"-L 1us -o 1us -G 1ns", false, "; or give --machine"},
		{"--machine no-such-machine", false, "no-such-machine"},
	} {
		if m, err := machineOf(t, "", tc.only, strings.Fields(tc.args)...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, error %v; want %q", tc.args, m, err, tc.want)
		}
	}
}

// A built-in machine is not a file that was read.
func TestMachineFile(t *testing.T) {
	for name, want := range map[string]string{"cnl": "", "recorded": "", "": "", "m.yaml": "m.yaml"} {
		if got := (&MachineOptions{Name: name}).File(); got != want {
			t.Errorf("--machine %s: file %q, want %q", name, got, want)
		}
	}
}
