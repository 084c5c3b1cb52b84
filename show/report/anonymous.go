package report

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"slackline/internal/provenance"
)

// Anonymize removes from the input what shows where it was made: absolute paths, of which the last name stays, names of
// hosts and names of users. It changes the input; Anonymizer.Document does the same for texts from other sources.
func (in *Input) Anonymize(hosts, users []string) *Anonymizer {
	a := &Anonymizer{hosts: map[string]string{}, users: users}
	for _, r := range in.Runs {
		a.words(r.Properties.Command, r.Properties.Launch)
		for i := range r.Timeline.Locations {
			hosts = append(hosts, r.Timeline.Locations[i].Host)
		}
		hosts = append(append(hosts, r.Properties.Machine), a.launchHosts(r.Properties.Launch, r.Properties.Command)...)
	}
	if in.Record != nil {
		hosts = append(hosts, in.Record.Host)
		a.words(in.Record.Command)
		for _, i := range in.Record.Inputs {
			a.words([]string{i.Path})
		}
	}
	a.addHosts(hosts)
	slices.SortFunc(a.paths, func(x, y string) int { return len(y) - len(x) })
	in.Title, in.Words, in.Warnings = a.clean(in.Title), a.all(in.Words), a.all(in.Warnings)
	for _, r := range in.Runs {
		a.cleanRun(r)
	}
	if in.Expectations != nil {
		in.Expectations.Name = a.clean(in.Expectations.Name)
	}
	if in.Advise != nil {
		in.Advise.Words = a.all(in.Advise.Words)
	}
	if in.Machine != nil {
		in.Machine.Words = a.all(in.Machine.Words)
	}
	if in.Noise != nil {
		in.Noise.Name, in.Noise.Words = a.clean(in.Noise.Name), a.all(in.Noise.Words)
	}
	if in.Mapping != nil {
		in.Mapping.Words = a.all(in.Mapping.Words)
	}
	if r := in.Record; r != nil {
		r.Host, r.Command, r.Warnings = "", a.all(r.Command), a.all(r.Warnings)
		r.Inputs = append([]provenance.Input{}, r.Inputs...)
		for i := range r.Inputs {
			r.Inputs[i].Path = a.clean(r.Inputs[i].Path)
		}
	}
	return a
}

func (a *Anonymizer) cleanRun(r *Run) {
	r.Name, r.Words, r.Simulate, r.NoProgram = a.clean(r.Name), a.all(r.Words), a.all(r.Simulate), a.clean(r.NoProgram)
	p := &r.Properties
	p.Command, p.Launch, p.Machine = a.all(p.Command), a.all(p.Launch), a.clean(p.Machine)
	for i := range r.Timeline.Locations {
		l := &r.Timeline.Locations[i]
		l.Host, l.Name = a.clean(l.Host), a.clean(l.Name)
	}
	if d := r.Timeline.Devices; d != nil {
		for i := range d.Streams {
			d.Streams[i].Name = a.clean(d.Streams[i].Name)
		}
	}
	for i := range r.Timeline.Regions {
		region := &r.Timeline.Regions[i]
		region.Name, region.File = a.clean(region.Name), a.clean(region.File)
	}
}

// Anonymizer replaces what shows where something was made.
type Anonymizer struct {
	paths []string          // absolute ones that are known, the longest first: they may have blanks
	hosts map[string]string // by name
	lists []string          // of hosts, as batch systems write them: node[17-20]
	users []string
}

