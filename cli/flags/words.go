package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fromSettings marks flags whose value came from a variable or a settings file.
const fromSettings = "slackline_from_settings"

// MarkSetting notes that a flag has its value from the settings.
func MarkSetting(f *pflag.Flag) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[fromSettings] = []string{}
}

// Words are flags as they were given, for commands that show the same, also where the settings are others.
func Words(c *cobra.Command, names ...string) []string {
	var words []string
	for _, name := range names {
		f := c.Flags().Lookup(name)
		if f == nil {
			continue
		}
		if _, set := f.Annotations[fromSettings]; !f.Changed && (!set || f.Value.String() == "") {
			continue
		}
		switch value := f.Value.(type) {
		case pflag.SliceValue:
			for _, v := range value.GetSlice() {
				words = append(words, "--"+name, v)
			}
		case severalTimes:
			for _, v := range value.Each() {
				words = append(words, "--"+name, v)
			}
		default:
			if f.NoOptDefVal != "" {
				words = append(words, "--"+name+"="+f.Value.String())
			} else {
				words = append(words, "--"+name, f.Value.String())
			}
		}
	}
	return words
}
