package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of a directory that is one input stands for the directory; without the file that marks it, it is refused.
func TestOpenFileOfDatabase(t *testing.T) {
	dir := t.TempDir()
	meta, profile := filepath.Join(dir, "meta.db"), filepath.Join(dir, "profile.db")
	for _, tc := range []struct{ file, content, want string }{
		{profile, "HPCTOOLKITprof\x04\x00", profile + ": is one file of an HPCToolkit database; give the directory"},
		{meta, "HPCTOOLKITmeta\x04\x00", meta + ": byte 8: ends with"}, // as the reader of the directory says
		{profile, "HPCTOOLKITprof\x04\x00", meta + ": byte 8: ends with"},
	} {
		if err := os.WriteFile(tc.file, []byte(tc.content), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := OpenDataset(t.Context(), []string{tc.file}, DatasetOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.file, err, tc.want)
		}
	}
}