// launchHosts are the hosts that a launcher was given: no rank may have run on them.
func (a *Anonymizer) launchHosts(launch, command []string) []string {
	var hosts []string
	for i, word := range launch {
		if len(command) > 0 && word == command[0] {
			break // what follows are arguments of the program
		}
		option, value, ok := strings.Cut(word, "=")
		if !ok && i+1 < len(launch) {
			value = launch[i+1]
		}
		if !slices.Contains([]string{"-H", "-host", "--host", "-hosts", "--hosts", "-w", "--nodelist", "--exclude"}, option) {
			continue
		}
		if strings.ContainsAny(value, "[]") {
			a.lists = append(a.lists, value)
			continue
		}
		for _, host := range strings.Split(value, ",") {
			host, _, _ = strings.Cut(host, ":") // node7:4 has four slots
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// words takes absolute paths from words of commands, also after = and :, as in --out=/tmp/x and n=4:/tmp/x.
func (a *Anonymizer) words(lists ...[]string) {
	for _, word := range slices.Concat(lists...) {
		if at := strings.IndexByte(word, '/'); at >= 0 && (at == 0 || strings.IndexByte("=:,", word[at-1]) >= 0) {
			if p := word[at:]; path.Base(p) != "/" && !slices.Contains(a.paths, p) {
				a.paths = append(a.paths, p)
			}
		}
	}
}

// addHosts gives hosts other names, also by their names without domain.
func (a *Anonymizer) addHosts(names []string) {
	number := 0
	for _, name := range names {
		short, _, _ := strings.Cut(name, ".")
		if short == "" || short == "localhost" || a.hosts[short] != "" {
			continue
		}
		number++
		other := fmt.Sprintf("host%d", number)
		a.hosts[short] = other
		a.hosts[name] = other
	}
	for _, name := range names { // several domains
		if short, _, _ := strings.Cut(name, "."); name != "" && a.hosts[short] != "" {
			a.hosts[name] = a.hosts[short]
		}
	}
}

// absolute finds absolute paths, with what is before them: a scheme such as file:, an option of one letter such as -I, or nothing that a
// relative path could begin with.
var absolute = regexp.MustCompile("([A-Za-z][\\w+.-]*:|(?:^|[\\s'\"=,(])-[A-Za-z]|^|[^\\w.~/<-])((?:/+[^/\\s'\"`<>|;,()\\[\\]]+){2,}/*)")

// clean returns a text without absolute paths, hosts and users.
func (a *Anonymizer) clean(text string) string {
	for _, list := range a.lists {
		text = strings.ReplaceAll(text, list, "hosts")
	}
	for _, p := range a.paths {
		text = strings.ReplaceAll(text, p, path.Base(p))
	}
	text = absolute.ReplaceAllStringFunc(text, func(found string) string {
		before, _, _ := strings.Cut(found, "/")
		rest := found[len(before):]
		if strings.HasSuffix(before, ":") && len(before) > 1 && before != "file:" && strings.HasPrefix(rest, "//") {
			return found // an address of the web
		}
		return before + path.Base(rest)
	})
	return words.ReplaceAllStringFunc(text, func(word string) string {
		trimmed := strings.TrimRight(word, ".-")
		rest := word[len(trimmed):]
		if other, ok := a.hosts[trimmed]; ok {
			return other + rest
		}
		first, domain, _ := strings.Cut(trimmed, ".")
		if other, ok := a.hosts[first]; ok && domain != "" {
			if strings.Contains(domain, ".") || a.isDomain(domain) {
				return other + rest
			}
			return other + "." + domain + rest // a file
		}
		if slices.Contains(a.users, trimmed) {
			return "user" + rest
		}
		return word
	})
}

// isDomain reports whether a host has this domain.
func (a *Anonymizer) isDomain(domain string) bool {
	for name := range a.hosts {
		if _, of, _ := strings.Cut(name, "."); of == domain {
			return true
		}
	}
	return false
}

// words are what may be the name of a host or a user.
var words = regexp.MustCompile(`[A-Za-z0-9_][A-Za-z0-9_.-]*`)

func (a *Anonymizer) all(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = a.clean(text)
	}
	return list
}

// Document cleans all texts of a document.
func (a *Anonymizer) Document(d *Document) { a.value(reflect.ValueOf(d), map[uintptr]bool{}) }

// value cleans all strings that can be reached.
func (a *Anonymizer) value(v reflect.Value, seen map[uintptr]bool) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(a.clean(v.String()))
		}
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return
		}
		seen[v.Pointer()] = true
		a.value(v.Elem(), seen)
	case reflect.Interface:
		if v.CanSet() && v.Elem().Kind() == reflect.String {
			v.Set(reflect.ValueOf(a.clean(v.Elem().String())).Convert(v.Elem().Type()))
		} else if !v.IsNil() {
			a.value(v.Elem(), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			a.value(v.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			a.value(v.Index(i), seen)
		}
	}
}
