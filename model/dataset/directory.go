package dataset

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A directory holds one file per point and repetition; names of directories and
// files carry the point: [prefix.]NAMEVALUE[.NAMEVALUE...][.rN], e.g.
// osu.p64.r2.txt or mm.x10y20.r1/; a value may have a factor (n64Ki) or an exponent.
// Parameters equal in all files are dropped, and so are those of the name of a single one.

// Limits of a directory.
const (
	maxFiles     = 100_000
	maxFileBytes = 256 << 20
)

// valueOfName is a parameter in a name; its value may have decimals, also after a comma, and an exponent.
var valueOfName = regexp.MustCompile(`([A-Za-z]+)([0-9]+(?:[.,][0-9]+)?)([eE][+-]?[0-9]+)?`)

// factors are the words after a number that multiply it: those of sizes, with or without their B.
var factors = map[string]float64{
	"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// unclearFactor is a word that may be a factor or not.
var unclearFactor = regexp.MustCompile(`^(?i:[kmgt]i?b?)$`)

// repetition is the name that counts repetitions.
const repetition = "r"

// PlaceOf returns the parameters in the name of a file or directory. A name given
// twice counts with its last value.
func PlaceOf(name string) (names []string, at []float64) {
	names, at, _ = placeOf(name)
	return names, at
}

// placeOf is PlaceOf, and says what can be read in two ways, with how it is read.
func placeOf(name string) (names []string, at []float64, unclear []string) {
	for _, m := range valueOfName.FindAllStringSubmatchIndex(name, -1) {
		parameter, exponent := name[m[2]:m[3]], ""
		if m[6] >= 0 {
			exponent = name[m[6]:m[7]]
		}
		x, err := parseFinite(strings.Replace(name[m[4]:m[5]], ",", ".", 1) + exponent)
		if parameter == repetition || err != nil && exponent == "" {
			continue
		}
		if err != nil {
			unclear = append(unclear, fmt.Sprintf("%q is not a number and is ignored", name[m[2]:m[1]]))
			continue
		}
		if exponent != "" && !strings.ContainsAny(exponent, "+-") {
			unclear = append(unclear, fmt.Sprintf("%q is read as %s = %s; write %s.%s if %[5]s is a parameter of its own", name[m[2]:m[1]],
				parameter, decimal(x), name[m[2]:m[5]], exponent))
		}
		word := factorAfter(name[m[1]:])
		if factor := factors[word]; factor > 0 {
			x *= factor
		} else if unclearFactor.MatchString(word) {
			unclear = append(unclear, fmt.Sprintf("%q is read as %s = %s; write the whole number, or a factor such as k, M, Ki or Mi",
				name[m[2]:m[1]]+word, parameter, decimal(x)))
		}
		if i := slices.Index(names, parameter); i >= 0 {
			at[i] = x
			continue
		}
		names, at = append(names, parameter), append(at, x)
	}
	return names, at, unclear
}

// factorAfter is the word that a text starts with, unless it is the name of the next parameter: a number follows.
func factorAfter(rest string) string {
	end := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsLetter))
	if end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		return ""
	}
	return rest[:end]
}

// Options set how files are read.
type Options struct {
	Format       string // empty: recognized by the content
	SumLocations bool   // one value, the sum over all locations of a profile or all ranks of a run
}

// ReadNamed is Read for a file whose name may say at which point it was measured.
func ReadNamed(name string, data []byte, o Options) (*Dataset, Format, error) {
	d, f, err := o.read(name, data)
	if err != nil || f.Name != "osu" && f.Name != "cube" {
		return d, f, err
	}
	own := slices.Clone(d.Parameters)
	err = d.addPlace(path.Base(name), name, func(what string) { d.warnf("%s: of its name %s", name, what) })
	d.named = slices.DeleteFunc(slices.Clone(d.Parameters), func(p string) bool { return slices.Contains(own, p) })
	return d, f, err
}

func (o Options) read(name string, data []byte) (*Dataset, Format, error) {
	d, f, err := Read(name, data, o.Format)
	if err != nil {
		return nil, f, err
	}
	o.sum(d, f)
	return d, f, nil
}

func (o Options) sum(d *Dataset, f Format) {
	if o.SumLocations && f.Name == "cube" {
		d.sumRepetitions()
	}
	if o.SumLocations && f.OfRuns {
		d.SumRanks()
	}
}

// addPlace gives a dataset the parameters in a name that it does not have itself. Messages call it what show says. What is read in one of
// two ways goes to unsure.
func (d *Dataset) addPlace(name, show string, unsure func(what string)) error {
	names, at, unclear := placeOf(name)
	for _, u := range unclear {
		unsure(u)
	}
	for i := len(names) - 1; i >= 0; i-- { // each becomes the first
		if k := slices.Index(d.Parameters, names[i]); k >= 0 {
			if !d.hasValue(k, at[i]) {
				d.warnf("%s: no measurement in it has the %s = %g of its name: is it the file of another run?", show, names[i], at[i])
			}
			continue
		}
		if err := d.SetParameter(names[i], at[i]); err != nil {
			return err
		}
	}
	return nil
}

// hasValue reports whether a point has a value of a parameter.
func (d *Dataset) hasValue(parameter int, v float64) bool {
	for _, s := range d.Series {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return p.At[parameter] == v }) {
			return true
		}
	}
	return false
}

// directory is what is read of a directory.
type directory struct {
	*Dataset
	sums map[[sha256.Size]byte]string // names of files by their bytes
	held map[string]bool              // files and directories with measurements
	tau  map[string]*tauNodes         // by directory

	unclear leftOut // names
}

