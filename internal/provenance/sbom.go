package provenance

import (
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
)

// The parts of a bill of materials in the form of CycloneDX 1.6 that are used here.
type (
	bill struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Package    string     `json:"purl,omitempty"`
		Reference  string     `json:"bom-ref"`
		Properties []property `json:"properties,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// WriteSBOM writes which modules this program consists of, from its build information: a
// software bill of materials (CycloneDX 1.6, JSON).
func WriteSBOM(w io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without the list of its modules; build it with go build")
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(billOf(info))
}

// billOf lists the modules in the order of the build.
func billOf(info *debug.BuildInfo) bill {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = component{Type: "application", Name: "slackline", Version: Version(), Reference: "slackline"}
	b.Components = append(b.Components, component{Type: "library", Name: "std", Version: info.GoVersion,
		Package: "pkg:golang/std@" + info.GoVersion, Reference: "std"})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, component{
			Type: "library", Name: m.Path, Version: m.Version, Package: "pkg:golang/" + m.Path + "@" + m.Version, Reference: m.Path,
			Properties: []property{{"go:sum", m.Sum}},
		})
	}
	return b
}
