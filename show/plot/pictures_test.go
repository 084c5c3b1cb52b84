package plot

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var (
	update   = flag.Bool("update", false, "write the golden files anew; read their differences before committing")
	pictures = flag.String("pictures", "", "also write all example figures, in both themes and formats, to this `directory`")
)

// TestPictures renders every example and checks that no file is empty or huge.
func TestPictures(t *testing.T) {
	figures := exampleFigures()
	maps.Copy(figures, largeFigures())
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		for _, dark := range []bool{false, true} {
			for _, format := range []Format{SVG, PNG} {
				if *pictures == "" && dark && format == PNG {
					continue // slow, and TestPNGColors has one
				}
				data, err := Render(figures[name], string(format), Options{Dark: dark})
				if err != nil {
					t.Errorf("%s as %s: %v", name, format, err)
					continue
				}
				if len(data) < 1000 || len(data) > 1_500_000 {
					t.Errorf("%s as %s has %d bytes, want 1 kB to 1.5 MB", name, format, len(data))
				}
				if *pictures == "" {
					continue
				}
				file := name
				if dark {
					file += "-dark"
				}
				if err := os.WriteFile(filepath.Join(*pictures, file+"."+string(format)), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