// ReadDir reads all measurements below a directory. Files of no known format are
// passed over with a warning.
func ReadDir(name string, dir fs.FS, o Options) (*Dataset, error) {
	all := &directory{Dataset: New(), sums: map[[sha256.Size]byte]string{}, held: map[string]bool{}, tau: map[string]*tauNodes{}}
	var places []string // directories whose names carry a point
	files := 0
	err := fs.WalkDir(dir, ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if tauName.MatchString(entry.Name()) {
				all.warnf("%s is a directory, not the profile of a node: its times are missing", path.Join(name, p))
			}
			if names, _ := PlaceOf(entry.Name()); len(names) > 0 && p != "." {
				places = append(places, p)
			}
			return all.readWhole(dir, name, p, o)
		}
		if strings.HasPrefix(entry.Name(), ".") {
			return nil
		}
		if info, err := fs.Stat(dir, p); err != nil { // a link that leads nowhere, or in circles
			all.warnf("%s cannot be read and is passed over", path.Join(name, p))
			return nil
		} else if !info.Mode().IsRegular() {
			all.warnf("%s is not a file and is passed over", path.Join(name, p))
			return nil
		}
		if files++; files > maxFiles {
			return fmt.Errorf("%s: has more than %d files", name, maxFiles)
		}
		return all.readFile(dir, name, p, o)
	})
	if err != nil {
		return nil, err
	}
	if len(all.Series) == 0 {
		return nil, fmt.Errorf("%s: holds no file with measurements", name)
	}
	for _, p := range places {
		names, _ := PlaceOf(path.Base(p))
		unknown := func(n string) bool { return !slices.Contains(all.Parameters, n) }
		if !all.held[p] && !slices.ContainsFunc(names, unknown) {
			all.warnf("%s holds no measurement, although its name is that of a point: is a file missing?", path.Join(name, p))
		}
	}
	all.unclear.warn(all.Dataset, "%s: names that can be read in two ways", name)
	all.warnTAU(name)
	all.DropConstant()
	return all.Dataset, nil
}

// readFile adds what a file of a directory holds.
func (d *directory) readFile(dir fs.FS, root, p string, o Options) error {
	f, err := dir.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return err
	}
	name := path.Join(root, p)
	if len(data) > maxFileBytes {
		d.warnf("%s has more than %d MiB and is passed over", name, maxFileBytes>>20)
		return nil
	}
	if _, ok := Sniff(data); !ok && o.Format == "" {
		d.warnf("%s is not in a known format of measurements and is passed over", name)
		return nil
	}
	part, kind, err := o.read(name, data)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if other, twice := d.sums[sum]; twice {
		d.warnf("%s holds the same bytes as %s: if it is a copy, its measurements count twice", name, other)
	}
	d.sums[sum] = name
	if kind.Name == tauFormat.Name {
		d.noteTAU(p, data)
	}
	return d.mergePart(part, kind, name, p)
}

// readWhole adds what a directory holds that is one input, and skips it; the files of all others stand for themselves.
func (d *directory) readWhole(dir fs.FS, root, p string, o Options) error {
	f, found, err := wholeFormat(dir, p, o.Format)
	if err != nil || !found {
		return err
	}
	name := path.Join(root, p)
	part, err := f.ReadDir(name, below{dir, p})
	if err == nil {
		err = part.finish(name, f)
	}
	if err != nil {
		return err
	}
	o.sum(part, f)
	return cmp.Or(d.mergePart(part, f, name, p), fs.SkipDir)
}

// IsWhole reports whether a directory is one input, and not a directory of inputs.
func IsWhole(dir fs.FS) bool {
	_, found, err := wholeFormat(dir, ".", "")
	return found && err == nil
}

// wholeFormat is the format of a directory that is one input, by its mark. format is the only one to look for; empty: any.
func wholeFormat(dir fs.FS, p, format string) (f Format, found bool, err error) {
	for _, f := range formats {
		if f.Mark == "" || format != "" && format != f.Name {
			continue
		}
		mark := path.Join(p, f.Mark)
		if info, err := fs.Stat(dir, mark); err != nil || !info.Mode().IsRegular() {
			continue
		}
		file, err := dir.Open(mark)
		if err != nil {
			return f, false, err
		}
		head, err := io.ReadAll(io.LimitReader(file, headBytes))
		if err := errors.Join(err, file.Close()); err != nil {
			return f, false, err
		}
		if f.Sniff(head) {
			return f, true, nil
		}
	}
	return f, false, nil
}

// below is a directory of another one. Unlike fs.Sub it takes names that are not UTF-8.
type below struct {
	fs.FS
	dir string
}

func (b below) Open(name string) (fs.File, error) { return b.FS.Open(path.Join(b.dir, name)) }

// mergePart adds what a part of a directory holds, with the parameters in its name.
func (d *directory) mergePart(part *Dataset, kind Format, name, p string) error {
	if kind.PlaceInName {
		if names, _ := PlaceOf(path.Dir(p)); kind.Name == "cube" && len(names) > 0 {
			p = path.Dir(p) // profiles have names such as profile2.cubex
		}
		if err := part.addPlace(p, name, func(what string) { d.unclear.add(name + ", of which " + what) }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	d.Merge(part)
	for at := p; at != "."; at = path.Dir(at) {
		d.held[at] = true
	}
	if len(d.Parameters) > MaxParameters {
		return fmt.Errorf("%s: the files have more than %d parameters together", name, MaxParameters)
	}
	return nil
}
